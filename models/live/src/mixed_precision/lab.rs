//! Mixed-precision training: weights, gradients and activations in a chosen format, compared with 32 bits.

mod learner;
mod panels;
mod rounding;
#[cfg(test)]
mod tests;

use mlsys_device as device;
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{LabError, Params, Run};
use mlsys_nn::data::{Data, DataConfig, Dataset};
use mlsys_nn::divergence::DivergenceCheck;
use mlsys_nn::flat_params::Rule;
use mlsys_nn::networks::MlpConfig;
use mlsys_nn::train::data_error;
use mlsys_nn::{data, divergence};
use mlsys_sim::formats::Format;
use serde::Deserialize;

use self::learner::{EvaluationData, Learner, Tally};
use crate::stepped::{self, LiveLab, StepError, SteppedLab, Steps, point};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?
        .reading::<Setup>()?
        .reading::<Knobs>()
}

#[derive(Clone, Copy, Deserialize)]
struct Setup {
    dataset: Dataset,
    width: usize,
    #[serde(rename = "optimizer")]
    rule: Rule,
    /// What running sums inside a matrix product are rounded to.
    #[serde(rename = "accumulate_format", with = "FormatName")]
    sums: Format,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct Knobs {
    numbers: Numbers,
    learning_rate: f64,
    batch_size: usize,
    steps: u64,
    /// The weight that the number line shows.
    watch: Option<usize>,
}

/// The names of [`Format`].
#[derive(Deserialize)]
#[serde(remote = "Format", rename_all = "kebab-case")]
enum FormatName {
    Fp32,
    Bf16,
    Fp16,
    #[serde(rename = "fp8-e4m3")]
    E4m3,
    #[serde(rename = "fp8-e5m2")]
    E5m2,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct Numbers {
    #[serde(rename = "weight_format", with = "FormatName")]
    weights: Format,
    #[serde(rename = "gradient_format", with = "FormatName")]
    gradients: Format,
    #[serde(rename = "activation_format", with = "FormatName")]
    activations: Format,
    /// Whether updates are added to a copy of the weights in 32 bits, not to the rounded ones, which would be rounded again.
    master_weights: bool,
    /// Whether rounding takes one of the two neighbours by chance.
    stochastic_rounding: bool,
    /// The loss is multiplied by it before the backward pass.
    loss_scale: f32,
}

impl Setup {
    fn data(&self) -> DataConfig {
        DataConfig::new(self.dataset, self.seed)
    }

    fn sizes(&self) -> Result<MlpConfig, LabError> {
        let data = self.data();
        // As many layers as lab `train` gives this data set.
        let depth = if self.dataset.is_points() { 2 } else { 1 };
        let outputs = data.classes().map_err(data_error)?;
        Ok(MlpConfig { inputs: data.features(), hidden: vec![self.width; depth], outputs })
    }
}

impl Numbers {
    const WIDE: Self = Self {
        weights: Format::Fp32,
        gradients: Format::Fp32,
        activations: Format::Fp32,
        master_weights: true,
        stochastic_rounding: false,
        loss_scale: 1.0,
    };

    /// Whether there is a master copy in 32 bits; weights of 32 bits are their own.
    fn has_copy(&self) -> bool {
        self.master_weights && self.weights != Format::Fp32
    }

    /// Bytes of a parameter: its weight, the copy, its gradient, and what the optimizer keeps in 32 bits.
    fn bytes_per_parameter(&self, rule: Rule) -> f64 {
        let copy = if self.has_copy() { 4 } else { 0 };
        let state = 4 * rule.moments() as usize;
        (self.weights.bytes() + copy + self.gradients.bytes() + state) as f64
    }
}

struct Session {
    setup: Setup,
    knobs: Knobs,
    data: Data,
    judged: EvaluationData,
    learner: Learner,
    /// The same run in 32 bits throughout.
    reference: Learner,
    steps: Steps,
    all: Tally,
    /// Up to what was recorded last.
    told: Tally,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let (setup, knobs) = (run.params.read::<Setup>()?, run.params.read::<Knobs>()?);
        let (sizes, wide) = (setup.sizes()?, Setup { sums: Format::Fp32, ..setup });
        let device = device::open(run.device)?;
        let data = data::load(&setup.data()).map_err(data_error)?;
        let session = Self {
            judged: EvaluationData::new(&data, &device),
            learner: Learner::new(&setup, &sizes, &data, &device)?,
            reference: Learner::new(&wide, &sizes, &data, &device)?,
            steps: Steps::new([DivergenceCheck::new((sizes.outputs as f64).ln())]),
            setup,
            knobs,
            data,
            all: Tally::default(),
            told: Tally::default(),
        };
        session.report_sizes(run);
        Ok(session)
    }

    fn report_sizes(&self, run: &mut Run<'_>) {
        let numbers = &self.knobs.numbers;
        let bytes = numbers.bytes_per_parameter(self.setup.rule);
        run.scalar("bytes_per_parameter", bytes);
        run.scalar("smallest_step_at_one", numbers.weights.spacing(1.0));
        run.scalar("smallest_positive", numbers.gradients.smallest());
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    const RECORD_EVERY: u64 = 10;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.steps.done < self.knobs.steps
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        params.read()
    }

    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        self.knobs = knobs;
        self.report_sizes(run);
        Ok(())
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let examples = &self.data.train;
        let loss = self.learner.step(examples, &self.knobs, &mut self.all)?;
        let wide = Knobs { numbers: Numbers::WIDE, ..self.knobs };
        let reference = self.reference.step(examples, &wide, &mut Tally::default())?;
        self.steps.done += 1;
        let step = self.steps.done;
        point(run, "loss", step, loss);
        point(run, "reference_loss", step, reference);
        let broken = divergence::check_weights(&self.learner.weights);
        let (knobs, overflows) = (&self.knobs, self.all.overflows);
        self.steps.judge(run, &[loss], broken, |what| match overflows {
            0 => divergence::at_rate(what, knobs.learning_rate),
            _ => format!(
                "{what}: {overflows} gradients were too large for {}; a smaller loss_scale keeps them in its range",
                knobs.numbers.gradients.name()
            ),
        });
        Ok(())
    }

    fn record(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let step = self.steps.done;
        let accuracy = self.learner.accuracy(&self.judged, &self.knobs.numbers)?;
        point(run, "accuracy", step, accuracy);
        let reference = self.reference.accuracy(&self.judged, &Numbers::WIDE)?;
        point(run, "reference_accuracy", step, reference);
        let (all, told) = (self.all, self.told);
        let gradients = all.gradients - told.gradients;
        for (name, some, of) in [
            ("stalled_update_fraction", all.stalled, all.updates),
            ("underflow_fraction", all.underflows - told.underflows, gradients),
            ("overflow_fraction", all.overflows - told.overflows, gradients),
        ] {
            if of > 0 {
                point(run, name, step, some as f64 / of as f64);
            }
        }
        self.told = all;
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        let pictured = panels::PanelData {
            learner: &self.learner,
            reference: &self.reference,
            knobs: &self.knobs,
        };
        // Before the first step there is nothing to see.
        let panels = if self.steps.done > 0 { &panels::ALL[..] } else { &[] };
        stepped::draw(run, (self.steps.done, moment), panels, |_, make| make(&pictured));
        Ok(())
    }
}
