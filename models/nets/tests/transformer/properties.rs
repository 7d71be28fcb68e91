//! What every decoder of this kind promises, whatever its weights.

use burn::module::Module;
use burn::tensor::{Device, Int, Tensor, TensorData};
use mlsys_nets::nets::{Architecture, Initialization, Network, Transformer, TransformerConfig};

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
    let network = Architecture::Transformer(config).init(Initialization::He, 5, device);
    match network {
        Network::Transformer(transformer) => transformer,
        Network::Mlp(_) | Network::Cnn(_) => panic!("another network"),
    }
}

fn tokens(values: &[i32], batch: usize, device: &Device) -> Tensor<2, Int> {
    let data = TensorData::new(values.to_vec(), [batch, values.len() / batch]);
    Tensor::from_data(data, device)
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

#[test]
fn the_default_transformer_has_27296_parameters() {
    let config = TransformerConfig {
        vocab: 64,
        width: 32,
        depth: 2,
        heads: 4,
        kv_heads: 2,
        ffn: TransformerConfig::gated(32),
        context: 32,
    };
    assert_eq!(transformer(config, &Device::flex()).num_params(), 27_296);
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
        assert_ne!(a[changed * 11..], b[changed * 11..], "{changed}");
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
        for row in values(weights.clone()).chunks(7) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{row:?}");
        }
    }
    let [last] = &looks.streams[1..] else {
        panic!("two blocks")
    };
    assert_eq!(last.dims(), [2, 7, 16]);
    let scores = transformer.read(last.clone());
    assert_eq!(values(scores), values(logits));
}
