//! A run from opening the device to the last report.

use std::time::Instant;

use burn::tensor::{Device, Tensor};
use mlsys_lab::control::Turn;
use mlsys_lab::report::{Change, Moment, Report};
use mlsys_lab::{DeviceId, LabError, Params, Run, Value};

use super::clock::{Phase, StepTimes};
use super::evaluate::EvaluationSet;
use super::measure::{Norms, StepNorms};
use super::pictures::Pictures;
use super::setup::{Knobs, Setup, Timing};
use super::trainer::{Measuring, Trainer};
use crate::data::{self, Batches, Data, DataConfig};
use crate::device;
use crate::nets::Architecture;

/// Runs the lab: opens the device, trains, reports.
pub(super) fn run(run: &mut Run<'_>) -> Result<(), LabError> {
    let mut session = Session::open(run)?;
    session.report_sizes(run);
    session.draw(run, Moment::Final);
    while session.divergence.is_none() && session.step < session.knobs.steps {
        match run.control.turn(session.step) {
            Turn::Go(changes) => {
                session.apply(run, changes)?;
                session.advance(run);
            }
            Turn::Redraw(changes) => {
                session.apply(run, changes)?;
                session.draw(run, Moment::Running);
            }
            Turn::Stop(_) => break,
        }
    }
    session.finish(run)
}

struct Session {
    id: DeviceId,
    /// Without autodiff.
    device: Device,
    architecture: Architecture,
    config: DataConfig,
    data: Data,
    judged: Judged,
    trainer: Trainer,
    layers: Vec<usize>,
    knobs: Knobs,
    params: Params,
    pictures: Pictures,
    started: Instant,
    times: StepTimes,
    /// On an asynchronous device: since when, with the device idle then, steps have not been timed.
    untimed: Option<Instant>,
    /// Losses not yet read from the device, with their steps.
    unread: Vec<(u64, Tensor<1>)>,
    /// A loss above this is a divergence.
    ceiling: Option<f64>,
    divergence: Option<&'static str>,
    /// Steps done.
    step: u64,
    samples_seen: u64,
    evaluated: u64,
    recorded: u64,
    peak_memory: Option<u64>,
}

/// The examples that evaluations use, on the device.
struct Judged {
    held_out: EvaluationSet,
    /// Points are few: there accuracy is that on the training set. None for images.
    train: Option<EvaluationSet>,
}

