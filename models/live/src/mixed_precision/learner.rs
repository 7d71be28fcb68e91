//! A network that learns in a chosen format: what a step does to its weights, and what is lost on the way.

use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use mlsys_distributed::transport::CommError;
use mlsys_nn::data::{Batches, Data, Examples};
use mlsys_nn::flat_params::{self, Optimizer, Rule};
use mlsys_nn::networks::{
    Activation, Architecture, Initialization, Mlp, MlpConfig, Network, cross_entropy, linear,
};
use mlsys_nn::train::{EvaluationSet, batch};
use mlsys_sim::formats::Format;

use super::rounding::{Layers, Rounder, Rows};
use super::{Knobs, Numbers, Setup};

pub(super) struct Learner {
    /// The shapes; its weights are those of the last pass.
    network: Network,
    sizes: Vec<[usize; 2]>,
    /// What updates are added to, in the module's order.
    pub(super) weights: Vec<f32>,
    optimizer: Optimizer,
    rule: Rule,
    sums: Format,
    batches: Batches,
    rounder: Rounder,
    /// Weights that the optimizer moves even without a gradient: it remembers an earlier one.
    moved: Vec<bool>,
    /// With autodiff.
    device: Device,
    pub(super) last: Last,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Last {
    pub(super) before: Vec<f32>,
    /// The sum in 32 bits, before it was rounded.
    pub(super) wanted: Vec<f32>,
    /// The gradients of the scaled loss as they left the backward pass.
    pub(super) gradients: Vec<f32>,
    pub(super) rounded: Vec<f32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) updates: u64,
    /// Those that left their weight unchanged.
    pub(super) stalled: u64,
    pub(super) gradients: u64,
    /// Those that were rounded to zero.
    pub(super) underflows: u64,
    /// Those that saturated or became infinite.
    pub(super) overflows: u64,
}

impl Learner {
    /// The network that lab `train` starts from with this seed, and the same batches. `device` is without autodiff.
    pub(super) fn new(
        setup: &Setup,
        sizes: &MlpConfig,
        data: &Data,
        device: &Device,
    ) -> Result<Self, CommError> {
        let device = device.clone().autodiff();
        let architecture = Architecture::Mlp(sizes.clone());
        let network = architecture.init(Initialization::He, setup.seed, &device);
        let weights = flat_params::weights(&network)?;
        Ok(Self {
            sizes: sizes.layers(),
            optimizer: Optimizer::new(setup.rule),
            rule: setup.rule,
            sums: setup.sums,
            batches: Batches::new(setup.seed, data.train.len()),
            rounder: Rounder::new(setup.seed),
            moved: vec![false; weights.len()],
            last: Last::default(),
            weights,
            network,
            device,
        })
    }

    pub(super) fn step(
        &mut self,
        examples: &Examples,
        knobs: &Knobs,
        tally: &mut Tally,
    ) -> Result<f64, CommError> {
        let numbers = &knobs.numbers;
        self.rounder.is_stochastic = numbers.stochastic_rounding;
        if !numbers.master_weights {
            // Nothing to do but in the first step, or where the format was changed: they are of the format.
            self.rounder.round(numbers.weights, &mut self.weights);
        }
        let mut used = self.weights.clone();
        if numbers.has_copy() {
            self.rounder.round(numbers.weights, &mut used);
        }
        let (loss, gradients) = self.gradient(examples, &used, knobs)?;
        let mut rounded = gradients.clone();
        self.rounder.round(numbers.gradients, &mut rounded);
        let mut slopes = rounded.clone();
        if numbers.loss_scale != 1.0 {
            slopes.iter_mut().for_each(|slope| *slope /= numbers.loss_scale);
        }
        let before = self.weights.clone();
        let mut wanted = before.clone();
        self.optimizer.update(&mut wanted, &slopes, knobs.learning_rate);
        self.weights.copy_from_slice(&wanted);
        if !numbers.master_weights {
            self.rounder.round(numbers.weights, &mut self.weights);
        }
        self.last = Last { before, wanted, gradients, rounded };
        self.count(&slopes, knobs, tally);
        Ok(loss)
    }

