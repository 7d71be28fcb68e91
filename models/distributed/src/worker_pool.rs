//! The workers of a run: one thread each, with a device handle of its own, taking orders a step at a time.
//!
//! The lab's thread orders and collects. Every wait has a time limit, and everything that can go wrong with a worker (a
//! panic in it or in the back end under it, an end without an answer, a hang, numbers of the wrong shape) becomes one
//! sentence that names the worker, the step, what was waited for and what to do. A thread that hangs is left behind:
//! there is no way to end one from outside, and it is not joined.

mod failure;
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

use crate::StepError;
use mlsys_device as device;
pub use mlsys_device::workers::WorkerDevice as WorkerContext;

use super::transport::{Activity, CommError, Endpoint, Ledger, Packet, Traffic, endpoints};
use failure::FailureReport;

/// Names of threads begin with it, as that of every thread of a run: its panic ends the run with a sentence, and nothing else.
pub const THREAD: &str = "run-worker-";

/// How long the lab's thread waits before it looks whether the run was ended from outside.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long workers have to give up once the run has ended, before they are left behind.
const GRACE: Duration = Duration::from_millis(500);

/// How long anything is waited for at the least.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Slower than this, in floating-point operations in a second, is a hang.
const CRAWL: f64 = 2e8;

/// Time limit for a worker with this many floating-point operations to do.
pub fn timeout(flops: f64) -> Duration {
    let seconds = (flops / CRAWL).clamp(0.0, 86_400.0);
    TIMEOUT + Duration::from_secs_f64(seconds)
}

/// The workers' devices: handles of the run's own device, or devices of other processes.
pub fn contexts(run: &Run<'_>, workers: usize) -> Result<Vec<WorkerContext>, StepError> {
    let interrupted = || run.control.interrupted();
    let devices = device::workers::devices(run.device, &run.params, workers, &interrupted)?;
    devices.ok_or(StepError::Stopped)
}

#[derive(Clone, Debug)]
pub struct WorkerSpec {
    pub rank: usize,
    pub workers: usize,
    pub device: Device,
}

/// What a worker does when it is told to. It is made on its own thread and stays there.
pub trait Worker: 'static {
    type Order: Send + 'static;
    type Answer: Send + 'static;

    /// Does what it is told, talking to the others through `endpoint`.
    fn act(
        &mut self,
        order: Self::Order,
        endpoint: &mut Endpoint,
    ) -> Result<Self::Answer, CommError>;
}

pub struct WorkerPool<W: Worker> {
    id: DeviceId,
    contexts: Vec<WorkerContext>,
    orders: Vec<Sender<W::Order>>,
    answers: Receiver<(usize, Result<W::Answer, CommError>)>,
    inboxes: Vec<Sender<Packet>>,
    ledger: Arc<Ledger>,
    threads: Vec<JoinHandle<()>>,
}

impl<W: Worker> WorkerPool<W> {
    /// One worker for each context, made by `make` on its own thread. Nothing is waited for longer than `timeout`.
    pub fn start(
        id: DeviceId,
        contexts: Vec<WorkerContext>,
        timeout: Duration,
        make: impl Fn(WorkerSpec) -> Result<W, CommError> + Clone + Send + 'static,
    ) -> Result<Self, LabError> {
        let (endpoints, ledger, inboxes) = endpoints(contexts.len(), timeout);
        let (answer, answers) = mpsc::channel();
        let mut pool = Self {
            id,
            orders: Vec::with_capacity(contexts.len()),
            answers,
            inboxes,
            ledger,
            threads: Vec::with_capacity(contexts.len()),
            contexts: Vec::new(),
        };
        for (endpoint, context) in endpoints.into_iter().zip(&contexts) {
            let (order, orders) = mpsc::channel();
            let spec = WorkerSpec {
                rank: endpoint.rank(),
                workers: endpoint.workers(),
                device: context.device.clone(),
            };
            let (make, answer) = (make.clone(), answer.clone());
            let thread = thread::Builder::new()
                .name(format!("{THREAD}{}", spec.rank))
                .spawn(device::fused::inherited(move || {
                    work(&make, spec, endpoint, &orders, &answer);
                }))
                .map_err(|error| LabError::Failed {
                    device: id,
                    reason: format!(
                        "no thread could be started for worker {} of {}: {error}; take fewer workers",
                        pool.threads.len(),
                        contexts.len()
                    ),
                })?;
            pool.orders.push(order);
            pool.threads.push(thread);
        }
        pool.contexts = contexts;
        Ok(pool)
    }

