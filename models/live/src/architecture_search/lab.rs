//! Searches a small space of networks for the Pareto front of accuracy and latency.
//!
//! [`space`] enumerates and proposes candidates; each is trained and timed ([`measure`]). The reported front is the one that
//! the picture joins; a check by all pairs judges it.

mod front;
mod measure;
mod panels;
mod space;
#[cfg(test)]
mod tests;

use serde::Deserialize;
use std::time::Instant;

use burn::tensor::Device;
use mlsys_device as device;
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{DeviceId, LabError, Params, Run};
use mlsys_nn::baseline::Recipe;
use mlsys_nn::data::{self, Batches, DataConfig, Dataset, Examples};
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::networks::{Activation, Initialization};
use mlsys_nn::train::{Activations, Evaluation, EvaluationSet, Measuring, Trainer, data_error};

use self::front::Tradeoff;
use self::measure::chip;
use self::space::{Candidate, Method, Proposals, Scored};
use crate::roof::Roof;
use crate::stepped::{self, LiveLab, StepError, SteppedLab, Steps, known, point};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?
        .reading::<Setup>()?
        .reading::<LiveParams>()
}

const LEARNING_RATE: f64 = 0.003;

#[derive(Clone, Copy, Debug, Deserialize)]
struct Setup {
    method: Method,
    population: usize,
    training_steps: u64,
    batch_size: usize,
    seed: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct Knobs {
    evaluations: usize,
    /// The chip of the roof that models latency; without one it is measured.
    chip: Option<Roof>,
    images: usize,
    budgets: Budgets,
}

#[derive(Deserialize)]
struct LiveParams {
    evaluations: usize,
    latency: LatencySource,
    gpu: String,
    latency_batch: usize,
    budgets: Budgets,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct Budgets {
    #[serde(rename = "max_latency_seconds")]
    seconds: Option<f64>,
    #[serde(rename = "max_parameters")]
    parameters: Option<u64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LatencySource {
    Measured,
    Modelled,
}

impl Setup {
    fn recipe(&self, candidate: Candidate) -> Recipe {
        Recipe {
            data: self.data(),
            architecture: candidate.architecture(),
            activation: Activation::Relu,
            learning_rate: LEARNING_RATE,
            batch_size: self.batch_size,
            steps: self.training_steps,
            seed: self.seed,
        }
    }

    fn data(&self) -> DataConfig {
        DataConfig::new(Dataset::Digits, self.seed)
    }
}

impl Knobs {
    fn read(params: &Params) -> Result<Self, LabError> {
        let own: LiveParams = params.read()?;
        Ok(Self {
            evaluations: own.evaluations,
            chip: match own.latency {
                LatencySource::Measured => None,
                LatencySource::Modelled => Some(chip(&own.gpu)?),
            },
            images: own.latency_batch,
            budgets: own.budgets,
        })
    }
}

impl Budgets {
    fn exceeded(&self, seconds: f64, parameters: u64) -> bool {
        let late = self.seconds.is_some_and(|most| seconds > most);
        let large = self.parameters.is_some_and(|most| parameters > most);
        late || large
    }
}

// A run: candidate by candidate, each proposed, trained, judged and timed.

/// A candidate that has been trained, with all that is known of it.
#[derive(Clone, Debug)]
struct Evaluated {
    candidate: Candidate,
    parameters: u64,
    flops: u64,
    accuracy: f64,
    measured: f64,
    latency: f64,
    by_yardstick: f64,
    is_over_budget: bool,
}

/// The settings that the run began with: the dominated area is measured by them throughout.
struct Yardstick {
    chip: Option<Roof>,
    images: usize,
    /// The right end, in seconds.
    slowest: f64,
}

struct Session {
    setup: Setup,
    knobs: Knobs,
    budget: MemoryBudget,
    id: DeviceId,
    /// Without autodiff.
    device: Device,
    train: Examples,
    judged: EvaluationSet,
    proposals: Proposals,
    tried: Vec<Evaluated>,
    yardstick: Yardstick,
    started: Instant,
    /// A step is a candidate.
    steps: Steps,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let started = Instant::now();
        let setup = run.params.read::<Setup>()?;
        let knobs = Knobs::read(&run.params)?;
        let budget = MemoryBudget::for_device(run.device);
        must_fit(budget, &setup, &knobs)?;
        let device = device::open(run.device)?;
        let data = data::load(&setup.data()).map_err(data_error)?;
        let images = knobs.images;
        let slowest = match &knobs.chip {
            Some(roof) => measure::slowest(images, roof),
            None => {
                let (largest, place) = (Candidate::largest(), (run.device, &device));
                2.0 * measure::measured(largest, images, place, || run.control.interrupted())?
            }
        };
        run.scalar("candidates", space::SIZE as i64);
        Ok(Self {
            proposals: Proposals::new(setup.method, setup.population, setup.seed),
            judged: EvaluationSet::new(&data.held_out, &device),
            train: data.train,
            budget,
            id: run.device,
            tried: Vec::new(),
            yardstick: Yardstick { chip: knobs.chip.clone(), images, slowest },
            setup,
            knobs,
            device,
            started,
            steps: Steps::default(),
        })
    }

    fn wanted(&self) -> usize {
        match self.setup.method {
            Method::Exhaustive => space::SIZE,
            Method::Random | Method::Evolution => self.knobs.evaluations,
        }
    }

    /// Seconds of a candidate on this batch size, on the run's device.
    fn time(&self, run: &Run<'_>, candidate: Candidate, images: usize) -> Result<f64, LabError> {
        let place = (self.id, &self.device);
        measure::measured(candidate, images, place, || run.control.interrupted())
    }

    /// Seconds of a candidate by the yardstick, given those of now on the device at hand.
    fn by_yardstick(&self, run: &Run<'_>, one: Candidate, measured: f64) -> Result<f64, LabError> {
        let images = self.yardstick.images;
        match &self.yardstick.chip {
            Some(roof) => Ok(measure::modelled(one, images, roof)),
            None if images == self.knobs.images => Ok(measured),
            None => self.time(run, one, images),
        }
    }

    /// Latency and budgets of a candidate by the knobs as they are.
    fn weigh(&mut self, index: usize) {
        let knobs = &self.knobs;
        let Some(tried) = self.tried.get_mut(index) else { return };
        let modelled = |roof: &Roof| measure::modelled(tried.candidate, knobs.images, roof);
        tried.latency = knobs.chip.as_ref().map_or(tried.measured, modelled);
        tried.is_over_budget = knobs.budgets.exceeded(tried.latency, tried.parameters);
    }

    /// The candidate, trained, on fresh digits.
    fn judge(&self, run: &Run<'_>, candidate: Candidate) -> Result<Evaluation, StepError> {
        let recipe = self.setup.recipe(candidate);
        let (how, learning) = (recipe.knobs(), self.device.clone().autodiff());
        let network = recipe.architecture.init(Initialization::He, recipe.seed, &learning);
        let batches = Batches::new(recipe.seed, self.train.len());
        let mut trainer =
            Trainer::new(network, &how, batches, (self.id, learning), Activations::Kept)
                .spread(&recipe.architecture);
        for _ in 0..recipe.steps {
            if run.control.interrupted() {
                return Err(StepError::Stopped);
            }
            trainer.step(&self.train, &how, Measuring::Nothing);
        }
        Ok(self.judged.judge(&trainer.network(), Activation::Relu))
    }

    fn report(&self, run: &mut Run<'_>) {
        let step = self.tried.len() as u64;
        let best = |tried: &mut dyn Iterator<Item = &Evaluated>| {
            tried.map(|tried| tried.accuracy).reduce(f64::max)
        };
        let mut within = self.tried.iter().filter(|tried| !tried.is_over_budget);
        point(run, "best_accuracy", step, best(&mut self.tried.iter()));
        point(run, "best_within_budget", step, best(&mut within));
        let places = self.tried.iter();
        let places = places.map(|of| Tradeoff { latency: of.by_yardstick, accuracy: of.accuracy });
        let places: Vec<Tradeoff> = places.collect();
        let area = front::hypervolume(&places, self.yardstick.slowest);
        point(run, "hypervolume", step, area);
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.tried.len() < self.wanted()
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        let knobs = Knobs::read(params)?;
        must_fit(self.budget, &self.setup, &knobs)?;
        Ok(knobs)
    }

    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        let before = std::mem::replace(&mut self.knobs, knobs);
        if before.images != self.knobs.images {
            for index in 0..self.tried.len() {
                let candidate = self.tried[index].candidate;
                self.tried[index].measured = self.time(run, candidate, self.knobs.images)?;
            }
        }
        (0..self.tried.len()).for_each(|index| self.weigh(index));
        Ok(())
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let known: Vec<Scored> = self.tried.iter().map(Evaluated::known).collect();
        // None is left: there is nothing to do but to end.
        let Some(candidate) = self.proposals.next(&known) else { return Err(StepError::Stopped) };
        let (nth, all) = (self.tried.len() + 1, self.wanted());
        run.status(format!("training {nth} of {all}: {}", candidate.name()));
        let Evaluation { accuracy, loss, .. } = self.judge(run, candidate)?;
        point(run, "validation_loss", nth as u64, loss);
        let architecture = candidate.architecture();
        let measured = self.time(run, candidate, self.knobs.images)?;
        self.tried.push(Evaluated {
            candidate,
            parameters: architecture.parameters(),
            flops: architecture.forward_flops(1),
            accuracy,
            measured,
            latency: f64::NAN,
            by_yardstick: self.by_yardstick(run, candidate, measured)?,
            is_over_budget: false,
        });
        self.steps.done += 1;
        self.weigh(self.tried.len() - 1);
        self.report(run);
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        stepped::draw(run, (self.steps.done, moment), &panels::ALL, |_, picture| {
            picture(&self.tried, &self.knobs)
        });
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        run.status("");
        let places: Vec<Tradeoff> = self.tried.iter().map(Evaluated::place).collect();
        let members = panels::front_of(&self.tried);
        run.scalar("evaluated", self.tried.len() as i64);
        run.scalar("front_size", members.len() as i64);
        run.scalar("front_is_valid", front::is_valid(&places, &members));
        let tried = self.tried.iter();
        let pairs: Vec<(f64, f64)> = tried.map(|x| (x.flops as f64, x.measured)).collect();
        known(run, "rank_correlation", front::rank_correlation(&pairs));
        run.scalar("device_seconds", self.started.elapsed().as_secs_f64());
        Ok(())
    }
}

impl Evaluated {
    fn known(&self) -> Scored {
        Scored {
            candidate: self.candidate,
            place: self.place(),
            is_over_budget: self.is_over_budget,
        }
    }

    fn place(&self) -> Tradeoff {
        Tradeoff { latency: self.latency, accuracy: self.accuracy }
    }
}

fn must_fit(budget: MemoryBudget, setup: &Setup, knobs: &Knobs) -> Result<(), LabError> {
    let largest = Candidate::largest().config();
    // It learns, is judged by all fresh digits at once, and is timed, one after the other.
    let images = Dataset::Digits.held_out_samples().max(knobs.images) as u64;
    let needed = largest.learning_bytes(setup.batch_size as u64).max(largest.judging_bytes(images));
    budget.require(needed, "the largest network and its batch", "batch_size or latency_batch")
}
