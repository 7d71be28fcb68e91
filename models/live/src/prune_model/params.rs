//! Parameters as the run needs them: what is fixed, and the knobs that may be turned between two steps.

use mlsys_lab::{LabError, Params};
use mlsys_nn::baseline::{self, Recipe, Sizes};
use mlsys_nn::cases::Model;
use mlsys_nn::data::Dataset;
use serde::Deserialize;

use crate::fine_tune;

use super::chip::Chip;

/// Heads of each block of a transformer that is trained here, each with keys and values of its own.
const HEADS: usize = 8;

pub(super) struct Setup {
    pub(super) recipe: Recipe,
    pub(super) rounds: u64,
    pub(super) steps: u64,
    pub(super) start: Start,
    pub(super) seed: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Knobs {
    pub(super) choice: Choice,
    /// Bits of a kept weight; 32 are not rounded.
    pub(super) value_bits: u32,
    pub(super) offset_bits: u32,
    pub(super) coding: Coding,
    pub(super) chip: Chip,
}

#[derive(Deserialize)]
pub(super) struct Fields {
    dataset: Dataset,
    model: Model,
    width: usize,
    noise: f32,
    baseline_steps: u64,
    rounds: u64,
    finetune_steps: u64,
    finetune_from: Start,
    seed: u64,
    choice: Choice,
    value_bits: u32,
    offset_bits: u32,
    coding: Coding,
    gpu: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(super) struct Choice {
    pub(super) method: Method,
    pub(super) scope: Scope,
    pub(super) sparsity: f64,
    pub(super) keep: usize,
    pub(super) group: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Method {
    Magnitude,
    /// N:M sparsity: N stay of every M along the inputs.
    #[serde(rename = "n-of-m")]
    Groups,
    Neurons,
    Heads,
    Random,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Scope {
    Global,
    Layer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Coding {
    Fixed,
    Huffman,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Start {
    Trained,
    Initial,
    Redrawn,
}

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let fields: Fields = params.read()?;
        let Fields { dataset, model, width, noise, baseline_steps, seed, .. } = fields;
        let (dataset, model) = fine_tune::kinds(params, dataset, model);
        let width = if baseline::is_folder(params) { 2 * HEADS } else { width };
        let is_decoder = matches!((dataset, model), (Dataset::Chain, Model::Transformer));
        if is_decoder && !width.is_multiple_of(2 * HEADS) {
            let message = format!(
                "{HEADS} heads share a width of {width}, each with an even number of columns, because rotary positions \
                 turn numbers in pairs; set width to a multiple of {}",
                2 * HEADS
            );
            return Err(LabError::contradiction(["width", "model"], message));
        }
        let sizes = Sizes { width, heads: HEADS, kv_heads: HEADS, ..Sizes::default() };
        Ok(Self {
            recipe: fine_tune::recipe(dataset, model, (sizes, noise), baseline_steps, seed)?,
            rounds: fields.rounds.max(1),
            steps: fields.finetune_steps,
            start: fields.finetune_from,
            seed,
        })
    }
}

impl Knobs {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let Fields { choice, model, value_bits, offset_bits, coding, gpu, .. } = params.read()?;
        let Choice { keep, group, .. } = choice;
        let (_, model) = fine_tune::kinds(params, Dataset::Chain, model);
        if choice.method == Method::Heads && matches!(model, Model::Mlp | Model::Cnn) {
            let message = "method heads removes attention heads, and only a transformer has some; set model to \
                           transformer and dataset to chain, or method to neurons";
            return Err(LabError::contradiction(["method", "model"], message));
        }
        if choice.method == Method::Groups && keep > group {
            let message =
                format!("keep is {keep} and a group has {group} weights; keep at most {group}");
            return Err(LabError::contradiction(["keep", "group"], message));
        }
        if coding == Coding::Huffman && value_bits > 8 {
            let message = format!(
                "a Huffman code has a word for each value, and {value_bits} bits have too many; set value_bits to at most 8"
            );
            return Err(LabError::contradiction(["coding", "value_bits"], message));
        }
        Ok(Self { choice, value_bits, offset_bits, coding, chip: Chip::named(&gpu)? })
    }
}

impl Choice {
    /// The choice after `round` of all rounds: each removes the same share of what the previous one left, and the
    /// last reaches the goal exactly. Groups lose as many in each round.
    pub(super) fn after(self, round: u64, rounds: u64) -> Self {
        if round >= rounds {
            return self;
        }
        let share = round as f64 / rounds as f64;
        let gone = self.group.saturating_sub(self.keep) as f64;
        Self {
            sparsity: 1.0 - (1.0 - self.sparsity).powf(share),
            keep: self.group - (gone * share).round() as usize,
            ..self
        }
    }

    pub(super) fn in_words(&self) -> String {
        let percent = mlsys_lab::value::number((1000.0 * self.sparsity).round() / 10.0);
        if self.method == Method::Groups {
            return format!("{} of {}", self.keep, self.group);
        }
        format!("{percent} % removed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_remove_equal_shares() {
        let goal = Choice {
            method: Method::Magnitude,
            scope: Scope::Global,
            sparsity: 0.9,
            keep: 2,
            group: 4,
        };
        let left: Vec<f64> = (0..=3).map(|r| 1.0 - goal.after(r, 3).sparsity).collect();
        assert!(left.windows(2).all(|pair| (pair[1] / pair[0] - 0.1_f64.cbrt()).abs() < 1e-9));
        assert_eq!(goal.after(3, 3), goal);
        assert_eq!(goal.after(1, 1), goal);
        let keeps: Vec<usize> = (0..=2).map(|round| goal.after(round, 2).keep).collect();
        assert_eq!(keeps, [4, 3, 2]);
    }
}
