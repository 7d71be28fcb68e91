//! Whether a machine has the memory for a run.

use mlsys_lab::{DeviceId, LabError};

use crate::train_pipeline_parallel::setup::{Comparison, Kept, Setup};
use mlsys_distributed::model::Model;
use mlsys_nn::memory_budget::MemoryBudget;

/// Refuses what the memory that all workers share cannot hold, before the system ends the program for it.
pub(super) fn must_fit(id: DeviceId, setup: &Setup, model: &Model) -> Result<(), LabError> {
    let who = format!("{} workers with this model", setup.stages);
    let smaller = "global_batch, context, hidden or layers";
    MemoryBudget::of(id).require(bytes(setup, model), &who, smaller)
}

/// What all workers keep at the end of their forward passes.
fn bytes(setup: &Setup, model: &Model) -> u64 {
    // Weights and gradients, on the host and on the device, and the next weights.
    let stashed = if setup.is_asynchronous() { setup.stages as u64 - 1 } else { 0 };
    let own = 5 + setup.rule.moments();
    let (copies, alone) = match setup.comparison {
        // It has a model of its own, and keeps the activations of the whole batch, after the stages have used theirs.
        Comparison::OneWorker => (2 * own + stashed, setup.batch()),
        Comparison::Nobody => (own + stashed, 0),
    };
    let split = match setup.kept {
        // The stages together keep the whole model's activations of the microbatches that are in flight.
        Kept::Everything => {
            let chunks = (0..setup.stages).map(|stage| setup.plan.peak_chunks(stage));
            let most = chunks.max().unwrap_or(0).div_ceil(setup.chunks);
            setup.sequences * most
        }
        // Each computes one microbatch anew.
        Kept::Inputs => setup.sequences,
    };
    let activations = model.activation_bytes(alone.max(split) as u64);
    4 * copies * model.parameters() + activations
}
