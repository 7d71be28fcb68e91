use burn::tensor::Device;
use mlsys_lab::LabError;

use super::layers::{self, Layer};
use crate::data::{self, Data, DataConfig, Examples};
use crate::nets::{Activation, Architecture, Initialization, Network};
use crate::parallel::flat;
use crate::train::unusable;

/// Fresh images that a network is judged by, where accuracies are compared to tenths of a percent.
pub(super) const FRESH: usize = 1000;

/// A network that has learned, on the host.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trained {
    pub(crate) architecture: Architecture,
    /// Between its layers; a transformer has its own.
    pub(crate) activation: Activation,
    /// What it learned.
    pub(crate) data: DataConfig,
    /// Steps that it learned for.
    pub(crate) steps: u64,
    /// Weights and biases as one row, in the order of [`flat`].
    pub(crate) weights: Vec<f32>,
}

impl Trained {
    /// The network on a device, which may be one with autodiff.
    pub(crate) fn network(&self, device: &Device) -> Network {
        self.network_of(&self.weights, device)
    }

    /// The same network with other weights, a row as long as its own.
    pub(crate) fn network_of(&self, row: &[f32], device: &Device) -> Network {
        let network = self.architecture.init(Initialization::Zeros, 0, device);
        flat::with_weights(network, row)
    }

    /// The same with other weights.
    #[cfg(test)]
    pub(crate) fn with_weights(&self, weights: Vec<f32>) -> Self {
        Self { weights, ..self.clone() }
    }

    /// Its matrices, from the input on.
    pub(crate) fn layers(&self) -> Vec<Layer> {
        layers::of(&self.architecture)
    }

    /// The data that it learned, and those held out.
    ///
    /// # Errors
    /// If files that it learned are there no longer.
    pub(crate) fn data(&self) -> Result<Data, LabError> {
        data::load(&self.data).map_err(unusable)
    }

    /// Examples that it has not learned: 1000 of images or points, all held-out tokens of a sequence.
    ///
    /// # Errors
    /// As for [`data`](Self::data).
    pub(crate) fn fresh(&self) -> Result<Examples, LabError> {
        data::fresh(&self.data, FRESH).map_err(unusable)
    }
}
