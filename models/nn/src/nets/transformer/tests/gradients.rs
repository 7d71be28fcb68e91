//! Gradients of the block and of the whole decoder against finite differences.

use burn::module::{Module, Param};
use burn::tensor::{DType, Device, Tensor, TensorData};

use super::{config, tokens, transformer};
use crate::nets::transformer::{Block, Positions, Transformer, TransformerConfig};
use crate::nets::{cross_entropy, direction_error, element_error, in_f64};

/// Fewer weights than usual, because each is nudged.
fn small() -> TransformerConfig {
    TransformerConfig { vocab: 5, width: 8, depth: 2, heads: 4, kv_heads: 2, ffn: 8, context: 4 }
}

/// Mean cross-entropy of a few tokens.
fn loss(transformer: &Transformer) -> Tensor<1> {
    let device = transformer.head.val().device();
    let inputs = tokens(&[0, 3, 1, 4, 2, 2, 0, 3], 2, &device);
    let labels = tokens(&[3, 1, 4, 0, 2, 0, 3, 1], 2, &device);
    cross_entropy(transformer.forward(inputs).flatten(0, 1), labels.flatten(0, 1))
}

/// A block with the vectors it is given as parameters of their own.
#[derive(Module, Debug)]
struct Given {
    block: Block,
    x: Param<Tensor<3>>,
}

#[test]
fn the_gradients_of_a_block_are_right_in_its_weights_and_its_input() {
    let device = Device::flex().autodiff();
    let x: Vec<f64> = (0..2 * 4 * 8).map(|i| (1.7 * f64::from(i) + 0.3).sin()).collect();
    let weights = TensorData::new(x.iter().rev().copied().collect::<Vec<f64>>(), [2, 4, 8]);
    let weights = Tensor::<3>::from_data(weights, (&device, DType::F64));
    let given = in_f64(Given {
        block: transformer(small(), &device).blocks[0].clone(),
        x: Param::from_data(TensorData::new(x, [2, 4, 8]), &device),
    });
    let error = element_error(&given, |given: &Given| {
        let x = given.x.val();
        let positions = Positions::new(4, 2, x.dtype(), &x.device());
        let (y, _) = given.block.forward(x, &positions);
        (y * weights.clone()).sum()
    });
    assert!(error <= 1e-6, "{error:e}");
}

#[test]
fn the_gradients_of_the_whole_decoder_are_right() {
    let device = Device::flex().autodiff();
    let error = element_error(&in_f64(transformer(small(), &device)), loss);
    assert!(error <= 1e-6, "{error:e}");
}

#[test]
fn in_single_precision_the_slopes_along_random_directions_are_right() {
    let device = Device::flex().autodiff();
    for (heads, kv_heads) in [(4, 4), (4, 2), (2, 1)] {
        let error = direction_error(&transformer(config(heads, kv_heads), &device), 1, loss);
        assert!(error <= 1e-2, "{heads}, {kv_heads}: {error:e}");
    }
}

#[test]
fn a_wrong_gradient_is_found() {
    let device = Device::flex().autodiff();
    let transformer = transformer(small(), &device);
    // The backward pass does not see that the scores were doubled.
    let half_hidden = |transformer: &Transformer| {
        let loss = loss(transformer);
        let hidden = Tensor::from_inner(loss.clone().without_autodiff());
        loss + hidden
    };
    let along = direction_error(&transformer, 1, half_hidden);
    let element = element_error(&in_f64(transformer), half_hidden);
    assert!(along > 0.5, "{along:e}");
    assert!(element > 0.5, "{element:e}");
}
