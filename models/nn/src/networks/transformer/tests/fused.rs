//! What the processor computes in one pass over memory equals burn's composed operations, values and gradients.

use crate::flat_params::gradient_rows;
use crate::networks::transformer::tests::{difference, tokens, transformer, values};
use crate::networks::transformer::{Positions, Transformer, TransformerConfig, Variant};
use crate::networks::{
    Activation, Initialization, Initializer, Mlp, MlpConfig, RMS_EPSILON, cross_entropy, gradient,
};
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Distribution, Tensor, TensorData, activation};
use mlsys_device::fused::{self, composed};

const BATCH: usize = 3;

/// Logits, loss and the gradient of every parameter, one after the other.
fn everything(config: &TransformerConfig, device: &Device) -> Vec<Vec<f64>> {
    let transformer = transformer(config.clone(), device);
    let count = BATCH * config.context;
    let ids: Vec<i32> = (0..count).map(|i| ((i * i + 3 * i) % config.vocab) as i32).collect();
    let inputs = tokens(&ids, BATCH, device);
    let labels = inputs.clone().flatten::<1>(0, 1).flip([0]);
    // Large enough that softmax is not nearly uniform.
    let logits = |x: &Transformer| x.forward(inputs.clone()).flatten::<2>(0, 1) * 9.0;
    let loss = |x: &Transformer| cross_entropy(logits(x), labels.clone());
    let mut all = vec![values(logits(&transformer)), values(loss(&transformer))];
    all.push(values(logits(&transformer.valid())));
    all.extend(gradient(&transformer, loss));
    all
}

/// Heads of a size below, at and above that of a vector; one query block and several; rows that fill no vector.
#[test]
fn a_decoder_in_one_pass_equals_the_composed_one() {
    let device = Device::flex().autodiff();
    let sizes = [
        // width, heads, key/value heads, gated layer, context, vocabulary
        [24, 4, 2, 20, 7, 5],
        [64, 4, 2, 176, 64, 52],
        [36, 3, 1, 33, 70, 17],
        [40, 1, 1, 8, 130, 3],
        [4, 2, 2, 1, 1, 2],
    ];
    for [width, heads, kv_heads, ffn, context, vocab] in sizes {
        let variant = Variant::default();
        let config =
            TransformerConfig { vocab, width, depth: 2, heads, kv_heads, ffn, context, variant };
        let fused = everything(&config, &device);
        let burns = composed(|| everything(&config, &device));
        assert_eq!(fused.len(), burns.len());
        for (at, (fused, burns)) in fused.iter().zip(&burns).enumerate() {
            let found = difference(fused, burns);
            assert!(
                found < 1e-5 || burns.iter().all(|x| x.abs() < 1e-6),
                "{config:?} {at}: {found:e}"
            );
        }
    }
}

/// Rows and neurons that fill no vector, with and without recomputing; one layer is burn's, one on few rows, one small.
#[test]
fn a_layer_on_few_rows_has_the_composed_gradients() {
    let plain = Device::flex();
    let sizes = MlpConfig { inputs: 37, hidden: vec![901, 903], outputs: 3 };
    for device in [plain.clone().autodiff(), plain.autodiff().gradient_checkpointing()] {
        let mlp = sizes.init(&mut Initializer::new(Initialization::He, 4, &device));
        let x = Tensor::<2>::random([9, 37], Distribution::Normal(0.0, 1.0), &device);
        let labels = Tensor::from_data([0, 1, 2, 0, 1, 2, 2, 1, 0], &device);
        let loss =
            |mlp: &Mlp| cross_entropy(mlp.forward(x.clone(), Activation::Relu), labels.clone());
        let second = &mlp.layers[1];
        let bias = second.bias.as_ref().unwrap().val();
        let x = Tensor::<2>::ones([9, 901], &device);
        assert!(fused::linear(&x, &second.weight.val(), &bias).is_some());
        let (fused, burns) = (gradient(&mlp, loss), composed(|| gradient(&mlp, loss)));
        for (at, (fused, burns)) in fused.iter().zip(&burns).enumerate() {
            let found = difference(fused, burns);
            assert!(found < 1e-5, "{at}: {found:e}");
        }
    }
}

