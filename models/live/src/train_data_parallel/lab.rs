//! Data parallelism: workers that each see a part of every batch and reduce their gradients by real messages, with ZeRO
//! sharding, compression, delayed gradients and local steps.
//!
//! [`worker`] does a step of one worker, [`exchange`] the messages, [`compression`] makes gradients shorter, [`timing`] has
//! the modelled and the measured clock. The comparison is a single worker on the whole batch.

mod compression;
mod exchange;
mod panels;
mod params;
#[cfg(test)]
mod tests;
mod timing;
mod worker;

use std::iter::repeat_n;
use std::sync::Arc;
use std::time::Instant;

use burn::tensor::Device;
use mlsys_device as device;
use mlsys_distributed::reference::{Reference, difference, relative_difference};
use mlsys_distributed::transport::{Flow, Traffic};
use mlsys_distributed::worker_pool::{WorkerContext, WorkerPool, contexts, timeout};
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{LabError, Params, Run};
use mlsys_nn::data::Batches;
use mlsys_nn::divergence::DivergenceCheck;
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::networks::Activation;
use mlsys_nn::train::EvaluationSet;
use mlsys_nn::{divergence, flat_params};
use mlsys_sim::collective::Algorithm;

use self::compression::Compression;
use self::exchange::Whole;
use self::params::{
    Answer, Average, HeldBytes, Kind, Knobs, Scheme, Setup, Task, WorkerOrder, Zero,
};
use self::timing::{Measured, Modelled};
use self::worker::Member;
use crate::stepped::{LiveLab, StepError, SteppedLab, Steps, point};
use crate::{parallel, stepped};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?.reading::<params::Fields>()
}

