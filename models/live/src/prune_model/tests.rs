//! The lab from outside, and its parts against the instant lab and the formulas.

use burn::tensor::{Device, Int, Tensor};
use mlsys_lab::control::Command;
use mlsys_lab::{Frame, Report, RunData, Value};
use mlsys_nn::baseline::{Recipe, Sizes, Trained, trained};
use mlsys_nn::cases::Model;
use mlsys_nn::data::Dataset;
use mlsys_nn::flat_params;
use mlsys_nn::networks::{Activation, Inputs, Network, Transformer};
use mlsys_sim::pruning::mask;

use super::lab;
use super::masks::{self, Candidates, Masks, zero_removed};
use super::network::{Body, Kind, narrowed};
use super::params::{Choice, Knobs, Method, Scope};
use crate::trial::{self, frame, number, refused, run, values};

fn prune(set: &[&str]) -> RunData {
    let data = run(&lab().unwrap(), set);
    assert_eq!(number(&data, "resurrected_weights"), 0.0, "{set:?}");
    data
}

pub(super) fn small(model: Model, width: usize) -> std::sync::Arc<Trained> {
    let recipe = Recipe::images(model, width, 20, 3).unwrap();
    trained(&recipe, mlsys_lab::DeviceId::CPU).unwrap()
}

pub(super) const HALF: Choice =
    Choice { method: Method::Magnitude, scope: Scope::Layer, sparsity: 0.5, keep: 2, group: 4 };

pub(super) fn chosen(trained: &Trained, choice: Choice) -> Masks {
    let body = Body::new(trained);
    let from = Candidates { body: &body, row: &trained.weights, draws: &masks::draws(&body, 1) };
    Masks::none(&body).choose(&from, choice)
}

pub(super) fn knobs(set: &[&str]) -> Knobs {
    Knobs::read(&trial::params(&lab().unwrap(), set)).unwrap()
}

#[test]
fn default_run_pays_for_pruning() {
    let data = prune(&[]);
    trial::must_be_declared(&lab().unwrap(), &data);
    assert_eq!(number(&data, "kept_weights"), 2541.0);
    let before = number(&data, "accuracy_before");
    assert!(before > 0.95, "{before}");
    let pruned = number(&data, "accuracy_pruned");
    assert!((0.5..0.95).contains(&pruned), "{pruned}");
    let drop = number(&data, "accuracy_drop");
    assert!((0.005..0.03).contains(&drop), "{drop}");
    assert_eq!(values(&data, "loss").len(), 100);
    // A threshold for each layer costs more than one for all.
    let layer = prune(&["scope=layer"]);
    assert!(number(&layer, "accuracy_pruned") < pruned - 0.1);
}

#[test]
fn huffman_codes_are_the_third_stage() {
    let data = prune(&["value_bits=4"]);
    assert!(number(&data, "compression_ratio") >= 25.0);
    assert!(number(&data, "accuracy_drop") <= 0.03);
    assert_eq!(data.metric("storage_format"), Some(Value::from("offsets")));
    let coded = prune(&["value_bits=4", "coding=huffman"]);
    trial::must_be_declared(&lab().unwrap(), &coded);
    assert_eq!(coded.metric("storage_format"), Some(Value::from("huffman")));
    assert!(number(&coded, "stored_bytes") < number(&data, "stored_bytes"));
    assert_eq!(number(&coded, "accuracy_after"), number(&data, "accuracy_after"));
    assert!(number(&coded, "mean_value_bits") < 4.0 && number(&coded, "mean_offset_bits") < 5.0);
}

