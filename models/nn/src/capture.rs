//! A network recorded as burn sees it: operations, their shapes, and what they cost.
//!
//! The model's own code runs a forward pass on burn's recording device, which computes nothing. The record is then executed
//! operation by operation on burn's autodiff over the same recording back end, so that the backward pass and the optimizer's
//! update are recorded too; on a computing device the same interpreter checks the record by running it. Rules say what each
//! operation costs, what its gradient needs, and how long each tensor lives. A new kind of operation needs its class, its arm
//! in the interpreter, and, if its gradient needs a tensor, its rule.

pub mod cost;
pub mod execute;
pub mod layers;
pub mod lifetime;
pub mod record;
pub mod saved;
pub mod table;

use crate::networks::{Activation, Architecture};

/// Parameters of a network and operations of its products in one forward pass, as a record of it counts them.
pub fn forward_counts(
    architecture: &Architecture,
    input: [usize; 2],
) -> Result<(u64, u64), record::RecordError> {
    let forward = record::forward(architecture, input, Activation::Relu)?;
    let training = record::training(&forward, architecture, record::Rule::Sgd)?;
    let table = table::Table::new(&forward, &training)?;
    let weights = table.weights.iter().map(|place| table.tensors[*place].numbers());
    let flops = table.forward().map(|(_, node)| node.matmul_flops);
    Ok((weights.sum(), flops.sum()))
}
