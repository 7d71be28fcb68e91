//! The loss of a batch and its gradient as a flat row, for labs that train on by an optimizer of rows.

use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor};
use mlsys_distributed::transport::CommError;
use mlsys_nn::data::{Batches, Examples};
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
