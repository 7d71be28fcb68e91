//! Parameters as the run needs them: what is fixed, and the knobs that may be turned between two steps.

use mlsys_lab::{LabError, Params};
use mlsys_nn::baseline::{self, Recipe, Sizes};
use mlsys_nn::cases::Model;
use mlsys_nn::data::Dataset;
use mlsys_sim::quantizer::{Calibration, Granularity, Scheme};
use serde::Deserialize;

use crate::fine_tune;

#[derive(Deserialize)]
pub(super) struct Fields {
    dataset: Dataset,
    model: Model,
    width: usize,
    noise: f32,
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
    pub(super) finetune_steps: u64,
    pub(super) seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knobs {
    pub(super) method: Method,
    pub(super) bits: u32,
    pub(super) scheme: Scheme,
    pub(super) granularity: Granularity,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Execution {
    Simulated,
    Native,
}

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let fields: Fields = params.read()?;
        let Fields { dataset, model, width, noise, baseline_steps, finetune_steps, seed, .. } =
            fields;
        let (dataset, model) = fine_tune::kinds(params, dataset, model);
        let width = if baseline::is_folder(params) { Sizes::default().width } else { width };
        let sizes = Sizes { width, ..Sizes::default() };
        let recipe = fine_tune::recipe(dataset, model, (sizes, noise), baseline_steps, seed)?;
        Ok(Self { recipe, finetune_steps, seed })
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
        let (param, message) = match (self.execution, self.method, self.scheme, self.bits) {
            (Execution::Simulated, ..) => return Ok(()),
            (Execution::Native, Method::Kmeans | Method::Nf4, ..) => (
                "method",
                "burn's quantized tensors hold integers, no shared values or NormalFloats",
            ),
            (Execution::Native, _, Scheme::Affine, _) => {
                ("scheme", "burn's quantized tensors have no zero point")
            }
            (Execution::Native, .., 2 | 4 | 8) => return Ok(()),
            (Execution::Native, ..) => ("bits", "burn has quantized tensors of 2, 4 and 8 bits"),
        };
        let message = format!("execution is native, and {message}; set execution to simulated");
        Err(LabError::contradiction(["execution", param], message))
    }

    pub(super) fn weight_bits(&self) -> u32 {
        if self.method == Method::Nf4 { 4 } else { self.bits }
    }

    pub(super) fn trains(&self) -> bool {
        matches!(self.method, Method::Aware | Method::Kmeans)
    }

    pub(super) fn same_rounding(&self, other: &Self) -> bool {
        Self { layer: other.layer, ..*self } == *other
    }
}
