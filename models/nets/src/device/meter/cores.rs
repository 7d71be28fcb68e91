//! Loops over all cores of the processor at once.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use mlsys_lab::{DeviceId, LabError};

use super::{Pass, lanes};

/// What every core has for itself, and what it does with it.
struct Cores<T> {
    parts: Vec<T>,
    work: fn(&mut T, u64),
    amount: f64,
}

/// Two buffers, copied from one to the other in as many pieces as there are cores.
pub(super) fn copy(bytes: u64) -> Box<dyn Pass> {
    let cores = count();
    let numbers = numbers_of(bytes, cores);
    let parts: Vec<_> = (0..cores)
        .map(|_| (vec![1.0_f32; numbers], vec![0.0_f32; numbers]))
        .collect();
    Box::new(Cores {
        amount: 2.0 * bytes_of(numbers, cores),
        parts,
        work: |(from, to), passes| {
            for _ in 0..passes {
                to.copy_from_slice(black_box(from));
                black_box(&mut *to);
            }
        },
    })
}

/// A buffer read in as many pieces as there are cores.
pub(super) fn read(bytes: u64) -> Box<dyn Pass> {
    reading(bytes, count())
}

/// A buffer read by one core.
pub(super) fn read_alone(bytes: u64) -> Box<dyn Pass> {
    reading(bytes, 1)
}

fn reading(bytes: u64, cores: usize) -> Box<dyn Pass> {
    let numbers = numbers_of(bytes, cores);
    Box::new(Cores {
        amount: bytes_of(numbers, cores),
        parts: vec![vec![1.0_f32; numbers]; cores],
        work: |part: &mut Vec<f32>, passes| {
            for _ in 0..passes {
                black_box(lanes::sum(black_box(part)));
            }
        },
    })
}

/// Multiply-adds on every core.
pub(super) fn multiply_add() -> Box<dyn Pass> {
    let cores = count();
    Box::new(Cores {
        amount: (cores as u64 * lanes::flops_in_a_round()) as f64,
        parts: vec![(); cores],
        work: |(), passes| lanes::multiply_add(passes),
    })
}

fn count() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Numbers that each of the cores has of so many bytes.
fn numbers_of(bytes: u64, cores: usize) -> usize {
    let numbers = usize::try_from(bytes / 4).unwrap_or(usize::MAX / 8);
    (numbers / cores).max(1)
}

fn bytes_of(numbers: usize, cores: usize) -> f64 {
    4.0 * numbers as f64 * cores as f64
}

impl<T: Send> Pass for Cores<T> {
    fn amount(&self) -> f64 {
        self.amount
    }

    fn time(&mut self, passes: u64) -> Result<f64, LabError> {
        let work = self.work;
        let Some((own, others)) = self.parts.split_first_mut() else {
            return Ok(0.0);
        };
        let gate = Gate::default();
        thread::scope(|scope| {
            let waiting = others.len();
            let mut threads = Vec::with_capacity(waiting);
            for part in others {
                let gate = &gate;
                let thread = thread::Builder::new()
                    .name("meter".to_owned())
                    .spawn_scoped(scope, move || {
                        if gate.wait() == Opened::ToWork {
                            work(part, passes);
                        }
                    });
                match thread {
                    Ok(thread) => threads.push(thread),
                    Err(error) => {
                        gate.open(Opened::ToLeave);
                        return Err(failed(format!(
                            "no thread could be started to measure with: {error}"
                        )));
                    }
                }
            }
            gate.await_all(waiting);
            let started = Instant::now();
            gate.open(Opened::ToWork);
            work(own, passes);
            for thread in threads {
                if thread.join().is_err() {
                    return Err(failed("a thread that measured panicked".to_owned()));
                }
            }
            Ok(started.elapsed().as_secs_f64())
        })
    }
}

/// Where threads wait, without sleeping, until all of them run: so that none begins late.
#[derive(Default)]
struct Gate {
    arrived: AtomicUsize,
    state: AtomicUsize,
}

/// What a gate is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opened {
    ToWork = 1,
    /// Somebody is missing: go without having worked.
    ToLeave = 2,
}

impl Gate {
    fn wait(&self) -> Opened {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        let state = spin(|| self.state.load(Ordering::Acquire), |state| state != 0);
        if state == Opened::ToWork as usize {
            Opened::ToWork
        } else {
            Opened::ToLeave
        }
    }

    fn await_all(&self, threads: usize) {
        spin(
            || self.arrived.load(Ordering::Acquire),
            |arrived| arrived >= threads,
        );
    }

    fn open(&self, to: Opened) {
        self.state.store(to as usize, Ordering::Release);
    }
}

/// Looks until what is seen will do; where that takes long, others may have the core in between.
fn spin(look: impl Fn() -> usize, will_do: impl Fn(usize) -> bool) -> usize {
    const PATIENCE: u32 = 10_000;
    let mut looks = 0_u32;
    loop {
        let seen = look();
        if will_do(seen) {
            return seen;
        }
        looks = looks.saturating_add(1);
        if looks < PATIENCE {
            std::hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
}

fn failed(reason: String) -> LabError {
    LabError::Failed {
        device: DeviceId::CPU,
        reason,
    }
}
