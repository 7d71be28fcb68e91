//! Fine-tuning with the mask held.

use burn::optim::GradientsParams;
use burn::tensor::Device;

use super::cut::Cut;
use super::network::narrowed;
use super::parts::Body;
use mlsys_distributed::transport::CommError;
use mlsys_nn::baseline::Trained;
use mlsys_nn::data::{Batches, Examples};
use mlsys_nn::flat_optimizer::{Optimizer, Rule};
use mlsys_nn::flat_params;
use mlsys_nn::nets::{Activation, Network, cross_entropy};
use mlsys_nn::train::batch;

/// Adam's rate, which is that of the training before.
const RATE: f64 = 0.003;
/// Examples of a step.
const BATCH: usize = 64;
/// Sequences of a step; each has many tokens.
const SEQUENCES: usize = 16;

/// A pruned network that learns on.
pub(super) struct Tuner {
    /// As executed: with zeros, or without the units that are gone.
    network: Network,
    /// Its weights, in its own order.
    row: Vec<f32>,
    /// Which of them may be other than zero.
    stays: Vec<bool>,
    /// Which numbers of the whole network's row it has.
    inside: Vec<bool>,
    optimizer: Optimizer,
    activation: Activation,
    /// With autodiff.
    device: Device,
}

impl Tuner {
    /// The network that is left of `row`, with fresh moments. `device` is one with autodiff.
    pub(super) fn new(
        trained: &Trained,
        body: &Body,
        row: &[f32],
        cut: &Cut,
        device: &Device,
    ) -> Result<Self, CommError> {
        let stays = cut.row(body, row.len());
        let mut held = row.to_vec();
        hold(&mut held, &stays);
        let whole = trained.network_of(&held, device);
        let (network, inside) = if cut.is_narrower() {
            (narrowed(&whole, &cut.units, device), stays.clone())
        } else {
            (whole, vec![true; row.len()])
        };
        let inside_of = |stays: &[bool]| -> Vec<bool> {
            let pairs = stays.iter().zip(&inside).filter(|(_, inside)| **inside);
            pairs.map(|(stays, _)| *stays).collect()
        };
        Ok(Self {
            row: flat_params::weights(&network)?,
            stays: inside_of(&stays),
            network,
            inside,
            optimizer: Optimizer::new(Rule::Adam),
            activation: trained.activation,
            device: device.clone(),
        })
    }

    /// One step; the loss of its batch.
    pub(super) fn step(
        &mut self,
        examples: &Examples,
        batches: &mut Batches,
    ) -> Result<f64, CommError> {
        let size = match examples {
            Examples::Labelled(_) => BATCH,
            Examples::Sequence(_) => SEQUENCES,
        };
        let (inputs, labels) = batch(examples, batches.next(size), &self.device);
        let loss = cross_entropy(self.network.forward(inputs, self.activation), labels);
        let value = flat_params::numbers(loss.clone().without_autodiff(), 1)?;
        let mut gradients = GradientsParams::from_grads(loss.backward(), &self.network);
        let slopes = flat_params::gradients(&self.network, &mut gradients)?;
        self.optimizer.update(&mut self.row, &slopes, RATE);
        // Adam moves a weight even without a slope, so it is the weights that are held, not their slopes.
        hold(&mut self.row, &self.stays);
        self.network = flat_params::with_weights(self.network.take(), &self.row);
        Ok(value.first().map_or(f64::NAN, |loss| f64::from(*loss)))
    }

    /// The weights of the whole network, zero where they are gone, as the device has them.
    pub(super) fn whole(&self) -> Result<Vec<f32>, CommError> {
        let own = flat_params::weights(&self.network)?;
        let mut next = own.iter();
        let number = |inside: &bool| if *inside { next.next().copied() } else { None };
        let whole = self.inside.iter().map(number);
        Ok(whole.map(|number| number.unwrap_or(0.0)).collect())
    }

    /// The network as executed, without autodiff.
    pub(super) fn network(&self) -> Network {
        burn::module::Module::valid(&self.network)
    }

    /// The same with other weights, a row of the whole network.
    pub(super) fn network_with(&self, whole: &[f32]) -> Network {
        let own = whole.iter().zip(&self.inside).filter(|(_, inside)| **inside);
        let own: Vec<f32> = own.map(|(number, _)| *number).collect();
        flat_params::with_weights(self.network(), &own)
    }

    /// Weights and biases as executed.
    pub(super) fn parameters(&self) -> usize {
        self.row.len()
    }

    /// Its weights.
    pub(super) fn weights(&self) -> &[f32] {
        &self.row
    }
}

/// Sets to zero what is removed.
pub(super) fn hold(row: &mut [f32], stays: &[bool]) {
    for (weight, stays) in row.iter_mut().zip(stays) {
        if !stays {
            *weight = 0.0;
        }
    }
}

/// Numbers that should be zero and are not.
pub(super) fn resurrected(row: &[f32], stays: &[bool]) -> usize {
    let weights = row.iter().zip(stays);
    weights.filter(|(weight, stays)| !**stays && **weight != 0.0).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_that_came_back_is_counted_until_it_is_held() {
        let stays = [true, false, false, true];
        let mut row = [0.5, 0.1, 0.0, 0.0];
        assert_eq!(resurrected(&row, &stays), 1);
        hold(&mut row, &stays);
        assert_eq!((resurrected(&row, &stays), row), (0, [0.5, 0.0, 0.0, 0.0]));
    }
}
