//! The workers of a run: one thread each, with a device handle of its own, taking orders a step at a time.
//!
//! The lab's thread orders and collects. Every wait has a time limit, and everything that can go wrong with a worker (a
//! panic in it or in the back end under it, an end without an answer, a hang, numbers of the wrong shape) becomes one
//! sentence that names the worker, the step, what was waited for and what to do. A thread that hangs is left behind:
//! there is no way to end one from outside, and nobody waits for it.

mod blame;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use burn::tensor::Device;

use mlsys_lab::{DeviceId, LabError, Run};

use crate::Halt;
use mlsys_device as device;

use super::wire::{Doing, Ledger, Parcel, Port, Traffic, Trouble, ports};
use blame::Blame;

/// Names of threads begin with it, as that of every thread of a run: its panic ends the run with a sentence, and nothing else.
pub const THREAD: &str = "run-worker-";

/// How long the lab's thread waits before it looks whether the run was ended from outside.
const GLANCE: Duration = Duration::from_millis(50);

/// How long workers have to give up once the run has ended, before they are left behind.
const GRACE: Duration = Duration::from_millis(500);

/// How long anything is waited for at the least.
const PATIENCE: Duration = Duration::from_secs(30);

/// Slower than this, in floating-point operations in a second, is a hang.
const CRAWL: f64 = 2e8;

/// How long to wait for a worker that has so many floating-point operations to do.
pub fn patience(flops: f64) -> Duration {
    let seconds = (flops / CRAWL).clamp(0.0, 86_400.0);
    PATIENCE + Duration::from_secs_f64(seconds)
}

/// Where a worker sits.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Its device, without autodiff.
    pub device: Device,
    /// What the device is called.
    pub place: String,
}

/// Seats for so many workers of a run with these parameters: handles of the run's device, or devices of other processes.
///
/// # Errors
/// If a worker's device cannot be had, or the run was ended while it was waited for.
pub fn seats(run: &Run<'_>, workers: usize) -> Result<Vec<Seat>, Halt> {
    let interrupted = || run.control.interrupted();
    let devices = device::workers::of(run.device, &run.params, workers, &interrupted)?;
    let devices = devices.ok_or(Halt::Asked)?.into_iter();
    let seat =
        |worker: device::workers::WorkerDevice| Seat { device: worker.device, place: worker.place };
    Ok(devices.map(seat).collect())
}

/// What a worker knows of itself when it begins.
#[derive(Clone, Debug)]
pub struct Berth {
    /// Its number, from 0.
    pub rank: usize,
    /// Workers there are.
    pub workers: usize,
    /// Its device, without autodiff.
    pub device: Device,
}

/// What a worker does when it is told to. It is made on its own thread and stays there.
pub trait Worker: 'static {
    /// What it is told.
    type Order: Send + 'static;
    /// What it says when it has done it.
    type Answer: Send + 'static;

    /// Does what it is told, talking to the others through `port`.
    ///
    /// # Errors
    /// Why it cannot go on: the run ends.
    fn act(&mut self, order: Self::Order, port: &mut Port) -> Result<Self::Answer, Trouble>;
}

/// The workers of a run.
pub struct Crew<W: Worker> {
    id: DeviceId,
    seats: Vec<Seat>,
    orders: Vec<Sender<W::Order>>,
    answers: Receiver<(usize, Result<W::Answer, Trouble>)>,
    inboxes: Vec<Sender<Parcel>>,
    ledger: Arc<Ledger>,
    threads: Vec<JoinHandle<()>>,
}

