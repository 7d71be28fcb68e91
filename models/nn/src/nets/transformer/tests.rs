//! What a decoder promises, that it equals a plain one, and that its gradients are right.

mod agreement;
mod gradients;
mod operations;
mod plain;
mod positions;
mod promises;

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::{Transformer, TransformerConfig};
use crate::nets::{Architecture, Initialization, Network};

/// A small one with 11 tokens.
fn config(heads: usize, kv_heads: usize) -> TransformerConfig {
    TransformerConfig {
        vocab: 11,
        width: 16,
        depth: 2,
        heads,
        kv_heads,
        ffn: TransformerConfig::gated(16),
        context: 7,
    }
}

fn transformer(config: TransformerConfig, device: &Device) -> Transformer {
    match Architecture::Transformer(config).init(Initialization::He, 5, device) {
        Network::Transformer(transformer) => transformer,
        Network::Mlp(_) | Network::Cnn(_) | Network::Filters(_) => panic!("another network"),
    }
}

/// Sequences one after the other.
fn tokens(values: &[i32], batch: usize, device: &Device) -> Tensor<2, Int> {
    let data = TensorData::new(values.to_vec(), [batch, values.len() / batch]);
    Tensor::from_data(data, device)
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// The largest difference between two lists, over the largest number in them.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let largest = a.iter().chain(b).fold(0.0_f64, |most, x| most.max(x.abs()));
    let worst = a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    worst / largest
}
