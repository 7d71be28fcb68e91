//! Training: the loop of one step, its optimizers, clocks and measurements, and the evaluation of a network.

use crate::data::DataError;
pub use crate::flat_params::Rule;
use crate::networks::{Activation, Architecture, TransformerConfig};
pub use crate::train::evaluate::{Evaluation, EvaluationSet, batch};
pub use crate::train::optimizer::{Optimizer, UpdateKnobs};
pub use crate::train::trainer::{Measuring, Trainer};
use mlsys_lab::LabError;

pub mod clock;
pub mod evaluate;
pub mod norms;
pub mod optimizer;
mod pass;
pub mod trainer;

// How a network is trained: what is fixed, and what may change between two steps.

/// What becomes of activations between the forward and the backward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activations {
    Kept,
    /// Those that are cheap to compute are computed again.
    Recomputed,
    /// Of a transformer's blocks only the inputs are kept, and each block runs again.
    OfBlocks,
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    Steps,
    /// Each phase of a step, with the device synchronised between them.
    Phases,
}

/// Data that cannot be used: a text is a parameter, the rest comes from files.
pub fn data_error(error: DataError) -> LabError {
    let reason = error.to_string();
    if matches!(error, DataError::Corpus(_)) {
        LabError::contradiction(["corpus"], reason)
    } else if matches!(error, DataError::TooFewTokens { .. }) {
        LabError::contradiction(["samples", "context"], reason)
    } else {
        LabError::Data(reason)
    }
}

// The memory that training takes.

pub fn training_bytes(architecture: &Architecture, activations: Activations, knobs: &Knobs) -> u64 {
    // Weights, gradients, the first weights and the next ones, besides the optimizer's moments.
    let copies = 4 + knobs.rule.moments();
    let batch = knobs.batch_size as u64;
    let mut kept = architecture.kept_numbers(knobs.activation, batch);
    if let (Architecture::Transformer(config), Activations::OfBlocks) = (architecture, activations)
    {
        // Of all blocks the inputs, and of one, which runs again, everything.
        let one = Architecture::Transformer(TransformerConfig { depth: 1, ..config.clone() });
        let inputs = config.depth * config.context * config.width;
        kept = batch * inputs as u64 + one.kept_numbers(knobs.activation, batch);
    }
    4 * (copies * architecture.parameters() + 2 * kept)
}
