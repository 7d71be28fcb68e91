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
    order: Order,
}

/// How a matrix lies in the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// `[inputs, outputs]`
    Inputs,
    /// `[outputs, inputs]`
    Outputs,
}

impl Layer {
    /// Its weights, row-major `[inputs, outputs]`; zero where the row ends too early.
    pub fn matrix(&self, row: &[f32]) -> Vec<f32> {
        let own = row.get(self.weights.clone()).unwrap_or_default();
        match self.order {
            Order::Inputs => {
                let mut matrix = own.to_vec();
                matrix.resize(self.inputs * self.outputs, 0.0);
                matrix
            }
            Order::Outputs => turned(own, self.outputs, self.inputs),
        }
    }

    /// Puts weights `[inputs, outputs]` in their place.
    pub fn put(&self, row: &mut [f32], matrix: &[f32]) {
        let Some(own) = row.get_mut(self.weights.clone()) else {
            return;
        };
        let matrix = match self.order {
            Order::Inputs => matrix.to_vec(),
            Order::Outputs => turned(matrix, self.inputs, self.outputs),
        };
        own.iter_mut().zip(matrix).for_each(|(own, new)| *own = new);
    }

    /// Its biases, `[outputs]`; none where it has none.
    pub fn bias<'a>(&self, row: &'a [f32]) -> &'a [f32] {
        let biases = self.biases.clone().and_then(|range| row.get(range));
        biases.unwrap_or_default()
    }
}

/// A matrix `[rows, columns]` as `[columns, rows]`; what is missing is zero.
fn turned(matrix: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let at = |column, row| matrix.get(row * columns + column).copied().unwrap_or(0.0);
    (0..columns).flat_map(|column| (0..rows).map(move |row| at(column, row))).collect()
}

/// Hands out places in the row, one after the other.
#[derive(Default)]
struct Places {
    end: usize,
    layers: Vec<Layer>,
}

impl Places {
    fn take(&mut self, count: usize) -> Range<usize> {
        let begin = self.end;
        self.end += count;
        begin..self.end
    }

    fn matrix(&mut self, what: String, [inputs, outputs]: [usize; 2], order: Order) {
        let weights = self.take(inputs * outputs);
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
        let biases = self.take(outputs);
        if let Some(layer) = self.layers.last_mut() {
            layer.biases = Some(biases);
        }
    }
}

/// The matrices of a network in the order of its row.
pub(super) fn layers_of(architecture: &Architecture) -> Vec<Layer> {
    let mut places = Places::default();
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
                places.matrix(what, size, Order::Inputs);
                places.biases();
            }
        }
        Architecture::Cnn(config) => {
            for (index, shape) in config.convolutions().into_iter().enumerate() {
                let sizes = [shape.channels_in * WINDOW, shape.channels_out];
                places.matrix(format!("convolution {}", index + 1), sizes, Order::Outputs);
                places.biases();
            }
            let sizes = [config.flat(), config.outputs];
            places.matrix("output layer".to_owned(), sizes, Order::Inputs);
            places.biases();
        }
        Architecture::Filters(config) => {
            for (index, shape) in config.filters.iter().enumerate() {
                // A filter per channel is a matrix with one column of inputs for each.
                let sizes = [shape.weights() / shape.channels_out, shape.channels_out];
                places.matrix(format!("filter {}", index + 1), sizes, Order::Outputs);
            }
            let sizes = [config.flat(), config.outputs];
            places.matrix("output layer".to_owned(), sizes, Order::Inputs);
            places.biases();
        }
        Architecture::Transformer(config) => transformer(config, &mut places),
    }
    places.layers
}

fn transformer(config: &TransformerConfig, places: &mut Places) {
    let TransformerConfig { vocab, width, ffn, .. } = *config;
    let keys = config.keys();
    places.matrix("embedding".to_owned(), [vocab, width], Order::Inputs);
    for block in 1..=config.depth {
        let matrix = |places: &mut Places, part, sizes| {
            places.matrix(format!("block {block}, {part}"), sizes, Order::Inputs);
        };
        // The scales of the norms are in the row and in no layer.
        places.take(width);
        matrix(places, "query", [width, width]);
        matrix(places, "key", [width, keys]);
        matrix(places, "value", [width, keys]);
        matrix(places, "attention output", [width, width]);
        places.take(width);
        matrix(places, "gate", [width, ffn]);
        matrix(places, "up", [width, ffn]);
        matrix(places, "down", [ffn, width]);
    }
    places.take(width);
    places.matrix("output head".to_owned(), [width, vocab], Order::Inputs);
}
