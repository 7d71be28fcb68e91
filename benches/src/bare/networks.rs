//! The networks of the loop written by hand.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use super::{LLAMA_CONTEXT, LLAMA_WIDTH};
use mlsys_nn::networks::{Initialization, Initializer, Inputs, Transformer, TransformerConfig};

/// What to make.
pub(super) enum Net {
    /// Its hidden layers.
    Mlp(&'static [usize]),
    /// The one on text, of the lab's default in all but width and context.
    Llama,
}

/// A network.
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
#[derive(Module, Debug)]
pub(super) enum Bare {
    /// With burn's own initial weights.
    Mlp(Mlp),
    /// burn has no such decoder, and the lab's is not what is compared.
    Llama(Transformer),
}

#[derive(Module, Debug)]
pub(super) struct Mlp {
    layers: Vec<Linear>,
}

impl Bare {
    pub(super) fn new(net: &Net, features: usize, classes: usize, device: &Device) -> Self {
        match net {
            Net::Mlp(hidden) => {
                let sizes = [&[features], *hidden, &[classes]].concat();
                let layers =
                    sizes.windows(2).map(|pair| LinearConfig::new(pair[0], pair[1]).init(device));
                Self::Mlp(Mlp { layers: layers.collect() })
            }
            Net::Llama => {
                let config = llama(classes);
                Self::Llama(config.init(&mut Initializer::new(Initialization::He, 1, device)))
            }
        }
    }

    /// Inputs to logits, one row an answer.
    pub(super) fn forward(&self, inputs: Inputs) -> Tensor<2> {
        match self {
            Self::Mlp(mlp) => mlp.forward(inputs.numbers()),
            Self::Llama(llama) => llama.forward(inputs.tokens()).flatten(0, 1),
        }
    }
}

impl Mlp {
    fn forward(&self, mut x: Tensor<2>) -> Tensor<2> {
        for (index, layer) in self.layers.iter().enumerate() {
            if index > 0 {
                x = relu(x);
            }
            x = layer.forward(x);
        }
        x
    }
}

/// The sizes of the tiny llama.
pub(super) fn llama(vocab: usize) -> TransformerConfig {
    TransformerConfig {
        vocab,
        width: LLAMA_WIDTH,
        depth: 2,
        heads: 4,
        kv_heads: 2,
        ffn: TransformerConfig::gated(LLAMA_WIDTH),
        context: LLAMA_CONTEXT,
    }
}
