//! Whole runs: counts against the formulas, and outputs, gradients and weights against one worker.

use std::sync::Arc;

use burn::tensor::Device;
use mlsys_distributed::model::{self, Model};
use mlsys_distributed::reference::relative_difference;
use mlsys_distributed::worker_pool::{WorkerContext, WorkerPool, timeout};
use mlsys_lab::{DeviceId, Frame, RunData, Value};
use mlsys_nn::flat_params::{self, Rule};
use mlsys_nn::networks::{TransformerConfig, Variant};
use mlsys_nn::random::Stream;

use super::clock;
use super::layout::Layout;
use super::params::{Knobs, Mode, Setup, Sums};
use super::worker::{Answer, Rank, StepOrder};
use crate::stepped::LiveLab;
use crate::trial::{
    frame, must_be_declared, number, over, params, refused, run, steered, turn, turned, values,
};

fn lab() -> LiveLab {
    crate::train_tensor_parallel::lab().unwrap()
}

#[test]
fn the_default_run_is_what_the_formulas_say() {
    let data = run(&lab(), &[]);
    for (metric, expected) in [
        ("parameters", 209_472.0),
        ("model_flops", 1_358_954_496.0),
        ("all_reduces", 16.0),
        ("all_gathers", 0.0),
        ("reduce_scatters", 0.0),
        ("bytes_sent_per_worker", 6_291_456.0),
        ("messages_per_worker", 96.0),
        // 50,176 numbers of matrices a block over 4, and 8,768 that all have.
        ("weight_bytes_per_worker", 235_776.0),
        ("steps_done", 10.0),
    ] {
        assert_eq!(number(&data, metric), expected, "{metric}");
    }
    let speedup = number(&data, "speedup");
    assert!((speedup - 1.447_150_960_802_402_5).abs() <= 1e-12, "{speedup}");
}

#[test]
fn traffic_matches_the_formulas_in_every_mode() {
    for mode in MODES {
        for set in [
            &["ranks=2"][..],
            &["ranks=4"],
            &["ranks=2", "kv_heads=2"],
            &["ranks=3", "hidden=144", "kv_heads=3", "context=12"],
            &["ranks=2", "skip_all_reduce=true"],
            &["ranks=1"],
        ] {
            let all =
                [&[mode, "layers=2", "global_batch=2", "steps=1", "compare=false"], set].concat();
            let data = run(&lab(), &all);
            let params = params(&lab(), &all);
            let (setup, knobs) = (Setup::read(&params).unwrap(), Knobs::read(&params).unwrap());
            let sent = clock::sent(&clock::phases(&setup, knobs.sums));
            assert_eq!(number(&data, "messages_per_worker"), sent.0, "{all:?}");
            assert_eq!(number(&data, "bytes_sent_per_worker"), sent.1, "{all:?}");
        }
    }
}

#[test]
fn collectives_of_a_layer_are_those_of_the_analytic_lab() {
    for (mode, sequence) in [("mode=tensor", false), ("mode=tensor-sequence", true)] {
        let data = run(&lab(), &[mode, "layers=3", "steps=1", "global_batch=2", "compare=false"]);
        let instant = analytic(sequence);
        let layers = 3.0;
        let reduces =
            number(&instant, "all_reduces_forward") + number(&instant, "all_reduces_backward");
        assert_eq!(number(&data, "all_reduces"), layers * reduces);
        for metric in ["all_gathers", "reduce_scatters"] {
            assert_eq!(number(&data, metric), layers * number(&instant, metric), "{metric}");
        }
        let blocks = layers * number(&instant, "bytes_per_layer");
        // Besides, in mode tensor-sequence: the gradients of embedding, seven norms and head.
        let shared = if sequence { 2.0 * 0.75 * 4.0 * 64.0 * 135.0 } else { 0.0 };
        assert_eq!(number(&data, "bytes_sent_per_worker"), blocks + shared);
    }
}

