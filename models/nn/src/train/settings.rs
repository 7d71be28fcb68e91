//! How a network is trained: what is fixed, and what may change between two steps.

use mlsys_lab::LabError;

use super::optimizer::{Rule, UpdateKnobs};
use crate::data::DataError;
use crate::nets::Activation;

/// What becomes of activations between the forward and the backward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activations {
    /// They are kept.
    Kept,
    /// Those that are cheap to compute are computed again.
    Recomputed,
    /// Of a transformer's blocks only the inputs are kept, and each block runs again.
    OfBlocks,
}

/// What may change between two steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Knobs {
    pub noise: f32,
    pub jitter: f32,
    pub activation: Activation,
    pub rule: Rule,
    pub update: UpdateKnobs,
    pub batch_size: usize,
    pub steps: u64,
    pub evaluate_every: u64,
    pub record_every: u64,
    pub timing: Timing,
}

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Whole steps.
    Steps,
    /// Each phase of a step, with the device synchronised between them.
    Phases,
}

/// Data that cannot be used: a text is a parameter, the rest comes from files.
pub fn unusable(error: DataError) -> LabError {
    match error {
        DataError::Corpus(fault) => LabError::contradiction(["corpus"], fault.to_string()),
        DataError::TooFewTokens { .. } => {
            LabError::contradiction(["samples", "context"], error.to_string())
        }
        DataError::NoFolder
        | DataError::FolderUnreadable { .. }
        | DataError::FilesMissing { .. }
        | DataError::File { .. }
        | DataError::CountsDiffer { .. }
        | DataError::Several(_) => LabError::Data(error.to_string()),
    }
}