#[test]
fn masks_are_those_of_the_instant_lab_on_each_layer() {
    let trained = small(Model::Mlp, 8);
    let instant = mlsys_analytic::lab("prune").unwrap();
    let magnitude = chosen(&trained, HALF);
    let groups = chosen(&trained, Choice { method: Method::Groups, ..HALF });
    let kept = |data: &RunData| -> Vec<bool> {
        let pruned = trial::flat(&data.metric("pruned").unwrap());
        pruned.into_iter().map(|weight| weight != 0.0).collect()
    };
    for (index, layer) in trained.layers().iter().enumerate() {
        let matrix = layer.matrix(&trained.weights);
        let weights = format!("weights={matrix:?}");
        let data = run(&instant, &[&weights, "method=magnitude", "sparsity=0.5"]);
        assert_eq!(kept(&data), magnitude.masks[index], "{}", layer.name);
        let at = |output: usize, input: usize| matrix[input * layer.outputs + output];
        let column = |output| (0..layer.inputs).map(|input| at(output, input)).collect();
        let columns: Vec<Vec<f32>> = (0..layer.outputs).map(column).collect();
        let data = run(&instant, &[&format!("weights={columns:?}")]);
        let by_output = kept(&data);
        for (place, stays) in groups.masks[index].iter().enumerate() {
            let (input, output) = (place / layer.outputs, place % layer.outputs);
            assert_eq!(by_output[output * layer.inputs + input], *stays);
        }
    }
}

/// A network after a choice: really smaller, and with zeros in place of what went.
fn pruned(trained: &Trained, choice: Choice) -> (Masks, [Network; 2]) {
    let (device, mut row) = (Device::flex(), trained.weights.clone());
    let cut = chosen(trained, choice);
    let stays = cut.row(&Body::new(trained), row.len());
    zero_removed(&mut row, &stays);
    let narrow = narrowed(&trained.network(&device), &stays, &device);
    (cut, [narrow, trained.network_of(&row, &device)])
}

fn answers(network: &Network, inputs: &Inputs) -> Vec<f32> {
    flat_params::values(network.forward(inputs.clone(), Activation::Relu))
}

fn are_close(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4)
}

#[test]
fn removed_units_equal_zeroed_units() {
    let images: Vec<f32> = (0..4 * 784).map(|at| (at * 37 % 101) as f32 / 101.0).collect();
    let images = Tensor::<1>::from_floats(images.as_slice(), &Device::flex()).reshape([4, 784]);
    for (trained, inputs) in [
        (small(Model::Mlp, 9), Inputs::Numbers(images.clone())),
        (small(Model::Cnn, 3), Inputs::Numbers(images)),
        (decoder(2), Inputs::Tokens(tokens())),
    ] {
        for scope in [Scope::Layer, Scope::Global] {
            let choice = Choice { method: Method::Neurons, scope, ..HALF };
            let (cut, networks) = pruned(&trained, choice);
            let [narrow, zeros] = networks.map(|network| answers(&network, &inputs));
            assert!(are_close(&narrow, &zeros), "{narrow:?} {zeros:?}");
            assert!(cut.units.iter().all(|units| mask::count(units) > 0));
        }
    }
}

#[test]
fn removed_neurons_halve_the_weights() {
    let data = prune(&["method=neurons", "sparsity=0.5", "finetune_steps=20"]);
    assert_eq!(number(&data, "parameters"), 12_730.0);
    assert_eq!(number(&data, "sparsity_reached"), 0.5);
    assert_eq!(number(&data, "stored_bytes"), 4.0 * 12_730.0);
    assert!(number(&data, "modelled_speedup") > 1.0);
    let most = prune(&["method=neurons", "sparsity=0.999", "finetune_steps=1"]);
    assert_eq!(number(&most, "kept_weights"), 794.0);
}

#[test]
fn two_of_four_sparsity_is_half() {
    let data = prune(&["method=n-of-m", "finetune_steps=30"]);
    assert_eq!(number(&data, "sparsity_reached"), 0.5);
    assert!(number(&data, "accuracy_pruned") > 0.8);
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
    let data = prune(&["sparsity=0.97", "rounds=3", "finetune_steps=4"]);
    assert_eq!(number(&data, "steps_done"), 12.0);
    let kept = 25_408.0 - (0.97_f64 * 25_408.0).round();
    assert_eq!(number(&data, "kept_weights"), kept);
    let without = prune(&["sparsity=0.97", "rounds=3", "finetune_steps=0"]);
    assert_eq!(number(&without, "kept_weights"), kept);
}

