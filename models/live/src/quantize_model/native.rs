//! A network whose weights are burn's own quantized tensors.
//!
//! burn's blocks are rectangles of at most 255 a side that divide the matrix, where ours are any number of weights of one
//! output. So a group is cut into the largest blocks that fit, which all have its scale: the same values, with some scales
//! stored more than once.

use burn::module::Param;
use burn::tensor::quantization::{QuantScheme, QuantValue, QuantizationParameters, ScaleDtype};
use burn::tensor::{Device, Tensor, TensorData};
use mlsys_sim::quantizer::{Granularity, Matrix, Quantized, Scheme};

use super::rounding::Rounded;
use super::setup::Knobs;
use mlsys_nn::baseline::{Layer, Trained};
use mlsys_nn::nets::Network;

/// The network with every matrix that inputs are multiplied by as a quantized tensor, and how many those are.
/// Convolutions and embeddings, for which burn has no such operation, hold the rounded values as floats.
pub(super) fn network(
    trained: &Trained,
    layers: &[Layer],
    rounded: &Rounded,
    knobs: &Knobs,
    device: &Device,
) -> (Network, usize) {
    let mut network = trained.network_of(&rounded.row, device);
    let mut count = 0;
    {
        let mut places = multiplied(&mut network);
        for (place, (layer, own)) in layers.iter().zip(&rounded.layers).enumerate() {
            if let Some((_, weight)) = places.iter_mut().find(|(at, _)| *at == place) {
                **weight = Param::from_tensor(tensor(layer, own, knobs, device));
                count += 1;
            }
        }
    }
    (network, count)
}

/// The matrices that rows are multiplied by, with their places among the layers.
fn multiplied(network: &mut Network) -> Vec<(usize, &mut Param<Tensor<2>>)> {
    match network {
        Network::Mlp(mlp) => {
            let weights = mlp.layers.iter_mut().map(|layer| &mut layer.weight);
            weights.enumerate().collect()
        }
        Network::Cnn(cnn) => vec![(cnn.convolutions.len(), &mut cnn.head.weight)],
        Network::Filters(net) => vec![(net.filters.len(), &mut net.head.weight)],
        Network::Transformer(transformer) => {
            let mut all = Vec::new();
            for block in &mut transformer.blocks {
                let (attention, mlp) = (&mut block.attention, &mut block.mlp);
                all.extend([
                    &mut attention.query,
                    &mut attention.key,
                    &mut attention.value,
                    &mut attention.output,
                    &mut mlp.gate,
                    &mut mlp.up,
                    &mut mlp.down,
                ]);
            }
            all.push(&mut transformer.head);
            // The embedding comes first among the layers.
            all.into_iter().enumerate().map(|(at, weight)| (at + 1, weight)).collect()
        }
    }
}

/// One layer's weights, `[inputs, outputs]`, with our scales.
fn tensor(layer: &Layer, own: &Quantized, knobs: &Knobs, device: &Device) -> Tensor<2> {
    let shape = [layer.inputs, layer.outputs];
    let scheme = QuantScheme::default().with_value(value(knobs));
    let (scheme, scales) = match block(layer.inputs, knobs.granularity) {
        None => (scheme.per_tensor(ScaleDtype::F32), own.scales()),
        Some(block) => {
            let matrix = Matrix::by_inputs(layer.inputs, layer.outputs);
            let all = own.scales();
            let scale = |at: usize| {
                let (row, output) = (at / layer.outputs, at % layer.outputs);
                let first = matrix.index(row * usize::from(block), output);
                all.get(own.group(first)).copied().unwrap_or(1.0)
            };
            let blocks = layer.inputs / usize::from(block) * layer.outputs;
            let scheme = scheme.per_block([block, 1], ScaleDtype::F32);
            (scheme, (0..blocks).map(scale).collect())
        }
    };
    let count = scales.len();
    let parameters = QuantizationParameters {
        scales: Tensor::from_data(TensorData::new(scales, [count]), device),
        global: None,
    };
    // Values that are on the grid already: whoever rounds them again, in whatever order of operations, finds the same
    // integers.
    let values = TensorData::new(own.back.clone(), shape);
    Tensor::<2>::from_data(values, device).quantize(&scheme, parameters)
}

/// Weights of one output in a block; none for one scale a matrix.
fn block(inputs: usize, granularity: Granularity) -> Option<u8> {
    let whole = match granularity {
        Granularity::Tensor => return None,
        Granularity::Channel => inputs,
        Granularity::Group(size) => divisor(inputs, size),
    };
    let fits = (1..=u8::MAX).rev().find(|block| whole.is_multiple_of(usize::from(*block)));
    Some(fits.unwrap_or(1))
}

/// The greatest number that divides both.
fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// burn's name for the integers. Those of its names that end in S leave the lowest one out.
fn value(knobs: &Knobs) -> QuantValue {
    match (knobs.scheme, knobs.bits) {
        (Scheme::SymmetricRestricted, 2) => QuantValue::Q2S,
        (Scheme::SymmetricRestricted, 4) => QuantValue::Q4S,
        (Scheme::SymmetricRestricted, _) => QuantValue::Q8S,
        // The knobs refuse affine integers here.
        (Scheme::Symmetric | Scheme::Affine, 2) => QuantValue::Q2F,
        (Scheme::Symmetric | Scheme::Affine, 4) => QuantValue::Q4F,
        (Scheme::Symmetric | Scheme::Affine, _) => QuantValue::Q8F,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_divide_what_shares_a_scale() {
        assert_eq!(block(784, Granularity::Tensor), None);
        assert_eq!(block(784, Granularity::Channel), Some(196));
        assert_eq!(block(784, Granularity::Group(32)), Some(16));
        assert_eq!(block(128, Granularity::Group(1024)), Some(128));
        assert_eq!(block(257, Granularity::Channel), Some(1));
        assert_eq!(block(1, Granularity::Group(2)), Some(1));
    }
}
