//! What a decoder promises, that it equals a plain one, and that its gradients are right.

use crate::baseline::Sizes;
use crate::networks::transformer::tests::reference::rotated;
use crate::networks::transformer::{Positions, Transformer, TransformerConfig};
use crate::networks::{Architecture, Initialization, Network, cross_entropy};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};

mod fused;
mod gradients;
pub(crate) mod reference;

fn config(heads: usize, kv_heads: usize) -> TransformerConfig {
    Sizes { width: 16, heads, kv_heads, context: 7, ..Sizes::default() }.config(11)
}

fn transformer(config: TransformerConfig, device: &Device) -> Transformer {
    match Architecture::Transformer(config).init(Initialization::He, 5, device) {
        Network::Transformer(transformer) => transformer,
        Network::Mlp(_) | Network::Cnn(_) | Network::Filters(_) => panic!("another network"),
    }
}

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

// Rotary positions.

const TIME: usize = 40;
const HEAD: usize = 8;

/// The same head at every position, turned: one row a position.
fn turned(head: &[f64]) -> Vec<Vec<f64>> {
    let device = Device::flex();
    let everywhere = TensorData::new(head.repeat(TIME), [1, 1, TIME, HEAD]);
    let everywhere = Tensor::<4>::from_data(everywhere, (&device, DType::F64));
    let turned = Positions::new(TIME, HEAD, DType::F64, &device).turn(everywhere);
    values(turned).chunks(HEAD).map(<[f64]>::to_vec).collect()
}

#[test]
fn rotary_embedding_is_conventional() {
    let query: Vec<f64> = (0..HEAD).map(|i| (1.3 * i as f64 + 0.4).sin()).collect();
    let turned = turned(&query);
    for (position, row) in turned.iter().enumerate() {
        assert!(difference(row, &rotated(&query, position)) < 1e-14, "{position}");
    }
    assert_eq!(turned[0], query);
}

// What every decoder of this kind promises, whatever its weights.

#[test]
fn gated_layers_are_two_thirds_as_wide_rounded_up() {
    let widths = [16, 32, 64, 4096].map(TransformerConfig::gated);
    assert_eq!(widths, [48, 88, 176, 10_928]);
}

#[test]
fn before_training_every_token_is_as_likely_as_any() {
    let device = Device::flex();
    let sequence: Vec<i32> = (0..64).map(|index| index * 37 % 64).collect();
    let inputs = tokens(&sequence, 2, &device);
    let logits = transformer(Sizes::default().config(64), &device).forward(inputs.clone());
    let loss = cross_entropy(logits.flatten(0, 1), inputs.flatten(0, 1));
    let loss = loss.into_scalar::<f64>();
    assert!((loss - 64_f64.ln()).abs() < 0.1, "{loss}");
}

#[test]
fn a_later_token_changes_no_earlier_score() {
    let device = Device::flex();
    let transformer = transformer(config(4, 2), &device);
    let before = [3, 1, 4, 1, 5, 9, 2];
    let scores = |sequence: &[i32]| values(transformer.forward(tokens(sequence, 1, &device)));
    for changed in 0..before.len() {
        let mut after = before;
        after[changed] = 10;
        let (a, b) = (scores(&before), scores(&after));
        assert_eq!(a[..changed * 11], b[..changed * 11], "{changed}");
        for now in changed..before.len() {
            assert_ne!(a[now * 11..][..11], b[now * 11..][..11], "{changed}, {now}");
        }
    }
}

#[test]
fn looking_changes_nothing_and_attention_is_a_share() {
    let device = Device::flex();
    let transformer = transformer(config(4, 2), &device);
    let tokens = tokens(&[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7], 2, &device);
    let looks = transformer.look(tokens.clone());
    let logits = transformer.forward(tokens);
    assert_eq!(looks.logits.to_data(), logits.to_data());
    assert_eq!((looks.attention.len(), looks.streams.len()), (2, 2));
    for weights in &looks.attention {
        assert_eq!(weights.dims(), [2, 4, 7, 7]);
        for (index, row) in values(weights.clone()).chunks(7).enumerate() {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{row:?}");
            let ahead = &row[index % 7 + 1..];
            assert!(ahead.iter().all(|share| *share == 0.0), "{row:?}");
        }
    }
    let last = looks.streams[1].clone();
    assert_eq!(last.dims(), [2, 7, 16]);
    assert_eq!(transformer.read(last).to_data(), logits.to_data());
}

#[test]
fn sizes_that_do_not_fit_are_told_with_what_would() {
    let complaint = |width, heads, kv_heads| {
        let config = TransformerConfig { width, ..config(heads, kv_heads) };
        config.check().err().map(|(params, reason)| (params.join(", "), reason))
    };
    assert_eq!(complaint(32, 4, 2), None);
    for (width, heads, kv_heads, params, part) in [
        (30, 4, 2, "width, heads", "a multiple of 8"),
        (4, 4, 2, "width, heads", "in pairs"),
        (32, 0, 2, "width, heads", "0 heads"),
        (32, 4, 0, "heads, kv_heads", "a divisor of heads"),
        (32, 4, 3, "heads, kv_heads", "a divisor of heads"),
        (32, 4, 8, "heads, kv_heads", "a divisor of heads"),
    ] {
        let (found, reason) = complaint(width, heads, kv_heads).unwrap();
        assert_eq!(found, params);
        assert!(reason.contains(part), "{reason}");
    }
}
