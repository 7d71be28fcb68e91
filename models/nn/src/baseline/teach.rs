//! Training by a recipe.

use mlsys_lab::{DeviceId, LabError};

use super::{Recipe, Trained};
use crate::data::{self, Batches};
use crate::flat_params;
use crate::memory_budget::MemoryBudget;
use crate::nets::Initialization;
use crate::train::{Activations, Measuring, Trainer, training_bytes, unusable};
use mlsys_device as device;

/// Trains. `has_next` is asked before each step with the number of steps done; none if it says no.
pub(super) fn teach(
    recipe: &Recipe,
    id: DeviceId,
    smaller: &str,
    has_next: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Trained>, LabError> {
    let failed = |reason| LabError::Failed { device: id, reason };
    let knobs = recipe.knobs();
    let needed = training_bytes(&recipe.architecture, Activations::Kept, &knobs);
    let network = recipe.architecture.in_words();
    let who = format!("weights, gradients and activations of training {network} first");
    MemoryBudget::of(id).require(needed, &who, smaller)?;
    let device = device::open(id)?.autodiff();
    let examples = data::load(&recipe.data).map_err(unusable)?.train;
    let network = recipe.architecture.init(Initialization::He, recipe.seed, &device);
    let batches = Batches::new(recipe.seed, examples.len());
    let mut trainer = Trainer::new(network, &knobs, batches, (id, device), Activations::Kept);
    for step in 0..recipe.steps {
        if !has_next(step) {
            return Ok(None);
        }
        trainer.step(&examples, &knobs, Measuring::Nothing);
    }
    let weights = flat_params::weights(&trainer.network())
        .map_err(|error| failed(format!("the run {error}")))?;
    if weights.iter().any(|weight| !weight.is_finite()) {
        return Err(failed(format!(
            "the training of {} that comes first diverged: some of its weights are no longer finite numbers",
            recipe.architecture.in_words()
        )));
    }
    Ok(Some(Trained {
        architecture: recipe.architecture.clone(),
        activation: recipe.activation,
        data: recipe.data.clone(),
        steps: recipe.steps,
        weights,
    }))
}
