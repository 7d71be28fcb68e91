//! What the parameters ask for.

use mlsys_lab::{LabError, Params};
use mlsys_sim::quantizer::{Granularity, Matrix, Quantized, Scheme};

use super::task::{TASKS, Task};
use mlsys_device::choice::pick;
use mlsys_nn::baseline::{Layer, Recipe, Sizes, Source, Trained};
use mlsys_nn::cases::Model;
use mlsys_nn::data::Dataset;
use mlsys_nn::nets::{Activation, Architecture};
use mlsys_nn::train::{self, Rule, Timing, UpdateKnobs};

/// Weights of a block that share a scale in NF4 (Dettmers et al. 2023).
const NF4_BLOCK: usize = 64;
/// Bytes of a number that is trained: weight, gradient and both moments of Adam, 4 each.
const TRAINED: u64 = 16;

/// What does not change while a run goes on.
pub(super) struct Setup {
    pub(super) recipe: Recipe,
    pub(super) task: Task,
    pub(super) layers: Which,
    pub(super) rank: usize,
    pub(super) alpha: f64,
    pub(super) format: Format,
    pub(super) seed: u64,
}

/// What may.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knobs {
    pub(super) learning_rate: f64,
    pub(super) steps: u64,
}

/// How the frozen weights are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// As they are.
    Fp32,
    /// 8 bits, a scale for each output.
    Int8,
    /// 4-bit NormalFloat, a scale for each 64 weights in a row.
    Nf4,
}

/// The names of `base_format`.
pub(super) const FORMATS: [(&str, Format); 3] =
    [("fp32", Format::Fp32), ("int8", Format::Int8), ("nf4", Format::Nf4)];

/// Which matrices get adapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// Of a perceptron every one, of a transformer all of its blocks.
    All,
    /// Of a perceptron the first.
    First,
    /// Of a perceptron the last.
    Last,
    /// Of a transformer query and value, as in the paper (Hu et al. 2021, section 4.2).
    QueryValue,
    /// Of a transformer query, key, value and output.
    Attention,
    /// Of a transformer gate, up and down.
    Gated,
}

/// The names of `layers`.
pub(super) const LAYERS: [(&str, Which); 6] = [
    ("all", Which::All),
    ("first", Which::First),
    ("last", Which::Last),
    ("query-value", Which::QueryValue),
    ("attention", Which::Attention),
    ("gated", Which::Gated),
];

const DATASETS: [(&str, Dataset); 2] = [("digits", Dataset::Digits), ("chain", Dataset::Chain)];

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let seed = params.int("seed")? as u64;
        let steps = params.int("baseline_steps")? as u64;
        let dataset = pick(params, "dataset", &DATASETS)?;
        Ok(Self {
            recipe: if dataset == Dataset::Digits {
                Recipe::images(Model::Mlp, 128, steps, seed)?
            } else {
                Recipe::tokens(dataset, Sizes::default(), steps, seed)?
            },
            task: pick(params, "task", &TASKS)?,
            layers: pick(params, "layers", &LAYERS)?,
            rank: params.size("rank")?,
            alpha: params.float("alpha")?,
            format: pick(params, "base_format", &FORMATS)?,
            seed,
        })
    }

    /// alpha / rank
    pub(super) fn scale(&self) -> f64 {
        self.alpha / self.rank as f64
    }

    /// The matrices that get adapters.
    ///
    /// # Errors
    /// If the network has none of them.
    pub(super) fn targets(&self, source: &Source<'_>) -> Result<Vec<Layer>, LabError> {
        let layers = source.layers();
        let count = layers.len();
        let tokens = matches!(source.architecture(), Architecture::Transformer(_));
        // What a layer is, behind "block 1, ".
        let is_of = |layer: &Layer, parts: &[&str]| {
            let part = layer.what.split_once(", ").map_or("", |(_, part)| part);
            tokens
                && layer.what.starts_with("block ")
                && (parts.is_empty() || parts.contains(&part))
        };
        let wanted = |(index, layer): &(usize, Layer)| match self.layers {
            Which::All if tokens => is_of(layer, &[]),
            Which::All => true,
            Which::First => !tokens && *index == 0,
            Which::Last => !tokens && index + 1 == count,
            Which::QueryValue => is_of(layer, &["query", "value"]),
            Which::Attention => is_of(layer, &["query", "key", "value", "attention output"]),
            Which::Gated => is_of(layer, &["gate", "up", "down"]),
        };
        let found: Vec<Layer> =
            layers.into_iter().enumerate().filter(wanted).map(|(_, layer)| layer).collect();
        if found.is_empty() {
            let has = if tokens {
                "a transformer has query-value, attention, gated and all"
            } else {
                "a perceptron has first, last and all"
            };
            return Err(LabError::contradiction(
                ["layers", "dataset"],
                format!("the network has no such layers; {has}"),
            ));
        }
        Ok(found)
    }
}

