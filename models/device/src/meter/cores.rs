//! Loops over all cores of the processor at once.

use crate::timing::Workload;
use macerator::{AutoArch, Scalar, Simd, Vector, WithSimd};
use mlsys_lab::{DeviceId, LabError};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

/// Numbers that a core copies or reads at once, at most: 16 MiB, some milliseconds. Where a buffer is larger, one time
/// after the other goes on through it. Small chunks would not do: the fastest would be one that a cache happened to hold.
const CHUNK: usize = 1 << 22;

/// Parts of a pass that each core times one by one. Its fastest speaks for all of them: where another program takes the
/// core away from one part, the others do not suffer.
const PARTS: u32 = 4;

/// Work of several cores: the caller's own and a thread for each of the others, which live as long as the work, so that
/// the system has spread them over the cores by the time that counts. All begin at once, so that they share what they
/// have to share; their rates add up.
struct Cores<T> {
    own: T,
    others: Vec<Worker>,
    work: fn(&mut T),
    amount: f64,
}

struct Worker {
    jobs: Sender<Job>,
    done: Receiver<f64>,
}

struct Job {
    passes: u64,
    gate: Arc<SpinBarrier>,
}

/// Two buffers, copied from one to the other in as many pieces as there are cores.
pub(super) fn copy(bytes: u64) -> Result<Box<dyn Workload>, LabError> {
    let cores = count();
    let [numbers, chunk] = share(bytes, cores);
    let parts = (0..cores).map(|_| Buffers {
        // Written once, so that the system has given every page by now.
        from: vec![1.0; numbers],
        to: vec![0.5; numbers],
        at: 0,
    });
    let work = |part: &mut Buffers| {
        let chunk = part.next();
        part.to[chunk.clone()].copy_from_slice(black_box(&part.from[chunk]));
        black_box(&mut part.to);
    };
    Cores::start(parts, work, 8.0 * chunk as f64)
}

/// A buffer read in as many pieces as there are cores.
pub(super) fn read(bytes: u64) -> Result<Box<dyn Workload>, LabError> {
    let cores = count();
    let [numbers, chunk] = share(bytes, cores);
    let parts = (0..cores).map(|_| Buffers { from: vec![1.0; numbers], to: Vec::new(), at: 0 });
    let work = |part: &mut Buffers| {
        let chunk = part.next();
        black_box(sum(black_box(&part.from[chunk])));
    };
    Cores::start(parts, work, 4.0 * chunk as f64)
}

pub(super) fn checksum(bytes: u64) -> f64 {
    let [numbers, _] = share(bytes, 1);
    f64::from(sum(&vec![1.0; numbers])) / numbers as f64
}

/// A buffer read from its begin to its end by one core.
pub(super) fn read_alone(bytes: u64) -> Result<Box<dyn Workload>, LabError> {
    let [numbers, _] = share(bytes, 1);
    let work = |part: &mut Vec<f32>| {
        black_box(sum(black_box(part)));
    };
    let parts = [vec![1.0_f32; numbers]].into_iter();
    Cores::start(parts, work, 4.0 * numbers as f64)
}

pub(super) fn multiply_add() -> Result<Box<dyn Workload>, LabError> {
    let parts = (0..count()).map(|_| ());
    let flops = flops_in_a_round() as f64;
    Cores::start(parts, |()| run_chains(), flops)
}

fn count() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Numbers that each core has of `bytes` bytes, and how many it handles in one pass.
fn share(bytes: u64, cores: usize) -> [usize; 2] {
    let numbers = usize::try_from(bytes / 4).unwrap_or(usize::MAX / 8);
    let share = (numbers / cores).max(1);
    if share > CHUNK { [share - share % CHUNK, CHUNK] } else { [share, share] }
}

struct Buffers {
    from: Vec<f32>,
    to: Vec<f32>,
    at: usize,
}

impl Buffers {
    /// The next chunk; after the last one the first.
    fn next(&mut self) -> std::ops::Range<usize> {
        let begin = if self.at < self.from.len() { self.at } else { 0 };
        self.at = (begin + CHUNK).min(self.from.len());
        begin..self.at
    }
}

