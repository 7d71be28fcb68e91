//! The lab from outside, and its parts against the instant lab and the formulas.

mod curves;
mod heads;

use burn::tensor::{Device, Tensor};
use mlsys_lab::control::Command;
use mlsys_lab::{Frame, Lab, Report, RunData, Value};
use mlsys_sim::pruning::{Format, Stored, mask};
use mlsys_sim::quantizer::{Granularity, Matrix, Quantized, Scheme};

use super::cut::{self, Cut, Field};
use super::lab;
use super::network::narrowed;
use super::parts::Body;
use super::setup::{Choice, Knobs, Method, Scope};
use super::size::{self, Size};
use super::tuner::hold;
use crate::trial::{self, number, run, try_run, values};
use mlsys_nn::baseline::{Recipe, Trained, trained};
use mlsys_nn::cases::Model;
use mlsys_nn::nets::Activation;

fn prune(set: &[&str]) -> RunData {
    run(&lab().unwrap(), set)
}

/// A small network that has learned a little.
fn small(model: Model, width: usize) -> std::sync::Arc<Trained> {
    let recipe = Recipe::images(model, width, 20, 3).unwrap();
    trained(&recipe, mlsys_lab::DeviceId::CPU).unwrap()
}

const HALF: Choice =
    Choice { method: Method::Magnitude, scope: Scope::Layer, sparsity: 0.5, keep: 2, group: 4 };

fn chosen(trained: &Trained, choice: Choice) -> Cut {
    let body = Body::of(trained);
    let field = Field { body: &body, row: &trained.weights, draws: &cut::draws(&body, 1) };
    Cut::none(&body).choose(&field, choice)
}

fn knobs(set: &[&str]) -> Knobs {
    Knobs::read(&trial::params(&lab().unwrap(), set)).unwrap()
}

#[test]
fn the_default_run_keeps_exactly_what_was_asked_and_gets_its_accuracy_back() {
    let data = prune(&[]);
    trial::must_be_declared(&lab().unwrap(), &data);
    assert_eq!(number(&data, "kept_weights"), 10_163.0);
    assert_eq!(number(&data, "resurrected_weights"), 0.0);
    assert_eq!(number(&data, "sparsity_reached"), 1.0 - 10_163.0 / 101_632.0);
    assert_eq!(number(&data, "remaining_flops"), 20_326.0);
    assert_eq!(number(&data, "parameters"), 101_770.0);
    assert_eq!(number(&data, "modelled_speedup"), 1.0);
    let before = number(&data, "accuracy_before");
    assert!(before > 0.98, "{before}");
    let pruned = number(&data, "accuracy_pruned");
    assert!((0.75..0.99).contains(&pruned), "{pruned}");
    assert!(number(&data, "accuracy_after") >= before - 0.02);
    assert_eq!(values(&data, "loss").len(), 100);
    let sized = number(&data, "stored_bytes") * number(&data, "compression_ratio");
    assert!((sized - 407_080.0).abs() < 1e-6);
    // A threshold for each layer costs more than one for all.
    let layer = prune(&["scope=layer"]);
    assert!(number(&layer, "accuracy_pruned") < pruned - 0.1);
    assert_eq!(number(&layer, "kept_weights"), 10_163.0);
}

#[test]
fn nine_tenths_removed_and_four_bits_are_25_times_smaller_with_little_lost() {
    let data = prune(&["value_bits=4"]);
    assert!(number(&data, "compression_ratio") >= 25.0);
    assert!(number(&data, "accuracy_drop") <= 0.015);
    assert_eq!(data.metric("storage_format"), Some(Value::from("offsets")));
}

#[test]
fn masks_are_those_of_the_instant_lab_on_each_layer() {
    let trained = small(Model::Mlp, 8);
    let instant = mlsys_analytic::Prune::new().unwrap();
    let magnitude = chosen(&trained, HALF);
    let groups = chosen(&trained, Choice { method: Method::Groups, ..HALF });
    for (index, layer) in trained.layers().iter().enumerate() {
        let matrix = layer.matrix(&trained.weights);
        let flat = format!("weights={matrix:?}");
        let data = run(&instant, &[&flat, "method=magnitude", "sparsity=0.5"]);
        assert_eq!(left(&data), magnitude.masks[index], "{}", layer.name);

        let at = |output: usize, input: usize| matrix[input * layer.outputs + output];
        let column =
            |output| -> Vec<f32> { (0..layer.inputs).map(|input| at(output, input)).collect() };
        let columns: Vec<Vec<f32>> = (0..layer.outputs).map(column).collect();
        let data = run(&instant, &[&format!("weights={columns:?}")]);
        let by_output = left(&data);
        for (place, stays) in groups.masks[index].iter().enumerate() {
            let (input, output) = (place / layer.outputs, place % layer.outputs);
            assert_eq!(by_output[output * layer.inputs + input], *stays);
        }
    }
}

