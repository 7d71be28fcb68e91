//! Norms of gradients, weights and updates, taken on the device and read together.

use crate::flat_params::{ranges, rows};
use crate::networks::Network;
use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;

/// The L2 norm of a tensor as a tensor `[1]`. Scaled by the largest element, because the squares of a vanished
/// gradient's elements would be zero and those of an exploded one infinite.
pub fn norm<const D: usize>(x: Tensor<D>) -> Tensor<1> {
    let largest = x.clone().abs().max().clamp_min(f32::MIN_POSITIVE);
    let scaled = x / largest.clone().reshape([1; D]);
    scaled.square().sum().sqrt() * largest
}

/// The norm `[1]` of the gradient of every parameter, from the input on.
pub fn gradient_norms(network: &Network, gradients: &GradientsParams) -> Vec<Tensor<1>> {
    struct Norms<'a>(&'a GradientsParams, Vec<Tensor<1>>);
    impl ModuleVisitor for Norms<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.1.extend(self.0.get::<D>(param.id).map(norm));
        }
    }
    let mut norms = Norms(gradients, Vec::new());
    network.visit(&mut norms);
    norms.1
}

/// The layer of every parameter, counted from 0 at the input: weights open a layer, and its biases follow. Of a
/// transformer the embedding, each block and the head with its norm are a layer.
pub fn layers(network: &Network) -> Vec<usize> {
    struct Layers(Vec<usize>);
    impl ModuleVisitor for Layers {
        fn visit_float<const D: usize>(&mut self, _: &Param<Tensor<D>>) {
            let opens = usize::from(D > 1);
            self.0.push(self.0.last().map_or(0, |layer| layer + opens));
        }
    }
    let mut all = Layers(Vec::new());
    network.visit(&mut all);
    match network {
        Network::Mlp(_) | Network::Cnn(_) | Network::Filters(_) => all.0,
        Network::Transformer(transformer) => {
            let mut layers = vec![0];
            for (index, block) in transformer.blocks.iter().enumerate() {
                layers.resize(layers.len() + ranges(block).len(), index + 1);
            }
            layers.resize(all.0.len(), transformer.blocks.len() + 1);
            layers
        }
    }
}

/// The norms of one step, still on the device; each list has one tensor `[1]` per parameter.
pub struct StepNorms {
    gradients: Vec<Tensor<1>>,
    before: Vec<Tensor<1>>,
    updates: Vec<Tensor<1>>,
    changes: Vec<Tensor<1>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Norms {
    /// Of the gradient, by layer from the input on.
    pub gradient_of_layer: Vec<f64>,
    pub gradient: f64,
    /// Of the weights and biases before the update, by layer from the input on.
    pub weights_of_layer: Vec<f64>,
    pub weights: f64,
    pub update: f64,
    /// Of the difference between the weights after the update and the first ones.
    pub change: f64,
}

impl StepNorms {
    /// Before the update: takes the gradients and keeps the weights.
    pub fn before(network: &Network, gradients: &GradientsParams) -> Self {
        let gradients = gradient_norms(network, gradients);
        Self { gradients, before: rows(network), updates: Vec::new(), changes: Vec::new() }
    }

    /// After the update; `start` is what [`rows`] gave at the start of the run.
    pub fn after(self, network: &Network, start: &[Tensor<1>]) -> Self {
        let after = rows(network);
        Self {
            gradients: self.gradients,
            updates: distances(&after, &self.before),
            changes: distances(&after, start),
            before: self.before.into_iter().map(norm).collect(),
        }
    }

    pub fn read(self, layers: &[usize]) -> Norms {
        let count = self.gradients.len();
        let all = [self.gradients, self.before, self.updates, self.changes].concat();
        let values: Vec<f64> = Tensor::cat(all, 0).into_data().iter::<f64>().collect();
        let part = |index: usize| &values[index * count..][..count];
        let by_layer = |norms: &[f64]| {
            let mut of_layer = vec![0.0_f64; layers.last().map_or(0, |last| last + 1)];
            for (norm, &layer) in norms.iter().zip(layers) {
                of_layer[layer] = of_layer[layer].hypot(*norm);
            }
            of_layer
        };
        Norms {
            gradient_of_layer: by_layer(part(0)),
            weights_of_layer: by_layer(part(1)),
            gradient: together(part(0)),
            weights: together(part(1)),
            update: together(part(2)),
            change: together(part(3)),
        }
    }
}

/// How far the weights of `network` are from those that [`rows`] gave earlier.
pub fn distance(network: &Network, start: &[Tensor<1>]) -> f64 {
    let distances = Tensor::cat(distances(&rows(network), start), 0);
    together(&distances.into_data().iter::<f64>().collect::<Vec<_>>())
}

fn distances(a: &[Tensor<1>], b: &[Tensor<1>]) -> Vec<Tensor<1>> {
    a.iter().zip(b).map(|(a, b)| norm(a.clone() - b.clone())).collect()
}

fn together(norms: &[f64]) -> f64 {
    norms.iter().fold(0.0, |sum, norm| sum.hypot(*norm))
}
