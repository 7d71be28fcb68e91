//! The networks, one idea a file, and what they share: activations and initial weights.

mod activation;
mod architecture;
mod cnn;
mod filters;
mod initial;
mod mlp;
mod recompute;
mod slopes;
mod transformer;

use burn::module::Module;
use burn::tensor::{Int, Tensor, activation::log_softmax};

pub use activation::Activation;
pub use architecture::Architecture;
pub use cnn::{Cnn, CnnConfig};
pub use filters::{Filter, FilterCost, FilterNet, FilterNetConfig, FilterShape, Sight};
pub use initial::{Initial, Initialization};
pub use mlp::{Mlp, MlpConfig};
pub use recompute::Checkpointed;
pub use slopes::{direction_error, element_error, in_f64};
pub use slopes::{gradient, larger, moved};
pub use transformer::{
    Attention, FORBIDDEN, Positions, RMS_EPSILON, ROTARY_BASE, RmsNorm, Standing, SwiGlu,
};
pub use transformer::{Block, Looks, Transformer, TransformerConfig};

/// A classifier: inputs to one score (logit) per class. A transformer classifies each token by the one that follows.
#[derive(Module, Debug)]
pub enum Network {
    /// Layers of neurons, each joined to all of the next.
    Mlp(Mlp),
    /// Convolutions, then one layer of neurons.
    Cnn(Cnn),
    /// A chain of filters of any form, then one layer of neurons.
    Filters(FilterNet),
    /// Blocks of attention and gated layers over sequences of tokens.
    Transformer(Transformer),
}

/// What a network is given.
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
    let log_probabilities = log_softmax(logits, 1); // [batch, classes]
    let of_the_right_class = log_probabilities.gather(1, labels.unsqueeze_dim(1)); // [batch, 1]
    of_the_right_class.mean().neg() // [1]
}
