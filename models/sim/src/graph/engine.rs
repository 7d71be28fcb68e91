//! Another engine that differentiates the same graph, to be put beside ours; whoever registers the labs joins it.

use mlsys_lab::DeviceId;

pub use super::operation::{Binary, Operation, Unary};

/// Most operations that are handed to an engine: frameworks keep a record per operation, and this is a picture's size.
pub const MOST_OPERATIONS: usize = 40_000;

/// One node of a graph as an engine sees it; every argument stands before its use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    /// What it computes, over the indices of earlier nodes.
    pub operation: Operation,
    /// The value of an input or a constant; of another node the value found by us.
    pub value: f64,
}

/// Evaluates a graph of scalars and differentiates its output by its inputs.
pub trait Engine: Send + Sync {
    /// What it is called above its column.
    fn name(&self) -> &str;

    /// The output `graph[output]` and its derivatives on a device.
    ///
    /// # Errors
    /// A sentence that says why there are none.
    fn differentiate(
        &self,
        graph: &[Scalar],
        output: usize,
        device: DeviceId,
    ) -> Result<Derivatives, String>;
}

/// What an engine found.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivatives {
    /// The value of the output.
    pub value: f64,
    /// By node: the derivative of the output by it, if it is an input; 0 if the output does not use it.
    pub gradients: Vec<Option<f64>>,
    /// Bits of the numbers it computed with, 32 or 64.
    pub bits: u32,
}
