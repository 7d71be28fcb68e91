//! Pipeline parallelism: the order of each stage's operations, and the orders played through with times and a network.

pub mod lanes;
pub mod order;
pub mod simulate;
#[cfg(test)]
mod tests;

pub use crate::pipeline::lanes::{label, lanes, places};
pub use crate::pipeline::order::{MOST_OPERATIONS, Operation, Plan, Schedule, Work, stream};
pub use crate::pipeline::simulate::{
    LinkTimes, PipelineRun, Slot, Times, Transfer, simulate, waiting,
};
