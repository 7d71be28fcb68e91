//! Trained networks that other labs start from: by a recipe, trained once in the process for all who ask.
//!
//! A [`Recipe`] says what to train, [`Trained`] is what comes of it, a row of numbers on the host that any device can be
//! given, and [`layers`](Trained::layers) names the matrices in that row.

mod adopt;
mod artifact;
mod cache;
mod layers;
mod recipe;
mod teach;
#[cfg(test)]
mod tests;
mod trained;

use std::sync::Arc;

use mlsys_lab::report::Report;
use mlsys_lab::{DeviceId, LabError, Run};

pub(crate) use self::artifact::Unusable;
pub(crate) use self::layers::Layer;
pub(crate) use self::recipe::{Recipe, Sizes};
use self::trained::FRESH;
pub(crate) use self::trained::Trained;
use crate::device;
use crate::nets::{Activation, Architecture};

/// Steps between two words about how far training has come.
const TELL_EVERY: u64 = 20;

/// The network that a lab starts from: that of the run which parameter `model_from` names, if it is set, and then sizes that
/// nobody set follow it; else trained by its recipe, unless somebody in this process has done so on this device.
/// None if the run was ended meanwhile, and then the lab has nothing left to do.
///
/// # Errors
/// If the other run's network is another than the parameters ask for; if the data cannot be had, the device cannot be
/// opened, memory is short, or training diverged.
pub(crate) fn obtain(run: &mut Run<'_>, recipe: &Recipe) -> Result<Option<Arc<Trained>>, LabError> {
    if let Some(adopted) = adopt::adopt(&run.params, recipe)? {
        must_be_judged(&adopted.architecture, run.device)?;
        return Ok(Some(Arc::new(adopted)));
    }
    learn(run, recipe)
}

/// The network that a recipe leads to, whatever `model_from` says: a second one beside the network that a lab starts from.
/// None if the run was ended meanwhile.
///
/// # Errors
/// As for [`obtain`].
pub(crate) fn learn(run: &mut Run<'_>, recipe: &Recipe) -> Result<Option<Arc<Trained>>, LabError> {
    must_be_judged(&recipe.architecture, run.device)?;
    let Run {
        device,
        sink,
        control,
        ..
    } = run;
    let mut told = false;
    let trained = cache::trained(recipe, *device, &mut |step| {
        if step.is_multiple_of(TELL_EVERY) {
            let steps = recipe.steps;
            let network = recipe.architecture.in_words();
            let status = format!("training {network} first: step {step} of {steps}");
            sink.report(Report::Status(status));
            told = true;
        }
        control.must_end().is_none()
    });
    if told {
        run.sink.report(Report::Status(String::new()));
    }
    if matches!(trained, Ok(None)) {
        run.scalar("steps_done", 0_i64);
    }
    trained
}

/// Refuses a network that the device's memory cannot hold while it is judged.
fn must_be_judged(architecture: &Architecture, device: DeviceId) -> Result<(), LabError> {
    let Some(free) = device::free_memory(device) else {
        return Ok(());
    };
    judged_within(architecture, free).map_err(|reason| LabError::Failed { device, reason })
}

/// Whether memory holds a network's answers to all fresh images at once, which are more than a batch of training.
fn judged_within(architecture: &Architecture, free: u64) -> Result<(), String> {
    let images = match architecture {
        Architecture::Mlp(_) | Architecture::Cnn(_) | Architecture::Filters(_) => FRESH as u64,
        // Its tokens are judged a few thousand at a time.
        Architecture::Transformer(_) => return Ok(()),
    };
    // Of each layer what comes in and what goes out, and the weights twice; 4 bytes each.
    let numbers = architecture.kept_numbers(Activation::Relu, images) + architecture.parameters();
    let needed = 8 * numbers;
    if needed <= free {
        return Ok(());
    }
    Err(format!(
        "judging {} on {images} images takes about {:.1} GB, and {:.1} GB are free; make width smaller",
        architecture.in_words(),
        needed as f64 / 1e9,
        free as f64 / 1e9
    ))
}

/// The network that a recipe leads to, for whoever is no run; trained by whoever asks first, while others wait.
///
/// # Errors
/// As for [`obtain`].
pub(crate) fn trained(recipe: &Recipe, device: DeviceId) -> Result<Arc<Trained>, LabError> {
    cache::trained(recipe, device, &mut |_| true)?.ok_or_else(|| LabError::Failed {
        device,
        reason: "the training of its network was ended".to_owned(),
    })
}
