//! The networks, one idea a file, and what they share: activations and initial weights.

pub use crate::networks::architecture::Architecture;
pub(crate) use crate::networks::architecture::{Role, WeightTensor};
pub use crate::networks::cnn::{Cnn, CnnConfig};
pub use crate::networks::filters::{
    Filter, FilterCost, FilterNet, FilterNetConfig, FilterShape, ReceptiveField,
};
pub use crate::networks::gradient_check::{gradient, in_f64, max_error, perturbed};
#[cfg(test)]
pub(crate) use crate::networks::transformer::tests::reference::{Matrix, Plain, PlainBlock, Stir};
pub use crate::networks::transformer::{
    Attention, Block, CheckpointedPass, ForwardTrace, MASKED_SCORE, Positions, RMS_EPSILON,
    RmsNorm, Rotary, SwiGlu, TokenPositions, Transformer, TransformerConfig, Variant,
};
use crate::random::Stream;
use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Int, Tensor, TensorData, activation};
use mlsys_device::fused;
use mlsys_lab::named_enum;
use serde::{Deserialize, Serialize};

mod architecture;
mod cnn;
mod filters;
mod gradient_check;
mod transformer;

/// A classifier: inputs to one score (logit) per class. A transformer classifies each token by the one that follows.
#[derive(Module, Debug)]
pub enum Network {
    Mlp(Mlp),
    Cnn(Cnn),
    Filters(FilterNet),
    Transformer(Transformer),
}

#[derive(Clone, Debug)]
pub enum Inputs {
    /// Coordinates or pixels, `[batch, features]`.
    Numbers(Tensor<2>),
    /// Sequences of tokens, `[batch, time]`.
    Tokens(Tensor<2, Int>),
}

impl Inputs {
    /// As numbers; a token is its number.
    pub fn numbers(self) -> Tensor<2> {
        match self {
            Self::Numbers(numbers) => numbers,
            Self::Tokens(tokens) => tokens.float(),
        }
    }

    /// As tokens; a number is cut to a whole one.
    pub fn tokens(self) -> Tensor<2, Int> {
        match self {
            Self::Numbers(numbers) => numbers.int(),
            Self::Tokens(tokens) => tokens,
        }
    }
}

impl From<Tensor<2>> for Inputs {
    fn from(numbers: Tensor<2>) -> Self {
        Self::Numbers(numbers)
    }
}

impl From<Tensor<2, Int>> for Inputs {
    fn from(tokens: Tensor<2, Int>) -> Self {
        Self::Tokens(tokens)
    }
}

impl Network {
    /// The scores of every class, one row an answer: `[batch, features]` to `[batch, classes]`, or tokens
    /// `[batch, time]` to `[batch * time, vocab]`. A transformer's activation is its own.
    pub fn forward(&self, x: impl Into<Inputs>, activation: Activation) -> Tensor<2> {
        let x = x.into();
        match self {
            Self::Mlp(mlp) => mlp.forward(x.numbers(), activation),
            Self::Cnn(cnn) => cnn.forward(x.numbers(), activation),
            Self::Filters(filters) => filters.forward(x.numbers(), activation),
            Self::Transformer(transformer) => transformer.forward(x.tokens()).flatten(0, 1),
        }
    }

    /// The network, leaving one without layers: for an update that must be the only one to hold the weights.
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Mlp(Mlp { layers: Vec::new() }))
    }
}

/// Mean cross-entropy in nats: minus the logarithm of the probability given to the right class.
///
/// `logits` is `[batch, classes]`, `labels` is `[batch]`; the result is `[1]`.
pub fn cross_entropy(logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
    fused::cross_entropy(&logits, &labels).unwrap_or_else(|| {
        let log_probabilities = log_softmax(logits, 1); // [batch, classes]
        let of_the_right_class = log_probabilities.gather(1, labels.unsqueeze_dim(1)); // [batch, 1]
        of_the_right_class.mean().neg() // [1]
    })
}

named_enum! {
    /// The non-linearity between layers. It has no weights, so it may change while a network trains.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Activation {
        /// max(0, x).
        Relu = "relu",
        Tanh = "tanh",
        /// 1 / (1 + e⁻ˣ).
        Sigmoid = "sigmoid",
        /// x Φ(x), with the normal distribution function Φ.
        Gelu = "gelu",
        /// x / (1 + e⁻ˣ).
        Silu = "silu",
        /// None at all: the network is then linear, whatever its depth.
        Identity = "identity",
    }
}

