//! Gradients of the block and the decoder against finite differences, (loss(w + h) - loss(w - h)) / 2h.

use crate::baseline::Sizes;
use crate::networks::transformer::tests::{tokens, transformer};
use crate::networks::transformer::{Block, Positions, Transformer, TransformerConfig};
use crate::networks::{
    Activation, Architecture, CnnConfig, Initialization, Network, cross_entropy, gradient, in_f64,
    max_error, perturbed,
};
use burn::module::{Module, Param};
use burn::tensor::{DType, Device, Int, Tensor, TensorData, activation};

/// The largest difference between the gradient of a single weight by burn and by central differences, over the
/// largest gradient of the same parameter; infinite if a parameter has none. For small modules in f64.
fn element_error<M: Module>(module: &M, loss: impl Fn(&M) -> Tensor<1>) -> f64 {
    const NUDGE: f64 = 1e-5;
    let gradient = gradient(module, &loss);
    let mut direction: Vec<Vec<f64>> = gradient.iter().map(|row| vec![0.0; row.len()]).collect();
    let mut worst = 0.0_f64;
    for (parameter, values) in gradient.iter().enumerate() {
        let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        for (element, value) in values.iter().enumerate() {
            direction[parameter][element] = 1.0;
            let at = |by| loss(&perturbed(module, &direction, by)).into_scalar::<f64>();
            let difference = (at(NUDGE) - at(-NUDGE)) / (2.0 * NUDGE);
            direction[parameter][element] = 0.0;
            worst = max_error(worst, (value - difference).abs() / largest);
        }
    }
    worst
}

/// Fewer weights than usual, because each is nudged.
fn small() -> TransformerConfig {
    let sizes = Sizes { width: 8, depth: 2, heads: 4, kv_heads: 2, context: 4 };
    TransformerConfig { ffn: 8, ..sizes.config(5) }
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
        let y = given.block.forward(x, &positions);
        (y * weights.clone()).sum()
    });
    assert!(error <= 1e-6, "{error:e}");
}

#[test]
fn the_gradients_of_the_whole_decoder_are_right() {
    let device = Device::flex().autodiff();
    for (heads, kv_heads) in [(4, 4), (4, 2), (2, 1)] {
        let config = TransformerConfig { heads, kv_heads, ..small() };
        let error = element_error(&in_f64(transformer(config, &device)), loss);
        assert!(error <= 1e-6, "{heads}, {kv_heads}: {error:e}");
    }
}

#[test]
fn a_wrong_gradient_is_found() {
    let transformer = transformer(small(), &Device::flex().autodiff());
    // The backward pass does not see that the scores were doubled.
    let half_hidden = |transformer: &Transformer| {
        let loss = loss(transformer);
        let hidden = Tensor::from_inner(loss.clone().without_autodiff());
        loss + hidden
    };
    let error = element_error(&in_f64(transformer), half_hidden);
    assert!(error > 0.5, "{error:e}");
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
    for function in Activation::ALL {
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
