use crate::data::{Data, DataConfig, Examples};
use crate::networks::{Activation, Architecture, Initialization, Network, Role};
use crate::train::data_error;
use crate::{data, flat_params};
use burn::tensor::Device;
use mlsys_lab::LabError;
use std::ops::Range;

/// Fresh images that a network is judged by, where accuracies are compared to tenths of a percent.
pub(super) const FRESH: usize = 1000;

#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    pub architecture: Architecture,
    pub activation: Activation,
    pub data: DataConfig,
    pub steps: u64,
    /// Weights and biases as one row, in the order of [`flat`].
    pub weights: Vec<f32>,
}

impl Trained {
    pub fn network(&self, device: &Device) -> Network {
        self.network_of(&self.weights, device)
    }

    /// The same network with other weights, a row as long as its own.
    pub fn network_of(&self, row: &[f32], device: &Device) -> Network {
        let network = self.architecture.init(Initialization::Zeros, 0, device);
        flat_params::with_weights(network, row)
    }

    pub fn with_weights(&self, weights: Vec<f32>) -> Self {
        Self { weights, ..self.clone() }
    }

    pub fn layers(&self) -> Vec<Layer> {
        layers_of(&self.architecture)
    }

    /// The data that it learned, and those held out; an error if its files are there no longer.
    pub fn data(&self) -> Result<Data, LabError> {
        data::load(&self.data).map_err(data_error)
    }

    /// Examples that it has not learned: 1000 of images or points, all held-out tokens of a sequence.
    pub fn fresh(&self) -> Result<Examples, LabError> {
        data::fresh(&self.data, FRESH).map_err(data_error)
    }
}

// The matrices of a network, as places in its row of weights.

/// A matrix of a network with its biases, if it has any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// `layer1`, `layer2`, ... from the input on: what metrics call it.
    pub name: String,
    /// What it is to a reader, such as `hidden layer` or `block 1, query`.
    pub what: String,
    /// Numbers that each output is made of; of a convolution channels times 9.
    pub inputs: usize,
    /// Outputs; of a convolution channels.
    pub outputs: usize,
    pub weights: Range<usize>,
    pub biases: Option<Range<usize>>,
    order: MatrixOrder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatrixOrder {
    /// `[inputs, outputs]`
    Inputs,
    /// `[outputs, inputs]`
    Outputs,
}

impl Layer {
    /// Its weights in the row of a network, row-major `[inputs, outputs]`.
    pub fn matrix(&self, row: &[f32]) -> Vec<f32> {
        let own = &row[self.weights.clone()];
        match self.order {
            MatrixOrder::Inputs => own.to_vec(),
            MatrixOrder::Outputs => transposed(own, self.inputs),
        }
    }

    /// Puts weights `[inputs, outputs]` in their place.
    pub fn put(&self, row: &mut [f32], matrix: &[f32]) {
        let own = &mut row[self.weights.clone()];
        match self.order {
            MatrixOrder::Inputs => own.copy_from_slice(matrix),
            MatrixOrder::Outputs => own.copy_from_slice(&transposed(matrix, self.outputs)),
        }
    }

    pub fn bias<'a>(&self, row: &'a [f32]) -> &'a [f32] {
        self.biases.clone().map_or(&[], |range| &row[range])
    }
}

/// A matrix `[rows, columns]` as `[columns, rows]`.
pub(crate) fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
    let column = |column| matrix.iter().skip(column).step_by(columns);
    (0..columns).flat_map(column).copied().collect()
}

/// The matrices of a network in the order of its row.
pub(super) fn layers_of(architecture: &Architecture) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    let mut end = 0;
    for tensor in architecture.weights() {
        let range = end..end + tensor.len();
        end = range.end;
        let (first, rest) = (tensor.shape[0], tensor.shape[1..].iter().product());
        let (what, order, [inputs, outputs]) = match tensor.role {
            Role::Matrix(what) | Role::Embedding(what) => {
                (what, MatrixOrder::Inputs, [first, rest])
            }
            // A filter per channel is a matrix with one column of inputs for each.
            Role::Windows(what) => (what, MatrixOrder::Outputs, [rest, first]),
            Role::Bias => {
                if let Some(layer) = layers.last_mut() {
                    layer.biases = Some(range);
                }
                continue;
            }
            // The scales of the norms are in the row and in no layer.
            Role::Scale => continue,
        };
        let name = format!("layer{}", layers.len() + 1);
        layers.push(Layer { name, what, inputs, outputs, weights: range, biases: None, order });
    }
    layers
}