    pub fn workers(&self) -> usize {
        self.orders.len()
    }

    /// The devices of the first `workers` workers: the metric `worker_devices`.
    pub fn devices(&self, workers: usize) -> String {
        let contexts = self.contexts.iter().take(workers);
        device::workers::describe_places(contexts.map(|context| context.place.as_str()))
    }

    /// From now on nothing is waited for longer than this, by the lab's thread as by the workers.
    pub fn set_timeout(&self, timeout: Duration) {
        self.ledger.set_timeout(timeout);
    }

    pub fn traffic(&self) -> Traffic {
        self.ledger.take()
    }

    /// Gives each worker its order, by rank, and collects their answers, by rank. `interrupted` is asked now and then
    /// whether the run was ended from outside. `step` is for messages.
    pub fn act(
        &mut self,
        step: u64,
        orders: impl IntoIterator<Item = W::Order>,
        mut interrupted: impl FnMut() -> bool,
    ) -> Result<Vec<W::Answer>, StepError> {
        for (sender, order) in self.orders.iter().zip(orders) {
            // A worker that has ended said why, or is found missing below.
            let _ = sender.send(order);
        }
        let begun = Instant::now();
        let mut found: Vec<Option<W::Answer>> = (0..self.workers()).map(|_| None).collect();
        while found.iter().any(Option::is_none) {
            if interrupted() {
                self.abort();
                return Err(StepError::Stopped);
            }
            match self.answers.recv_timeout(POLL_INTERVAL) {
                Ok((rank, Ok(answer))) => {
                    self.ledger.set(rank, Activity::Nothing);
                    found[rank] = Some(answer);
                }
                Ok((rank, Err(error))) => {
                    return Err(self.failure(step, &found, vec![(rank, error)]).into());
                }
                Err(RecvTimeoutError::Timeout) if begun.elapsed() < self.ledger.timeout() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(self.failure(step, &found, Vec::new()).into());
                }
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    fn failure(
        &self,
        step: u64,
        found: &[Option<W::Answer>],
        mut errors: Vec<(usize, CommError)>,
    ) -> LabError {
        let missing = found.iter().position(Option::is_none);
        // As they were before they heard of the end.
        let doing = (0..self.workers()).map(|rank| self.ledger.doing(rank)).collect();
        self.abort();
        let begun = Instant::now();
        while let Ok((rank, answer)) =
            self.answers.recv_timeout(GRACE.saturating_sub(begun.elapsed()))
        {
            if let Err(error) = answer {
                errors.push((rank, error));
            }
        }
        let failure = FailureReport { step, waited: self.ledger.timeout(), missing, errors, doing };
        let name = |rank: usize| format!("worker {rank} ({})", self.contexts[rank].place);
        let reason = failure.sentence(name);
        LabError::Failed { device: self.id, reason }
    }

    fn abort(&self) {
        for inbox in &self.inboxes {
            let _ = inbox.send(Packet::Abort);
        }
    }
}

impl<W: Worker> Drop for WorkerPool<W> {
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

fn work<W: Worker>(
    make: &impl Fn(WorkerSpec) -> Result<W, CommError>,
    spec: WorkerSpec,
    mut endpoint: Endpoint,
    orders: &Receiver<W::Order>,
    answers: &Sender<(usize, Result<W::Answer, CommError>)>,
) {
    let rank = spec.rank;
    endpoint.doing("building its model");
    let mut worker = match guarded(|| make(spec)) {
        Ok(worker) => worker,
        Err(error) => {
            let _ = answers.send((rank, Err(error)));
            return;
        }
    };
    while let Ok(order) = orders.recv() {
        let answer = guarded(|| worker.act(order, &mut endpoint));
        let ends = answer.is_err();
        // If the channel is closed, the run has ended.
        if answers.send((rank, answer)).is_err() || ends {
            return;
        }
    }
}

fn guarded<T>(call: impl FnOnce() -> Result<T, CommError>) -> Result<T, CommError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|payload| Err(broke_off(payload.as_ref())))
}

fn broke_off(payload: &(dyn Any + Send)) -> CommError {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied());
    let line = text.and_then(|text| text.lines().map(str::trim).find(|line| !line.is_empty()));
    CommError::Failed(format!("broke off: {}", line.unwrap_or("it gave no reason")))
}
