//! Pipeline parallelism: consecutive blocks of a transformer on different workers, microbatch by microbatch.
//!
//! `mlsys_sim::pipeline` defines the order of operations of each stage; [`stage`] carries out the same lists on threads, and
//! [`clock`] plays them with modelled times, so that the drawing and the run cannot differ. For the backward pass a stage
//! saves a microbatch in one of three forms ([`saved_forward`]): burn's tape, cut at the stage's boundaries; the tensors that our own
//! formulas need ([`stage_model`]), where the backward pass runs in two halves or with other weights than the forward pass, whose
//! versions a tape would keep alive; or the input alone, to run forward again.

mod clock;
mod panels;
mod params;
mod saved_forward;
mod stage;
mod stage_model;
#[cfg(test)]
mod tests;

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use mlsys_device as device;
use mlsys_distributed::model::Model;
use mlsys_distributed::reference::{self, Reference};
use mlsys_distributed::transport::Traffic;
use mlsys_distributed::worker_pool::{WorkerContext, WorkerPool, contexts, timeout};
use mlsys_lab::report::{FrameTrigger, Report, Sink};
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{LabError, Params, Run, Value};
use mlsys_nn::divergence::{self, DivergenceCheck};
use mlsys_nn::networks::{Activation, Architecture, TransformerConfig};
use mlsys_sim::pipeline::PipelineRun;

use self::clock::Modelled;
use self::panels::Memory;
use self::params::{Clock, Knobs, Microbatches, Setup};
use self::stage::{Answer, Diary, Rows, Stage, StageOrder};
use crate::stepped::{LiveLab, StepError, SteppedLab, Steps, point};
use crate::{parallel, stepped};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?
        .reading::<params::Fields>()?
        .reading::<Knobs>()
}

/// While a step goes on, its timeline is drawn so often.
const POLL_INTERVAL: Duration = Duration::from_millis(150);

