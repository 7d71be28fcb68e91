//! The lab from outside: what it promises of its numbers.

use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};
use mlsys_lab::report::Report;
use mlsys_lab::{DeviceId, Frame, LabError, RunData};
use mlsys_nn::baseline::{self, Recipe, Sizes, Trained};
use mlsys_nn::cases::Model;
use mlsys_nn::data::Dataset;
use mlsys_nn::networks::{Inputs, Network};
use mlsys_nn::train::batch;
use mlsys_sim::quantizer::{Granularity, Grid, Matrix, Quantized, Scheme};

use super::forward::forward;
use super::params::{Execution, Knobs, Method};
use super::rounding::{InputGrids, Rounded};
use super::tune;
use crate::stepped::LiveLab;
use crate::trial::{self, Then, frame, must_be_declared, must_refuse, number, run, turn};

const SMALL: [&str; 2] = ["width=16", "baseline_steps=150"];

fn lab() -> LiveLab {
    crate::quantize_model::lab().unwrap()
}

fn quantized(set: &[&str]) -> RunData {
    run(&lab(), &[&SMALL[..], set].concat())
}

fn small() -> Arc<Trained> {
    trained(Recipe::images(Model::Mlp, 16, 150, 1))
}

fn trained(recipe: Result<Recipe, LabError>) -> Arc<Trained> {
    baseline::trained(&recipe.unwrap(), DeviceId::CPU).unwrap()
}

#[test]
fn the_default_network_takes_what_its_scheme_says() {
    // Sizes do not depend on training.
    let data = run(&lab(), &["width=128", "baseline_steps=0"]);
    must_be_declared(&lab(), &data);
    assert_eq!(number(&data, "stored_bytes_before"), 407_080.0);
    assert_eq!(number(&data, "stored_bytes"), 102_736.0);
    assert_eq!(number(&data, "compression_ratio"), 3.962_389_035_975_704_6);
    let four = run(&lab(), &["width=128", "baseline_steps=0", "bits=4"]);
    assert_eq!(number(&four, "stored_bytes"), 51_920.0);
    let instant = mlsys_analytic::lab("quantized-storage").unwrap();
    let stored = |sizes: [&str; 2]| {
        number(&run(&instant, &[&sizes[..], &["bits=8", "scale_bits=32"]].concat()), "bytes")
    };
    let biases = 4.0 * 138.0;
    let stored = stored(["parameters=100352", "block_size=784"])
        + stored(["parameters=1280", "block_size=128"])
        + biases;
    assert!((stored - number(&data, "stored_bytes")).abs() < 1e-6);
}

#[test]
fn two_bits_need_aware_training() {
    let eight = quantized(&[]);
    let before = number(&eight, "accuracy_before");
    assert!(before > 0.7, "{before}");
    assert!(number(&eight, "accuracy_drop").abs() <= 0.01);
    assert!(number(&eight, "changed_predictions") <= 20.0);
    let two = quantized(&["bits=2", "granularity=tensor"]);
    assert!(number(&two, "accuracy_drop") > 0.1);
    let aware = quantized(&["bits=2", "method=quantization-aware", "finetune_steps=60"]);
    let plain = quantized(&["bits=2"]);
    let (aware, plain) = (number(&aware, "accuracy_after"), number(&plain, "accuracy_after"));
    assert!(aware > plain + 0.2 && aware < before, "{aware} {plain} {before}");
}

#[test]
fn measured_noise_follows_theory_and_six_decibels_a_bit() {
    let of = |bits: &str| quantized(&[bits, "finetune_steps=0"]);
    let runs = ["bits=4", "bits=5", "bits=6", "bits=7", "bits=8"].map(of);
    for data in &runs {
        for layer in ["layer1", "layer2"] {
            let measured = number(data, &format!("sqnr_db.{layer}"));
            let predicted = number(data, &format!("predicted_sqnr_db.{layer}"));
            assert!((measured - predicted).abs() < 1.0, "{layer}: {measured} {predicted}");
        }
        assert!(number(data, "max_error_over_half_step") <= 1.0 + 1e-5);
        assert_eq!(number(data, "clipped_fraction"), 0.0);
    }
    for pair in runs.windows(2) {
        let [less, more] = [0, 1].map(|at: usize| number(&pair[at], "sqnr_db.layer1"));
        assert!((5.0..7.0).contains(&(more - less)), "{less} {more}");
    }
    let tensor = quantized(&["bits=4", "granularity=tensor"]);
    assert!(number(&runs[0], "sqnr_db.layer1") > number(&tensor, "sqnr_db.layer1"));
}

