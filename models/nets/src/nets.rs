//! The networks, one idea a file, and what they share: activations and initial weights.

mod activation;
mod architecture;
mod cnn;
mod initial;
mod mlp;

use burn::module::Module;
use burn::tensor::{Int, Tensor, activation::log_softmax};

pub use activation::Activation;
pub use architecture::Architecture;
pub use cnn::{Cnn, CnnConfig};
pub use initial::{Initial, Initialization};
pub use mlp::{Mlp, MlpConfig};

/// A classifier: inputs `[batch, features]` to one score (logit) per class, `[batch, classes]`.
#[derive(Module, Debug)]
pub enum Network {
    /// Layers of neurons, each joined to all of the next.
    Mlp(Mlp),
    /// Convolutions, then one layer of neurons.
    Cnn(Cnn),
}

impl Network {
    /// The scores of every class, `[batch, features]` to `[batch, classes]`.
    pub fn forward(&self, x: Tensor<2>, activation: Activation) -> Tensor<2> {
        match self {
            Self::Mlp(mlp) => mlp.forward(x, activation),
            Self::Cnn(cnn) => cnn.forward(x, activation),
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
