//! The memory that training takes.

use super::settings::{Activations, Knobs};
use crate::nets::{Architecture, TransformerConfig};

/// Bytes that training a network takes, or a little more.
pub fn training_bytes(architecture: &Architecture, activations: Activations, knobs: &Knobs) -> u64 {
    // Weights, gradients, the first weights and the next ones, besides the optimizer's moments.
    let copies = 4 + knobs.rule.moments();
    let kept = kept_numbers(architecture, activations, knobs);
    4 * (copies * architecture.parameters() + 2 * kept)
}

/// Numbers that are kept for the backward pass, or a little more.
fn kept_numbers(architecture: &Architecture, activations: Activations, knobs: &Knobs) -> u64 {
    let batch = knobs.batch_size as u64;
    match (architecture, activations) {
        // Of all blocks the inputs, and of one, which runs again, everything.
        (Architecture::Transformer(config), Activations::OfBlocks) => {
            let one = Architecture::Transformer(TransformerConfig { depth: 1, ..config.clone() });
            let inputs = config.depth * config.context * config.width;
            batch * inputs as u64 + one.kept_numbers(knobs.activation, batch)
        }
        (architecture, Activations::Kept | Activations::Recomputed | Activations::OfBlocks) => {
            architecture.kept_numbers(knobs.activation, batch)
        }
    }
}