#[test]
fn codebooks_have_their_declared_size() {
    let weights = 784 * 16 + 160;
    let others = 4 * 26;
    let shared = quantized(&["method=kmeans", "bits=3", "finetune_steps=20"]);
    must_be_declared(&lab(), &shared);
    assert_eq!(number(&shared, "stored_bytes"), f64::from(weights * 3 / 8 + 4 * 8 * 2 + others));
    assert!(number(&shared, "accuracy_drop") < 0.1);
    assert!(number(&shared, "max_error_over_half_step") <= 1.0 + 1e-5);
    let losses = trial::values(&shared, "tuning_loss");
    assert_eq!(losses.len(), 20);
    let nf4 = quantized(&["method=nf4"]);
    assert_eq!(number(&nf4, "stored_bytes"), f64::from(weights / 2 + 4 * 26 + others));
    assert!(number(&nf4, "accuracy_drop") < 0.05);
    assert!(number(&nf4, "max_error_over_half_step") <= 1.0 + 1e-5);
}

#[test]
fn quantized_inputs_cost_more_clipping_less() {
    let of = |set: &[&str]| {
        number(&quantized(&[&["activation_bits=2"][..], set].concat()), "accuracy_after")
    };
    let eight = quantized(&["activation_bits=8"]);
    must_be_declared(&lab(), &eight);
    assert!(number(&eight, "accuracy_drop").abs() <= 0.01);
    let (whole, least) = (of(&[]), of(&["calibration=mean-squared-error"]));
    assert!(whole < number(&eight, "accuracy_after") - 0.005, "{whole}");
    assert!(least > whole - 0.02, "{least} {whole}");
}

#[test]
fn a_chain_is_judged_by_its_loss() {
    let set = ["dataset=chain", "model=transformer", "width=16", "baseline_steps=30", "bits=4"];
    let data = run(&lab(), &set);
    must_be_declared(&lab(), &data);
    let (before, after) = (number(&data, "perplexity_before"), number(&data, "perplexity_after"));
    assert!((before.ln() + number(&data, "accuracy_before")).abs() < 1e-9);
    assert!(after > before * 0.9 && after < before * 2.0, "{before} {after}");
    assert!(data.scalars.contains_key("sensitivity.layer16"));
}

#[test]
fn knobs_do_not_retrain_the_network() {
    let mut turned = false;
    let (data, _) = trial::answered(&lab(), &SMALL, |report| {
        if let Report::Status(status) = report {
            assert!(!turned || status.is_empty(), "{status}");
        }
        if let Report::Scalar { name, .. } = report
            && &**name == "sensitivity.layer1"
            && !turned
        {
            turned = true;
            return Then::Order(turn("bits", 3_i64));
        }
        Then::On
    });
    assert!(turned && data.changes.len() == 1);
    let three = quantized(&["bits=3"]);
    for metric in ["stored_bytes", "accuracy_after", "sqnr_db.layer1", "sensitivity.layer2"] {
        assert_eq!(number(&data, metric), number(&three, metric), "{metric}");
    }
}

#[test]
fn one_quantized_layer_costs_less_than_all() {
    let two = quantized(&["bits=2", "granularity=tensor"]);
    let alone = ["sensitivity.layer1", "sensitivity.layer2"].map(|name| number(&two, name));
    let all = number(&two, "accuracy_drop");
    assert!(alone.iter().all(|lost| *lost <= all + 0.05), "{alone:?} {all}");
    let Frame::HeatMap(map) = frame(&two, "sensitivity") else { panic!("no map") };
    assert_eq!((map.rows, map.columns), (2, 5));
    assert!(map.cells.iter().all(|cell| cell.is_finite()));
}

#[test]
fn invalid_settings_are_refused_with_a_way_out() {
    must_refuse(
        &lab(),
        &[
            (&["dataset=chain"], "set model to transformer"),
            (&["model=transformer"], "a transformer reads sequences"),
            (&["execution=native", "bits=3"], "2, 4 and 8 bits"),
            (&["execution=native", "scheme=affine"], "no zero point"),
            (&["execution=native", "method=nf4"], "hold integers"),
            (&["dataset=chain", "model=transformer", "width=3"], "width"),
        ],
    );
}