/// On an asynchronous device, losses are read after this many steps at the latest.
const MOST_UNREAD: usize = 100;

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, LabError> {
        let started = Instant::now();
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        if let Some(free) = device::free_memory(run.device) {
            let reason = must_fit(&setup.architecture, &knobs, free);
            reason.map_err(|reason| LabError::Failed { device: run.device, reason })?;
        }
        let data = load(&setup.data)?;

        run.sink.report(Report::Status("opening the device".to_owned()));
        let device = device::open(run.device)?;
        let training = device.clone().autodiff();
        let network = setup.architecture.init(setup.initialization, setup.seed, &training);
        let batches = Batches::new(setup.seed, data.train.len());
        let trainer = Trainer::new(network, &knobs, batches, training);
        let status = if device::is_asynchronous(run.device) { "compiling kernels" } else { "" };
        run.sink.report(Report::Status(status.to_owned()));

        Ok(Self {
            id: run.device,
            judged: Judged::new(&setup.data, &data, &device),
            layers: trainer.layers(),
            pictures: Pictures::new(&setup.data, &data, &device),
            architecture: setup.architecture,
            config: setup.data,
            device,
            data,
            trainer,
            knobs,
            params: run.params.clone(),
            started,
            times: StepTimes::default(),
            untimed: None,
            unread: Vec::new(),
            ceiling: None,
            divergence: None,
            step: 0,
            samples_seen: 0,
            evaluated: 0,
            recorded: 0,
            peak_memory: None,
        })
    }

    /// Turns the knobs; they take effect with the next step.
    fn apply(&mut self, run: &mut Run<'_>, changes: Vec<(String, Value)>) -> Result<(), LabError> {
        if changes.is_empty() {
            return Ok(());
        }
        for (name, value) in changes {
            self.params.change(&name, value.clone());
            run.sink.report(Report::Change(Change { step: self.step, name, value }));
        }
        let before = std::mem::replace(&mut self.knobs, Knobs::read(&self.params)?);
        if (before.noise, before.jitter) != (self.knobs.noise, self.knobs.jitter) {
            self.config = DataConfig { noise: self.knobs.noise, jitter: self.knobs.jitter, ..self.config.clone() };
            self.data = load(&self.config)?;
            self.judged = Judged::new(&self.config, &self.data, &self.device);
            self.pictures = Pictures::new(&self.config, &self.data, &self.device);
        }
        if before.rule != self.knobs.rule {
            self.trainer.reset_optimizer(&self.knobs);
        }
        if (before.batch_size, before.timing) != (self.knobs.batch_size, self.knobs.timing) {
            self.times.clear();
        }
        self.report_sizes(run);
        Ok(())
    }

    /// One step with everything that is due after it.
    fn advance(&mut self, run: &mut Run<'_>) {
        let step = self.step + 1;
        let is_due = |every: u64| step == 1 || step.is_multiple_of(every) || step == self.knobs.steps;
        let (record, evaluate) = (is_due(self.knobs.record_every), is_due(self.knobs.evaluate_every));
        let measuring = if record { Measuring::Norms } else { Measuring::Nothing };

        let since = *self.untimed.get_or_insert_with(Instant::now);
        let done = self.trainer.step(&self.data.train, &self.knobs, measuring);
        self.step = step;
        self.samples_seen += self.knobs.batch_size as u64;
        self.unread.push((step, done.loss));

        match (device::is_asynchronous(self.id), self.knobs.timing) {
            (false, _) | (true, Timing::Phases) => {
                self.read_losses(run);
                self.times.push_phases(done.phases);
            }
            // Reading waits for the device, and waiting every step would keep it idle in between.
            (true, Timing::Steps) if record || evaluate || self.unread.len() >= MOST_UNREAD => {
                let steps = self.unread.len();
                self.read_losses(run);
                self.times.push_together(since.elapsed().as_secs_f64(), steps);
                self.untimed = None;
            }
            (true, Timing::Steps) => {}
        }
        if let Some(norms) = done.norms {
            self.record(run, norms);
        }
        if evaluate && self.divergence.is_none() {
            self.evaluate(run);
        }
        self.draw(run, Moment::Running);
    }

    /// Reads and reports the losses that are still on the device.
    fn read_losses(&mut self, run: &mut Run<'_>) {
        let (steps, losses): (Vec<u64>, Vec<Tensor<1>>) = self.unread.drain(..).unzip();
        if steps.is_empty() {
            return;
        }
        let losses: Vec<f64> = Tensor::cat(losses, 0).into_data().iter::<f64>().collect();
        if steps.contains(&1) && device::is_asynchronous(self.id) {
            run.sink.report(Report::Status(String::new()));
        }
        for (step, loss) in steps.into_iter().zip(losses) {
            point(run, "loss", step, loss);
            // A lucky first batch must not make an ordinary loss look like a divergence: count from what
            // guessing costs, if that is more.
            let guessing = (self.config.dataset.classes() as f64).ln();
            let ceiling = *self.ceiling.get_or_insert(10.0 * loss.max(guessing));
            if !loss.is_finite() {
                self.diverge(run, step, "the loss is no longer a finite number");
            } else if loss > ceiling {
                self.diverge(run, step, "the loss is more than ten times what it was at the start");
            }
        }
    }

    fn diverge(&mut self, run: &mut Run<'_>, step: u64, what: &'static str) {
        if self.divergence.is_none() {
            self.divergence = Some(what);
            let rate = self.knobs.update.learning_rate;
            let reason = format!(
                "{what}: at learning rate {} each update overshoots and the next gradient is larger still; \
                 a smaller rate, or gradient_clip, keeps the steps short",
                mlsys_lab::value::number(rate),
            );
            run.sink.report(Report::Diverged { step, reason });
        }
    }

    /// Reports every series that has a value each `record_every` steps.
    fn record(&mut self, run: &mut Run<'_>, norms: StepNorms) {
        let step = self.step;
        self.recorded = step;
        let Norms { gradient_of_layer, gradient, weights, update, change } = norms.read(&self.layers);
        point(run, "gradient_norm", step, gradient);
        for (index, norm) in gradient_of_layer.into_iter().enumerate() {
            point(run, &format!("gradient_norm.layer{}", index + 1), step, norm);
        }
        if weights > 0.0 {
            point(run, "update_ratio", step, update / weights);
        }
        point(run, "weight_change", step, change);
        if !(weights.is_finite() && update.is_finite()) {
            self.diverge(run, step, "a weight is no longer a finite number");
        }
        self.report_progress(run);
    }

    /// Reports what is known at any step.
    fn report_progress(&mut self, run: &mut Run<'_>) {
        let step = self.step;
        point(run, "samples_seen", step, self.samples_seen as f64);
        point(run, "epochs", step, self.samples_seen as f64 / self.data.train.len() as f64);
        if let Some(seconds) = self.times.seconds_per_step() {
            point(run, "seconds_per_step", step, seconds);
            point(run, "samples_per_second", step, self.knobs.batch_size as f64 / seconds);
            point(run, "flops_per_second", step, self.flops_per_step() as f64 / seconds);
        }
        if self.knobs.timing == Timing::Phases {
            for phase in Phase::ALL {
                if let Some(seconds) = self.times.seconds_of(phase) {
                    run.scalar(phase.metric(), seconds);
                }
            }
        }
        if let Some(bytes) = device::memory_in_use(&self.device) {
            let peak = self.peak_memory.map_or(bytes, |peak| peak.max(bytes));
            self.peak_memory = Some(peak);
            run.scalar("peak_memory_bytes", peak as i64);
        }
    }

    fn evaluate(&mut self, run: &mut Run<'_>) {
        self.evaluated = self.step;
        let network = self.trainer.network();
        let held_out = self.judged.held_out.judge(&network, self.knobs.activation);
        let accuracy = match &self.judged.train {
            Some(train) => train.judge(&network, self.knobs.activation).accuracy,
            None => held_out.accuracy,
        };
        point(run, "validation_loss", self.step, held_out.loss);
        point(run, "accuracy", self.step, accuracy);
    }

    /// Offers a picture to every panel that has one.
    fn draw(&mut self, run: &mut Run<'_>, moment: Moment) {
        if self.divergence.is_none() {
            let step = self.step;
            self.pictures.offer(run.sink, moment, step, self.knobs.activation, || self.trainer.network());
        }
        run.sink.frames_done();
    }

    /// Reports the sizes that follow from the knobs.
    fn report_sizes(&self, run: &mut Run<'_>) {
        const BYTES: u64 = 4;
        let parameters = self.architecture.parameters();
        let kept = self.architecture.kept_numbers(self.knobs.activation, self.knobs.batch_size as u64);
        for (name, count) in [
            ("parameters", parameters),
            ("flops_per_step", self.flops_per_step()),
            ("weight_bytes", BYTES * parameters),
            ("gradient_bytes", BYTES * parameters),
            ("optimizer_bytes", BYTES * parameters * self.knobs.rule.moments()),
            ("activation_bytes", BYTES * kept),
        ] {
            run.scalar(name, count as i64);
        }
    }

    fn flops_per_step(&self) -> u64 {
        let batch = self.knobs.batch_size as u64;
        self.architecture.forward_flops(batch) + self.architecture.backward_flops(batch)
    }

    /// The last values and pictures of a run, however it ended.
    fn finish(mut self, run: &mut Run<'_>) -> Result<(), LabError> {
        self.read_losses(run);
        device::sync(&self.device, self.id)?;
        if self.divergence.is_none() && self.step > 0 {
            if self.recorded < self.step {
                let change = self.trainer.weight_change();
                point(run, "weight_change", self.step, change);
                self.report_progress(run);
            }
            if self.evaluated < self.step {
                self.evaluate(run);
            }
        }
        self.draw(run, Moment::Final);
        run.scalar("steps_done", self.step as i64);
        run.scalar("diverged", self.divergence.is_some());
        run.scalar("wall_seconds", self.started.elapsed().as_secs_f64());
        Ok(())
    }
}

