//! What is computed, held against the instant labs, against burn, and against the network's own forward pass.

use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};
use mlsys_analytic::{KmeansQuantize, Nf4, Quantize};
use mlsys_lab::{DeviceId, Frame, Lab, Value};
use mlsys_sim::quantizer::{Granularity, Grid, Matrix, Quantized, Scheme};

use super::{lab, quantized, small};
use crate::quantize_model::calibrated::InputGrids;
use crate::quantize_model::rounding::Rounded;
use crate::quantize_model::setup::{Execution, Knobs, Method};
use crate::quantize_model::{native, pass};
use crate::trial::{must_be_declared, number, run};
use mlsys_nn::baseline::{self, Recipe, Sizes, Trained};
use mlsys_nn::cases::Model;
use mlsys_nn::data::Dataset;
use mlsys_nn::nets::{Inputs, Network};
use mlsys_nn::train::batch;

/// The numbers of an array, nested or not.
fn flat(value: &Value) -> Vec<f64> {
    if let Value::Array(items) = value {
        items.iter().flat_map(flat).collect()
    } else {
        value.as_f64().into_iter().collect()
    }
}

/// A metric of an instant lab on these values.
fn instant(lab: &dyn Lab, name: &str, values: &[f32], set: &[&str], metric: &str) -> Vec<f64> {
    let list: Vec<String> = values.iter().map(|x| format!("{:?}", f64::from(*x))).collect();
    let values = format!("{name}=[{}]", list.join(", "));
    let data = run(lab, &[&[values.as_str()], set].concat());
    flat(&data.metric(metric).unwrap_or_else(|| panic!("no {metric}")))
}

#[test]
fn codes_and_scales_are_those_of_the_instant_labs() {
    let trained = small();
    let layer = &trained.layers()[1];
    let weights = layer.matrix(&trained.weights);
    let matrix = Matrix::by_inputs(layer.inputs, layer.outputs);
    let column: Vec<f32> = (0..layer.inputs).map(|input| weights[matrix.index(input, 3)]).collect();
    for (name, scheme) in [
        ("affine", Scheme::Affine),
        ("symmetric", Scheme::Symmetric),
        ("symmetric-restricted", Scheme::SymmetricRestricted),
    ] {
        let own = Quantized::linear(&weights, matrix, 4, scheme, Granularity::Channel);
        let codes: Vec<f64> =
            (0..layer.inputs).map(|input| f64::from(own.codes[matrix.index(input, 3)])).collect();
        let set = [format!("scheme={name}"), "bits=4".to_owned()];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let theirs =
            |metric: &str| instant(&Quantize::new().unwrap(), "values", &column, &set, metric);
        assert_eq!(theirs("quantized"), codes, "{name}");
        assert_eq!(theirs("scale"), [f64::from(own.scales()[3])], "{name}");
    }
    let own = Quantized::nf4(&weights, matrix, Granularity::Channel);
    let codes: Vec<f64> =
        (0..layer.inputs).map(|input| f64::from(own.codes[matrix.index(input, 3)])).collect();
    let theirs = |metric: &str| instant(&Nf4::new().unwrap(), "values", &column, &[], metric);
    assert_eq!(theirs("codes"), codes);
    assert_eq!(theirs("scales"), [f64::from(own.scales()[3])]);
    let own = Quantized::kmeans(&weights, matrix, 8, 50);
    let set = ["clusters=8", "iterations=50"];
    let theirs =
        |metric: &str| instant(&KmeansQuantize::new().unwrap(), "weights", &weights, &set, metric);
    let codes: Vec<f64> = own.codes.iter().map(|code| f64::from(*code)).collect();
    assert_eq!(theirs("indices"), codes);
    assert_eq!(theirs("centroids"), own.centroids());
}