impl<T: Send + 'static> Cores<T> {
    fn start(
        mut parts: impl Iterator<Item = T>,
        work: fn(&mut T),
        amount: f64,
    ) -> Result<Box<dyn Workload>, LabError> {
        let own = parts.next().ok_or_else(|| failed("there is no core".to_owned()))?;
        let others = parts.map(|part| Worker::start(part, work));
        let others: Vec<Worker> = others.collect::<Result<_, LabError>>()?;
        let amount = amount * f64::from(PARTS) * (1 + others.len()) as f64;
        Ok(Box::new(Self { amount, own, others, work }))
    }
}

/// Runs `passes` passes: the seconds that they would take if all their parts were as fast as the fastest.
fn passes_of<T>(part: &mut T, work: fn(&mut T), passes: u64) -> f64 {
    let fastest = (0..PARTS).map(|_| {
        let started = Instant::now();
        for _ in 0..passes {
            work(part);
        }
        started.elapsed().as_secs_f64()
    });
    f64::from(PARTS) * fastest.fold(f64::INFINITY, f64::min)
}

impl Worker {
    fn start<T: Send + 'static>(mut part: T, work: fn(&mut T)) -> Result<Self, LabError> {
        let (jobs, inbox) = mpsc::channel::<Job>();
        let (report, done) = mpsc::channel();
        // It ends when the channel closes.
        let thread = thread::Builder::new().name("meter".to_owned()).spawn(move || {
            while let Ok(job) = inbox.recv() {
                job.gate.wait();
                let seconds = passes_of(&mut part, work, job.passes);
                if report.send(seconds).is_err() {
                    break;
                }
            }
        });
        let no_thread =
            |error| failed(format!("no thread could be started to measure with: {error}"));
        thread.map(|_| Self { jobs, done }).map_err(no_thread)
    }
}

impl<T: Send> Workload for Cores<T> {
    fn amount(&self) -> f64 {
        self.amount
    }

    fn time(&mut self, passes: u64) -> Result<f64, LabError> {
        let gone = || failed("a thread that measured has ended".to_owned());
        let gate = Arc::new(SpinBarrier::default());
        for worker in &self.others {
            let job = Job { passes, gate: Arc::clone(&gate) };
            worker.jobs.send(job).map_err(|_| gone())?;
        }
        gate.await_all(self.others.len());
        gate.open();
        let mut times = vec![passes_of(&mut self.own, self.work, passes)];
        for worker in &self.others {
            times.push(worker.done.recv().map_err(|_| gone())?);
        }
        Ok(harmonic_mean(&times))
    }
}

/// The time in which all cores together do as much as each does in its own: rates add up.
fn harmonic_mean(times: &[f64]) -> f64 {
    let rates: f64 = times.iter().map(|time| time.max(1e-12).recip()).sum();
    times.len() as f64 / rates
}

fn failed(reason: String) -> LabError {
    LabError::Failed { device: DeviceId::CPU, reason }
}

// Where threads wait for each other without sleeping, so that none begins late.

/// A barrier that spins: threads arrive, and one opens it for all.
#[derive(Default)]
struct SpinBarrier {
    arrived: AtomicUsize,
    open: AtomicUsize,
}

impl SpinBarrier {
    fn wait(&self) {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        spin(|| self.open.load(Ordering::Acquire) > 0);
    }

    fn await_all(&self, threads: usize) {
        spin(|| self.arrived.load(Ordering::Acquire) >= threads);
    }

    fn open(&self) {
        self.open.store(1, Ordering::Release);
    }
}

/// Looks until it is so; where that takes long, others may have the core in between.
fn spin(is_so: impl Fn() -> bool) {
    const SPIN_LIMIT: u32 = 5_000;
    let mut looks = 0_u32;
    while !is_so() {
        looks = looks.saturating_add(1);
        if looks < SPIN_LIMIT {
            std::hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
}

// Loops over vectors as wide as the processor has them, found when the program runs: AVX-512, AVX2, NEON.

/// Independent sums: enough to hide the latency of a multiply-add (4 clocks, 2 units), few enough for 16 registers.
const CHAINS: u64 = 12;

const LENGTH: u64 = 4096;

/// Does a round of independent multiply-adds in registers.
fn run_chains() {
    black_box(AutoArch::new().dispatch(Chains));
}

fn flops_in_a_round() -> u64 {
    2 * CHAINS * LENGTH * AutoArch::new().dispatch(Lanes) as u64
}

/// The sum of all numbers, which takes reading each once.
fn sum(numbers: &[f32]) -> f32 {
    AutoArch::new().dispatch(Sum(numbers))
}

struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self) -> usize {
        f32::lanes::<S>()
    }
}

