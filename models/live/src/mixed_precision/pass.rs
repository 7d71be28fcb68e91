//! Forward and backward on the device, every layer's outputs rounded on the way.

use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use mlsys_sim::formats::Format;

use super::rounding::Rounder;
use super::setup::Numbers;
use mlsys_distributed::transport::CommError;
use mlsys_nn::data::Examples;
use mlsys_nn::flat_params;
use mlsys_nn::nets::{Activation, Mlp, Network, cross_entropy};
use mlsys_nn::train::batch;

/// The loss of a batch and its gradients as a row, both as they leave the backward pass: the gradients are those of
/// `loss_scale` times the loss. `device` is one with autodiff.
pub(super) fn gradient(
    network: &Network,
    examples: &Examples,
    indices: &[usize],
    numbers: &Numbers,
    rounder: &mut Rounder,
    device: &Device,
) -> Result<(f64, Vec<f32>), CommError> {
    let (inputs, labels) = batch(examples, indices, device);
    let logits = match network {
        Network::Mlp(mlp) => forward(mlp, inputs.numbers(), numbers.activations, rounder)?,
        // This lab makes no other network.
        Network::Cnn(_) | Network::Filters(_) | Network::Transformer(_) => {
            network.forward(inputs, Activation::Relu)
        }
    };
    let loss = cross_entropy(logits, labels);
    let value = flat_params::numbers(loss.clone().without_autodiff(), 1)?;
    let scaled = if numbers.loss_scale == 1.0 { loss } else { loss.mul_scalar(numbers.loss_scale) };
    let mut gradients = GradientsParams::from_grads(scaled.backward(), network);
    let row = flat_params::gradients(network, &mut gradients)?;
    Ok((value.first().map_or(f64::NAN, |loss| f64::from(*loss)), row))
}

/// `[batch, inputs]` to logits `[batch, outputs]`, the outputs of each layer rounded. Rounding keeps zero and order, so that
/// it is the same before relu as after.
pub(super) fn forward(
    mlp: &Mlp,
    x: Tensor<2>,
    format: Format,
    rounder: &mut Rounder,
) -> Result<Tensor<2>, CommError> {
    let mut x = x; // [batch, inputs]
    for (index, layer) in mlp.layers.iter().enumerate() {
        if index > 0 {
            x = Activation::Relu.apply(x); // the same shape
        }
        x = rounded(layer.forward(x), format, rounder)?; // [batch, neurons of the layer]
    }
    Ok(x) // [batch, outputs]
}

/// The same numbers rounded; their gradients pass as if they were not.
fn rounded(x: Tensor<2>, format: Format, rounder: &mut Rounder) -> Result<Tensor<2>, CommError> {
    if format == Format::Fp32 {
        return Ok(x);
    }
    let shape = x.dims();
    let mut values = flat_params::numbers(x.clone().without_autodiff(), shape[0] * shape[1])?;
    rounder.round(format, &mut values);
    let target = Tensor::from_data(TensorData::new(values, shape), &x.device());
    // The difference of a number and what it is rounded to has no more bits than the number, so that the sum is exact.
    Ok(x.clone() + (target - x.detach()))
}