/// A metric of an instant lab on these values.
fn instant(lab: &str, name: &str, values: &[f32], set: &[&str], metric: &str) -> Vec<f64> {
    let list: Vec<String> = values.iter().map(|x| format!("{:?}", f64::from(*x))).collect();
    let values = format!("{name}=[{}]", list.join(", "));
    let data = run(&mlsys_analytic::lab(lab).unwrap(), &[&[values.as_str()], set].concat());
    trial::flat(&data.metric(metric).unwrap_or_else(|| panic!("no {metric}")))
}

#[test]
fn codes_and_scales_are_those_of_the_instant_labs() {
    let trained = small();
    let layer = &trained.layers()[1];
    let weights = layer.matrix(&trained.weights);
    let matrix = Matrix::by_inputs(layer.inputs, layer.outputs);
    let places = || (0..layer.inputs).map(|input| matrix.index(input, 3));
    let column: Vec<f32> = places().map(|place| weights[place]).collect();
    let codes =
        |own: &Quantized| places().map(|place| f64::from(own.codes[place])).collect::<Vec<f64>>();
    for (name, scheme) in [
        ("affine", Scheme::Affine),
        ("symmetric", Scheme::Symmetric),
        ("symmetric-restricted", Scheme::SymmetricRestricted),
    ] {
        let own = Quantized::linear(&weights, matrix, 4, scheme, Granularity::Channel);
        let scheme = format!("scheme={name}");
        let theirs = |metric| instant("quantize", "values", &column, &[&scheme, "bits=4"], metric);
        assert_eq!(theirs("quantized"), codes(&own), "{name}");
        assert_eq!(theirs("scale"), [f64::from(own.scales()[3])], "{name}");
    }
    let own = Quantized::nf4(&weights, matrix, Granularity::Channel);
    let theirs = |metric| instant("nf4", "values", &column, &[], metric);
    assert_eq!(theirs("codes"), codes(&own));
    assert_eq!(theirs("scales"), [f64::from(own.scales()[3])]);
    let own = Quantized::kmeans(&weights, matrix, 8, 50);
    let set = ["clusters=8", "iterations=50"];
    let theirs = |metric| instant("kmeans-quantize", "weights", &weights, &set, metric);
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
        (trained(Recipe::images(Model::Cnn, 4, 20, 1)), 1),
        (trained(Recipe::tokens(Dataset::Chain, sizes, 20, 1)), 2 * 7 + 1),
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
            let rounded = Rounded::new(&knobs, &layers, &trained.weights);
            let (native, matrices) = tune::network(&trained, &layers, &rounded, &knobs, &device);
            let name = trained.architecture.in_words();
            assert_eq!(matrices, expected, "{name}");
            let examples = trained.fresh().unwrap();
            let indices: Vec<usize> = (0..8).collect();
            let answers = |network: &Network| -> Vec<f32> {
                let (inputs, _) = batch(&examples, &indices, &device);
                let answers = forward(network, inputs, trained.activation, &mut |_, x| x);
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
    let data = run(&lab(), &set);
    let Frame::Panes(panes) = frame(&data, "speed") else { panic!("no panes") };
    let Frame::Text(text) = &panes[1].frame else { panic!("no words") };
    assert!(text.starts_with("1 of 3 matrices are burn's"), "{text}");
    assert!(text.contains("convolutions"), "{text}");
}

#[test]
fn an_identity_pass_equals_the_network() {
    let sizes = Sizes { width: 8, depth: 2, heads: 2, kv_heads: 1, context: 8 };
    let recipes = [
        Recipe::images(Model::Mlp, 5, 0, 1),
        Recipe::images(Model::Cnn, 2, 0, 1),
        Recipe::tokens(Dataset::Chain, sizes, 3, 1),
    ];
    let device = Device::flex();
    for recipe in recipes {
        let trained = trained(recipe);
        let network = trained.network(&device);
        let examples = trained.fresh().unwrap();
        let inputs: Inputs = batch(&examples, &[0, 1, 2], &device).0;
        let mut asked = Vec::new();
        let own = forward(&network, inputs.clone(), trained.activation, &mut |layer, x| {
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