struct Session {
    setup: Arc<Setup>,
    model: Model,
    knobs: Knobs,
    pool: WorkerPool<Stage>,
    reference: Option<Reference>,
    batches: Microbatches,
    modelled: Modelled,
    steps: Steps,
    measured: PipelineRun,
    diary: Diary,
    idle: f64,
    /// The last step's answers, without their rows.
    answers: Vec<Answer>,
    traffic: Option<Traffic>,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Arc::new(Setup::read(&run.params)?);
        let knobs = Knobs::read(&run.params)?;
        let model = Model::transformer(setup.config.clone(), setup.seed)?;
        let flops = model.flops(setup.batch() as u64);
        let modelled = Modelled::new(&setup, flops, &knobs)?;
        params::must_fit(run.device, &setup, &model)?;
        run.status("opening the device");
        let device = device::open(run.device)?;
        let limit = timeout(flops as f64);
        let diary = Diary::default();
        let make = {
            let (setup, model, diary) = (Arc::clone(&setup), model.clone(), Arc::clone(&diary));
            move |spec| Stage::new(Arc::clone(&setup), &model, spec, Arc::clone(&diary))
        };
        let contexts = contexts(run, setup.stages)?;
        let pool = WorkerPool::start(run.device, contexts, limit, make)?;
        run.scalar("worker_devices", pool.devices(setup.stages));
        let start = |device| {
            let context = WorkerContext { device, place: run.device.to_string() };
            Reference::start(run.device, context, &model, setup.rule, limit)
        };
        let reference = setup.compare.then(|| start(device)).transpose()?;
        run.status("");
        let mut session = Self {
            batches: Microbatches::new(&setup, model.data.train.len()),
            steps: Steps::new([match setup.is_asynchronous() {
                true => DivergenceCheck::from_guessing(model.guessing),
                false => DivergenceCheck::new(model.guessing),
            }]),
            measured: PipelineRun::default(),
            setup,
            model,
            knobs,
            pool,
            reference,
            modelled,
            diary,
            idle: 0.0,
            answers: Vec::new(),
            traffic: None,
        };
        parallel::report_sizes(run, &session.model, session.setup.batch());
        session.report_model(run);
        session.draw(run, FrameTrigger::Running)?;
        Ok(session)
    }

    /// What all stages hold of something, in the order of the model; it is taken out of their answers.
    fn joined(&self, answers: &mut [Answer], rows: fn(&mut Answer) -> &mut Rows) -> Vec<f32> {
        let mut joined = Vec::new();
        for chunk in 0..self.setup.chunks {
            for answer in answers.iter_mut() {
                if let Some(own) = rows(answer).get_mut(chunk) {
                    joined.append(own);
                }
            }
        }
        joined
    }

    fn compare(
        &mut self,
        run: &mut Run<'_>,
        microbatches: &[Vec<usize>],
        [gradients, weights]: [&[f32]; 2],
    ) -> Result<(), StepError> {
        let Some(reference) = &mut self.reference else { return Ok(()) };
        let own = microbatches.get(..self.setup.microbatches).unwrap_or(microbatches);
        let (rate, control) = (self.knobs.learning_rate, &run.control);
        // One that is as often updated, but always on the newest weights, shows what delay alone does.
        let pieces: Vec<Vec<usize>> =
            if self.setup.is_asynchronous() { own.to_vec() } else { vec![own.concat()] };
        let (mut loss, mut seconds) = (0.0, 0.0);
        let mut last = None;
        for piece in &pieces {
            let step = reference.step(self.steps.done, piece, rate, || control.interrupted())?;
            loss += step.loss / pieces.len() as f64;
            seconds += step.seconds;
            last = Some(step);
        }
        let Some(alone) = last else { return Ok(()) };
        point(run, "reference_step_seconds", self.steps.done, seconds);
        point(run, "reference_loss", self.steps.done, loss);
        if !self.setup.is_asynchronous() {
            let far = reference::relative_difference(gradients, &alone.gradient);
            point(run, "max_gradient_difference", self.steps.done, far);
        }
        let far = reference::difference(weights, &alone.weights);
        point(run, "max_weight_difference", self.steps.done, far);
        Ok(())
    }

    fn shown(&self) -> Option<&PipelineRun> {
        match self.knobs.clock {
            Clock::Modelled => Some(&self.modelled.played),
            Clock::Measured => (self.steps.done > 0).then_some(&self.measured),
        }
    }

    fn report_model(&self, run: &mut Run<'_>) {
        let modelled = &self.modelled;
        run.scalar("bubble_fraction", modelled.bubble_fraction);
        run.scalar("step_seconds", modelled.step_seconds);
        run.scalar("compute_seconds", modelled.compute_seconds);
        let alone = self.setup.stages as f64 * modelled.compute_seconds;
        run.scalar("speedup", alone / modelled.step_seconds);
    }

    /// Whether the pipeline is in its steady state: from here on each microbatch has the same staleness on every stage.
    fn is_steady(&self) -> bool {
        let done = self.steps.done * self.setup.microbatches as u64;
        !self.setup.is_asynchronous() || done >= self.setup.stages as u64
    }

    fn report_counts(&self, run: &mut Run<'_>) {
        if self.is_steady() {
            let staleness = self.answers.iter().map(|answer| Value::Int(answer.staleness as i64));
            run.scalar("staleness", Value::Array(staleness.collect()));
        }
        let peaks = (0..self.answers.len()).map(|stage| Value::Float(self.peak(stage)));
        run.scalar("peak_activations", Value::Array(peaks.collect()));
        // A pipeline that never drains is filled within its first step, which no later one has to do.
        let fills = self.setup.is_asynchronous() && self.steps.done == 1 && self.setup.stages > 1;
        if let Some(traffic) = self.traffic.as_ref().filter(|_| !fills) {
            let most = traffic.most_sent();
            run.scalar("bytes_sent_per_worker", most.bytes as i64);
            run.scalar("messages_per_worker", most.messages as i64);
            let stages = traffic.workers();
            let pairs = (0..stages).flat_map(|a| (a + 1..stages).map(move |b| (a, b)));
            let bytes = pairs.map(|(a, b)| traffic.flow(a, b).bytes + traffic.flow(b, a).bytes);
            run.scalar("bytes_per_boundary", bytes.max().unwrap_or(0) as i64);
        }
        let (stages, alone) = self.memory();
        let most = |bytes: fn(&Memory) -> u64| stages.iter().map(bytes).max().unwrap_or(0) as i64;
        run.scalar("reference_activation_bytes", alone.activations as i64);
        run.scalar("weight_bytes_per_worker", most(|of| of.weights + of.stashed));
        run.scalar("activation_bytes_per_worker", most(|of| of.activations));
        if self.setup.schedule.splits_backward() {
            run.scalar("waiting_weight_bytes", most(|of| of.waiting));
        }
    }

    fn peak(&self, stage: usize) -> f64 {
        let peak = self.answers.get(stage).map_or(0, |answer| answer.peak);
        peak as f64 / self.setup.chunks as f64
    }

    fn memory(&self) -> (Vec<Memory>, Memory) {
        let setup = &self.setup;
        let depth = setup.config.depth / (setup.stages * setup.chunks);
        let sequences = setup.sequences as u64;
        let kept = |depth| BYTES * self.of_depth(depth).kept_numbers(Activation::Relu, sequences);
        // What follows the blocks is kept on the last stage alone.
        let end = kept(0);
        let blocks = kept(depth) - end;
        let of = |stage: usize| {
            let answer = self.answers.get(stage);
            let weights = BYTES * self.weights_of(stage);
            let versions = answer.map_or(1, |answer| answer.versions).max(1) as u64;
            let end = if stage + 1 == setup.stages { end } else { 0 };
            let whole = setup.chunks as u64 * blocks + end;
            let peak = self.peak(stage);
            let activations = if setup.recompute {
                let numbers = if stage == 0 {
                    setup.sequences * setup.config.context
                } else {
                    setup.numbers()
                };
                let input = (BYTES * numbers as u64) as f64;
                (peak * setup.chunks as f64 * input).round() as u64 + blocks + end
            } else {
                (peak * whole as f64).round() as u64
            };
            Memory {
                weights,
                stashed: weights * (versions - 1),
                activations,
                waiting: BYTES * answer.map_or(0, |answer| answer.waiting) as u64,
                peak,
            }
        };
        let stages = (0..setup.stages).map(of).collect();
        let alone = Memory {
            weights: BYTES * self.model.parameters(),
            stashed: 0,
            activations: self.model.activation_bytes(setup.batch() as u64),
            waiting: 0,
            peak: setup.microbatches as f64,
        };
        (stages, alone)
    }

    fn of_depth(&self, depth: usize) -> Architecture {
        Architecture::Transformer(TransformerConfig { depth, ..self.setup.config.clone() })
    }

    fn weights_of(&self, stage: usize) -> u64 {
        let config = &self.setup.config;
        let (table, norm) = ((config.vocab * config.width) as u64, config.width as u64);
        let blocks = self.model.parameters() - self.of_depth(0).parameters();
        let mut own = blocks / self.setup.stages as u64;
        if stage == 0 {
            own += table;
        }
        if stage + 1 == self.setup.stages {
            own += table + norm;
        }
        own
    }
}

