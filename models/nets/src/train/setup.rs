//! Parameters as the run needs them: what is fixed, and the knobs that may be turned between two steps.

use std::path::PathBuf;

use mlsys_lab::{LabError, Params};

use super::optimizer::{Rule, UpdateKnobs};
use crate::data::{DataConfig, Dataset};
use crate::nets::{Activation, Architecture, CnnConfig, Initialization, MlpConfig};

/// What cannot change during a run.
pub(super) struct Setup {
    pub(super) data: DataConfig,
    pub(super) architecture: Architecture,
    pub(super) initialization: Initialization,
    pub(super) seed: u64,
}

/// What may change between two steps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Knobs {
    pub(super) noise: f32,
    pub(super) jitter: f32,
    pub(super) activation: Activation,
    pub(super) rule: Rule,
    pub(super) update: UpdateKnobs,
    pub(super) batch_size: usize,
    pub(super) steps: u64,
    pub(super) evaluate_every: u64,
    pub(super) record_every: u64,
    pub(super) timing: Timing,
}

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timing {
    /// Whole steps.
    Steps,
    /// Each phase of a step, with the device synchronised between them.
    Phases,
}

#[derive(Clone, Copy)]
enum Model {
    Mlp,
    Cnn,
}

const DATASETS: [(&str, Dataset); 6] = [
    ("spiral", Dataset::Spiral),
    ("moons", Dataset::Moons),
    ("circles", Dataset::Circles),
    ("xor", Dataset::Xor),
    ("digits", Dataset::Digits),
    ("idx", Dataset::Idx),
];
const MODELS: [(&str, Model); 2] = [("mlp", Model::Mlp), ("cnn", Model::Cnn)];
const ACTIVATIONS: [(&str, Activation); 6] = [
    ("relu", Activation::Relu),
    ("tanh", Activation::Tanh),
    ("sigmoid", Activation::Sigmoid),
    ("gelu", Activation::Gelu),
    ("silu", Activation::Silu),
    ("identity", Activation::Identity),
];
const INITIALIZATIONS: [(&str, Initialization); 3] = [
    ("he", Initialization::He),
    ("xavier", Initialization::Xavier),
    ("zeros", Initialization::Zeros),
];
const RULES: [(&str, Rule); 5] = [
    ("sgd", Rule::Sgd),
    ("momentum", Rule::Momentum),
    ("rmsprop", Rule::RmsProp),
    ("adam", Rule::Adam),
    ("adamw", Rule::AdamW),
];

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let dataset = pick(params, "dataset", &DATASETS)?;
        let seed = params.int("seed")?.unsigned_abs();
        let defaults = DataConfig::new(dataset, seed);
        let knobs = Knobs::read(params)?;
        Ok(Self {
            data: DataConfig {
                samples: size_or(params, "samples", defaults.samples)?,
                noise: knobs.noise,
                jitter: knobs.jitter,
                turns: params.float("turns")? as f32,
                folder: params
                    .get("data_dir")
                    .and_then(|value| value.as_str())
                    .map(PathBuf::from),
                ..defaults
            },
            architecture: architecture(params, dataset)?,
            initialization: pick(params, "initialization", &INITIALIZATIONS)?,
            seed,
        })
    }
}

impl Knobs {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let dataset = pick(params, "dataset", &DATASETS)?;
        let count = |name| params.size(name).map(|count| count as u64);
        Ok(Self {
            noise: params
                .optional_float("noise")
                .map_or(dataset.default_noise(), |noise| noise as f32),
            jitter: params.float("jitter")? as f32,
            activation: pick(params, "activation", &ACTIVATIONS)?,
            rule: pick(params, "optimizer", &RULES)?,
            update: UpdateKnobs {
                learning_rate: params.float("learning_rate")?,
                weight_decay: params.float("weight_decay")?,
                gradient_clip: params.optional_float("gradient_clip"),
            },
            batch_size: params.size("batch_size")?,
            steps: count("steps")?,
            evaluate_every: count("evaluate_every")?,
            record_every: count("record_every")?,
            timing: if params.bool("profile")? {
                Timing::Phases
            } else {
                Timing::Steps
            },
        })
    }
}

fn architecture(params: &Params, dataset: Dataset) -> Result<Architecture, LabError> {
    let outputs = dataset.classes();
    match pick(params, "model", &MODELS)? {
        Model::Mlp => {
            let depth = size_or(params, "depth", if dataset.is_points() { 2 } else { 1 })?;
            let width = size_or(params, "width", 32)?;
            Ok(Architecture::Mlp(MlpConfig {
                inputs: dataset.features(),
                hidden: vec![width; depth],
                outputs,
            }))
        }
        Model::Cnn if dataset.is_points() => Err(LabError::contradiction(
            ["dataset", "model"],
            "a cnn slides windows over images, and this data set is points in the plane; \
             set dataset to digits, or model to mlp",
        )),
        Model::Cnn => Ok(Architecture::Cnn(CnnConfig {
            edge: dataset.features().isqrt(),
            width: size_or(params, "width", 8)?,
            depth: size_or(params, "depth", 2)?,
            outputs,
        })),
    }
}

fn size_or(params: &Params, name: &str, default: usize) -> Result<usize, LabError> {
    match params.get(name) {
        Some(_) => params.size(name),
        None => Ok(default),
    }
}

/// The case that an enum parameter names. Resolution has checked the name against the schema, whose names are
/// tested to be the ones listed here.
fn pick<T: Copy>(params: &Params, name: &str, cases: &[(&str, T)]) -> Result<T, LabError> {
    let text = params.text(name)?;
    let found = cases.iter().find(|(case, _)| *case == text);
    found.map(|&(_, case)| case).ok_or_else(|| {
        let known: Vec<_> = cases.iter().map(|(case, _)| *case).collect();
        LabError::contradiction([name], format!("'{text}' is none of {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Train;
    use mlsys_lab::Lab;

    #[test]
    fn the_schema_lists_exactly_the_cases_that_are_read() {
        fn names<T>(cases: &[(&'static str, T)]) -> Vec<&'static str> {
            cases.iter().map(|(name, _)| *name).collect()
        }
        let train = Train::new().unwrap();
        for (param, cases) in [
            ("dataset", names(&DATASETS)),
            ("model", names(&MODELS)),
            ("activation", names(&ACTIVATIONS)),
            ("initialization", names(&INITIALIZATIONS)),
            ("optimizer", names(&RULES)),
        ] {
            assert_eq!(train.schema().param(param).unwrap().values, cases);
        }
    }
}