#[test]
fn burns_own_tensors_answer_what_rounded_floats_answer() {
    let sizes = Sizes { width: 8, depth: 2, heads: 2, kv_heads: 1, context: 16 };
    // Of a CNN the last matrix, of a transformer all but the embedding.
    let networks = [
        (small(), 2),
        (learned(&Recipe::images(Model::Cnn, 4, 20, 1).unwrap()), 1),
        (learned(&Recipe::tokens(Dataset::Chain, sizes, 20, 1).unwrap()), 2 * 7 + 1),
    ];
    for (trained, expected) in networks {
        for (scheme, bits, granularity) in [
            (Scheme::SymmetricRestricted, 8, Granularity::Tensor),
            (Scheme::SymmetricRestricted, 4, Granularity::Channel),
            (Scheme::Symmetric, 2, Granularity::Group(32)),
            (Scheme::Symmetric, 4, Granularity::Group(3)),
        ] {
            let knobs = Knobs {
                method: Method::Round,
                bits,
                scheme,
                granularity,
                activations: None,
                execution: Execution::Native,
                layer: 0,
            };
            let device = Device::flex();
            let layers = trained.layers();
            let rounded = Rounded::of(&knobs, &layers, &trained.weights);
            let (native, matrices) = native::network(&trained, &layers, &rounded, &knobs, &device);
            let name = trained.architecture.in_words();
            assert_eq!(matrices, expected, "{name}");
            let examples = trained.fresh().unwrap();
            let indices: Vec<usize> = (0..8).collect();
            let answers = |network: &Network| -> Vec<f32> {
                let (inputs, _) = batch(&examples, &indices, &device);
                let answers = pass::forward(network, inputs, trained.activation, &mut |_, x| x);
                answers.into_data().iter::<f32>().collect()
            };
            let simulated = answers(&trained.network_of(&rounded.row, &device));
            let whole = answers(&trained.network(&device));
            let largest = |other: &[f32]| {
                let pairs = simulated.iter().zip(other);
                pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
            };
            let off = largest(&answers(&native));
            assert!(off <= 1e-4, "{name} {bits} {granularity:?}: {off}");
            assert!(bits == 8 || largest(&whole) > 1e-2, "{name} {bits}");
        }
    }
    let data = quantized(&["execution=native", "bits=4"]);
    must_be_declared(&lab(), &data);
    let simulated = quantized(&["bits=4"]);
    assert_eq!(number(&data, "accuracy_after"), number(&simulated, "accuracy_after"));
}

#[test]
fn a_network_of_which_burn_holds_only_a_part_says_which() {
    let set = ["model=cnn", "width=2", "baseline_steps=2", "execution=native"];
    let Some((_, Frame::Panes(panes))) = run(&lab(), &set).frames.remove("speed") else {
        panic!("no panes")
    };
    let Some(Frame::Text(said)) = panes.into_iter().next_back().map(|pane| pane.frame) else {
        panic!("no words")
    };
    assert!(said.starts_with("1 of 3 matrices are burn's"), "{said}");
    assert!(said.contains("convolutions"), "{said}");
}

fn learned(recipe: &Recipe) -> Arc<Trained> {
    baseline::trained(recipe, DeviceId::CPU).unwrap()
}

#[test]
fn a_pass_that_changes_nothing_on_the_way_is_the_networks_own() {
    let sizes = Sizes { width: 8, depth: 2, heads: 2, kv_heads: 1, context: 8 };
    let recipes = [
        Recipe::images(Model::Mlp, 5, 0, 1).unwrap(),
        Recipe::images(Model::Cnn, 2, 0, 1).unwrap(),
        Recipe::tokens(Dataset::Chain, sizes, 3, 1).unwrap(),
    ];
    let device = Device::flex();
    for recipe in recipes {
        let trained = baseline::trained(&recipe, DeviceId::CPU).unwrap();
        let network = trained.network(&device);
        let examples = trained.fresh().unwrap();
        let inputs: Inputs = batch(&examples, &[0, 1, 2], &device).0;
        let mut asked = Vec::new();
        let own = pass::forward(&network, inputs.clone(), trained.activation, &mut |layer, x| {
            asked.push(layer);
            x
        });
        let theirs = network.forward(inputs, trained.activation);
        let largest: f32 = (own - theirs).abs().max().into_scalar();
        assert!(largest < 1e-5, "{largest}");
        let layers = trained.layers().len();
        assert!(asked.is_sorted() && asked.iter().all(|layer| *layer < layers), "{asked:?}");
        assert_eq!(asked.last(), Some(&(layers - 1)));
    }
}

#[test]
fn rounded_inputs_are_levels_and_let_slopes_through() {
    let device = Device::flex().autodiff();
    let x = Tensor::<2>::from_data(TensorData::new(vec![0.1_f32, 0.9, 3.0, 0.0], [1, 4]), &device)
        .require_grad();
    let grid = Grid::over((0.0, 1.0), 2, Scheme::Affine);
    let grids = InputGrids::just(grid);
    let rounded = grids.round_straight_through(0, x.clone());
    let values: Vec<f32> = rounded.clone().into_data().iter::<f32>().collect();
    for (value, level) in values.iter().zip([0.0, 1.0, 1.0, 0.0]) {
        assert!((value - level).abs() < 1e-6, "{values:?}");
    }
    let gradients = rounded.sum().backward();
    let slope: Vec<f32> = x.grad(&gradients).unwrap().into_data().iter::<f32>().collect();
    assert_eq!(slope, [1.0; 4]);
}
