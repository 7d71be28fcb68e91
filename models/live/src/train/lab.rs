//! Trains a network: the same five-line training loop in the first lesson and the last.

mod panels;
mod params;
mod report;
#[cfg(test)]
mod tests;
mod text_panels;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use burn::tensor::{Device, Tensor};
use mlsys_device as device;
use mlsys_lab::report::{FrameTrigger, Report};
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{DeviceId, LabError, Params, Run, median};
use mlsys_nn::baseline::Trained;
use mlsys_nn::data::{Answers, Batches, Data, DataConfig};
use mlsys_nn::divergence::DivergenceCheck;
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::networks::Architecture;
use mlsys_nn::train::clock::StepTimes;
use mlsys_nn::train::evaluate::EvaluationSet;
use mlsys_nn::train::trainer::{Measuring, Trainer};
use mlsys_nn::train::{Activations, Knobs, Timing, data_error, training_bytes};
use mlsys_nn::{data, flat_params, weights};

use self::panels::Pictures;
pub(crate) use self::panels::{confusion, judged_image};
use self::params::Fields;
use crate::stepped::{LiveLab, StepError, SteppedLab, Steps, known, point};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?.reading::<Fields>()
}

/// A wait for the next order longer than this was a pause.
const PAUSE: Duration = Duration::from_millis(1);

/// Recorded steps at which memory is measured until a knob is turned: it stays the same, and asking for it takes long.
const MEMORY_MEASUREMENTS: usize = 5;

/// On an asynchronous device, losses are read after this many steps at the latest.
const MOST_UNREAD: usize = 100;

struct Session {
    id: DeviceId,
    /// Without autodiff.
    device: Device,
    architecture: Architecture,
    config: DataConfig,
    data: Data,
    judged: EvaluationData,
    trainer: Trainer,
    layers: Vec<usize>,
    knobs: Knobs,
    pictures: Pictures,
    times: StepTimes,
    /// When the last step, or the pictures after it, were done.
    left: Instant,
    /// Losses on their way from the device, `[1]` each, with their steps.
    unread: Vec<(u64, Tensor<1>)>,
    steps: Steps,
    samples_seen: u64,
    evaluated: u64,
    recorded: u64,
    /// Bytes in use when the run began.
    found: u64,
    /// Most bytes that a step held beyond them.
    most: u64,
    /// What steps since the last turn of a knob kept for the backward pass.
    kept: Vec<u64>,
    peak: Option<f64>,
    save_to: Option<PathBuf>,
}

struct EvaluationData {
    held_out: EvaluationSet,
    /// Points are few: there accuracy is that on the training set. None for images.
    train: Option<EvaluationSet>,
    /// Which held-out labels make up the answer of a sum.
    answers: Answers,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let fields: Fields = run.params.read()?;
        fields.check_file()?;
        let config = fields.data();
        let (activations, knobs) = (fields.activations()?, fields.knobs());
        let architecture = fields.architecture(&config)?;
        let needed = training_bytes(&architecture, activations, &knobs);
        let smaller = params::smaller(&architecture);
        let what = "weights, gradients and activations of training";
        MemoryBudget::for_device(run.device).require(needed, what, smaller)?;
        run.status("opening the device");
        let device = device::open(run.device)?;
        let found = device::memory::in_use(&device, run.device).unwrap_or(0);
        let data = load(&config)?;
        let training = match activations {
            Activations::Kept | Activations::OfBlocks => device.clone().autodiff(),
            Activations::Recomputed => device.clone().autodiff().gradient_checkpointing(),
        };
        let mut network = architecture.init(fields.initialization, fields.seed, &training);
        if let Some(path) = &fields.load_weights {
            let loaded = weights::load(network, &architecture, path);
            network = loaded
                .map_err(|error| LabError::contradiction(["load_weights"], error.to_string()))?;
        }
        let classes = config.classes().map_err(data_error)?;
        let batches = Batches::new(fields.seed, data.train.len());
        let trainer = Trainer::new(network, &knobs, batches, (run.device, training), activations)
            .spread(&architecture);
        run.status(if device::is_asynchronous(run.device) { "compiling kernels" } else { "" });

