//! Forward to the loss and back to the gradients, with all activations kept or without.

use burn::optim::GradientsParams;
use burn::tensor::{Int, Tensor};

use super::settings::Activations;
use crate::nets::{Activation, Checkpointed, Inputs, Network, cross_entropy};
use mlsys_device::memory::Gauge;

/// A forward pass that has not gone back yet.
pub struct Pass {
    /// The loss, `[1]`.
    loss: Tensor<1>,
    /// Where blocks left nothing but their inputs: these. Else burn has recorded all of it.
    checkpointed: Option<Checkpointed>,
}

impl Pass {
    /// The loss of a batch.
    pub fn forward(
        network: &Network,
        inputs: Inputs,
        labels: Tensor<1, Int>,
        activation: Activation,
        kept: Activations,
    ) -> Self {
        match (network, inputs, kept) {
            (Network::Transformer(transformer), Inputs::Tokens(tokens), Activations::OfBlocks) => {
                let (loss, pass) = transformer.forward_checkpointed(tokens, labels);
                Self { loss, checkpointed: Some(pass) }
            }
            (_, inputs, _) => Self {
                loss: cross_entropy(network.forward(inputs, activation), labels),
                checkpointed: None,
            },
        }
    }

    /// The loss `[1]`, and its gradients by the parameters of the network that made it.
    pub fn backward(
        self,
        network: &Network,
        gauge: &mut Option<Gauge<'_>>,
    ) -> (Tensor<1>, GradientsParams) {
        let loss = self.loss;
        let gradients = match (self.checkpointed, network) {
            (Some(pass), Network::Transformer(transformer)) => {
                pass.backward(loss.clone(), transformer, || {
                    if let Some(gauge) = gauge {
                        gauge.look();
                    }
                })
            }
            _ => GradientsParams::from_grads(loss.backward(), network),
        };
        (loss, gradients)
    }
}