#[test]
fn mid_run_knobs_match_fresh_runs() {
    let set = ["width=16", "baseline_steps=60", "finetune_steps=6"];
    let turned = [
        (2, "sparsity", Value::from(0.5)),
        (4, "method", Value::from("n-of-m")),
        (5, "keep", Value::from(3_i64)),
        (6, "keep", Value::from(9_i64)),
        (7, "value_bits", Value::from(4_i64)),
    ];
    let data = trial::turned(&lab().unwrap(), &set, &turned);
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
    let set = ["width=16", "baseline_steps=60", "finetune_steps=5"];
    let orders = [Command::Pause, trial::turn("sparsity", 0.25), Command::Redraw, Command::Stop];
    let mut orders = orders.into_iter().peekable();
    // All before the first step.
    let (data, _) = trial::answered(&lab().unwrap(), &set, |report| {
        let order = orders.next_if(|_| matches!(report, Report::Scalar { .. }));
        order.map_or(trial::Then::On, trial::Then::Order)
    });
    assert_eq!(number(&data, "steps_done"), 0.0);
    assert!((number(&data, "sparsity_reached") - 0.25).abs() < 1e-4);
}

#[test]
fn extreme_settings_run() {
    let quick = ["baseline_steps=0", "finetune_steps=1"];
    for set in [
        &["width=1", "sparsity=0.999"][..],
        &["width=1", "method=neurons", "sparsity=0.999"],
        &["model=cnn", "width=2", "method=n-of-m"],
        &["model=cnn", "width=2", "method=neurons"],
        &["model=cnn", "width=1", "sparsity=0.0", "value_bits=31"],
        &["width=3", "method=n-of-m", "keep=1", "group=7", "rounds=10", "value_bits=2"],
        &["width=3", "offset_bits=1", "value_bits=2"],
        &["width=2", "method=random", "scope=layer", "sparsity=0.999", "offset_bits=16"],
    ] {
        let data = prune(&[set, &quick[..]].concat());
        trial::must_be_declared(&lab().unwrap(), &data);
    }
}

#[test]
fn removed_weights_are_blank_in_the_pictures() {
    let data = prune(&["width=16", "baseline_steps=60", "finetune_steps=2"]);
    let Frame::Images(images) = frame(&data, "weights") else { panic!("no images") };
    assert_eq!((images.images.len(), images.width), (8, 28));
    for image in &images.images {
        let there = image.pixels.iter().filter(|level| **level != 0).count();
        assert_eq!(image.label, format!("{there} left"));
    }
}

const QUICK: &str =
    "dataset=chain model=transformer width=16 baseline_steps=2 finetune_steps=2 method=heads";

pub(super) fn quick(set: &[&str]) -> RunData {
    prune(&trial::over(&QUICK.split(' ').collect::<Vec<_>>(), set))
}

/// Two blocks of four query heads each.
fn decoder(kv_heads: usize) -> std::sync::Arc<Trained> {
    let sizes = Sizes { width: 16, kv_heads, ..Sizes::default() };
    let recipe = Recipe::tokens(Dataset::Chain, sizes, 3, 5).unwrap();
    trained(&recipe, mlsys_lab::DeviceId::CPU).unwrap()
}

fn tokens() -> Tensor<2, Int> {
    let tokens: Vec<i32> = (0..2 * 9).map(|at| at * 7 % 61).collect();
    Tensor::<1, Int>::from_ints(tokens.as_slice(), &Device::flex()).reshape([2, 9])
}

fn transformer(network: &Network) -> &Transformer {
    let Network::Transformer(transformer) = network else { panic!("no transformer") };
    transformer
}