struct Chains;

impl WithSimd for Chains {
    type Output = f32;

    // Named one by one: in an array they would be kept in memory wherever the compiler does not unroll the loop.
    #[inline(always)]
    fn with_simd<S: Simd>(self) -> f32 {
        let number = |x: f32| -> Vector<S, f32> { black_box(x).splat::<S>() };
        // x -> x/2 + 1/2 goes to 1 and stays there: no number is too small for full speed.
        let (by, plus) = (number(0.5), number(0.5));
        let (mut a, mut b, mut c, mut d) = (number(0.1), number(0.2), number(0.3), number(0.4));
        let (mut e, mut f, mut g, mut h) = (number(0.5), number(0.6), number(0.7), number(0.8));
        let (mut i, mut j, mut k, mut l) = (number(0.9), number(1.1), number(1.2), number(1.3));
        for _ in 0..LENGTH {
            a = a.mul_add(by, plus);
            b = b.mul_add(by, plus);
            c = c.mul_add(by, plus);
            d = d.mul_add(by, plus);
            e = e.mul_add(by, plus);
            f = f.mul_add(by, plus);
            g = g.mul_add(by, plus);
            h = h.mul_add(by, plus);
            i = i.mul_add(by, plus);
            j = j.mul_add(by, plus);
            k = k.mul_add(by, plus);
            l = l.mul_add(by, plus);
        }
        (a + b + c + d + e + f + g + h + i + j + k + l).reduce_add()
    }
}

struct Sum<'a>(&'a [f32]);

impl WithSimd for Sum<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self) -> f32 {
        let (before, vectors, after) = f32::align_to::<S>(self.0);
        let zero: Vector<S, f32> = 0.0.splat::<S>();
        let (mut a, mut b, mut c, mut d) = (zero, zero, zero, zero);
        let (mut e, mut f, mut g, mut h) = (zero, zero, zero, zero);
        let (eights, rest) = vectors.as_chunks::<8>();
        for [p, q, r, s, t, u, v, w] in eights {
            a += *p;
            b += *q;
            c += *r;
            d += *s;
            e += *t;
            f += *u;
            g += *v;
            h += *w;
        }
        for vector in rest {
            a += *vector;
        }
        let ends: f32 = before.iter().chain(after).sum();
        ends + (a + b + c + d + e + f + g + h).reduce_add()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_cycle_through_their_buffers() {
        let mut part = Buffers { from: vec![0.0; 2 * CHUNK], to: Vec::new(), at: 0 };
        let begins: Vec<usize> = (0..4).map(|_| part.next().start / CHUNK).collect();
        assert_eq!(begins, [0, 1, 0, 1]);
        for (bytes, cores, expected) in [
            (64, 2, [8, 8]),
            (1, 4, [1, 1]),
            (1 << 26, 2, [1 << 23, CHUNK]),
            ((1 << 26) + 400, 1, [1 << 24, CHUNK]),
        ] {
            assert_eq!(share(bytes, cores), expected);
        }
    }

    #[test]
    fn rates_of_cores_add_up() {
        // One core does its part in a second, the other, disturbed, in three: 1 + 1/3 parts a second.
        assert!((harmonic_mean(&[1.0, 3.0]) - 1.5).abs() < 1e-12);
        assert_eq!(harmonic_mean(&[2.0]), 2.0);
    }

    #[test]
    fn every_number_is_read_once() {
        let numbers: Vec<f32> = (0..1003_u16).map(f32::from).collect();
        for from in 0..9 {
            let expected: f32 = numbers[from..].iter().sum();
            assert_eq!(sum(&numbers[from..]), expected);
        }
        assert_eq!(sum(&[]), 0.0);
    }

    #[test]
    fn the_chains_end_at_one_and_are_counted() {
        let lanes = AutoArch::new().dispatch(Lanes);
        // Twelve chains of as many lanes, each at the number that halving towards one leads to.
        let ends = AutoArch::new().dispatch(Chains);
        assert_eq!(ends, 12.0 * lanes as f32);
        assert_eq!(flops_in_a_round(), 2 * 12 * 4096 * lanes as u64);
    }
}