fn analytic(sequence: bool) -> RunData {
    let lab = mlsys_analytic::lab("tensor-parallel").unwrap();
    let sequence = format!("sequence_parallel={sequence}");
    run(&lab, &["ranks=4", "hidden=64", "sequence=32", "batch=2", "bytes_per_element=4", &sequence])
}

#[test]
fn the_timeline_takes_as_long_as_a_step() {
    for mode in MODES {
        let data = run(&lab(), &[mode, "steps=1", "global_batch=4", "compare=false"]);
        let Frame::Timeline(timeline) = frame(&data, "timeline") else { panic!("no timeline") };
        assert_eq!(timeline.classes[..2], ["forward", "backward"]);
        let (begin, end) = timeline.extent().unwrap();
        let step = number(&data, "step_seconds");
        assert_eq!(begin, 0.0);
        assert!((end / step - 1.0).abs() <= 1e-9, "{mode}: {end} {step}");
    }
}

#[test]
fn one_worker_keeps_what_lab_capture_counts() {
    let params = params(&lab(), &["ranks=1"]);
    let setup = Setup::read(&params).unwrap();
    let config = mlsys_nn::networks::Architecture::Transformer(setup.config.clone());
    let batch = setup.batch as u64;
    let kept = 4 * config.kept_numbers(mlsys_nn::networks::Activation::Relu, batch);
    assert_eq!(clock::activation_bytes(&setup), kept as f64);
}

#[test]
fn what_cannot_be_shared_says_what_can() {
    for (set, words) in [
        (&["ranks=3"][..], &["ranks, hidden", "4 heads", "1, 2, 4 ranks"][..]),
        (&["kv_heads=2"], &["ranks, kv_heads", "a head cannot be halved", "1, 2 ranks"]),
        (&["kv_heads=3"], &["hidden, kv_heads", "cannot share"]),
        (&["hidden=80", "kv_heads=5", "ranks=5"], &["columns of the gated layer"]),
        (&["hidden=40"], &["hidden", "48"]),
        (&["mode=context", "ranks=5"], &["ranks, context", "such as 35"]),
        (&["mode=tensor-sequence", "context=30"], &["ranks, context", "such as 32"]),
        (&["bandwidth_bytes_per_second=0"], &["bandwidth_bytes_per_second", "above 0"]),
    ] {
        assert!(refused(&lab(), set, words), "{set:?}");
    }
}

#[test]
fn models_beyond_memory_are_refused() {
    let huge = ["hidden=512", "kv_heads=32", "layers=16", "context=1024", "global_batch=4096"];
    assert!(!refused(&lab(), &huge, &["GB are free", "global_batch"]));
}

const MODES: [&str; 3] = ["mode=tensor", "mode=tensor-sequence", "mode=context"];
const SMALL: [&str; 4] = ["layers=2", "global_batch=4", "steps=3", "context=16"];

#[test]
fn every_mode_gives_what_one_worker_gives() {
    for mode in MODES {
        for rule in ["optimizer=sgd", "optimizer=adam"] {
            let data = run(&lab(), &[&SMALL[..], &[mode, rule]].concat());
            must_be_declared(&lab(), &data);
            for metric in ["max_output_difference", "max_gradient_difference"] {
                let found = values(&data, metric);
                assert_eq!(found.len(), 3, "{mode} {metric}");
                assert!(
                    found.iter().all(|found| *found <= 1e-5),
                    "{mode} {rule} {metric} {found:?}"
                );
            }
            let (loss, alone) = (values(&data, "loss"), values(&data, "reference_loss"));
            for (loss, alone) in loss.iter().zip(&alone) {
                assert!((loss / alone - 1.0).abs() <= 1e-5, "{mode}: {loss} {alone}");
            }
        }
    }
}

#[test]
fn weights_stay_together_where_updates_are_gradients() {
    for mode in MODES {
        let set = over(&SMALL, &[mode, "steps=20", "optimizer=sgd", "learning_rate=0.1"]);
        let apart = values(&run(&lab(), &set), "max_weight_difference");
        assert!(apart[19] <= 1e-5, "{mode}: {apart:?}");
    }
}