struct Session {
    /// Without autodiff.
    device: Device,
    setup: Setup,
    knobs: Knobs,
    scheme: Arc<Scheme>,
    modelled: Modelled,
    pool: WorkerPool<Member>,
    reference: Option<Reference>,
    batches: Batches,
    steps: Steps,
    /// Whether all workers have had the same weights whenever they should.
    replicas_identical: bool,
    measured: Measured,
    budget: MemoryBudget,
    /// Whether each worker stepped alone, with an optimizer's state of its own.
    are_apart: bool,
    /// What went over the wires from one sum over all to the next, at the last, and in how many steps.
    sent: Option<(Traffic, u64)>,
    /// The step of that sum.
    sent_at: u64,
    answers: Vec<Answer>,
    /// A few numbers of what each gave into the last sum.
    samples: Vec<Vec<f32>>,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        let budget = MemoryBudget::for_device(run.device);
        let knobs = setup.knobs(&run.params, budget)?;
        let scheme = Arc::new(setup.scheme(&knobs)?);
        run.status("starting the workers");
        let device = device::open(run.device)?;
        // One more where an algorithm asks for a server; it has nothing to do until one does.
        let workers = setup.workers;
        let places = contexts(run, workers + 1)?;
        let limit = timeout(setup.model.flops(knobs.batch as u64) as f64);
        let start = |context: &WorkerContext| {
            Reference::start(run.device, context.clone(), &setup.model, setup.rule, limit)
        };
        let reference = places.first().filter(|_| setup.compare).map(start).transpose()?;
        let (model, rule, zero) = (setup.model.clone(), setup.rule, setup.zero);
        let first = Arc::clone(&scheme);
        let make = move |spec| Member::new(spec, workers, &model, &first, rule, zero);
        let pool = WorkerPool::start(run.device, places, limit, make)?;
        run.scalar("worker_devices", pool.devices(workers));
        run.status("");
        let mut session = Self {
            device,
            modelled: Modelled::new(&setup, &knobs, &scheme),
            batches: Batches::new(setup.model.seed, setup.model.data.train.len()),
            steps: Steps::new([DivergenceCheck::new(setup.model.guessing)]),
            setup,
            knobs,
            scheme,
            pool,
            reference,
            replicas_identical: true,
            measured: Measured::default(),
            budget,
            are_apart: false,
            sent: None,
            sent_at: 0,
            answers: Vec::new(),
            samples: Vec::new(),
        };
        session.report_sizes(run);
        session.draw(run, FrameTrigger::Final)?;
        Ok(session)
    }

    fn average(&self, step: u64) -> Average {
        match self.knobs.synchronize_every {
            0 | 1 => Average::Gradients,
            every if step.is_multiple_of(every) || step == self.knobs.steps => Average::Weights,
            _ => Average::Nothing,
        }
    }

    fn accuracy(&self, weights: &[f32]) -> f64 {
        let network = self.setup.model.architecture.shapes(&self.device);
        let network = flat_params::with_weights(network, weights);
        let held_out = EvaluationSet::new(&self.setup.model.data.held_out, &self.device);
        held_out.judge(&network, Activation::Relu).accuracy
    }

    fn report_sizes(&self, run: &mut Run<'_>) {
        let model = &self.setup.model;
        parallel::report_sizes(run, model, self.knobs.batch);
        let Modelled { compute, communication, step, speedup, .. } = self.modelled;
        parallel::report_clock(run, [compute, communication, step], speedup);
        let bytes =
            self.knobs.compression.bytes(model.parameters() as usize, self.knobs.keep_fraction);
        let ratio = 4.0 * model.parameters() as f64 / bytes as f64;
        run.scalar("compression_ratio", ratio);
        if let Some(notice) = self.notice() {
            run.notice(notice);
        }
    }

    /// Where a knob does not do what its name says.
    fn notice(&self) -> Option<String> {
        let name = self.knobs.algorithm.name();
        if self.knobs.algorithm == Algorithm::Ring {
            None
        } else if self.setup.zero > Zero::Nothing {
            Some(format!(
                "zero_stage {} leaves each worker the sum of its own shard, which a ring does: algorithm {name} plays no part",
                self.setup.zero as u8
            ))
        } else {
            (self.knobs.compression != Compression::None).then(|| {
                format!(
                    "compressed gradients are passed round a ring whole: algorithm {name} plays no part"
                )
            })
        }
    }

    /// The most that a worker sent in a step, averaged over a period between sums; and the messages of the step that sent them.
    fn sent(&self) -> Flow {
        let Some((traffic, steps)) = &self.sent else { return Flow::default() };
        let workers = (0..self.setup.workers).map(|rank| traffic.sent_by(rank));
        workers.fold(Flow::default(), |most, flow| Flow {
            messages: most.messages.max(flow.messages),
            bytes: most.bytes.max(flow.bytes / (*steps).max(1)),
        })
    }

    fn activation_bytes(&self) -> u64 {
        let each = self.knobs.batch / self.setup.workers / self.knobs.pieces;
        self.setup.model.activation_bytes(each as u64)
    }

    fn report_results(&self, run: &mut Run<'_>) {
        if self.steps.done == 0 {
            return;
        }
        let sent = self.sent();
        let most = |held: fn(&HeldBytes) -> u64| {
            let held = self.answers.iter().map(|answer| held(&answer.held));
            held.max().unwrap_or(0)
        };
        let (_, activations) = self.alone();
        for (name, count) in [
            ("bytes_sent_per_worker", sent.bytes),
            ("messages_per_worker", sent.messages),
            ("weight_bytes_per_worker", most(|held| held.weights)),
            ("gradient_bytes_per_worker", most(|held| held.gradient)),
            ("optimizer_bytes_per_worker", most(|held| held.optimizer)),
            ("activation_bytes_per_worker", self.activation_bytes()),
            ("reference_activation_bytes", activations),
        ] {
            run.scalar(name, count as i64);
        }
        run.scalar("replicas_identical", self.replicas_identical);
        if let (Some(many), Some(one)) = (self.measured.workers(), self.measured.one()) {
            run.scalar("measured_speedup", one / many);
        }
        if let Some(one) = self.measured.one() {
            run.scalar("reference_step_seconds", one);
        }
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.steps.done < self.knobs.steps
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        self.setup.knobs(params, self.budget)
    }

    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        self.knobs = knobs;
        self.scheme = Arc::new(self.setup.scheme(&self.knobs)?);
        self.modelled = Modelled::new(&self.setup, &self.knobs, &self.scheme);
        let limit = timeout(self.setup.model.flops(self.knobs.batch as u64) as f64);
        self.pool.set_timeout(limit);
        self.reference.iter().for_each(|one| one.set_timeout(limit));
        self.measured.turn();
        self.report_sizes(run);
        Ok(())
    }

    /// One step of the workers, and of the reference worker. It counts when all have done it.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let step = self.steps.done + 1;
        let average = self.average(step);
        let indices = Arc::new(self.batches.next(self.knobs.batch).to_vec());
        let task = Task {
            indices: Arc::clone(&indices),
            scheme: Arc::clone(&self.scheme),
            average,
            synchronize_first: self.are_apart && average == Average::Gradients,
        };
        let interrupted = || run.control.interrupted();
        let begun = Instant::now();
        let orders = repeat_n(WorkerOrder::Train(task), self.pool.workers());
        self.pool.act(step, orders, interrupted)?;
        let seconds = begun.elapsed().as_secs_f64();
        let rows = self.reference.is_some();
        let orders = repeat_n(WorkerOrder::Report { rows }, self.pool.workers());
        let answers = self.pool.act(step, orders, interrupted)?;
        let alone = match &mut self.reference {
            Some(one) => Some(one.step(step, &indices, self.knobs.rate, interrupted)?),
            None => None,
        };
        self.steps.done = step;
        self.measured.push(seconds, alone.as_ref().map(|alone| alone.seconds));
        point(run, "measured_step_seconds", step, seconds);
        self.are_apart = average != Average::Gradients;
        if average != Average::Nothing {
            // The last period can be cut short by the end: its bytes a step are not those of the others.
            let period = step - self.sent_at;
            if self.sent.is_none() || period >= self.knobs.synchronize_every {
                self.sent = Some((self.pool.traffic(), period));
            }
            self.sent_at = step;
            let digests = || answers.iter().filter_map(|answer| answer.digest);
            let first = digests().next();
            self.replicas_identical &= digests().all(|digest| Some(digest) == first);
            self.samples = answers.iter().map(|answer| answer.samples.clone()).collect();
        }
        let losses: Vec<f64> = answers.iter().filter_map(|answer| answer.loss).collect();
        let loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
        point(run, "loss", step, loss);
        if let Some(alone) = alone {
            point(run, "reference_loss", step, alone.loss);
            if let Some(whole) = Whole::joined(&answers, alone.weights.len()) {
                let gradient = relative_difference(&whole.gradient, &alone.gradient);
                point(run, "max_gradient_difference", step, gradient);
                let weights = difference(&whole.weights, &alone.weights);
                point(run, "max_weight_difference", step, weights);
            }
        }
        let broken = answers.iter().find_map(|answer| answer.broken);
        self.answers = answers;
        let Knobs { delay, rate, .. } = self.knobs;
        self.steps.judge(run, &[loss], broken, |what| {
            let reason = divergence::at_rate(what, rate);
            if delay == 0 {
                return reason;
            }
            format!("{reason}, and gradients that are {delay} steps late bear less still")
        });
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        let at = (self.steps.done, moment);
        stepped::draw(run, at, &panels::ALL, |_, picture| picture(self));
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        self.report_results(run);
        if self.setup.task == Kind::Digits
            && self.steps.done > 0
            && self.steps.divergence().is_none()
        {
            // The weights that all workers have together: their mean where they differ.
            let orders = repeat_n(WorkerOrder::Report { rows: true }, self.pool.workers());
            match self.pool.act(self.steps.done, orders, || run.control.interrupted()) {
                Ok(answers) => {
                    let parameters = self.setup.model.parameters() as usize;
                    if let Some(whole) = Whole::joined(&answers, parameters) {
                        run.scalar("accuracy", self.accuracy(&whole.weights));
                    }
                }
                // After a step that was cut short the workers take no orders.
                Err(StepError::Stopped) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