impl Judged {
    fn new(config: &DataConfig, data: &Data, device: &Device) -> Self {
        Self {
            held_out: EvaluationSet::new(&data.held_out, device),
            train: config.dataset.is_points().then(|| EvaluationSet::new(&data.train, device)),
        }
    }
}

fn point(run: &mut Run<'_>, name: &str, step: u64, value: f64) {
    run.sink.report(Report::Point { name: name.into(), step, value });
}

fn load(config: &DataConfig) -> Result<Data, LabError> {
    data::load(config).map_err(|error| LabError::Data(error.to_string()))
}

/// Refuses a network that the device's memory cannot hold, before the system ends the program for it.
fn must_fit(architecture: &Architecture, knobs: &Knobs, free: u64) -> Result<(), String> {
    // Weights, gradients, the first weights and the next ones, besides the optimizer's moments.
    let copies = 4 + knobs.rule.moments();
    let kept = architecture.kept_numbers(knobs.activation, knobs.batch_size as u64);
    let needed = 4 * (copies * architecture.parameters() + 2 * kept);
    if needed <= free {
        return Ok(());
    }
    Err(format!(
        "training this network takes about {:.1} GB, and {:.1} GB are free; make width, depth or batch_size smaller",
        needed as f64 / 1e9,
        free as f64 / 1e9,
    ))
}