#[test]
fn sums_left_out_are_seen_at_once() {
    for mode in ["mode=tensor", "mode=tensor-sequence"] {
        let data = run(&lab(), &[&SMALL[..], &[mode, "skip_all_reduce=true"]].concat());
        let output = values(&data, "max_output_difference");
        assert!(output[0] > 1e-2, "{mode}: {output:?}");
    }
    let context = ["mode=context", "skip_all_reduce=true"];
    let data = run(&lab(), &[&SMALL[..], &context].concat());
    assert!(values(&data, "max_output_difference")[0] <= 1e-5);
    assert!(data.notices.iter().any(|notice| notice.contains("no matrix is split by rows")));
}

#[test]
fn one_rank_is_one_worker_bit_for_bit_and_sends_nothing() {
    for mode in MODES {
        let data = run(&lab(), &[&SMALL[..], &[mode, "ranks=1"]].concat());
        for metric in ["max_output_difference", "max_gradient_difference", "max_weight_difference"]
        {
            assert!(values(&data, metric).iter().all(|found| *found == 0.0), "{mode} {metric}");
        }
        assert_eq!(number(&data, "bytes_sent_per_worker"), 0.0);
        assert_eq!(number(&data, "messages_per_worker"), 0.0);
        assert_eq!(number(&data, "speedup"), 1.0);
    }
}

/// A step of all ranks on their own threads; what they found, and what they are.
fn step(setup: &Setup, model: &Model, sums: Sums) -> (Layout, Vec<Answer>) {
    let device = Device::flex();
    let whole = flat_params::weights(&model.network(&device.clone().autodiff())).unwrap();
    let whole: Arc<[f32]> = whole.into();
    let context = WorkerContext { device, place: "cpu".to_owned() };
    let (copy, data) = (setup.clone(), Arc::clone(&model.data));
    let mut pool =
        WorkerPool::start(DeviceId::CPU, vec![context; setup.ranks], timeout(0.0), move |spec| {
            Ok(Rank::new(&spec, &copy, &whole, &data))
        })
        .unwrap();
    let order = StepOrder {
        indices: (0..setup.batch).collect(),
        learning_rate: 0.1,
        sums,
        with_details: true,
        from: None,
    };
    let orders = std::iter::repeat_n(order, setup.ranks);
    let answers = pool.act(1, orders, || false).unwrap();
    (Layout::new(&setup.config, setup.mode, setup.ranks), answers)
}

fn chosen<T: Copy>(stream: &mut Stream, of: &[T]) -> T {
    of[stream.below(of.len())]
}

fn random(stream: &mut Stream) -> Setup {
    let mode = chosen(stream, &[Mode::Tensor, Mode::TensorSequence, Mode::Context]);
    let (kv_heads, group) = (1 + stream.below(3), 1 + stream.below(2));
    let width = 16 * kv_heads * group;
    let ranks = match mode {
        Mode::Context => 1 + stream.below(5),
        // What divides key/value heads divides heads; the gated layer's width is a multiple of 8.
        Mode::Tensor | Mode::TensorSequence => {
            let shared = |ranks: &usize| {
                kv_heads.is_multiple_of(*ranks)
                    && TransformerConfig::gated(width).is_multiple_of(*ranks)
            };
            let all: Vec<usize> = (1..=kv_heads).filter(shared).collect();
            chosen(stream, &all)
        }
    };
    Setup {
        ranks,
        mode,
        config: TransformerConfig {
            vocab: 64,
            width,
            depth: 1 + stream.below(3),
            heads: kv_heads * group,
            kv_heads,
            ffn: TransformerConfig::gated(width),
            context: ranks * (1 + stream.below(5)),
            variant: Variant::default(),
        },
        batch: 1 + stream.below(3),
        rule: Rule::Sgd,
        compare: true,
        seed: stream.bits() >> 12,
    }
}

