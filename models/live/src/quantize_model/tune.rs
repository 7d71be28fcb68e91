//! Training that knows of the rounding: weights behind the levels, or the shared values themselves.

use burn::module::Param;
use burn::tensor::quantization::{QuantScheme, QuantValue, QuantizationParameters, ScaleDtype};
use burn::tensor::{Device, Tensor, TensorData};
use mlsys_distributed::transport::CommError;
use mlsys_nn::baseline::{Layer, Trained};
use mlsys_nn::data::{Batches, Examples};
use mlsys_nn::flat_params::{Optimizer, Rule};
use mlsys_nn::networks::Network;
use mlsys_sim::quantizer::{Granularity, Matrix, Quantized, Scheme, cluster_sums};

use crate::fine_tune::loss_and_gradient;

use super::forward::forward;
use super::params::{Knobs, Method};
use super::rounding::{InputGrids, Rounded};

/// Adam's rate for weights: a third of what the network was trained with.
const RATE: f64 = 0.001;

/// Adam's rate for centroids, each of which moves thousands of weights.
const CENTROID_RATE: f64 = 0.0003;

pub(super) struct FineTuner {
    examples: Examples,
    batches: Batches,
    /// With autodiff.
    device: Device,
    optimizer: Optimizer,
    /// Of all centroids in a row.
    centroid_optimizer: Optimizer,
}

impl FineTuner {
    pub(super) fn new(examples: Examples, seed: u64, device: &Device) -> Self {
        Self {
            batches: Batches::new(seed, examples.len()),
            examples,
            device: device.clone().autodiff(),
            optimizer: Optimizer::new(Rule::Adam),
            centroid_optimizer: Optimizer::new(Rule::Adam),
        }
    }

    /// One step: the loss of the batch. `row` has the unrounded weights, and `rounded` those that the network computes with,
    /// both before the step and after it.
    pub(super) fn step(
        &mut self,
        knobs: &Knobs,
        grids: &InputGrids,
        trained: &Trained,
        layers: &[Layer],
        (row, rounded): (&mut [f32], &mut Rounded),
    ) -> Result<f64, CommError> {
        let network = trained.network_of(&rounded.row, &self.device);
        let mut rounding = |layer, x| grids.round_straight_through(layer, x);
        let through = |inputs| forward(&network, inputs, trained.activation, &mut rounding);
        let batches = &mut self.batches;
        let (loss, gradient) =
            loss_and_gradient(&network, &self.examples, batches, &self.device, through)?;
        match knobs.method {
            // Straight through (Bengio et al. 2013): the slope at the level is taken for that of the weight behind it.
            Method::Round | Method::Aware | Method::Nf4 => {
                self.optimizer.update(row, &gradient, RATE);
                *rounded = Rounded::new(knobs, layers, row);
            }
            Method::Kmeans => self.move_centroids(layers, row, rounded, &gradient),
        }
        Ok(loss)
    }

    /// Each centroid goes along the summed slopes of the weights that share it (Han et al. 2016, figure 3); which those
    /// are stays as it is. Behind the levels then lies nothing but the levels.
    fn move_centroids(
        &mut self,
        layers: &[Layer],
        row: &[f32],
        rounded: &mut Rounded,
        gradient: &[f32],
    ) {
        let mut centroids = Vec::new();
        let mut slopes = Vec::new();
        let mut counts = Vec::new();
        for (layer, own) in layers.iter().zip(&rounded.layers) {
            let values = own.centroids();
            let codes: Vec<usize> = own.codes.iter().map(|code| *code as usize).collect();
            let slope: Vec<f64> = layer.matrix(gradient).into_iter().map(f64::from).collect();
            slopes.extend(cluster_sums(&slope, &codes, values.len()).iter().map(|s| *s as f32));
            centroids.extend(values.iter().map(|value| *value as f32));
            counts.push(values.len());
        }
        self.centroid_optimizer.update(&mut centroids, &slopes, CENTROID_RATE);
        let mut rest = centroids.as_slice();
        let mut moved = Vec::with_capacity(layers.len());
        for (own, count) in rounded.layers.iter().zip(counts) {
            let (values, after) = rest.split_at(count);
            rest = after;
            moved.push(own.clone().with_centroids(values.iter().map(|x| f64::from(*x)).collect()));
        }
        *rounded = Rounded::with(layers, row, moved);
    }
}

// A network with burn's own quantized tensors as weights.
//
// burn's blocks are rectangles of at most 255 a side that divide the matrix, where ours are any number of weights of one
// output. So a group is cut into the largest blocks that fit, which all have its scale: the same values, with some scales
// stored more than once.

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
    let places = multiplied(&mut network);
    let count = places.len();
    for (place, weight) in places {
        *weight = Param::from_tensor(tensor(&layers[place], &rounded.layers[place], knobs, device));
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
    let scales = Tensor::from_data(TensorData::new(scales, [count]), device);
    let parameters = QuantizationParameters { scales, global: None };
    // Values on the grid already: rounding them again, in any order of operations, gives the same integers.
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
