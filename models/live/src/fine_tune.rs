//! Shared by labs that compress a trained network and train on: its recipe, and a batch's loss and flat gradient.

use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor};
use mlsys_distributed::transport::CommError;
use mlsys_lab::{LabError, Params};
use mlsys_nn::baseline::{self, Recipe, Sizes};
use mlsys_nn::cases::Model;
use mlsys_nn::data::{Batches, Dataset, Examples};
use mlsys_nn::flat_params;
use mlsys_nn::networks::{Inputs, Network, cross_entropy};
use mlsys_nn::train::batch;

/// Examples of a step.
const IMAGES: usize = 64;
/// Sequences of a step; each has many tokens.
const SEQUENCES: usize = 16;

/// The loss of the next batch, and its gradient in the order of the network's flat parameters. `network` and `device` have
/// autodiff; `forward` gives logits `[rows, classes]`.
///
/// # Errors
/// If the device fails.
pub(crate) fn loss_and_gradient(
    network: &Network,
    examples: &Examples,
    batches: &mut Batches,
    device: &Device,
    forward: impl FnOnce(Inputs) -> Tensor<2>,
) -> Result<(f64, Vec<f32>), CommError> {
    let size = match examples {
        Examples::Labelled(_) => IMAGES,
        Examples::Sequence(_) => SEQUENCES,
    };
    let (inputs, labels) = batch(examples, batches.next(size), device);
    let loss = cross_entropy(forward(inputs), labels);
    let value = flat_params::numbers(loss.clone().without_autodiff(), 1)?;
    let mut gradients = GradientsParams::from_grads(loss.backward(), network);
    let gradient = flat_params::gradients(network, &mut gradients)?;
    Ok((value.first().map_or(f64::NAN, |loss| f64::from(*loss)), gradient))
}

/// Parameters of the largest network that is changed and judged hundreds of times.
pub(crate) const MOST_PARAMETERS: usize = 20_000_000;

/// The data set and the network that parameters ask for; a folder has a transformer, whatever they are.
pub(crate) fn kinds(params: &Params, dataset: Dataset, model: Model) -> (Dataset, Model) {
    match baseline::is_folder(params) {
        true => (Dataset::Chain, Model::Transformer),
        false => (dataset, model),
    }
}

/// The recipe of a network that parameters `dataset` and `model` name; its width is that of the sizes, and `noise` is on each
/// pixel of images.
///
/// # Errors
/// If the network does not read the data set, or has no such sizes.
pub(crate) fn recipe(
    dataset: Dataset,
    model: Model,
    (sizes, noise): (Sizes, f32),
    steps: u64,
    seed: u64,
) -> Result<Recipe, LabError> {
    match (dataset, model) {
        (Dataset::Chain, Model::Transformer) => Recipe::tokens(dataset, sizes, steps, seed),
        (Dataset::Chain, Model::Mlp | Model::Cnn) => Err(LabError::contradiction(
            ["dataset", "model"],
            "a chain is a row of symbols, and a transformer reads it; set model to transformer, or dataset to digits",
        )),
        (_, model) => Ok(Recipe::images(model, sizes.width, steps, seed)?.with_noise(noise)),
    }
}
