//! Parameters as the run needs them: what is fixed, and the knobs that may be turned between two steps.

use mlsys_lab::{LabError, Params};
use mlsys_nn::baseline::{Recipe, Sizes};
use mlsys_nn::cases::Model;
use mlsys_nn::data::Dataset;
use mlsys_sim::quantizer::{Calibration, Granularity, Scheme};
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Fields {
    dataset: Dataset,
    model: Model,
    width: usize,
    baseline_steps: u64,
    finetune_steps: u64,
    seed: u64,
    method: Method,
    bits: u32,
    #[serde(with = "SchemeName")]
    scheme: Scheme,
    granularity: GranularityName,
    group_size: usize,
    activation_bits: Option<u32>,
    #[serde(with = "CalibrationName")]
    calibration: Calibration,
    execution: Execution,
    layer: usize,
}

#[derive(Deserialize)]
#[serde(remote = "Scheme", rename_all = "kebab-case")]
enum SchemeName {
    Affine,
    Symmetric,
    SymmetricRestricted,
}

#[derive(Deserialize)]
#[serde(remote = "Calibration", rename_all = "kebab-case")]
enum CalibrationName {
    MinMax,
    Percentile,
    #[serde(rename = "mean-squared-error")]
    LeastError,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum GranularityName {
    Tensor,
    Channel,
    Group,
}

pub(super) struct Setup {
    pub(super) recipe: Recipe,
    /// Steps of training that know of the rounding.
    pub(super) finetune_steps: u64,
    pub(super) seed: u64,
}

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
    pub(super) layer: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Method {
    Round,
    /// The nearest level, in the forward pass of further training.
    #[serde(rename = "quantization-aware")]
    Aware,
    /// The nearest of shared values, which then are trained.
    Kmeans,
    Nf4,
}

/// What the rounded network is run with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Execution {
    /// Rounded values as ordinary floats.
    Simulated,
    Native,
}

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let fields: Fields = params.read()?;
        let Fields { dataset, width, baseline_steps: steps, seed, .. } = fields;
        let recipe = match (dataset, fields.model) {
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
        Ok(Self { recipe, finetune_steps: fields.finetune_steps, seed })
    }
}

impl Knobs {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let fields: Fields = params.read()?;
        let knobs = Self {
            method: fields.method,
            bits: fields.bits,
            scheme: fields.scheme,
            granularity: match fields.granularity {
                GranularityName::Tensor => Granularity::Tensor,
                GranularityName::Channel => Granularity::Channel,
                GranularityName::Group => Granularity::Group(fields.group_size.max(1)),
            },
            activations: fields.activation_bits.map(|bits| (bits, fields.calibration)),
            execution: fields.execution,
            layer: fields.layer.saturating_sub(1),
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
            (Execution::Native, _, Scheme::Affine, _) => {
                refused("scheme", "burn's quantized tensors have no zero point")
            }
            (Execution::Native, .., 2 | 4 | 8) => Ok(()),
            (Execution::Native, ..) => {
                refused("bits", "burn has quantized tensors of 2, 4 and 8 bits")
            }
        }
    }

    pub(super) fn weight_bits(&self) -> u32 {
        match self.method {
            Method::Nf4 => 4,
            Method::Round | Method::Aware | Method::Kmeans => self.bits,
        }
    }

    pub(super) fn trains(&self) -> bool {
        match self.method {
            Method::Aware | Method::Kmeans => true,
            Method::Round | Method::Nf4 => false,
        }
    }

    pub(super) fn same_rounding(&self, other: &Self) -> bool {
        let shown = Self { layer: other.layer, ..*self };
        shown == *other
    }
}