/// Sizes below, at and above those of vectors and of the rows that are computed together.
#[test]
fn small_layers_have_the_composed_results_and_gradients() {
    let device = Device::flex().autodiff();
    for [rows, inputs, outputs] in [[1, 1, 1], [3, 2, 5], [8, 16, 16], [129, 33, 40], [64, 2, 70]] {
        let random =
            |shape: [usize; 2]| Tensor::<2>::random(shape, Distribution::Normal(0.0, 1.0), &device);
        let x = random([rows, inputs]).require_grad();
        let weight = random([inputs, outputs]).require_grad();
        let bias = random([1, outputs]).reshape([outputs]).detach().require_grad();
        let everything = |result: Tensor<2>| {
            let mut gradients = (result.clone() * result.clone().sin()).sum().backward();
            let by_bias = bias.grad_remove(&mut gradients).unwrap();
            let [by_x, by_weight] =
                [&x, &weight].map(|tensor| values(tensor.grad_remove(&mut gradients).unwrap()));
            [values(result), by_x, by_weight, values(by_bias)]
        };
        let ours = everything(fused::linear(&fused::relu(x.clone()), &weight, &bias).unwrap());
        let burns = everything(
            activation::relu(x.clone()).matmul(weight.clone()) + bias.clone().unsqueeze(),
        );
        for (at, (ours, burns)) in ours.iter().zip(&burns).enumerate() {
            let found = difference(ours, burns);
            let are_zero = burns.iter().all(|x| x.abs() < 1e-6);
            assert!(found < 1e-5 || are_zero, "{rows} {inputs} {outputs} {at}: {found:e}");
        }
    }
}

/// Also of numbers that are not finite, and of no sign.
#[test]
fn relu_passes_what_burns_passes() {
    let device = Device::flex().autodiff();
    let given = [-1.0, -0.0, 0.0, 1e-40, 2.0, f32::INFINITY, f32::NEG_INFINITY, -f32::MIN_POSITIVE];
    let x = Tensor::<1>::from_data(given, &device).require_grad();
    let everything = |result: Tensor<1>| {
        let gradients = (result.clone() * 3.0).sum().backward();
        [values(result), values(x.grad(&gradients).unwrap())]
    };
    let ours = everything(fused::relu(x.clone()));
    assert_eq!(ours, everything(activation::relu(x.clone())));
    let missing = Tensor::<1>::from_data([f32::NAN], &device);
    assert!(values(fused::relu(missing))[0].is_nan());
    let recomputing = Device::flex().autodiff().gradient_checkpointing();
    let again = Tensor::<1>::from_data(given, &recomputing);
    assert_eq!(values(fused::relu(again.clone())), values(activation::relu(again)));
}

#[test]
fn operations_are_fused_on_the_processor_only_where_asked() {
    let plain = Device::flex();
    let x = Tensor::<2>::random([3, 5], Distribution::Default, &plain);
    let scale = Tensor::<1>::ones([5], &plain);
    let norm = |x: &Tensor<2>, scale: &Tensor<1>| fused::rms_norm(x, scale, RMS_EPSILON).is_some();
    assert!(norm(&x, &scale));
    assert!(norm(&x.clone().autodiff(), &scale.clone().autodiff()));
    assert!(!composed(|| norm(&x, &scale)));
    // One of them recorded: burn knows what to do with both.
    assert!(!norm(&x.clone().autodiff(), &scale));
    let recomputing = plain.autodiff().gradient_checkpointing();
    let [x, scale] = [3, 1].map(|rows| Tensor::<2>::ones([rows, 5], &recomputing));
    assert!(norm(&x, &scale.reshape([5])));
}

