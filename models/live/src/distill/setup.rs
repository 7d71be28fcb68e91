//! Parameters as the run needs them, and the images that students are shown.

use mlsys_lab::{LabError, Params};

use mlsys_nn::baseline::Recipe;
use mlsys_nn::cases::Model;
use mlsys_nn::data::{Examples, Labelled};
use mlsys_nn::nets::{Architecture, MlpConfig};

/// Examples of a step.
pub(super) const BATCH: usize = 64;

/// What cannot change during a run.
pub(super) struct Setup {
    pub(super) teacher: Recipe,
    pub(super) student: Architecture,
    pub(super) labelled: usize,
    pub(super) transfer: usize,
    /// The digit that students are not shown.
    pub(super) missing: Option<i32>,
    pub(super) seed: u64,
}

/// What may change between two steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knobs {
    pub(super) temperature: f64,
    pub(super) soft_weight: f64,
    pub(super) learning_rate: f64,
    pub(super) steps: u64,
}

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let seed = params.int("seed")?.unsigned_abs();
        let steps = params.int("teacher_steps")?.unsigned_abs();
        let width = params.size("teacher_width")?;
        let teacher = Recipe::images(Model::Mlp, width, steps, seed)?;
        let missing = match params.get("missing_class") {
            Some(_) => i32::try_from(params.int("missing_class")?).ok(),
            None => None,
        };
        Ok(Self {
            student: Architecture::Mlp(MlpConfig {
                inputs: teacher.data.features(),
                hidden: vec![params.size("student_width")?],
                outputs: CLASSES,
            }),
            teacher,
            labelled: params.size("labelled_samples")?,
            transfer: params.size("transfer_samples")?,
            missing,
            seed,
        })
    }
}

/// Digits.
pub(super) const CLASSES: usize = 10;

impl Knobs {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            temperature: params.float("temperature")?,
            soft_weight: params.float("soft_weight")?,
            learning_rate: params.float("learning_rate")?,
            steps: params.int("steps")?.unsigned_abs(),
        })
    }
}

/// The first so many images of a data set, those of the missing digit left out before they are counted.
pub(super) fn shown(all: &Labelled, missing: Option<i32>, count: usize) -> Examples {
    let kept = (0..all.len()).filter(|&index| missing != Some(all.labels[index]));
    let indices: Vec<usize> = kept.take(count).collect();
    let (inputs, labels) = all.gather(&indices);
    Examples::Labelled(Labelled { inputs, labels, features: all.features })
}