impl SteppedLab for Session {
    type Knobs = (Modelled, Knobs);

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.steps.done < self.knobs.steps
    }

    fn read(&self, params: &Params) -> Result<Self::Knobs, LabError> {
        let knobs = Knobs::read(params)?;
        let flops = self.model.flops(self.setup.batch() as u64);
        Ok((Modelled::new(&self.setup, flops, &knobs)?, knobs))
    }

    fn turn(&mut self, run: &mut Run<'_>, turned: Self::Knobs) -> Result<(), StepError> {
        (self.modelled, self.knobs) = turned;
        self.report_model(run);
        Ok(())
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let begun = Instant::now();
        let examples = Arc::new(self.batches.of_step(self.steps.done));
        let orders: Vec<StageOrder> = (0..self.setup.stages)
            .map(|stage| StageOrder {
                operations: self.setup.operations(stage, self.steps.done),
                examples: Arc::clone(&examples),
                rate: self.knobs.learning_rate,
                with_rows: self.reference.is_some(),
                begun,
            })
            .collect();
        *self.diary.lock().unwrap_or_else(PoisonError::into_inner) =
            vec![Vec::new(); self.setup.stages];
        let (setup, diary, clock) = (&self.setup, &self.diary, self.knobs.clock);
        let (step, mut drawn) = (self.steps.done + 1, begun);
        let glance = || {
            if clock == Clock::Measured && drawn.elapsed() >= POLL_INTERVAL {
                drawn = Instant::now();
                draw_unfinished(run.sink, step, setup, diary);
            }
            run.control.interrupted()
        };
        let mut answers = self.pool.act(step, orders, glance)?;
        let seconds = begun.elapsed().as_secs_f64();
        self.traffic = Some(self.pool.traffic());
        self.steps.done += 1;
        let losses: Vec<f64> = answers.iter().flat_map(|a| &a.losses).copied().collect();
        let loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
        self.measured = PipelineRun {
            stages: answers.iter_mut().map(|answer| std::mem::take(&mut answer.slots)).collect(),
            transfers: Vec::new(),
        };
        self.idle += idle_share(&self.measured);
        point(run, "loss", self.steps.done, loss);
        point(run, "measured_step_seconds", self.steps.done, seconds);
        let gradients = self.joined(&mut answers, |answer| &mut answer.gradients);
        let weights = self.joined(&mut answers, |answer| &mut answer.weights);
        self.answers = answers;
        self.report_counts(run);
        // A run that is stopped while the one worker computes has its counts.
        self.compare(run, &examples.1, [&gradients, &weights])?;
        let broken = self.answers.iter().find_map(|answer| answer.broken);
        let (rate, late) = (self.knobs.learning_rate, self.setup.is_asynchronous());
        self.steps.judge(run, &[loss], broken, |what| {
            let delay =
                if late { ", and gradients that come updates late bear less still" } else { "" };
            format!("{}{delay}", divergence::at_rate(what, rate))
        });
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        let at = (self.steps.done, moment);
        stepped::draw(run, at, &panels::ALL, |_, picture| picture(self));
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        if self.steps.done > 0 {
            let idle = self.idle / self.steps.done as f64;
            run.scalar("measured_bubble_fraction", idle);
        }
        Ok(())
    }
}

/// The timeline of a step that goes on, if it is wanted. The request stays open: the step's end draws its other panels.
fn draw_unfinished(sink: &mut dyn Sink, step: u64, setup: &Setup, diary: &Diary) {
    let stages = diary.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let has_begun = stages.iter().any(|slots| !slots.is_empty());
    if has_begun && sink.wants_frame("timeline", FrameTrigger::Running) {
        let played = PipelineRun { stages, transfers: Vec::new() };
        let frame = Box::new(panels::timeline(setup, Clock::Measured, &played));
        sink.report(Report::Frame { panel: "timeline".into(), step, frame });
    }
}

/// What share of the stages' time nothing was done, from the beginning of the step to its last operation's end.
fn idle_share(played: &PipelineRun) -> f64 {
    let stages = played.stages.len();
    let busy: f64 = (0..stages).map(|stage| played.busy(stage)).sum();
    let whole = stages as f64 * played.makespan();
    if whole > 0.0 { 1.0 - busy / whole } else { 0.0 }
}

/// Bytes of an f32 number, and of a token's number.
const BYTES: u64 = 4;