#[test]
fn gradients_match_a_single_device() {
    let mut stream = Stream::new(7, "tests/split");
    for _ in 0..24 {
        let setup = random(&mut stream);
        let model = Model::transformer(setup.config.clone(), setup.seed).unwrap();
        // The oracle: burn's own backward pass over the transformer as it is, on one device.
        let device = Device::flex().autodiff();
        let network = model.network(&device);
        let indices: Vec<usize> = (0..setup.batch).collect();
        let (loss, gradient) =
            model::gradient(&network, &model.data.train, &indices, &device).unwrap();

        let (layout, answers) = step(&setup, &model, Sums::Done);
        let mut found = vec![f32::NAN; layout.len()];
        for (rank, answer) in answers.iter().enumerate() {
            layout.put(&mut found, rank, &answer.details.as_ref().unwrap().gradient);
        }
        let off = relative_difference(&found, &gradient);
        assert!(off <= 1e-5, "{off:e} {setup:?}");
        if setup.ranks == 1 {
            assert_eq!(found, gradient, "{setup:?}");
        }
        let sum: f64 = if setup.mode.cuts_tokens() {
            answers.iter().map(|answer| answer.loss).sum()
        } else {
            answers[0].loss
        };
        assert!((sum / loss - 1.0).abs() <= 1e-5, "{sum} {loss} {setup:?}");
    }
}

#[test]
fn what_all_ranks_have_is_the_same_on_all_bit_for_bit() {
    let mut stream = Stream::new(8, "tests/split");
    for _ in 0..9 {
        let setup = random(&mut stream);
        let model = Model::transformer(setup.config.clone(), setup.seed).unwrap();
        let (layout, answers) = step(&setup, &model, Sums::Done);
        let weights = |rank: usize| {
            let mut whole = vec![0.0; layout.len()];
            layout.put(&mut whole, rank, &answers[rank].details.as_ref().unwrap().weights);
            whole
        };
        let (whole, embedding) = (weights(0), 64 * setup.config.width);
        for rank in 1..setup.ranks {
            let other = weights(rank);
            assert_eq!(other[..embedding], whole[..embedding], "{setup:?}");
            let head = whole.len() - embedding;
            assert_eq!(other[head..], whole[head..], "{setup:?}");
        }
    }
}

#[test]
fn sums_can_be_left_out_of_a_run_that_has_begun() {
    let orders = [turn("skip_all_reduce", true)];
    let data = steered(&lab(), &SMALL, "opening the device", &orders);
    assert!(values(&data, "max_output_difference")[0] > 1e-2);
    // Those of the backward pass are still done.
    assert_eq!(number(&data, "all_reduces"), 4.0);
}

#[test]
fn the_link_changes_time_not_gradients() {
    let whole = run(&lab(), &SMALL);
    let orders = [turn("link", "10gige")];
    let slow = steered(&lab(), &SMALL, "opening the device", &orders);
    let seconds = |data| number(data, "communication_seconds");
    assert!(seconds(&slow) > 5.0 * seconds(&whole));
    assert_eq!(values(&slow, "loss"), values(&whole, "loss"));
}

#[test]
fn sums_done_again_bring_the_ranks_together_again() {
    for rule in ["optimizer=sgd", "optimizer=adam"] {
        for mode in ["mode=tensor", "mode=tensor-sequence"] {
            let wrong = [mode, rule, "skip_all_reduce=true", "learning_rate=0.05"];
            let set = over(&[&SMALL[..], &wrong].concat(), &["steps=6"]);
            let data = turned(&lab(), &set, &[(3, "skip_all_reduce", Value::Bool(false))]);
            for metric in ["max_output_difference", "max_gradient_difference"] {
                let found = values(&data, metric);
                assert!(found[..3].iter().all(|far| *far > 1e-2), "{found:?}");
                assert!(found[3..].iter().all(|far| *far <= 1e-4), "{mode} {rule}: {found:?}");
            }
        }
    }
}

#[test]
fn divergence_ends_the_run() {
    let set = ["layers=2", "global_batch=4", "context=16", "learning_rate=10", "steps=30"];
    let data = run(&lab(), &set);
    assert!(data.diverged.as_ref().unwrap().1.contains("learning rate 10 "));
    assert!(number(&data, "steps_done") < 30.0);
}