impl<W: Worker> Crew<W> {
    /// A worker a seat, each made by `make` on its own thread. Nothing is waited for longer than `patience`.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(
        id: DeviceId,
        seats: Vec<Seat>,
        patience: Duration,
        make: impl Fn(Berth) -> Result<W, Trouble> + Clone + Send + 'static,
    ) -> Result<Self, LabError> {
        let (ports, ledger, inboxes) = ports(seats.len(), patience);
        let (answer, answers) = mpsc::channel();
        let mut crew = Self {
            id,
            orders: Vec::with_capacity(seats.len()),
            answers,
            inboxes,
            ledger,
            threads: Vec::with_capacity(seats.len()),
            seats: Vec::new(),
        };
        for (port, seat) in ports.into_iter().zip(&seats) {
            let (order, orders) = mpsc::channel();
            let berth =
                Berth { rank: port.rank(), workers: port.workers(), device: seat.device.clone() };
            let (make, answer) = (make.clone(), answer.clone());
            let thread = thread::Builder::new()
                .name(format!("{THREAD}{}", berth.rank))
                .spawn(move || work(&make, berth, port, &orders, &answer))
                .map_err(|error| LabError::Failed {
                    device: id,
                    reason: format!(
                        "no thread could be started for worker {} of {}: {error}; take fewer workers",
                        crew.threads.len(),
                        seats.len()
                    ),
                })?;
            crew.orders.push(order);
            crew.threads.push(thread);
        }
        crew.seats = seats;
        Ok(crew)
    }

    /// Workers there are.
    pub fn len(&self) -> usize {
        self.orders.len()
    }

    /// Which devices the first so many workers run on, for the record and the screen: the metric `worker_devices`.
    pub fn devices(&self, workers: usize) -> String {
        let seats = self.seats.iter().take(workers);
        device::workers::told(seats.map(|seat| seat.place.as_str()))
    }

    /// From now on nothing is waited for longer than this, by the lab's thread as by the workers.
    pub fn set_patience(&self, patience: Duration) {
        self.ledger.set_patience(patience);
    }

    /// What went over the wires since the last time.
    pub fn traffic(&self) -> Traffic {
        self.ledger.take()
    }

    /// Gives each worker its order, by rank, and collects their answers, by rank. `interrupted` is asked now and then
    /// whether the run was ended from outside. `step` is for messages.
    ///
    /// # Errors
    /// [`Halt`]; the crew is of no use after it.
    pub fn act(
        &mut self,
        step: u64,
        orders: impl IntoIterator<Item = W::Order>,
        interrupted: impl Fn() -> bool,
    ) -> Result<Vec<W::Answer>, Halt> {
        for (sender, order) in self.orders.iter().zip(orders) {
            // One that is gone has said why, or is found missing below.
            let _ = sender.send(order);
        }
        let begun = Instant::now();
        let mut found: Vec<Option<W::Answer>> = (0..self.len()).map(|_| None).collect();
        while found.iter().any(Option::is_none) {
            if interrupted() {
                self.abort();
                return Err(Halt::Asked);
            }
            match self.answers.recv_timeout(GLANCE) {
                Ok((rank, Ok(answer))) => {
                    self.ledger.set(rank, Doing::Nothing);
                    if let Some(place) = found.get_mut(rank) {
                        *place = Some(answer);
                    }
                }
                Ok((rank, Err(trouble))) => {
                    let missing = absent(&found);
                    return Err(Halt::Failed(self.blame(step, missing, vec![(rank, trouble)])));
                }
                Err(RecvTimeoutError::Timeout) if begun.elapsed() < self.ledger.patience() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let missing = absent(&found);
                    return Err(Halt::Failed(self.blame(step, missing, Vec::new())));
                }
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Ends the others and finds out whose fault it was.
    fn blame(
        &self,
        step: u64,
        missing: Vec<usize>,
        mut troubles: Vec<(usize, Trouble)>,
    ) -> LabError {
        // As they were before they heard of the end.
        let doing: Vec<Doing> = (0..self.len()).map(|rank| self.ledger.doing(rank)).collect();
        self.abort();
        let begun = Instant::now();
        while let Ok((rank, answer)) =
            self.answers.recv_timeout(GRACE.saturating_sub(begun.elapsed()))
        {
            if let Err(trouble) = answer {
                troubles.push((rank, trouble));
            }
        }
        let blame = Blame { step, waited: self.ledger.patience(), missing, troubles, doing };
        let reason = blame.sentence(|rank| self.name(rank));
        LabError::Failed { device: self.id, reason }
    }

    /// What a worker is called in messages.
    fn name(&self, rank: usize) -> String {
        match self.seats.get(rank) {
            Some(seat) => format!("worker {rank} ({})", seat.place),
            None => format!("worker {rank}"),
        }
    }

    fn abort(&self) {
        for inbox in &self.inboxes {
            let _ = inbox.send(Parcel::Abort);
        }
    }
}

impl<W: Worker> Drop for Crew<W> {
    fn drop(&mut self) {
        self.abort();
        self.orders.clear();
        let begun = Instant::now();
        // Each thread holds a sender of answers until its end.
        while self.answers.recv_timeout(GRACE.saturating_sub(begun.elapsed())).is_ok() {}
        for thread in self.threads.drain(..) {
            if thread.is_finished() {
                let _ = thread.join();
            }
        }
    }
}

fn absent<A>(found: &[Option<A>]) -> Vec<usize> {
    let missing = found.iter().enumerate();
    let missing = missing.filter(|(_, answer)| answer.is_none());
    missing.map(|(rank, _)| rank).collect()
}

/// The life of a worker's thread.
fn work<W: Worker>(
    make: &impl Fn(Berth) -> Result<W, Trouble>,
    berth: Berth,
    mut port: Port,
    orders: &Receiver<W::Order>,
    answers: &Sender<(usize, Result<W::Answer, Trouble>)>,
) {
    let rank = berth.rank;
    port.doing("building its model");
    let mut worker = match guarded(|| make(berth)) {
        Ok(worker) => worker,
        Err(trouble) => {
            let _ = answers.send((rank, Err(trouble)));
            return;
        }
    };
    while let Ok(order) = orders.recv() {
        let answer = guarded(|| worker.act(order, &mut port));
        let ends = answer.is_err();
        // If nobody listens any more, the run has ended.
        if answers.send((rank, answer)).is_err() || ends {
            return;
        }
    }
}

/// What a call gives; a panic is a trouble.
fn guarded<T>(call: impl FnOnce() -> Result<T, Trouble>) -> Result<T, Trouble> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|payload| Err(broke_off(payload.as_ref())))
}

fn broke_off(payload: &(dyn Any + Send)) -> Trouble {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or_default();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    Trouble::Failed(format!("broke off: {}", line.unwrap_or("it gave no reason")))
}
