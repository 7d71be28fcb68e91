//! A network's row of weights rounded, matrix by matrix; biases and the scales of norms stay in 32 bits.

use mlsys_sim::quantizer::{Bytes, Matrix, Noise, Quantized};

use super::setup::{Knobs, Method};
use mlsys_nn::baseline::Layer;

/// Lloyd's iterations at most; they end where nothing moves.
const ITERATIONS: usize = 50;

/// Bytes of a number that is not rounded.
const FLOAT: usize = 4;

/// A network whose matrices are rounded.
#[derive(Clone)]
pub(super) struct Rounded {
    /// All weights, in the network's order.
    pub(super) row: Vec<f32>,
    /// Each layer, `[inputs, outputs]`.
    pub(super) layers: Vec<Quantized>,
}

/// What a network takes in storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    /// All in 32 bits.
    pub(super) before: usize,
    /// Packed weights, and scales with whatever goes with them.
    pub(super) matrices: Bytes,
    /// Biases, and whatever else is no matrix.
    pub(super) others: usize,
    /// Weights in matrices.
    pub(super) weights: usize,
}

/// One layer's weights rounded.
pub(super) fn of_layer(knobs: &Knobs, layer: &Layer, row: &[f32]) -> Quantized {
    let weights = layer.matrix(row);
    let matrix = Matrix::by_inputs(layer.inputs, layer.outputs);
    let Knobs { bits, scheme, granularity, .. } = *knobs;
    match knobs.method {
        Method::Round | Method::Aware => {
            Quantized::linear(&weights, matrix, bits, scheme, granularity)
        }
        Method::Kmeans => Quantized::kmeans(&weights, matrix, 1 << bits, ITERATIONS),
        Method::Nf4 => Quantized::nf4(&weights, matrix, granularity),
    }
}

impl Rounded {
    /// All layers of a network.
    pub(super) fn of(knobs: &Knobs, layers: &[Layer], row: &[f32]) -> Self {
        let rounded = layers.iter().map(|layer| of_layer(knobs, layer, row));
        Self::with(layers, row, rounded.collect())
    }

    /// A network with these layers in place of its own.
    pub(super) fn with(layers: &[Layer], row: &[f32], rounded: Vec<Quantized>) -> Self {
        let mut row = row.to_vec();
        for (layer, own) in layers.iter().zip(&rounded) {
            layer.put(&mut row, &own.back);
        }
        Self { row, layers: rounded }
    }

    /// What rounding did to each layer of the weights it was made from.
    pub(super) fn noise(&self, layers: &[Layer], row: &[f32]) -> Vec<Noise> {
        let pairs = layers.iter().zip(&self.layers);
        pairs.map(|(layer, own)| own.noise(&layer.matrix(row))).collect()
    }

    /// What has to be stored.
    pub(super) fn size(&self) -> Size {
        let parts = self.layers.iter().map(|layer| layer.storage());
        let weights: usize = parts.clone().map(|storage| storage.weights).sum();
        Size {
            before: FLOAT * self.row.len(),
            matrices: parts.fold(Bytes::default(), |sum, storage| sum + storage.parts()),
            others: FLOAT * self.row.len().saturating_sub(weights),
            weights,
        }
    }
}

impl Size {
    /// All of it, rounded.
    pub(super) fn after(&self) -> usize {
        self.matrices.all() + self.others
    }

    /// How many times smaller.
    pub(super) fn ratio(&self) -> f64 {
        self.before as f64 / self.after().max(1) as f64
    }

    /// Stored bits of the matrices over their weights.
    pub(super) fn bits_per_weight(&self) -> f64 {
        8.0 * self.matrices.all() as f64 / self.weights.max(1) as f64
    }
}
