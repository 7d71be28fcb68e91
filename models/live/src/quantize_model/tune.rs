//! Training that knows of the rounding: weights behind the levels, or the shared values themselves.

use burn::optim::GradientsParams;
use burn::tensor::Device;
use mlsys_sim::quantizer::cluster_sums;

use super::calibrated::InputGrids;
use super::pass;
use super::rounding::Rounded;
use super::setup::{Knobs, Method};
use mlsys_distributed::transport::CommError;
use mlsys_nn::baseline::{Layer, Trained};
use mlsys_nn::data::{Batches, Examples};
use mlsys_nn::flat_optimizer::{Optimizer, Rule};
use mlsys_nn::flat_params;
use mlsys_nn::nets::cross_entropy;
use mlsys_nn::train::batch;

/// Adam's rate for weights: a third of what the network was trained with.
const RATE: f64 = 0.001;

/// Adam's rate for centroids, each of which moves thousands of weights.
const CENTROID_RATE: f64 = 0.0003;

/// Examples of a step.
const BATCH: usize = 64;

/// Sequences of a step; each has many tokens.
const SEQUENCES: usize = 16;

/// A network in training whose forward pass sees rounded weights.
pub(super) struct Tuner {
    examples: Examples,
    batches: Batches,
    /// With autodiff.
    device: Device,
    /// Of the weights.
    optimizer: Optimizer,
    /// Of all centroids in a row.
    of_centroids: Optimizer,
}

impl Tuner {
    pub(super) fn new(examples: Examples, seed: u64, device: &Device) -> Self {
        Self {
            batches: Batches::new(seed, examples.len()),
            examples,
            device: device.clone().autodiff(),
            optimizer: Optimizer::new(Rule::Adam),
            of_centroids: Optimizer::new(Rule::Adam),
        }
    }

    /// One step: the loss of the batch. `row` are the weights behind the levels, and `rounded` what the network computes
    /// with, both before the step and after it.
    ///
    /// # Errors
    /// If the device fails.
    pub(super) fn step(
        &mut self,
        knobs: &Knobs,
        grids: &InputGrids,
        trained: &Trained,
        layers: &[Layer],
        row: &mut [f32],
        rounded: &mut Rounded,
    ) -> Result<f64, CommError> {
        let (loss, gradient) = self.slope(grids, trained, &rounded.row)?;
        match knobs.method {
            // Straight through (Bengio et al. 2013): the slope at the level is taken for that of the weight behind it.
            Method::Round | Method::Aware | Method::Nf4 => {
                self.optimizer.update(row, &gradient, RATE);
                *rounded = Rounded::of(knobs, layers, row);
            }
            Method::Kmeans => self.move_centroids(layers, row, rounded, &gradient),
        }
        Ok(loss)
    }

    /// The loss of the next batch at some weights, and its gradient.
    fn slope(
        &mut self,
        grids: &InputGrids,
        trained: &Trained,
        row: &[f32],
    ) -> Result<(f64, Vec<f32>), CommError> {
        let size = match &self.examples {
            Examples::Labelled(_) => BATCH,
            Examples::Sequence(_) => SEQUENCES,
        };
        let indices = self.batches.next(size);
        let (inputs, labels) = batch(&self.examples, indices, &self.device);
        let network = trained.network_of(row, &self.device);
        let mut rounding = |layer, x| grids.round_straight_through(layer, x);
        let logits = pass::forward(&network, inputs, trained.activation, &mut rounding);
        let loss = cross_entropy(logits, labels);
        let value = flat_params::numbers(loss.clone().without_autodiff(), 1)?;
        let mut gradients = GradientsParams::from_grads(loss.backward(), &network);
        let gradient = flat_params::gradients(&network, &mut gradients)?;
        let value = value.first().map_or(f64::NAN, |loss| f64::from(*loss));
        Ok((value, gradient))
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
        self.of_centroids.update(&mut centroids, &slopes, CENTROID_RATE);
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