/// Which weights the instant lab left.
fn left(data: &RunData) -> Vec<bool> {
    fn flatten(value: &Value, into: &mut Vec<bool>) {
        if let Value::Array(items) = value {
            items.iter().for_each(|item| flatten(item, into));
        } else {
            into.push(value.as_f64().unwrap() != 0.0);
        }
    }
    let mut flat = Vec::new();
    flatten(&data.metric("pruned").unwrap(), &mut flat);
    flat
}

#[test]
fn every_format_gives_the_weights_back_in_as_many_bytes_as_it_says() {
    let trained = small(Model::Mlp, 8);
    let layers = trained.layers();
    for (bits, offset) in [(4, 5), (3, 2), (8, 1), (32, 6)] {
        let set = [format!("value_bits={bits}"), format!("offset_bits={offset}")];
        let knobs = knobs(&[set[0].as_str(), set[1].as_str()]);
        let cut = chosen(&trained, Choice { sparsity: 0.9, ..HALF });
        let size = Size::of(&Body::of(&trained), trained.weights.len(), &cut, &knobs);
        let mut written = [0_u64; 3];
        for (layer, kept) in layers.iter().zip(&cut.masks) {
            let mut matrix = layer.matrix(&trained.weights);
            hold(&mut matrix, kept);
            let codes: Vec<u32> = if bits == 32 {
                matrix.iter().map(|weight| weight.to_bits()).collect()
            } else {
                let shape = Matrix::by_inputs(layer.inputs, layer.outputs);
                let scheme = Scheme::SymmetricRestricted;
                let rounded = Quantized::linear(&matrix, shape, bits, scheme, Granularity::Channel);
                let pattern = |code: &i32| (*code as u32) & ((1 << bits) - 1);
                rounded.codes.iter().map(pattern).collect()
            };
            for (format, written) in Format::ALL.into_iter().zip(&mut written) {
                let stored = Stored::encode(format, &codes, kept, size::widths(&knobs));
                let mut wanted = codes.clone();
                wanted.iter_mut().zip(kept).for_each(|(code, kept)| {
                    if !kept {
                        *code = 0;
                    }
                });
                assert_eq!(stored.decode(), Some(wanted), "{format:?}");
                *written += stored.bits();
            }
        }
        // 18 outputs with a bias each, and a scale each where weights are rounded.
        let beside = if bits == 32 { 18 * 4 } else { 18 * 8 };
        assert_eq!(size.bytes, written.map(|bits| bits.div_ceil(8) + beside));
    }
}

#[test]
fn a_network_without_its_units_answers_as_one_with_zeros_in_their_place() {
    let device = Device::flex();
    for (model, width) in [(Model::Mlp, 9), (Model::Cnn, 3)] {
        let trained = small(model, width);
        for scope in [Scope::Layer, Scope::Global] {
            let choice = Choice { method: Method::Neurons, scope, ..HALF };
            let cut = chosen(&trained, choice);
            let mut row = trained.weights.clone();
            let stays = cut.row(&Body::of(&trained), row.len());
            hold(&mut row, &stays);
            let zeros = trained.network_of(&row, &device);
            let narrow = narrowed(&trained.network(&device), &cut.units, &device);
            let images: Vec<f32> = (0..4 * 784).map(|at| (at * 37 % 101) as f32 / 101.0).collect();
            let images = Tensor::<1>::from_floats(images.as_slice(), &device).reshape([4, 784]);
            let answers = |network: &mlsys_nn::nets::Network| -> Vec<f32> {
                let logits = network.forward(images.clone(), Activation::Relu);
                logits.into_data().iter::<f32>().collect()
            };
            for (a, b) in answers(&zeros).into_iter().zip(answers(&narrow)) {
                assert!((a - b).abs() < 1e-4, "{a} {b}");
            }
            assert!(cut.units.iter().all(|units| mask::count(units) > 0));
        }
    }
}

#[test]
fn half_the_neurons_are_half_the_weights_and_really_gone() {
    let data = prune(&["method=neurons", "sparsity=0.5", "finetune_steps=20"]);
    assert_eq!(number(&data, "parameters"), 50_890.0);
    assert_eq!(number(&data, "sparsity_reached"), 0.5);
    assert_eq!(number(&data, "stored_bytes"), 4.0 * 50_890.0);
    assert!(number(&data, "modelled_speedup") > 1.0);
    let most = prune(&["method=neurons", "sparsity=0.999", "finetune_steps=1"]);
    assert_eq!(number(&most, "kept_weights"), 794.0);
}

#[test]
fn two_of_four_is_exactly_half_and_what_tensor_cores_can_use() {
    let data = prune(&["method=n-of-m", "finetune_steps=30"]);
    assert_eq!(number(&data, "sparsity_reached"), 0.5);
    assert_eq!(number(&data, "resurrected_weights"), 0.0);
    assert!(number(&data, "accuracy_pruned") > 0.9);
    assert!(number(&data, "modelled_speedup") > 1.0);
    let old = prune(&["method=n-of-m", "finetune_steps=0", "gpu=v100-sxm2-16gb"]);
    assert_eq!(number(&old, "modelled_speedup"), 1.0);
    let any = prune(&["sparsity=0.5", "finetune_steps=0"]);
    let random = prune(&["sparsity=0.5", "finetune_steps=0", "method=random"]);
    assert_eq!(number(&any, "modelled_speedup"), 1.0);
    assert!(number(&random, "accuracy_pruned") < number(&any, "accuracy_pruned"));
}

