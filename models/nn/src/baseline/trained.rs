use crate::data::{Data, DataConfig, Examples};
use crate::networks::{Activation, Architecture, Initialization, Network, TransformerConfig};
use crate::train::data_error;
use crate::{data, flat_params};
use burn::tensor::Device;
use mlsys_lab::LabError;
use std::ops::Range;

/// Fresh images that a network is judged by, where accuracies are compared to tenths of a percent.
pub(super) const FRESH: usize = 1000;

/// A network that has learned, on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    pub architecture: Architecture,
    /// Between its layers; a transformer has its own.
    pub activation: Activation,
    pub data: DataConfig,
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

    pub fn with_weights(&self, weights: Vec<f32>) -> Self {
        Self { weights, ..self.clone() }
    }

    pub fn layers(&self) -> Vec<Layer> {
        layers_of(&self.architecture)
    }

    /// The data that it learned, and those held out.
    ///
    /// # Errors
    /// If files that it learned are there no longer.
    pub fn data(&self) -> Result<Data, LabError> {
        data::load(&self.data).map_err(data_error)
    }

    /// Examples that it has not learned: 1000 of images or points, all held-out tokens of a sequence.
    ///
    /// # Errors
    /// As for [`data`](Self::data).
    pub fn fresh(&self) -> Result<Examples, LabError> {
        data::fresh(&self.data, FRESH).map_err(data_error)
    }
}

// The matrices of a network, as places in its row of weights.

/// Pixels of a convolution's window.
const WINDOW: usize = 9;

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
    /// Where its biases lie in the row, `[outputs]`.
    pub biases: Option<Range<usize>>,
    order: MatrixOrder,
}

/// How a matrix lies in the row.
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

    /// Its biases, `[outputs]`; none where it has none.
    pub fn bias<'a>(&self, row: &'a [f32]) -> &'a [f32] {
        self.biases.clone().map_or(&[], |range| &row[range])
    }
}

/// A matrix `[rows, columns]` as `[columns, rows]`.
pub(crate) fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
    let column = |column| matrix.iter().skip(column).step_by(columns);
    (0..columns).flat_map(column).copied().collect()
}

/// Hands out places in the row, one after the other.
#[derive(Default)]
struct LayerBuilder {
    end: usize,
    layers: Vec<Layer>,
}

impl LayerBuilder {
    fn reserve(&mut self, count: usize) -> Range<usize> {
        let begin = self.end;
        self.end += count;
        begin..self.end
    }

    fn matrix(&mut self, what: String, [inputs, outputs]: [usize; 2], order: MatrixOrder) {
        let weights = self.reserve(inputs * outputs);
        self.layers.push(Layer {
            name: format!("layer{}", self.layers.len() + 1),
            what,
            inputs,
            outputs,
            weights,
            biases: None,
            order,
        });
    }

    /// The biases of the last matrix.
    fn biases(&mut self) {
        let outputs = self.layers.last().map_or(0, |layer| layer.outputs);
        let biases = self.reserve(outputs);
        if let Some(layer) = self.layers.last_mut() {
            layer.biases = Some(biases);
        }
    }
}

/// The matrices of a network in the order of its row.
pub(super) fn layers_of(architecture: &Architecture) -> Vec<Layer> {
    let mut builder = LayerBuilder::default();
    match architecture {
        Architecture::Mlp(config) => {
            let sizes = config.layers();
            let last = sizes.len();
            for (index, size) in sizes.into_iter().enumerate() {
                let what = match (index + 1 == last, last) {
                    (true, _) => "output layer".to_owned(),
                    (false, 2) => "hidden layer".to_owned(),
                    (false, _) => format!("hidden layer {}", index + 1),
                };
                builder.matrix(what, size, MatrixOrder::Inputs);
                builder.biases();
            }
        }
        Architecture::Cnn(config) => {
            for (index, shape) in config.convolutions().into_iter().enumerate() {
                let sizes = [shape.channels_in * WINDOW, shape.channels_out];
                builder.matrix(format!("convolution {}", index + 1), sizes, MatrixOrder::Outputs);
                builder.biases();
            }
            let sizes = [config.flat(), config.outputs];
            builder.matrix("output layer".to_owned(), sizes, MatrixOrder::Inputs);
            builder.biases();
        }
        Architecture::Filters(config) => {
            for (index, shape) in config.filters.iter().enumerate() {
                // A filter per channel is a matrix with one column of inputs for each.
                let sizes = [shape.weights() / shape.channels_out, shape.channels_out];
                builder.matrix(format!("filter {}", index + 1), sizes, MatrixOrder::Outputs);
            }
            let sizes = [config.flat(), config.outputs];
            builder.matrix("output layer".to_owned(), sizes, MatrixOrder::Inputs);
            builder.biases();
        }
        Architecture::Transformer(config) => transformer(config, &mut builder),
    }
    builder.layers
}

fn transformer(config: &TransformerConfig, builder: &mut LayerBuilder) {
    let TransformerConfig { vocab, width, ffn, .. } = *config;
    let keys = config.keys();
    builder.matrix("embedding".to_owned(), [vocab, width], MatrixOrder::Inputs);
    for block in 1..=config.depth {
        let matrix = |builder: &mut LayerBuilder, part, sizes| {
            builder.matrix(format!("block {block}, {part}"), sizes, MatrixOrder::Inputs);
        };
        // The scales of the norms are in the row and in no layer.
        builder.reserve(width);
        matrix(builder, "query", [width, width]);
        matrix(builder, "key", [width, keys]);
        matrix(builder, "value", [width, keys]);
        matrix(builder, "attention output", [width, width]);
        builder.reserve(width);
        matrix(builder, "gate", [width, ffn]);
        matrix(builder, "up", [width, ffn]);
        matrix(builder, "down", [ffn, width]);
    }
    builder.reserve(width);
    builder.matrix("output head".to_owned(), [width, vocab], MatrixOrder::Inputs);
}