        let mut session = Self {
            id: run.device,
            judged: EvaluationData::new(&config, &data, &device),
            layers: trainer.layers(),
            pictures: Pictures::new(&data, classes, fields.seed, &device),
            unread: Vec::new(),
            steps: Steps::new([DivergenceCheck::new((classes as f64).ln())]),
            architecture,
            config,
            device,
            data,
            trainer,
            knobs,
            times: StepTimes::default(),
            left: Instant::now(),
            samples_seen: 0,
            evaluated: 0,
            recorded: 0,
            found,
            most: 0,
            kept: Vec::new(),
            peak: fields.peak_flops_per_second,
            save_to: fields.save_weights,
        };
        session.report_sizes(run);
        if let Some(language) = &session.data.language {
            run.scalar("unigram_entropy", language.unigram_entropy);
            run.scalar("bigram_entropy", language.bigram_entropy);
            known(run, "loss_floor", language.floor);
        }
        session.draw(run, FrameTrigger::Final)?;
        Ok(session)
    }

    fn trained(&self) -> Result<Trained, LabError> {
        let weights = flat_params::weights(&self.trainer.network()).map_err(|error| {
            LabError::Failed { device: self.id, reason: format!("the run {error}") }
        })?;
        Ok(Trained {
            architecture: self.architecture.clone(),
            activation: self.knobs.activation,
            data: self.config.clone(),
            steps: self.steps.done,
            weights,
        })
    }

    /// Leaves the network to other runs, unless it is of no use to any.
    fn leave_network(&self, run: &mut Run<'_>) {
        if self.steps.divergence().is_some() || self.steps.done == 0 {
            return;
        }
        let Ok(trained) = self.trained() else { return };
        let (step, steps) = (self.steps.done, self.knobs.steps);
        let unfinished =
            (step < steps).then(|| format!("it was stopped after step {step} of {steps}"));
        if let Some(artifact) = trained.artifact(unfinished) {
            run.sink.report(Report::Artifact(Arc::new(artifact)));
        }
    }

    /// Saves the weights, unless the run diverged or did no step: they might replace some that are of use.
    fn save_weights(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let Some(path) = &self.save_to else { return Ok(()) };
        let none = format!("{}: no weights were saved", path.display());
        if self.steps.done == 0 {
            run.notice(format!("{none}, because the run was stopped before its first step"));
            return Ok(());
        }
        if let Some(what) = self.steps.divergence() {
            return Err(LabError::Data(format!("{none}, because {what}")));
        }
        weights::save(&self.trained()?, path).map_err(|error| LabError::Data(error.to_string()))
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
        Ok(params.read::<Fields>()?.knobs())
    }

    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        let before = std::mem::replace(&mut self.knobs, knobs);
        if (before.noise, before.jitter) != (self.knobs.noise, self.knobs.jitter) {
            let Knobs { noise, jitter, .. } = self.knobs;
            self.config = DataConfig { noise, jitter, ..self.config.clone() };
            self.data = load(&self.config)?;
            self.judged = EvaluationData::new(&self.config, &self.data, &self.device);
            let classes = self.config.classes().map_err(data_error)?;
            self.pictures = Pictures::new(&self.data, classes, self.config.seed, &self.device);
        }
        if before.rule != self.knobs.rule {
            self.trainer.reset_optimizer(&self.knobs);
        }
        if (before.batch_size, before.timing) != (self.knobs.batch_size, self.knobs.timing) {
            self.times.clear();
        }
        self.kept.clear();
        self.report_sizes(run);
        Ok(())
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        // After a wait the device is idle.
        let is_paced = self.left.elapsed() > PAUSE;
        if is_paced {
            self.times.void_window();
        }
        let step = self.steps.done + 1;
        let is_end = step == 1 || step == self.knobs.steps;
        let [record, evaluate] = [self.knobs.record_every, self.knobs.evaluate_every]
            .map(|every| is_end || step.is_multiple_of(every));
        let measuring = match record {
            true if self.kept.len() < MEMORY_MEASUREMENTS => Measuring::NormsAndMemory,
            true => Measuring::Norms,
            false => Measuring::Nothing,
        };

        if self.knobs.timing == Timing::Phases {
            run.control.skip_pause();
        }
        self.times.open_window();
        let done = self.trainer.step(&self.data.train, &self.knobs, measuring);
        self.steps.done = step;
        self.samples_seen += self.knobs.batch_size as u64;
        self.unread.push((step, done.loss));

        match (device::is_asynchronous(self.id), self.knobs.timing) {
            (false, _) | (true, Timing::Phases) => {
                self.read_losses(run);
                self.times.void_window();
                self.times.push_phases(done.phases);
            }
            // Reading waits for the device, and would idle it if done every step; in a paced run it is idle anyway.
            (true, Timing::Steps)
                if record || evaluate || is_paced || self.unread.len() >= MOST_UNREAD =>
            {
                self.read_losses(run);
                self.times.close_window();
            }
            (true, Timing::Steps) => {}
        }
        if let Some(held) = done.held {
            self.kept.push(held.kept);
            self.most = self.most.max(held.most.saturating_sub(self.found));
            if let Some(kept) = undisturbed(&self.kept) {
                run.scalar("kept_bytes", kept);
            }
            run.scalar("peak_memory_bytes", self.most as i64);
        }
        if let Some(norms) = done.norms {
            self.record(run, norms);
        }
        if evaluate && self.steps.divergence().is_none() {
            self.evaluate(run);
        }
        // Pictures are not drawn after every step.
        self.left = Instant::now();
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        if moment == FrameTrigger::Asked {
            self.read_losses(run);
        }
        self.offer(run, moment);
        self.left = Instant::now();
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        self.read_losses(run);
        device::sync(&self.device, self.id)?;
        if self.steps.divergence().is_none() && self.steps.done > 0 {
            if self.recorded < self.steps.done {
                let change = self.trainer.weight_change();
                point(run, "weight_change", self.steps.done, change);
                self.report_progress(run);
            }
            if self.evaluated < self.steps.done {
                self.evaluate(run);
            }
        }
        self.leave_network(run);
        self.save_weights(run)?;
        Ok(())
    }
}

impl EvaluationData {
    fn new(config: &DataConfig, data: &Data, device: &Device) -> Self {
        Self {
            held_out: EvaluationSet::new(&data.held_out, device),
            train: config.dataset.is_points().then(|| EvaluationSet::new(&data.train, device)),
            answers: Answers::new(config.dataset, data),
        }
    }
}

fn load(config: &DataConfig) -> Result<Data, LabError> {
    data::load(config).map_err(data_error)
}

/// The median of what steps kept: the processor's allocator counts the whole program, so that another thread may disturb
/// one measurement.
fn undisturbed(kept: &[u64]) -> Option<i64> {
    median(kept.iter().map(|bytes| *bytes as f64)).map(|bytes| bytes as i64)
}

/// The losses that are still on the device, in one transfer.
fn read(unread: &mut Vec<(u64, Tensor<1>)>) -> Vec<(u64, f64)> {
    let (steps, losses): (Vec<u64>, Vec<Tensor<1>>) = unread.drain(..).unzip();
    if losses.is_empty() {
        return Vec::new();
    }
    steps.into_iter().zip(Tensor::cat(losses, 0).into_data().iter::<f64>()).collect()
}