#[test]
fn rounds_reach_the_same_share_by_steps() {
    let set = ["sparsity=0.97", "rounds=3", "finetune_steps=4"];
    let data = prune(&set);
    assert_eq!(number(&data, "steps_done"), 12.0);
    let kept = 101_632.0 - (0.97_f64 * 101_632.0).round();
    assert_eq!(number(&data, "kept_weights"), kept);
    assert_eq!(number(&data, "resurrected_weights"), 0.0);
    let without = prune(&["sparsity=0.97", "rounds=3", "finetune_steps=0"]);
    assert_eq!(number(&without, "kept_weights"), kept);
}

#[test]
fn a_ticket_begins_where_the_network_began() {
    let losses = |from: &str| {
        let from = format!("finetune_from={from}");
        let set = ["baseline_steps=0", "width=16", "finetune_steps=3", &from];
        values(&prune(&set), "loss")
    };
    // Nothing was trained, so that what is left is where it began anyway.
    assert_eq!(losses("initial"), losses("trained"));
    assert_ne!(losses("redrawn"), losses("trained"));
}

#[test]
fn knobs_prune_anew_in_mid_run_and_each_answer_is_that_of_a_run_of_its_own() {
    let lab = lab().unwrap();
    let set = ["width=16", "baseline_steps=60", "finetune_steps=6"];
    let turned = [
        (2, "sparsity", Value::from(0.5)),
        (4, "method", Value::from("n-of-m")),
        (5, "keep", Value::from(3_i64)),
        (6, "keep", Value::from(9_i64)),
        (7, "value_bits", Value::from(4_i64)),
    ];
    let data = trial::turned(&lab, &set, &turned);
    // The run begins its rounds anew with each mask: 5 steps were done when the last one that could be used came.
    assert_eq!(number(&data, "steps_done"), 11.0);
    assert_eq!(number(&data, "sparsity_reached"), 0.25);
    let alone = prune(&[&set[..], &["method=n-of-m", "keep=3", "value_bits=4"]].concat());
    for name in ["accuracy_pruned", "stored_bytes", "kept_weights"] {
        assert_eq!(number(&data, name), number(&alone, name), "{name}");
    }
    assert_eq!(data.changes.len(), 4);
}

#[test]
fn a_paused_run_answers_a_knob_without_a_step() {
    let lab = lab().unwrap();
    let set = ["width=16", "baseline_steps=60", "finetune_steps=5"];
    let mut orders = [
        Command::Pause,
        Command::Set { name: "sparsity".to_owned(), value: Value::from(0.25) },
        Command::Redraw,
        Command::Stop,
    ]
    .into_iter()
    .peekable();
    // All before the first step.
    let (data, _) = trial::answered(&lab, &set, |report| {
        let order = orders.next_if(|_| matches!(report, Report::Scalar { .. }));
        order.map_or(trial::Then::On, trial::Then::Order)
    });
    assert_eq!(number(&data, "steps_done"), 0.0);
    assert!((number(&data, "sparsity_reached") - 0.25).abs() < 1e-4);
}

#[test]
fn what_cannot_be_is_said_in_words_and_odd_sizes_are_no_trouble() {
    let lab = lab().unwrap();
    let error = try_run(&lab, &["method=n-of-m", "keep=5"]).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("keep at most 4"), "{error}");
    let quick = ["baseline_steps=0", "finetune_steps=1"];
    for set in [
        &["width=1", "sparsity=0.999"][..],
        &["width=1", "method=neurons", "sparsity=0.999"],
        &["model=cnn", "width=2", "method=n-of-m"],
        &["model=cnn", "width=2", "method=neurons"],
        &["model=cnn", "width=1", "sparsity=0.0", "value_bits=31"],
        &[
            "width=3",
            "method=n-of-m",
            "keep=1",
            "group=7",
            "rounds=10",
            "value_bits=2",
            "offset_bits=1",
        ],
        &["width=2", "method=random", "scope=layer", "sparsity=0.999", "offset_bits=16"],
    ] {
        let data = prune(&[set, &quick[..]].concat());
        trial::must_be_declared(&lab, &data);
        assert_eq!(number(&data, "resurrected_weights"), 0.0);
    }
}

#[test]
fn removed_weights_are_blank_in_the_pictures() {
    let data = prune(&["width=16", "baseline_steps=60", "finetune_steps=2"]);
    let Some((_, Frame::Images(images))) =
        data.frames.get("weights").map(|frame| (frame.0, &frame.1))
    else {
        panic!("no images")
    };
    assert_eq!((images.images.len(), images.width), (8, 28));
    for image in &images.images {
        let there = image.pixels.iter().filter(|level| **level != 0).count();
        assert_eq!(image.label, format!("{there} left"));
    }
    assert!(lab().unwrap().schema().panels.len() >= 6);
}
