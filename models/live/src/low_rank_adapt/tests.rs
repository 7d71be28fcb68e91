//! Whole runs, held against formulas, the instant lab and promises of the method.

use burn::tensor::{Tensor, TensorData};
use mlsys_device as device;
use mlsys_lab::frame::Frame;
use mlsys_lab::report::RunData;
use mlsys_lab::{DeviceId, Value};
use mlsys_nn::baseline::{Layer, Recipe, Sizes, trained};
use mlsys_nn::cases::Model;
use mlsys_nn::data::Dataset;
use mlsys_nn::networks::Activation;

use super::adapters::{AdaptedWeights, attach};
use super::*;
use crate::stepped::LiveLab;
use crate::trial::{frame, must_be_declared, must_refuse, number, run, values};

fn lab() -> LiveLab {
    super::lab().unwrap()
}

/// The shortest training of the base that reads digits at all.
const BASE: &str = "baseline_steps=120";

fn short(more: &[&str]) -> RunData {
    run(&lab(), &[&[BASE, "steps=30"], more].concat())
}

#[test]
fn a_run_learns_the_new_task_and_leaves_the_base_alone() {
    let data = run(&lab(), &[BASE, "steps=80"]);
    must_be_declared(&lab(), &data);
    assert_eq!(number(&data, "adapter_parameters"), 4200.0);
    assert_eq!(number(&data, "base_weights_changed"), 0.0);
    assert_eq!(number(&data, "training_bytes"), 4.0 * 101_770.0 + 16.0 * 4200.0);
    assert_eq!(number(&data, "full_training_bytes"), 16.0 * 101_770.0);
    let percent = 100.0 * 4200.0 / (101_770.0 + 4200.0);
    assert!((number(&data, "trainable_percent") - percent).abs() < 1e-12);
    assert_eq!(number(&data, "old_accuracy_adapter_off"), number(&data, "old_accuracy"));
    assert!(number(&data, "merge_difference") <= 1e-5);
    assert!(number(&data, "unmerge_difference") <= 1e-5);
    // Before the first step adapters change nothing, because B is zero.
    let adapted = values(&data, "accuracy_adapted");
    assert_eq!(adapted[0], number(&data, "accuracy_before"));
    assert!(number(&data, "accuracy_adapted") > adapted[0] + 0.1, "{adapted:?}");
    assert!(number(&data, "old_accuracy_full") < number(&data, "old_accuracy") - 0.03);
    let Frame::FrameSequence(samples) = frame(&data, "samples") else { panic!("samples") };
    assert_eq!(samples.stills.len(), 3);
    for still in &samples.stills {
        // The new task and the old.
        assert!(matches!(&still.frame, Frame::Panes(panes) if panes.len() == 2));
    }
    let Frame::FrameSequence(update) = frame(&data, "update") else { panic!("update") };
    assert_eq!(update.stills.len(), 2);
    // Of 784 rows some are drawn, and the axes are those of the matrix.
    let Frame::Panes(panes) = &update.stills[0].frame else { panic!("panes") };
    let Frame::HeatMap(product) = &panes[2].frame else { panic!("A B") };
    assert_eq!((product.x, product.y), ((0.0, 128.0), (0.0, 784.0)));
}

#[test]
fn the_number_of_trained_weights_is_that_of_the_formula() {
    for (set, expected) in [
        ("rank=16", 16.0 * 1050.0),
        ("layers=first", 4.0 * (784.0 + 128.0)),
        ("layers=last", 4.0 * 138.0),
    ] {
        let data = run(&lab(), &[BASE, "steps=1", set]);
        assert_eq!(number(&data, "adapter_parameters"), expected, "{set}");
        assert_eq!(number(&data, "base_weights_changed"), 0.0);
        assert_eq!(data.notices.len(), usize::from(set == "rank=16"));
    }
}

