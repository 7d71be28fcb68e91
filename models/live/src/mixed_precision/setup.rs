//! Parameters as the run needs them: what is fixed, and the knobs that may be turned between two steps.

use mlsys_lab::{LabError, Params};
use mlsys_sim::formats::Format;

use mlsys_device::choice::pick;
use mlsys_nn::data::{DataConfig, Dataset};
use mlsys_nn::flat_optimizer::{RULES, Rule};
use mlsys_nn::nets::MlpConfig;

/// What cannot change during a run.
pub(super) struct Setup {
    pub(super) data: DataConfig,
    pub(super) sizes: MlpConfig,
    pub(super) rule: Rule,
    /// What running sums inside a matrix product are rounded to.
    pub(super) sums: Format,
    pub(super) seed: u64,
}

/// What may change between two steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knobs {
    pub(super) numbers: Numbers,
    pub(super) learning_rate: f64,
    pub(super) batch_size: usize,
    pub(super) steps: u64,
    /// The weight that the number line shows.
    pub(super) watch: Option<usize>,
}

/// Which numbers are kept in which format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Numbers {
    pub(super) weights: Format,
    pub(super) gradients: Format,
    pub(super) activations: Format,
    pub(super) master: Master,
    pub(super) rounding: Rounding,
    /// The loss is multiplied by it before the backward pass.
    pub(super) loss_scale: f32,
}

/// What an update is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Master {
    /// A copy of the weights in 32 bits.
    Kept,
    /// The rounded weights, and the sum is rounded again.
    None,
}

/// How a number becomes one of its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    /// The nearest.
    Nearest,
    /// One of the two beside it, by chance.
    AtRandom,
}

const DATASETS: [(&str, Dataset); 2] = [("digits", Dataset::Digits), ("spiral", Dataset::Spiral)];

const FORMATS: [(&str, Format); 5] = [
    ("fp32", Format::Fp32),
    ("bf16", Format::Bf16),
    ("fp16", Format::Fp16),
    ("fp8-e4m3", Format::E4m3),
    ("fp8-e5m2", Format::E5m2),
];

const SUMS: [(&str, Format); 3] =
    [("fp32", Format::Fp32), ("fp16", Format::Fp16), ("bf16", Format::Bf16)];

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let dataset = pick(params, "dataset", &DATASETS)?;
        let seed = params.int("seed")?.unsigned_abs();
        let data = DataConfig::new(dataset, seed);
        // As many layers as lab `train` gives this data set.
        let depth = if dataset.is_points() { 2 } else { 1 };
        let outputs = data.classes();
        Ok(Self {
            sizes: MlpConfig {
                inputs: data.features(),
                hidden: vec![params.size("width")?; depth],
                outputs: outputs.map_err(|error| LabError::Data(error.to_string()))?,
            },
            rule: pick(params, "optimizer", &RULES)?,
            sums: pick(params, "accumulate_format", &SUMS)?,
            data,
            seed,
        })
    }
}

impl Knobs {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let watch = params.optional_int("watch");
        Ok(Self {
            numbers: Numbers::read(params)?,
            learning_rate: params.float("learning_rate")?,
            batch_size: params.size("batch_size")?,
            steps: params.size("steps")? as u64,
            watch: watch.map(|weight| usize::try_from(weight).unwrap_or(usize::MAX)),
        })
    }
}

impl Numbers {
    /// Everything in 32 bits.
    pub(super) const WIDE: Self = Self {
        weights: Format::Fp32,
        gradients: Format::Fp32,
        activations: Format::Fp32,
        master: Master::Kept,
        rounding: Rounding::Nearest,
        loss_scale: 1.0,
    };

    fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            weights: pick(params, "weight_format", &FORMATS)?,
            gradients: pick(params, "gradient_format", &FORMATS)?,
            activations: pick(params, "activation_format", &FORMATS)?,
            master: if params.bool("master_weights")? { Master::Kept } else { Master::None },
            rounding: if params.bool("stochastic_rounding")? {
                Rounding::AtRandom
            } else {
                Rounding::Nearest
            },
            loss_scale: params.float("loss_scale")? as f32,
        })
    }

    /// Whether a copy in 32 bits lies beside the weights; weights of 32 bits are their own.
    pub(super) fn has_copy(&self) -> bool {
        self.master == Master::Kept && self.weights != Format::Fp32
    }

    /// Bytes of a parameter: its weight, the copy, its gradient, and what the optimizer keeps in 32 bits.
    pub(super) fn bytes_per_parameter(&self, rule: Rule) -> f64 {
        let copy = if self.has_copy() { 4 } else { 0 };
        let state = 4 * rule.moments() as usize;
        (self.weights.bytes() + copy + self.gradients.bytes() + state) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixed_precision::lab;
    use mlsys_device::choice::must_be_listed;

    #[test]
    fn the_schema_lists_exactly_the_cases_that_are_read() {
        let lab = lab().unwrap();
        must_be_listed(&lab, "dataset", &DATASETS);
        for name in ["weight_format", "gradient_format", "activation_format"] {
            must_be_listed(&lab, name, &FORMATS);
        }
        must_be_listed(&lab, "accumulate_format", &SUMS);
        must_be_listed(&lab, "optimizer", &RULES);
        for (name, format) in FORMATS {
            assert_eq!(format.name(), name);
        }
    }

    #[test]
    fn bytes_are_counted_once_for_each_copy() {
        let of = |weights, gradients, master, rule| {
            let numbers = Numbers { weights, gradients, master, ..Numbers::WIDE };
            numbers.bytes_per_parameter(rule)
        };
        use Format::{Bf16, E4m3, E5m2, Fp32};
        assert_eq!(of(Bf16, Bf16, Master::Kept, Rule::Sgd), 8.0);
        assert_eq!(of(Bf16, Bf16, Master::None, Rule::Sgd), 4.0);
        assert_eq!(of(Bf16, Bf16, Master::Kept, Rule::Adam), 16.0);
        assert_eq!(of(E4m3, E5m2, Master::Kept, Rule::Adam), 14.0);
        assert_eq!(of(Fp32, Fp32, Master::Kept, Rule::Sgd), 8.0);
    }
}
