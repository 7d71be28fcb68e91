//! Parameters as the run needs them: what is fixed, and the knobs that may be turned between two steps.

use mlsys_device::choice::pick;
use mlsys_lab::{LabError, Params};
use mlsys_nn::baseline::{Recipe, Sizes};
use mlsys_nn::cases::{MODELS, Model};
use mlsys_nn::data::Dataset;
use mlsys_sim::quantizer::{Calibration, Granularity, Scheme};

/// What cannot change during a run.
pub(super) struct Setup {
    /// The network that is rounded.
    pub(super) recipe: Recipe,
    /// Steps of training that know of the rounding.
    pub(super) finetune_steps: u64,
    pub(super) seed: u64,
}

/// What may change between two steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knobs {
    pub(super) method: Method,
    /// Of a weight.
    pub(super) bits: u32,
    pub(super) scheme: Scheme,
    pub(super) granularity: Granularity,
    /// Of a layer's input, and how its range is chosen.
    pub(super) activations: Option<(u32, Calibration)>,
    pub(super) execution: Execution,
    /// The layer that is shown, from 0.
    pub(super) layer: usize,
}

/// How weights come to their levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// The nearest level.
    Round,
    /// The nearest level, in the forward pass of further training.
    Aware,
    /// The nearest of shared values, which then are trained.
    Kmeans,
    /// The nearest level of 4-bit NormalFloat.
    Nf4,
}

/// What the rounded network is run with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Execution {
    /// Rounded values as ordinary floats.
    Simulated,
    /// burn's quantized tensors.
    Native,
}

const DATASETS: [(&str, Dataset); 2] = [("digits", Dataset::Digits), ("chain", Dataset::Chain)];

const METHODS: [(&str, Method); 4] = [
    ("round", Method::Round),
    ("quantization-aware", Method::Aware),
    ("kmeans", Method::Kmeans),
    ("nf4", Method::Nf4),
];

const SCHEMES: [(&str, Scheme); 3] = [
    ("symmetric", Scheme::Symmetric),
    ("symmetric-restricted", Scheme::SymmetricRestricted),
    ("affine", Scheme::Affine),
];

const CALIBRATIONS: [(&str, Calibration); 3] = [
    ("min-max", Calibration::MinMax),
    ("percentile", Calibration::Percentile),
    ("mean-squared-error", Calibration::LeastError),
];

const EXECUTIONS: [(&str, Execution); 2] =
    [("simulated", Execution::Simulated), ("native", Execution::Native)];

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let dataset = pick(params, "dataset", &DATASETS)?;
        let model = pick(params, "model", &MODELS)?;
        let width = params.size("width")?;
        let steps = params.size("baseline_steps")? as u64;
        let seed = params.int("seed")?.unsigned_abs();
        let recipe = match (dataset, model) {
            (Dataset::Chain, Model::Transformer) => {
                let sizes = Sizes { width, ..Sizes::default() };
                Recipe::tokens(dataset, sizes, steps, seed)?
            }
            (Dataset::Chain, Model::Mlp | Model::Cnn) => {
                return Err(LabError::contradiction(
                    ["dataset", "model"],
                    "a chain is a row of symbols, and a transformer reads it; set model to transformer, or dataset to digits",
                ));
            }
            (_, model) => Recipe::images(model, width, steps, seed)?,
        };
        Ok(Self { recipe, finetune_steps: params.size("finetune_steps")? as u64, seed })
    }
}

impl Knobs {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let size = params.size("group_size")?;
        let granularity = params.text("granularity")?;
        let calibration = pick(params, "calibration", &CALIBRATIONS)?;
        let activation_bits = params.optional_int("activation_bits");
        let knobs = Self {
            method: pick(params, "method", &METHODS)?,
            bits: params.size("bits")? as u32,
            scheme: pick(params, "scheme", &SCHEMES)?,
            granularity: Granularity::named(granularity, size).unwrap_or(Granularity::Channel),
            activations: activation_bits.map(|bits| (bits.unsigned_abs() as u32, calibration)),
            execution: pick(params, "execution", &EXECUTIONS)?,
            layer: params.size("layer")?.saturating_sub(1),
        };
        knobs.check()?;
        Ok(knobs)
    }

    /// burn's quantized tensors hold integers of three widths, and no zero points.
    fn check(&self) -> Result<(), LabError> {
        let refused = |param: &str, message: &str| {
            let message = format!("execution is native, and {message}; set execution to simulated");
            Err(LabError::contradiction(["execution", param], message))
        };
        match (self.execution, self.method, self.scheme, self.bits) {
            (Execution::Simulated, ..) => Ok(()),
            (Execution::Native, Method::Kmeans | Method::Nf4, ..) => refused(
                "method",
                "burn's quantized tensors hold integers, no shared values or NormalFloats",
            ),
            (Execution::Native, Method::Round | Method::Aware, Scheme::Affine, _) => {
                refused("scheme", "burn's quantized tensors have no zero point")
            }
            (
                Execution::Native,
                Method::Round | Method::Aware,
                Scheme::Symmetric | Scheme::SymmetricRestricted,
                2 | 4 | 8,
            ) => Ok(()),
            (
                Execution::Native,
                Method::Round | Method::Aware,
                Scheme::Symmetric | Scheme::SymmetricRestricted,
                _,
            ) => refused("bits", "burn has quantized tensors of 2, 4 and 8 bits"),
        }
    }

    /// Bits that a weight really takes.
    pub(super) fn weight_bits(&self) -> u32 {
        match self.method {
            Method::Nf4 => 4,
            Method::Round | Method::Aware | Method::Kmeans => self.bits,
        }
    }

    /// Whether steps of training belong to the method.
    pub(super) fn trains(&self) -> bool {
        match self.method {
            Method::Aware | Method::Kmeans => true,
            Method::Round | Method::Nf4 => false,
        }
    }

    /// Whether nothing differs but what is shown.
    pub(super) fn same_rounding(&self, other: &Self) -> bool {
        let shown = Self { layer: other.layer, ..*self };
        shown == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_device::choice::assert_choices_listed;

    use crate::quantize_model::lab;

    #[test]
    fn the_schema_lists_exactly_the_cases_that_are_read() {
        let lab = lab().unwrap();
        assert_choices_listed(&lab, "dataset", &DATASETS);
        assert_choices_listed(&lab, "model", &MODELS);
        assert_choices_listed(&lab, "method", &METHODS);
        assert_choices_listed(&lab, "scheme", &SCHEMES);
        assert_choices_listed(&lab, "calibration", &CALIBRATIONS);
        assert_choices_listed(&lab, "execution", &EXECUTIONS);
        for (name, scheme) in SCHEMES {
            assert_eq!(Scheme::named(name), Some(scheme));
        }
        for (name, calibration) in CALIBRATIONS {
            assert_eq!(Calibration::named(name), Some(calibration));
        }
        for name in ["tensor", "channel", "group"] {
            assert!(Granularity::named(name, 4).is_some());
        }
    }
}