#[test]
fn adapter_counts_match_the_closed_form() {
    let sizes = ["layers=2", "hidden=32", "heads=4", "kv_heads=2", "rank=3"];
    let recipe = Recipe::tokens(Dataset::Chain, Sizes::default(), 1, 1).unwrap();
    let Architecture::Transformer(config) = recipe.architecture else { panic!("no transformer") };
    let ffn = format!("ffn={}", config.ffn);
    let instant = mlsys_analytic::lab("lora-params").unwrap();
    for (layers, targets) in [
        ("query-value", "targets=['q', 'v']"),
        ("attention", "targets=['q', 'k', 'v', 'o']"),
        ("gated", "targets=['gate', 'up', 'down']"),
        ("all", "targets=['q', 'k', 'v', 'o', 'gate', 'up', 'down']"),
    ] {
        let known = run(&instant, &[&sizes[..], &[ffn.as_str(), targets]].concat());
        let layers = format!("layers={layers}");
        let set = ["dataset=chain", "baseline_steps=1", "steps=1", "rank=3", &layers];
        let data = run(&lab(), &set);
        let [own, other] = [&data, &known].map(|data| number(data, "adapter_parameters"));
        assert_eq!(own, other, "{layers}");
        assert_eq!(number(&data, "base_weights_changed"), 0.0);
        assert!(number(&data, "merge_difference") <= 1e-5);
    }
}

#[test]
fn quantized_base_has_the_bytes_of_its_format() {
    let weights = 101_632.0;
    let biases = 4.0 * 138.0;
    for (format, base) in [
        ("base_format=int8", weights + 4.0 * 138.0),
        ("base_format=nf4", weights / 2.0 + 4.0 * weights / 64.0),
    ] {
        let data = short(&[format]);
        let bytes = base + biases + 16.0 * 4200.0;
        assert_eq!(number(&data, "training_bytes"), bytes, "{format}");
        assert_eq!(number(&data, "base_weights_changed"), 0.0);
        assert!(number(&data, "merge_difference") <= 1e-5);
        let [old, off] =
            ["old_accuracy", "old_accuracy_adapter_off"].map(|name| number(&data, name));
        assert!((old - off).abs() < 0.1, "{format}: {old} {off}");
    }
}

#[test]
fn zero_b_changes_nothing_and_merging_adds() {
    let device = device::open(DeviceId::CPU).unwrap();
    let recipe = Recipe::images(Model::Mlp, 16, 1, 3).unwrap();
    let base = trained(&recipe, DeviceId::CPU).unwrap();
    let targets: Vec<Layer> = base.layers();
    let network = attach(base.network(&device), &targets, 2, 1.5, 1);
    let x: Vec<f32> = (0..784 * 3).map(|i| (i % 11) as f32 / 11.0).collect();
    let x = Tensor::<2>::from_data(TensorData::new(x, [3, 784]), &device);
    let out = |network: &Network| {
        let data = network.forward(x.clone(), Activation::Relu).into_data();
        data.iter::<f32>().collect::<Vec<f32>>()
    };
    assert_eq!(out(&network), out(&base.network(&device)));
    let mut apart = AdaptedWeights::read(&network);
    assert_eq!(apart.base, base.weights);
    assert_eq!(apart.pairs.len(), 2);
    let [first, second] = &mut apart.pairs[..] else { panic!("two layers") };
    assert_eq!((first.inputs, first.rank, first.outputs), (784, 2, 16));
    assert!(first.a.iter().any(|a| *a != 0.0) && first.b.iter().all(|b| *b == 0.0));
    second.b.fill(0.5);
    let (a, place) = (second.a.clone(), targets[1].weights.start);
    let merged = apart.with_products(&apart.base, &targets, 1.5);
    // Input 1 to output 0 of the second matrix: w + 1.5 (a b + a b).
    let expected = f64::from(base.weights[place + 10]) + 1.5 * 0.5 * f64::from(a[2] + a[3]);
    assert!((f64::from(merged[place + 10]) - expected).abs() < 1e-6);
    assert_eq!(merged[..784 * 16], base.weights[..784 * 16]);
}

#[test]
fn equal_seeds_give_equal_runs() {
    let of = || values(&short(&[]), "loss");
    assert_eq!(of(), of());
    assert_ne!(of(), values(&short(&["seed=2"]), "loss"));
}

#[test]
fn unknown_layers_are_refused() {
    // This many steps of training would not end.
    const LONG: &str = "baseline_steps=100000";
    must_refuse(
        &lab(),
        &[
            (&[LONG, "layers=gated"], "a perceptron has first, last and all"),
            (&[LONG, "dataset=chain", "layers=first"], "a transformer has query-value"),
        ],
    );
}

#[test]
fn alpha_zero_learns_nothing() {
    let data = short(&["alpha=0.0"]);
    let adapted = values(&data, "accuracy_adapted");
    assert!(adapted.iter().all(|accuracy| *accuracy == adapted[0]));
    let data = short(&["learning_rate=1.0", "alpha=64.0"]);
    assert_eq!(data.metric("diverged"), Some(Value::Bool(true)));
}
