use burn::tensor::Device;
use mlsys_lab::LabError;

use super::layers::{self, Layer};
use crate::data::{self, Data, DataConfig, Examples};
use crate::flat_params;
use crate::nets::{Activation, Architecture, Initialization, Network};
use crate::train::unusable;

/// Fresh images that a network is judged by, where accuracies are compared to tenths of a percent.
pub(super) const FRESH: usize = 1000;

/// A network that has learned, on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    pub architecture: Architecture,
    /// Between its layers; a transformer has its own.
    pub activation: Activation,
    /// What it learned.
    pub data: DataConfig,
    /// Steps that it learned for.
    pub steps: u64,
    /// Weights and biases as one row, in the order of [`flat`].
    pub weights: Vec<f32>,
}

impl Trained {
    /// The network on a device, which may be one with autodiff.
    pub fn network(&self, device: &Device) -> Network {
        self.network_of(&self.weights, device)
    }

    /// The same network with other weights, a row as long as its own.
    pub fn network_of(&self, row: &[f32], device: &Device) -> Network {
        let network = self.architecture.init(Initialization::Zeros, 0, device);
        flat_params::with_weights(network, row)
    }

    /// The same with other weights.
    pub fn with_weights(&self, weights: Vec<f32>) -> Self {
        Self { weights, ..self.clone() }
    }

    /// Its matrices, from the input on.
    pub fn layers(&self) -> Vec<Layer> {
        layers::of(&self.architecture)
    }

    /// The data that it learned, and those held out.
    ///
    /// # Errors
    /// If files that it learned are there no longer.
    pub fn data(&self) -> Result<Data, LabError> {
        data::load(&self.data).map_err(unusable)
    }

    /// Examples that it has not learned: 1000 of images or points, all held-out tokens of a sequence.
    ///
    /// # Errors
    /// As for [`data`](Self::data).
    pub fn fresh(&self) -> Result<Examples, LabError> {
        data::fresh(&self.data, FRESH).map_err(unusable)
    }
}