/// The scores if what some key/value heads found is set to zero before it is joined, all weights being there.
fn silenced(whole: &Transformer, left: &[&Vec<bool>]) -> Vec<f32> {
    let mut x = whole.embed(tokens());
    let at = whole.positions(&x);
    for (block, stays) in whole.blocks.iter().zip(left) {
        let [batch, time, width] = x.dims();
        let rows = x.flatten::<2>(0, 1);
        let attention = &block.attention;
        let [q, k, v] = attention.project(block.attention_norm.forward(rows.clone()), batch, &at);
        let found = attention.blend(attention.weigh(q, k, &at), v); // [batch, heads, time, head]
        let group = attention.heads / attention.kv_heads;
        let keep = stays.iter().flat_map(|stays| vec![f32::from(u8::from(*stays)); group]);
        let keep: Vec<f32> = keep.collect();
        let keep = Tensor::<1>::from_floats(keep.as_slice(), &Device::flex());
        let found = found * keep.reshape([1, attention.heads, 1, 1]);
        let rows = rows + attention.join(found);
        let rows = rows.clone() + block.mlp.forward(block.mlp_norm.forward(rows));
        x = rows.reshape([batch, time, width]);
    }
    flat_params::values(whole.read(x))
}

#[test]
fn removed_heads_equal_silenced_heads() {
    let inputs = Inputs::Tokens(tokens());
    for (kv_heads, group) in [(4, 1), (2, 2)] {
        let trained = decoder(kv_heads);
        let whole = trained.network(&Device::flex());
        for (scope, sparsity) in [(Scope::Layer, 0.5), (Scope::Global, 0.6)] {
            let choice = Choice { method: Method::Heads, scope, sparsity, ..HALF };
            let (cut, networks) = pruned(&trained, choice);
            let (heads, units): (Vec<_>, Vec<_>) =
                cut.units.chunks(2).map(|of| (&of[0], &of[1])).unzip();
            assert!(units.iter().all(|units| units.iter().all(|stays| *stays)));
            assert!(heads.iter().all(|heads| mask::count(heads) > 0));
            assert!(heads.iter().any(|heads| mask::count(heads) < kv_heads));
            for (block, heads) in transformer(&networks[0]).blocks.iter().zip(&heads) {
                assert_eq!(block.attention.kv_heads, mask::count(heads));
                assert_eq!(block.attention.heads, group * mask::count(heads));
            }
            let wanted = silenced(transformer(&whole), &heads);
            assert!(networks.iter().all(|network| are_close(&answers(network, &inputs), &wanted)));
            assert!(!are_close(&answers(&whole, &inputs), &wanted));
        }
    }
}

#[test]
fn the_heads_with_the_smallest_norm_go() {
    let trained = decoder(4);
    let cut = chosen(&trained, Choice { method: Method::Heads, ..HALF });
    let network = trained.network(&Device::flex());
    for (block, stays) in transformer(&network).blocks.iter().zip(cut.units.chunks(2)) {
        let attention = &block.attention;
        let norm = |head: usize| -> f32 {
            let span = head * 4..(head + 1) * 4;
            let columns = [&attention.query, &attention.key, &attention.value];
            let columns = columns.map(|matrix| matrix.val().slice([0..16, span.clone()]));
            let rows = attention.output.val().slice([span.clone(), 0..16]);
            let squares = columns.into_iter().chain([rows]).map(|of| of.square().sum());
            squares.map(|sum| sum.into_scalar::<f32>()).sum()
        };
        let (left, gone): (Vec<usize>, Vec<usize>) = (0..4).partition(|head| stays[0][*head]);
        let least = left.into_iter().map(norm).fold(f32::INFINITY, f32::min);
        assert!(gone.into_iter().all(|head| norm(head) <= least));
    }
    assert_eq!(cut.left_of(Kind::Heads, &Body::new(&trained)), (4, 8));
    let neurons = chosen(&trained, Choice { method: Method::Neurons, ..HALF });
    assert_eq!(neurons.left_of(Kind::Heads, &Body::new(&trained)), (8, 8));
    assert_eq!(neurons.left_of(Kind::Units, &Body::new(&trained)), (48, 96));
}