impl Knobs {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            learning_rate: params.float("learning_rate")?,
            steps: params.int("steps")? as u64,
        })
    }

    /// As the training lab has them, for a network with this activation, which may be another's than the recipe's.
    pub(super) fn training(&self, recipe: &Recipe, activation: Activation) -> train::Knobs {
        train::Knobs {
            noise: recipe.data.noise,
            jitter: recipe.data.jitter,
            activation,
            rule: Rule::Adam,
            update: UpdateKnobs {
                learning_rate: self.learning_rate,
                weight_decay: 0.0,
                gradient_clip: None,
            },
            batch_size: recipe.batch_size,
            steps: self.steps,
            evaluate_every: self.steps.max(1),
            record_every: self.steps.max(1),
            timing: Timing::Steps,
        }
    }
}

/// The frozen weights as they are kept.
pub(super) struct Kept {
    /// What comes back from their format, in the order of the network's row.
    pub(super) row: Vec<f32>,
    /// Bytes, with scales and with what stays in 32 bits: biases and the scales of norms.
    pub(super) bytes: u64,
}

impl Format {
    /// The weights of a network in this format: all of its matrices, be they adapted or not.
    pub(super) fn keep(self, trained: &Trained) -> Kept {
        let mut row = trained.weights.clone();
        let mut bytes = 4 * row.len() as u64;
        for layer in trained.layers() {
            let matrix = layer.matrix(&trained.weights);
            let rounded = match self {
                Self::Fp32 => continue,
                Self::Int8 => Quantized::linear(
                    &matrix,
                    Matrix::by_inputs(layer.inputs, layer.outputs),
                    8,
                    Scheme::SymmetricRestricted,
                    Granularity::Channel,
                ),
                Self::Nf4 => Quantized::nf4(
                    &matrix,
                    Matrix::by_outputs(matrix.len(), 1),
                    Granularity::Group(NF4_BLOCK),
                ),
            };
            bytes -= 4 * matrix.len() as u64;
            bytes += rounded.storage().bytes() as u64;
            layer.put(&mut row, &rounded.back);
        }
        Kept { row, bytes }
    }
}

/// What is trained and what that takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Costs {
    /// Weights and biases of the network.
    pub(super) base: u64,
    /// Numbers of all adapters: rank * (inputs + outputs) each.
    pub(super) adapters: u64,
    /// Bytes of the base as it is kept.
    pub(super) base_bytes: u64,
}

impl Costs {
    pub(super) fn new(rank: usize, targets: &[Layer], trained: &Trained, kept: &Kept) -> Self {
        let of = |layer: &Layer| (rank * (layer.inputs + layer.outputs)) as u64;
        Self {
            base: trained.weights.len() as u64,
            adapters: targets.iter().map(of).sum(),
            base_bytes: kept.bytes,
        }
    }

    /// 100 * adapters / (base + adapters)
    pub(super) fn trainable_percent(&self) -> f64 {
        100.0 * self.adapters as f64 / (self.base + self.adapters) as f64
    }

    /// The base as it is kept, and 16 bytes for each trained number.
    pub(super) fn training_bytes(&self) -> u64 {
        self.base_bytes + TRAINED * self.adapters
    }

    /// 16 bytes for each weight.
    pub(super) fn full_training_bytes(&self) -> u64 {
        TRAINED * self.base
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::low_rank_adapt::lab;
    use mlsys_device::choice::must_be_listed;

    #[test]
    fn the_schema_lists_exactly_the_cases_that_are_read() {
        let lab = lab().unwrap();
        must_be_listed(&lab, "dataset", &DATASETS);
        must_be_listed(&lab, "task", &TASKS);
        must_be_listed(&lab, "base_format", &FORMATS);
        must_be_listed(&lab, "layers", &LAYERS);
    }
}
