//! Gradients of the block and of the whole decoder against finite differences.

use crate::networks::transformer::tests::{config, tokens, transformer};
use crate::networks::transformer::{Block, Positions, Transformer, TransformerConfig};
use crate::networks::{
    Activation, Architecture, CnnConfig, Initialization, Network, cross_entropy, directional_error,
    element_error, in_f64,
};
use burn::module::{Module, Param};
use burn::tensor::{DType, Device, Int, Tensor, TensorData, activation};

/// Fewer weights than usual, because each is nudged.
fn small() -> TransformerConfig {
    TransformerConfig { vocab: 5, width: 8, depth: 2, heads: 4, kv_heads: 2, ffn: 8, context: 4 }
}

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
fn block_gradients_match_finite_differences() {
    let device = Device::flex().autodiff();
    let x: Vec<f64> = (0..2 * 4 * 8).map(|i| (1.7 * f64::from(i) + 0.3).sin()).collect();
    let weights = TensorData::new(x.iter().rev().copied().collect::<Vec<f64>>(), [2, 4, 8]);
    let weights = Tensor::<3>::from_data(weights, (&device, DType::F64));
    let mut block = transformer(small(), &device).blocks[0].clone();
    let scales = [0.5, -1.5, 1.0, 2.0, 0.7, -0.4, 1.3, 0.9];
    block.mlp_norm.scale = Param::from_data(TensorData::from(scales), &device);
    let x = Param::from_data(TensorData::new(x, [2, 4, 8]), &device);
    let given = in_f64(Given { block, x });
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
fn directional_derivatives_match_in_f32() {
    let device = Device::flex().autodiff();
    for (heads, kv_heads) in [(4, 4), (4, 2), (2, 1)] {
        let error = directional_error(&transformer(config(heads, kv_heads), &device), 1, loss);
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
    let along = directional_error(&transformer, 1, half_hidden);
    let element = element_error(&in_f64(transformer), half_hidden);
    assert!(along > 0.5, "{along:e}");
    assert!(element > 0.5, "{element:e}");
}

// Operations one by one, in f64 to 1e-6: those that whole networks above do not reach, or reach in one place.

#[derive(Module, Debug)]
struct Operand {
    x: Param<Tensor<2>>,
}

/// Checks the gradient of a weighted sum of the results with respect to the operand.
fn check<const D: usize>(
    name: &str,
    shape: [usize; 2],
    operation: impl Fn(Tensor<2>) -> Tensor<D>,
) {
    let device = Device::flex().autodiff();
    // Any numbers that are not special: of both signs, none near zero, no two of them equal.
    let number = |i: usize| {
        let wave = (1.7 * i as f64 + 0.3).sin();
        wave + 0.2 * wave.signum()
    };
    let numbers: Vec<f64> = (0..shape[0] * shape[1]).map(number).collect();
    let x = Param::from_data(TensorData::new(numbers, shape), &device);
    let error = element_error(&in_f64(Operand { x }), |operand: &Operand| {
        let result: Tensor<1> = operation(operand.x.val()).reshape([-1]);
        let [count] = result.dims();
        let weights: Vec<f64> = (0..count).map(|i| (0.9 * i as f64 + 0.5).cos()).collect();
        let weights = TensorData::new(weights, [count]);
        let weights = Tensor::<1>::from_data(weights, (&result.device(), result.dtype()));
        (result * weights).sum()
    });
    assert!(error <= 1e-6, "{name}: {error:e}");
}

fn indices(values: &[i32]) -> Tensor<1, Int> {
    Tensor::from_data(values, &Device::flex().autodiff())
}

#[test]
fn non_linear_functions() {
    for function in [
        Activation::Relu,
        Activation::Tanh,
        Activation::Sigmoid,
        Activation::Gelu,
        Activation::Silu,
        Activation::Identity,
    ] {
        check(&format!("{function:?}"), [3, 4], |x| function.apply(x));
    }
    check("softmax", [3, 4], |x| activation::softmax(x, 1));
    check("log softmax", [3, 4], |x| activation::log_softmax(x, 1));
    check("cross-entropy", [3, 4], |x| cross_entropy(x, indices(&[3, 0, 1])));
}

#[test]
fn rotary_positions() {
    check("rotary positions", [5, 8], |x| {
        let positions = Positions::new(5, 4, x.dtype(), &x.device());
        positions.turn(x.reshape([1, 5, 2, 4]).swap_dims(1, 2))
    });
}

#[test]
fn a_convolutional_network_has_the_right_gradients() {
    let device = Device::flex().autodiff();
    // 8 pixels are halved to 4, which stay 4.
    let cnn = Architecture::Cnn(CnnConfig { edge: 8, width: 2, depth: 2, outputs: 3 });
    let pixels: Vec<f64> = (0..5 * 64).map(|index| (1.7 * f64::from(index) + 0.3).sin()).collect();
    let images = Tensor::<2>::from_data(TensorData::new(pixels, [5, 64]), (&device, DType::F64));
    let network = in_f64(cnn.init(Initialization::Xavier, 3, &device));
    let error = element_error(&network, |network: &Network| {
        let logits = network.forward(images.clone(), Activation::Tanh);
        cross_entropy(logits, indices(&[0, 1, 2, 0, 1]))
    });
    assert!(error <= 1e-6, "{error:e}");
}