impl Activation {
    pub fn apply<const D: usize>(self, x: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Relu => fused::relu(x),
            Self::Tanh => activation::tanh(x),
            Self::Sigmoid => activation::sigmoid(x),
            Self::Gelu => activation::gelu(x),
            Self::Silu => activation::silu(x),
            Self::Identity => x,
        }
    }

    /// Whether the backward pass needs the input kept besides the output. The derivatives of relu, tanh and
    /// sigmoid can be had from their output, which the next layer keeps anyway as its own input.
    pub fn keeps_its_input(self) -> bool {
        matches!(self, Self::Gelu | Self::Silu)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlpConfig {
    pub inputs: usize,
    pub hidden: Vec<usize>,
    pub outputs: usize,
}

/// A multi-layer perceptron: layers of neurons, each joined to all of the next, with an activation between.
#[derive(Module, Debug)]
pub struct Mlp {
    pub layers: Vec<Linear>,
}

impl MlpConfig {
    /// Inputs and outputs of every layer, from the input on.
    pub fn layers(&self) -> Vec<[usize; 2]> {
        let sizes = [&[self.inputs], self.hidden.as_slice(), &[self.outputs]].concat();
        sizes.windows(2).map(|pair| [pair[0], pair[1]]).collect()
    }

    pub fn init(&self, initial: &mut Initializer<'_>) -> Mlp {
        let layers =
            self.layers().into_iter().map(|[inputs, outputs]| initial.linear(inputs, outputs));
        Mlp { layers: layers.collect() }
    }
}

impl Mlp {
    /// `[batch, inputs]` to logits `[batch, outputs]`.
    pub fn forward(&self, x: Tensor<2>, activation: Activation) -> Tensor<2> {
        let mut x = x; // [batch, inputs]
        for (index, layer) in self.layers.iter().enumerate() {
            if index > 0 {
                x = activation.apply(x); // the same shape
            }
            x = linear(layer, x); // [batch, neurons of the layer]
        }
        x // [batch, outputs]
    }
}

/// x W + b, `[batch, inputs]` to `[batch, outputs]`.
pub fn linear(layer: &Linear, x: Tensor<2>) -> Tensor<2> {
    let bias = layer.bias.as_ref();
    bias.and_then(|bias| fused::linear(&x, &layer.weight.val(), &bias.val()))
        .unwrap_or_else(|| layer.forward(x))
}

// Initial weights, drawn on the host, so that two devices start from the same bits.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Initialization {
    /// Normal with variance 2 / inputs, which keeps the size of activations under relu (He et al. 2015).
    He,
    /// Normal with variance 2 / (inputs + outputs), for tanh and sigmoid (Glorot & Bengio 2010).
    Xavier,
    /// All zero: no gradient passes.
    Zeros,
    /// All of a layer the same, of He's size: its neurons are copies of each other and stay so.
    Equal,
}

impl Initialization {
    /// The standard deviation of the weights, and of equal ones the value.
    fn size(self, fan_in: usize, fan_out: usize) -> f64 {
        match self {
            Self::He | Self::Equal => (2.0 / fan_in as f64).sqrt(),
            Self::Xavier => (2.0 / (fan_in + fan_out) as f64).sqrt(),
            Self::Zeros => 0.0,
        }
    }

    fn weight(self, size: f64, stream: &mut Stream) -> f64 {
        match self {
            // Adding zero turns -0 into 0, so that a weight that starts at zero has one bit pattern.
            Self::He | Self::Xavier | Self::Zeros => size * stream.normal() + 0.0,
            Self::Equal => size,
        }
    }
}

/// Makes initial parameters, layer by layer, from a stream of its own. Biases start at zero.
pub struct Initializer<'a> {
    rule: Initialization,
    stream: Stream,
    device: &'a Device,
    values: Values,
}

#[derive(Clone, Copy)]
enum Values {
    Drawn,
    /// They have shapes only: what burn records without computing needs no memory.
    Absent,
}

impl<'a> Initializer<'a> {
    pub fn new(rule: Initialization, seed: u64, device: &'a Device) -> Self {
        Self { rule, stream: Stream::new(seed, "weights"), device, values: Values::Drawn }
    }

    /// Parameters that have shapes and no values, for a device that records and computes nothing.
    pub fn shapes(device: &'a Device) -> Self {
        Self { values: Values::Absent, ..Self::new(Initialization::Zeros, 0, device) }
    }

    /// A layer of neurons: weights `[inputs, outputs]`, biases `[outputs]`.
    pub fn linear(&mut self, inputs: usize, outputs: usize) -> Linear {
        let weight = self.weights([inputs, outputs], inputs, outputs);
        Linear { weight, bias: Some(self.row(outputs, 0.0)) }
    }

    /// Weights of any shape; every output is a sum of `fan_in` products, every input goes into `fan_out`.
    pub(super) fn weights<const D: usize>(
        &mut self,
        shape: [usize; D],
        fan_in: usize,
        fan_out: usize,
    ) -> Param<Tensor<D>> {
        let (rule, size, stream) = (self.rule, self.rule.size(fan_in, fan_out), &mut self.stream);
        let draw = |count| (0..count).map(|_| rule.weight(size, stream) as f32).collect();
        parameter(shape, self.values, self.device, draw)
    }

    pub(super) fn row(&self, count: usize, of: f32) -> Param<Tensor<1>> {
        parameter([count], self.values, self.device, |count| vec![of; count])
    }
}

fn parameter<const D: usize>(
    shape: [usize; D],
    values: Values,
    device: &Device,
    fill: impl FnOnce(usize) -> Vec<f32>,
) -> Param<Tensor<D>> {
    match values {
        Values::Drawn => {
            let values = fill(shape.iter().product());
            Param::from_data(TensorData::new(values, shape), device)
        }
        Values::Absent => Param::from_tensor(Tensor::empty(shape, device)),
    }
}
