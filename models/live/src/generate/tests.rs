//! The lab from outside and its parts together: what it promises of its numbers.

mod equal;
mod promises;

use burn::tensor::Device;
use mlsys_lab::{RunData, Value};

use super::decoder::{Caching, Decoder};
use super::lab;
use crate::trial;
use mlsys_nn::nets::{Architecture, Initialization, Network, Transformer, TransformerConfig};

/// A run whose model has hardly been trained: what it promises does not depend on that.
fn generate(set: &[&str]) -> RunData {
    let few = [&["training_steps=2", "context=96"], set].concat();
    trial::run(&lab().unwrap(), &few)
}

fn text(data: &RunData) -> String {
    match data.metric("text") {
        Some(Value::Text(text)) => text.clone(),
        other => panic!("no text but {other:?}"),
    }
}

/// Sizes of an untrained transformer.
pub(super) fn config(
    heads: usize,
    kv_heads: usize,
    head: usize,
    depth: usize,
) -> TransformerConfig {
    let width = heads * head;
    TransformerConfig {
        vocab: 13,
        width,
        depth,
        heads,
        kv_heads,
        ffn: TransformerConfig::gated(width),
        context: 32,
    }
}

pub(super) fn transformer(config: &TransformerConfig, seed: u64) -> Transformer {
    let all = Architecture::Transformer(config.clone());
    match all.init(Initialization::He, seed, &Device::flex()) {
        Network::Transformer(transformer) => transformer,
        other @ (Network::Mlp(_) | Network::Cnn(_) | Network::Filters(_)) => {
            panic!("no transformer but {other:?}")
        }
    }
}

pub(super) fn decoder(
    config: &TransformerConfig,
    caching: Caching,
    window: Option<usize>,
) -> Decoder {
    let network = transformer(config, 7);
    Decoder::new(network, config.clone(), &Device::flex(), caching, window)
}