    fn gradient(
        &mut self,
        examples: &Examples,
        used: &[f32],
        knobs: &Knobs,
    ) -> Result<(f64, Vec<f32>), CommError> {
        let indices = self.batches.next(knobs.batch_size);
        let numbers = &knobs.numbers;
        match (self.sums, examples) {
            (Format::Fp32, _) | (_, Examples::Sequence(_)) => {
                self.network = flat_params::with_weights(self.network.take(), used);
                let rounder = &mut self.rounder;
                gradient(&self.network, examples, indices, numbers, rounder, &self.device)
            }
            (_, Examples::Labelled(examples)) => {
                let (inputs, labels) = examples.gather(indices);
                let rows = Rows { inputs: &inputs, labels: &labels };
                let layers = layers(&self.sizes, used, self.sums, numbers);
                Ok(layers.gradient(&rows, numbers.loss_scale, &mut self.rounder))
            }
        }
    }

    fn count(&mut self, slopes: &[f32], knobs: &Knobs, tally: &mut Tally) {
        let format = knobs.numbers.gradients;
        let Last { before, gradients, rounded, .. } = &self.last;
        for (gradient, rounded) in gradients.iter().zip(rounded) {
            let is_there = *gradient != 0.0;
            tally.gradients += u64::from(is_there);
            tally.underflows += u64::from(is_there && *rounded == 0.0);
            tally.overflows += u64::from(format.overflows(*gradient));
        }
        if knobs.learning_rate == 0.0 {
            return;
        }
        let weights = before.iter().zip(&self.weights);
        for ((moved, slope), (before, after)) in self.moved.iter_mut().zip(slopes).zip(weights) {
            *moved = *slope != 0.0 || self.rule.moments() > 0 && *moved;
            tally.updates += u64::from(*moved);
            tally.stalled += u64::from(*moved && before == after);
        }
    }

    /// The weights as forward and backward use them, rounded to the nearest.
    pub(super) fn used(&self, numbers: &Numbers) -> Vec<f32> {
        let mut used = self.weights.clone();
        self.rounder.nearest().round(numbers.weights, &mut used);
        used
    }

    /// The share of examples that it reads right with its numbers, all rounded to the nearest.
    pub(super) fn accuracy(
        &mut self,
        judged: &EvaluationData,
        numbers: &Numbers,
    ) -> Result<f64, CommError> {
        let used = self.used(numbers);
        let mut rounder = self.rounder.nearest();
        if self.sums == Format::Fp32 {
            self.network = flat_params::with_weights(self.network.take(), &used);
        }
        let network = burn::module::Module::valid(&self.network);
        if (self.sums, numbers.activations) == (Format::Fp32, Format::Fp32) {
            return Ok(judged.set.judge(&network, Activation::Relu).accuracy);
        }
        let (Examples::Labelled(examples), Network::Mlp(mlp)) = (&judged.examples, &network) else {
            return Ok(f64::NAN);
        };
        let rows = examples.len();
        let found = if self.sums == Format::Fp32 {
            let indices: Vec<usize> = (0..rows).collect();
            let (inputs, _) = batch(&judged.examples, &indices, &judged.device);
            let logits = forward(mlp, inputs.numbers(), numbers.activations, &mut rounder)?;
            logits.argmax(1).into_data().iter::<i32>().collect()
        } else {
            let layers = layers(&self.sizes, &used, self.sums, numbers);
            layers.classes(&examples.inputs, rows, &mut rounder)
        };
        let hits = found.iter().zip(&examples.labels).filter(|(found, label)| found == label);
        Ok(hits.count() as f64 / rows.max(1) as f64)
    }

    /// The layer of a weight, from 1: of each come its weights, then its biases.
    pub(super) fn layer_of(&self, weight: usize) -> usize {
        let mut end = 0;
        let layer = self.sizes.iter().position(|[inputs, outputs]| {
            end += (inputs + 1) * outputs;
            weight < end
        });
        layer.unwrap_or(0) + 1
    }
}

fn layers<'a>(
    sizes: &'a [[usize; 2]],
    weights: &'a [f32],
    sums: Format,
    numbers: &Numbers,
) -> Layers<'a> {
    Layers { sizes, weights, sums, activations: numbers.activations }
}

pub(super) struct EvaluationData {
    set: EvaluationSet,
    examples: Examples,
    /// Without autodiff.
    device: Device,
}

impl EvaluationData {
    pub(super) fn new(data: &Data, device: &Device) -> Self {
        Self {
            set: EvaluationSet::new(&data.held_out, device),
            examples: data.held_out.clone(),
            device: device.clone(),
        }
    }
}

/// The loss of a batch, and the gradients of `loss_scale` times it as a row; `device` is one with autodiff.
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

/// `[batch, inputs]` to logits `[batch, outputs]`, each layer's outputs rounded: as good before relu as after it.
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
        x = rounded(linear(layer, x), format, rounder)?; // [batch, neurons of the layer]
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
