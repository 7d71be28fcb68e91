//! What the tensors of a network are called in other programs, and how they lie there.

use crate::nets::{Architecture, CnnConfig, FilterNetConfig, MlpConfig, Sight, TransformerConfig};

/// The edge of a convolution's window.
const KERNEL: usize = 3;

/// A tensor of a network.
pub(super) struct Named {
    pub(super) name: String,
    /// As it is in the file.
    pub(super) shape: Vec<usize>,
    lies: Lies,
}

/// How a tensor lies in the file, beside how it lies in the network.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lies {
    Alike,
    /// Rows are columns.
    Turned,
}

impl Named {
    fn plain(name: impl Into<String>, shape: &[usize]) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), lies: Lies::Alike }
    }

    /// A matrix that is `[inputs, outputs]` in the network.
    fn turned(name: impl Into<String>, [inputs, outputs]: [usize; 2]) -> Self {
        Self { name: name.into(), shape: vec![outputs, inputs], lies: Lies::Turned }
    }

    /// Numbers.
    pub(super) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Columns in the network, if the file has them as rows.
    pub(super) fn columns(&self) -> Option<usize> {
        match self.lies {
            Lies::Alike => None,
            Lies::Turned => self.shape.first().copied(),
        }
    }

    /// Rows of a matrix in the network, which are columns in the file.
    pub(super) fn rows(&self) -> usize {
        self.shape.last().copied().unwrap_or(0)
    }
}

/// The tensors of a network in the order of its module.
pub(super) fn named(architecture: &Architecture) -> Vec<Named> {
    match architecture {
        Architecture::Mlp(config) => of_mlp(config),
        Architecture::Cnn(config) => of_cnn(config),
        Architecture::Filters(config) => of_filters(config),
        Architecture::Transformer(config) => of_transformer(config),
    }
}

fn of_mlp(config: &MlpConfig) -> Vec<Named> {
    let layers = config.layers().into_iter().enumerate();
    layers
        .flat_map(|(index, size)| {
            [
                Named::turned(format!("layers.{index}.weight"), size),
                Named::plain(format!("layers.{index}.bias"), &size[1..]),
            ]
        })
        .collect()
}

fn of_cnn(config: &CnnConfig) -> Vec<Named> {
    let mut all = Vec::new();
    for (index, shape) in config.convolutions().into_iter().enumerate() {
        let name = |part: &str| format!("convolutions.{index}.{part}");
        // [outputs, inputs, 3, 3] is everybody's order.
        let window = [shape.channels_out, shape.channels_in, KERNEL, KERNEL];
        all.push(Named::plain(name("weight"), &window));
        all.push(Named::plain(name("bias"), &[shape.channels_out]));
    }
    all.push(Named::turned("head.weight", [config.flat(), config.outputs]));
    all.push(Named::plain("head.bias", &[config.outputs]));
    all
}

fn of_filters(config: &FilterNetConfig) -> Vec<Named> {
    let filters = config.filters.iter().enumerate();
    let mut all: Vec<Named> = filters
        .map(|(index, shape)| {
            let seen = match shape.sight {
                Sight::All => shape.channels_in,
                Sight::Own => 1,
            };
            let [height, width] = shape.window;
            let window = [shape.channels_out, seen, height, width];
            Named::plain(format!("filters.{index}.weight"), &window)
        })
        .collect();
    all.push(Named::turned("head.weight", [config.flat(), config.outputs]));
    all.push(Named::plain("head.bias", &[config.outputs]));
    all
}

fn of_transformer(config: &TransformerConfig) -> Vec<Named> {
    let TransformerConfig { vocab, width, ffn, .. } = *config;
    let keys = config.keys();
    let mut all = vec![Named::plain("model.embed_tokens.weight", &[vocab, width])];
    for index in 0..config.depth {
        let name = |part: &str| format!("model.layers.{index}.{part}.weight");
        all.extend([
            Named::plain(name("input_layernorm"), &[width]),
            Named::turned(name("self_attn.q_proj"), [width, width]),
            Named::turned(name("self_attn.k_proj"), [width, keys]),
            Named::turned(name("self_attn.v_proj"), [width, keys]),
            Named::turned(name("self_attn.o_proj"), [width, width]),
            Named::plain(name("post_attention_layernorm"), &[width]),
            Named::turned(name("mlp.gate_proj"), [width, ffn]),
            Named::turned(name("mlp.up_proj"), [width, ffn]),
            Named::turned(name("mlp.down_proj"), [ffn, width]),
        ]);
    }
    all.push(Named::plain("model.norm.weight", &[width]));
    all.push(Named::turned("lm_head.weight", [width, vocab]));
    all
}