/// A label outside the classes is burn's to refuse, and logits far apart are neither zero nor infinite.
#[test]
fn losses_at_the_edges() {
    let device = Device::flex();
    let logits = Tensor::<2>::from_data([[80.0, -90.0, 0.0], [-1e4, 3.0, 3.0]], &device);
    let labels = |labels: [i32; 2]| Tensor::from_data(labels, &device);
    assert!(fused::cross_entropy(&logits, &labels([0, 3])).is_none());
    assert!(fused::cross_entropy(&logits, &labels([-1, 2])).is_none());
    let loss = cross_entropy(logits, labels([1, 2])).into_scalar::<f64>();
    assert!((loss - (170.0 + 2.0_f64.ln()) / 2.0).abs() < 1e-4, "{loss}");
}

/// Both say in the same places that a number is missing or without bound: a run that diverges is seen to.
#[test]
fn a_number_that_is_not_finite_stays_visible() {
    let device = Device::flex().autodiff();
    let config = TransformerConfig {
        vocab: 5,
        width: 24,
        depth: 1,
        heads: 4,
        kv_heads: 2,
        ffn: 20,
        context: 9,
        variant: Variant::default(),
    };
    let block = transformer(config, &device).blocks[0].clone();
    let labels = Tensor::from_data([0, 23, 4, 5, 6, 7, 8, 9, 1], &device);
    let finite = |x: f32, row: usize| {
        let mut given: Vec<f32> = (0..9 * 24).map(|i| (1.7 * i as f32).sin()).collect();
        given[row * 24 + 3] = x;
        let given = Tensor::<3>::from_data(TensorData::new(given, [1, 9, 24]), &device);
        let given = given.require_grad();
        let positions = Positions::new(9, 6, given.dtype(), &device);
        let result = block.forward(given.clone(), &positions);
        let loss = cross_entropy(result.clone().flatten(0, 1), labels.clone());
        let gradient = given.grad(&loss.backward()).unwrap();
        let all = [values(result), values(loss), values(gradient)];
        all.concat().into_iter().map(f64::is_finite).collect::<Vec<bool>>()
    };
    for (x, row) in
        [(f32::NAN, 0), (f32::NAN, 8), (f32::INFINITY, 4), (f32::NEG_INFINITY, 8), (1e30, 3)]
    {
        let found = finite(x, row);
        assert_eq!(found, composed(|| finite(x, row)), "{x} at {row}");
        assert_eq!(found.iter().all(|finite| *finite), x.is_finite(), "{x} at {row}");
    }
}

#[test]
fn blocks_computed_again_have_the_same_gradients_to_the_bit() {
    let device = Device::flex().autodiff();
    let config = TransformerConfig {
        vocab: 9,
        width: 16,
        depth: 2,
        heads: 2,
        kv_heads: 1,
        ffn: 48,
        context: 16,
        variant: Variant::default(),
    };
    let transformer = transformer(config, &device);
    let ids: Vec<i32> = (0..8 * 16).map(|i| (i * i + 3 * i) % 9).collect();
    let inputs = tokens(&ids, 8, &device);
    let labels = inputs.clone().flatten::<1>(0, 1).flip([0]);
    let loss = cross_entropy(transformer.forward(inputs.clone()).flatten(0, 1), labels.clone());
    let mut kept = GradientsParams::from_grads(loss.backward(), &transformer);
    let (loss, pass) = transformer.forward_checkpointed(inputs, labels);
    let mut again = pass.backward(loss, &transformer, || ());
    let rows = |gradients| gradient_rows(&transformer, gradients).into_iter().map(values);
    let (kept, again): (Vec<_>, Vec<_>) = (rows(&mut kept).collect(), rows(&mut again).collect());
    let differ: Vec<usize> = (0..kept.len()).filter(|&i| kept[i] != again[i]).collect();
    assert_eq!(differ, [0_usize; 0], "of {}", kept.len());
}
