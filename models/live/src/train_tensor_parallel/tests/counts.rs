//! Messages, bytes and modelled seconds: counted on the wires, by formula, and as the analytic labs have them.

use mlsys_analytic::labs;
use mlsys_lab::{Frame, RunData};

use super::lab;
use crate::train_tensor_parallel::clock;
use crate::train_tensor_parallel::setup::{Knobs, Setup};
use crate::trial::{number, params, run, try_run};

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
fn what_is_counted_on_the_wires_is_what_the_formulas_say_in_every_mode() {
    for mode in ["tensor", "tensor-sequence", "context"] {
        for set in [
            &["ranks=2"][..],
            &["ranks=4"],
            &["ranks=2", "kv_heads=2"],
            &["ranks=3", "hidden=144", "kv_heads=3", "context=12"],
            &["ranks=2", "skip_all_reduce=true"],
            &["ranks=1"],
        ] {
            let mode = format!("mode={mode}");
            let all =
                [&[&*mode, "layers=2", "global_batch=2", "steps=1", "compare=false"], set].concat();
            let data = run(&lab(), &all);
            let params = params(&lab(), &all);
            let (setup, knobs) = (Setup::read(&params).unwrap(), Knobs::read(&params).unwrap());
            let sent = clock::sent(&clock::parts(&setup, knobs.sums));
            assert_eq!(number(&data, "bytes_sent_per_worker"), sent.bytes, "{all:?}");
            assert_eq!(number(&data, "messages_per_worker"), sent.messages, "{all:?}");
        }
    }
}

#[test]
fn collectives_of_a_layer_are_those_of_the_analytic_lab() {
    for (mode, sequence) in [("mode=tensor", false), ("mode=tensor-sequence", true)] {
        let data = run(&lab(), &[mode, "layers=3", "steps=1", "global_batch=2", "compare=false"]);
        let told = analytic(sequence);
        let layers = 3.0;
        let reduces = number(&told, "all_reduces_forward") + number(&told, "all_reduces_backward");
        assert_eq!(number(&data, "all_reduces"), layers * reduces);
        for metric in ["all_gathers", "reduce_scatters"] {
            assert_eq!(number(&data, metric), layers * number(&told, metric), "{metric}");
        }
        let blocks = layers * number(&told, "bytes_per_layer");
        // Besides, in mode tensor-sequence: the gradients of embedding, seven norms and head.
        let shared = if sequence { 2.0 * 0.75 * 4.0 * 64.0 * 135.0 } else { 0.0 };
        assert_eq!(number(&data, "bytes_sent_per_worker"), blocks + shared);
    }
}

fn analytic(sequence: bool) -> RunData {
    let labs = labs().unwrap();
    let lab = labs.iter().find(|lab| lab.schema().kind == "tensor-parallel").unwrap();
    let sequence = format!("sequence_parallel={sequence}");
    run(
        lab.as_ref(),
        &["ranks=4", "hidden=64", "sequence=32", "batch=2", "bytes_per_element=4", &sequence],
    )
}

#[test]
fn the_timeline_takes_as_long_as_a_step() {
    for mode in ["mode=tensor", "mode=tensor-sequence", "mode=context"] {
        let data = run(&lab(), &[mode, "steps=1", "global_batch=4", "compare=false"]);
        let Some(Frame::Timeline(timeline)) = data.frames.get("timeline").map(|(_, frame)| frame)
        else {
            panic!("no timeline");
        };
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
    let config = mlsys_nn::nets::Architecture::Transformer(setup.config.clone());
    let batch = setup.batch as u64;
    let kept = 4 * config.kept_numbers(mlsys_nn::nets::Activation::Relu, batch);
    assert_eq!(clock::activation_bytes(&setup), kept as f64);
}

#[test]
fn what_cannot_be_shared_says_what_can() {
    for (set, told) in [
        (&["ranks=3"][..], &["ranks, hidden", "4 heads", "1, 2, 4 ranks"][..]),
        (&["kv_heads=2"], &["ranks, kv_heads", "a head cannot be halved", "1, 2 ranks"]),
        (&["kv_heads=3"], &["hidden, kv_heads", "cannot share"]),
        (&["hidden=80", "kv_heads=5", "ranks=5"], &["columns of the gated layer"]),
        (&["hidden=40"], &["hidden", "48"]),
        (&["mode=context", "ranks=5"], &["ranks, context", "such as 35"]),
        (&["mode=tensor-sequence", "context=30"], &["ranks, context", "such as 32"]),
        (&["bandwidth_bytes_per_second=0"], &["bandwidth_bytes_per_second", "above 0"]),
    ] {
        let error = try_run(&lab(), set).unwrap_err();
        assert!(error.is_usage(), "{set:?}: {error}");
        let error = error.to_string();
        for told in told {
            assert!(error.contains(told), "{set:?}: {error}");
        }
    }
}

#[test]
fn what_no_machine_has_the_memory_for_is_refused_before_anything_is_made() {
    let huge = ["hidden=512", "kv_heads=32", "layers=16", "context=1024", "global_batch=4096"];
    let error = try_run(&lab(), &huge).unwrap_err().to_string();
    assert!(error.contains("GB are free") && error.contains("global_batch"), "{error}");
}
