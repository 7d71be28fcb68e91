//! Trains networks of several sizes on one text, fits a power law to their losses, and tries its prediction.
//!
//! A step is one size. The networks are those of [`baseline::learn`], which trains each once in a session.

mod panels;
#[cfg(test)]
mod tests;

use mlsys_device as device;
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{LabError, Params, Run};
use mlsys_nn::baseline::{self, Recipe, Sizes, Trained};
use mlsys_nn::data::Dataset;
use mlsys_nn::networks::Architecture;
use mlsys_nn::train::EvaluationSet;
use mlsys_sim::power_law::{Floor, PowerLaw};
use serde::Deserialize;

use crate::stepped::{self, LiveLab, StepError, SteppedLab, Steps, point};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?.reading::<Fields>()
}

const WIDTHS: [usize; 7] = [8, 12, 16, 24, 32, 48, 64];
const HEADS: usize = 2;
const CONTEXT: usize = 32;
const BATCH: usize = 16;

#[derive(Clone, Deserialize)]
struct Fields {
    sizes: usize,
    held_out_width: Option<usize>,
    steps: u64,
    learning_rate: f64,
    floor: FloorName,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FloorName {
    Told,
    Zero,
    Free,
}

impl FloorName {
    fn floor(self) -> Floor {
        match self {
            Self::Told => Floor::Told,
            Self::Zero => Floor::Zero,
            Self::Free => Floor::Free,
        }
    }
}

/// A network that was trained and judged.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Size {
    width: usize,
    /// Of matrix products.
    weights: u64,
    flops: f64,
    loss: f64,
}

struct Session {
    fields: Fields,
    fitted: Vec<Size>,
    held_out: Option<Size>,
    law: Option<PowerLaw>,
    /// Made of the first network's text.
    judged: Option<EvaluationSet>,
    steps: Steps,
}

impl Fields {
    fn recipe(&self, width: usize) -> Result<Recipe, LabError> {
        let sizes = Sizes { width, depth: 1, heads: HEADS, kv_heads: HEADS, context: CONTEXT };
        let recipe = Recipe::tokens(Dataset::Text, sizes, self.steps, self.seed)?;
        let learning_rate = self.learning_rate / (width as f64).sqrt();
        Ok(Recipe { learning_rate, batch_size: BATCH, ..recipe })
    }

    fn tokens(&self) -> u64 {
        self.steps * (BATCH * CONTEXT) as u64
    }

    /// Operations of a training run by the rule 6 N D.
    fn flops(&self, weights: u64) -> u64 {
        6 * weights * self.tokens()
    }
}

fn weights_of_products(architecture: &Architecture) -> u64 {
    match architecture {
        Architecture::Transformer(config) => config.weights_of_a_pass(),
        Architecture::Mlp(_) | Architecture::Cnn(_) | Architecture::Filters(_) => {
            architecture.parameters()
        }
    }
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let fields: Fields = run.params.read()?;
        if let Some(width) = fields.held_out_width
            && (!width.is_multiple_of(2 * HEADS) || WIDTHS[..fields.sizes].contains(&width))
        {
            let message = format!(
                "held_out_width is {width}; it must be a multiple of {}, because {HEADS} heads turn their numbers in \
                 pairs, and none of the widths that are fitted",
                2 * HEADS
            );
            return Err(LabError::contradiction(["held_out_width"], message).into());
        }
        run.scalar("tokens", fields.tokens() as i64);
        let held_out = usize::from(fields.held_out_width.is_some());
        run.scalar("steps_planned", (fields.sizes + held_out) as i64);
        let (fitted, steps) = (Vec::new(), Steps::new([]));
        Ok(Self { fields, fitted, held_out: None, law: None, judged: None, steps })
    }

    /// The width in training.
    fn next_width(&self) -> Option<usize> {
        if self.fitted.len() < self.fields.sizes {
            return WIDTHS.get(self.fitted.len()).copied();
        }
        self.fields.held_out_width.filter(|_| self.held_out.is_none())
    }

    fn judge(&mut self, run: &Run<'_>, width: usize, trained: &Trained) -> Result<Size, StepError> {
        let device = device::open(run.device)?;
        if self.judged.is_none() {
            self.judged = Some(EvaluationSet::new(&trained.fresh()?, &device));
        }
        let network = trained.network(&device);
        let loss = self.judged.as_ref().map(|set| set.judge(&network, trained.activation).loss);
        let weights = weights_of_products(&trained.architecture);
        let flops = self.fields.flops(weights) as f64;
        Ok(Size { width, weights, flops, loss: loss.unwrap_or(f64::NAN) })
    }

    fn fit(&mut self, run: &mut Run<'_>) {
        let points: Vec<(f64, f64)> =
            self.fitted.iter().map(|size| (size.flops, size.loss)).collect();
        self.law = PowerLaw::fit(&points, self.fields.floor.floor());
        let Some(law) = self.law else { return };
        run.scalar("exponent", law.exponent);
        run.scalar("coefficient", law.coefficient);
        run.scalar("irreducible_loss", law.floor);
        run.scalar("fit_error", (law.residual(&points) / points.len() as f64).sqrt());
        if let Some((flops, _)) = points.last() {
            let wanted = 0.9 * law.at(*flops) - law.floor;
            if wanted > 0.0 {
                let times = (wanted / law.coefficient).powf(-1.0 / law.exponent) / flops;
                run.scalar("flops_for_a_tenth_less", times);
            }
        }
        self.report_prediction(run);
    }

    fn report_prediction(&self, run: &mut Run<'_>) {
        let Some((_, predicted)) = self.prediction() else { return };
        run.scalar("predicted_loss", predicted);
        if let Some(size) = self.held_out {
            run.scalar("prediction_error", size.loss / predicted - 1.0);
        }
    }

    /// Operations and loss of the held-out network by the law of all fitted sizes.
    fn prediction(&self) -> Option<(f64, f64)> {
        let (width, law) = (self.fields.held_out_width?, self.law?);
        if self.fitted.len() < self.fields.sizes {
            return None;
        }
        let recipe = self.fields.recipe(width).ok()?;
        let flops = self.fields.flops(weights_of_products(&recipe.architecture)) as f64;
        Some((flops, law.at(flops)))
    }
}

impl SteppedLab for Session {
    type Knobs = FloorName;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.next_width().is_some()
    }

    fn read(&self, params: &Params) -> Result<FloorName, LabError> {
        Ok(params.read::<Fields>()?.floor)
    }

    fn turn(&mut self, run: &mut Run<'_>, floor: FloorName) -> Result<(), StepError> {
        self.fields.floor = floor;
        self.fit(run);
        Ok(())
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let Some(width) = self.next_width() else { return Ok(()) };
        let recipe = self.fields.recipe(width)?;
        let trained = baseline::learn(run, &recipe, "sizes")?.ok_or(StepError::Stopped)?;
        let size = self.judge(run, width, &trained)?;
        self.steps.done += 1;
        run.scalar(&format!("parameters.w{width}"), size.weights as i64);
        run.scalar(&format!("flops.w{width}"), size.flops as i64);
        run.scalar(&format!("loss.w{width}"), size.loss);
        point(run, "loss", self.steps.done, size.loss);
        if self.fitted.len() < self.fields.sizes {
            self.fitted.push(size);
            self.fit(run);
        } else {
            self.held_out = Some(size);
            run.scalar("held_out_loss", size.loss);
            self.report_prediction(run);
        }
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        let at = (self.steps.done, moment);
        stepped::draw(run, at, &panels::ALL, |_, make| make(self));
        Ok(())
    }
}