#[test]
fn pruned_heads_stay_zero() {
    // Of a block 4 matrices of 16 x 16 with 8 heads, and 3 of 16 x 48; a head of 16 x 64; the output head.
    let (head, all) = (4 * 2 * 16, 2 * (4 * 256 + 3 * 16 * 48) + 16 * 64);
    for (sparsity, left) in [("0.0", 16), ("0.25", 12), ("0.5", 8), ("0.7", 5), ("0.999", 2)] {
        let data = quick(&[&format!("sparsity={sparsity}")]);
        trial::must_be_declared(&lab().unwrap(), &data);
        let gone = (16 - left) * head;
        assert_eq!(number(&data, "kept_weights"), f64::from(all - gone), "{sparsity}");
        // Parameters outside the matrices: the embedding and five norm scales.
        let parameters = all - gone + 64 * 16 + 5 * 16;
        assert_eq!(number(&data, "parameters"), f64::from(parameters));
        assert_eq!(number(&data, "stored_bytes"), f64::from(4 * parameters));
        assert_eq!(number(&data, "remaining_flops"), f64::from(2 * (all - gone)));
        assert!(number(&data, "modelled_speedup") >= 1.0);
        let Frame::Panes(panes) = frame(&data, "weights") else { panic!("weights") };
        let Frame::HeatMap(map) = &panes[0].frame else { panic!("no heat map") };
        assert_eq!((map.rows, map.columns), (2, 8));
        assert_eq!(map.cells.iter().filter(|norm| norm.is_finite()).count(), left as usize);
    }
}

#[test]
fn every_method_works_on_a_transformer_and_runs_repeat() {
    for set in [
        &["method=magnitude", "value_bits=4"][..],
        &["method=n-of-m"],
        &["method=random", "scope=layer"],
        &["method=neurons", "sparsity=0.5", "scope=layer"],
        &["rounds=2", "sparsity=0.75", "value_bits=8"],
        &["finetune_from=initial", "sparsity=0.5"],
    ] {
        let (once, again) = (quick(set), quick(set));
        assert!(number(&once, "accuracy_after") < 0.0, "{set:?}");
        for name in ["accuracy_pruned", "accuracy_after", "kept_weights", "stored_bytes"] {
            assert_eq!(number(&once, name), number(&again, name), "{set:?} {name}");
        }
    }
    // Nothing was trained, so that what is left is where it began anyway.
    let losses = |from: &str| {
        let from = format!("finetune_from={from}");
        values(&quick(&["baseline_steps=0", "sparsity=0.5", &from]), "loss")
    };
    assert_eq!(losses("initial"), losses("trained"));
    assert_ne!(losses("redrawn"), losses("trained"));
    let rounds = quick(&["rounds=2", "sparsity=0.75"]);
    let heads = (2 * (4 * 256 + 3 * 16 * 48) + 16 * 64) - 12 * 4 * 2 * 16;
    assert_eq!(number(&rounds, "kept_weights"), f64::from(heads));
}

#[test]
fn unfit_settings_are_refused_before_training() {
    for (set, words) in [
        (&["method=n-of-m", "keep=5"][..], "keep at most 4"),
        (&["coding=huffman"], "coding, value_bits: "),
        (&["method=heads"], "method, model: "),
        (&["method=heads", "model=cnn"], "method, model: "),
        (&["model=transformer"], "dataset, model: "),
        (&["model=transformer", "method=heads"], "dataset, model: "),
        (&["dataset=chain"], "dataset, model: "),
        (&["dataset=chain", "model=cnn"], "dataset, model: "),
        (&["dataset=chain", "model=transformer", "width=24"], "width, model: "),
    ] {
        // A network that would take hours.
        let set = [set, &["baseline_steps=100000"]].concat();
        assert!(refused(&lab().unwrap(), &set, &[words]), "{set:?}");
    }
}
