use mlsys_lab::control::{Command, StopReason};
use mlsys_lab::{Frame, RunData, Value};
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::random::Stream;
use mlsys_sim::collective::Algorithm;

use super::params::Setup;
use crate::stepped::LiveLab;
use crate::trial::{
    ended_within_a_step, frame, last, most, must_be_declared, number, over, params, refused, run,
    steered, turn, turned, values,
};

fn lab() -> LiveLab {
    crate::train_data_parallel::lab().unwrap()
}

fn identical(data: &RunData) -> bool {
    data.metric("replicas_identical") == Some(Value::Bool(true))
}

#[test]
fn the_default_run_has_the_values_of_its_contract() {
    let data = run(&lab(), &[]);
    must_be_declared(&lab(), &data);
    for (name, expected) in [
        ("parameters", 209_472.0),
        ("model_flops", 1_358_954_496.0),
        ("bytes_sent_per_worker", 1_256_832.0),
        ("messages_per_worker", 6.0),
        ("weight_bytes_per_worker", 4.0 * 209_472.0),
        ("gradient_bytes_per_worker", 4.0 * 209_472.0),
        ("optimizer_bytes_per_worker", 8.0 * 209_472.0),
        ("compression_ratio", 1.0),
        ("steps_done", 10.0),
    ] {
        assert_eq!(number(&data, name), expected, "{name}");
    }
    let speedup = number(&data, "speedup");
    assert!((speedup / 3.045_036_099_607_555 - 1.0).abs() < 1e-9);
    let found = most(&data, "max_gradient_difference");
    assert!(found <= 1e-5, "{found:e}");
    assert!(identical(&data));
    assert!(last(&data, "loss") < values(&data, "loss")[0]);
}

#[test]
fn one_worker_equals_the_reference() {
    let data = run(&lab(), &["workers=1", "steps=3", "layers=1"]);
    assert_eq!(number(&data, "bytes_sent_per_worker"), 0.0);
    assert_eq!(most(&data, "max_gradient_difference"), 0.0);
    assert_eq!(most(&data, "max_weight_difference"), 0.0);
    assert_eq!(number(&data, "speedup"), 1.0);
}

#[test]
fn gradients_match_a_single_worker() {
    let mut stream = Stream::new(6, "test/data-parallel");
    for trial in 0..14 {
        let workers = 1 + stream.below(7);
        let pieces = 1 + stream.below(2);
        let batch = workers * pieces * (1 + stream.below(2));
        let algorithm = Algorithm::ALL[trial % Algorithm::ALL.len()];
        let workers_fit = algorithm.takes(workers);
        let (workers, batch) = if workers_fit { (workers, batch) } else { (4, 4 * pieces) };
        let zero = [0, 0, 1, 2, 3][stream.below(5)];
        let model = ["transformer", "transformer", "mlp"][stream.below(3)];
        let set = [
            format!("workers={workers}"),
            format!("global_batch={batch}"),
            format!("accumulate={pieces}"),
            format!("algorithm={}", algorithm.name()),
            format!("zero_stage={zero}"),
            format!("model={model}"),
            format!("layers={}", 1 + stream.below(3)),
            format!("hidden={}", 16 * (1 + stream.below(3))),
            format!("context={}", 4 + stream.below(9)),
            format!("seed={}", stream.below(1000)),
            "optimizer=sgd".to_owned(),
            "learning_rate=0.1".to_owned(),
            "steps=3".to_owned(),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let data = run(&lab(), &set);
        for name in ["max_gradient_difference", "max_weight_difference"] {
            let found = most(&data, name);
            assert!(found <= 1e-5, "{name} {found:e}: {set:?}");
        }
        assert!(identical(&data), "{set:?}");
    }
}

#[test]
fn bad_input_is_a_sentence_that_says_what_to_do() {
    let halving = "algorithm=recursive-halving-doubling";
    for (set, expected) in [
        (
            &["workers=8", "global_batch=4"][..],
            "8 workers cannot share 4 examples: 4 of them would",
        ),
        (&["workers=8", "global_batch=4"], "set global_batch to 8 or more"),
        (&["global_batch=33"], "33 examples do not divide evenly over 4 workers"),
        (&["global_batch=33"], "set global_batch to 32 or 36"),
        (&["bandwidth_bytes_per_second=0"], "nothing ever arrives; choose a bandwidth above 0"),
        (&["hidden=20"], "take a multiple of 16, such as 32"),
        (&["accumulate=3"], "do not divide into 3 even pieces"),
        (&["workers=3", "global_batch=33", halving], "must be a power of two"),
        (&["zero_stage=1", "synchronize_every=2"], "or zero_stage to 0"),
        (&["compression=sign", "synchronize_every=2"], "or synchronize_every to 1"),
    ] {
        assert!(refused(&lab(), set, &[expected]));
    }
}

#[test]
fn a_run_that_diverges_has_no_accuracy() {
    let data = digits_at("10", 200, &["delay=8"]);
    assert_eq!(data.metric("diverged"), Some(Value::Bool(true)));
    assert!(number(&data, "steps_done") < 200.0);
    assert_eq!(data.metric("accuracy"), None);
}

fn digits_at(rate: &str, steps: u32, more: &[&str]) -> RunData {
    let (rate, steps) = (format!("learning_rate={rate}"), format!("steps={steps}"));
    let set =
        ["model=mlp", "optimizer=sgd", "global_batch=64", "compare=false", "seed=2", &rate, &steps];
    run(&lab(), &over(&set, more))
}

#[test]
fn zero_stages_give_equal_weights() {
    let parameters = 209_472.0;
    let whole = run(&lab(), &["steps=4"]);
    for (stage, weights, gradient, optimizer, sent) in [
        (0, 4.0, 4.0, 8.0, 1.0),
        (1, 4.0, 4.0, 2.0, 1.0),
        (2, 4.0, 1.0, 2.0, 1.0),
        (3, 1.0, 1.0, 2.0, 1.5),
    ] {
        let data = run(&lab(), &["steps=4", &format!("zero_stage={stage}")]);
        for name in ["loss", "max_weight_difference"] {
            let apart = (last(&data, name) - last(&whole, name)).abs();
            assert!(apart <= 1e-6, "stage {stage}: {name} {apart:e}");
        }
        assert!(identical(&data), "stage {stage}");
        for (name, bytes) in [
            ("weight_bytes_per_worker", weights * parameters),
            ("gradient_bytes_per_worker", gradient * parameters),
            ("optimizer_bytes_per_worker", optimizer * parameters),
            ("bytes_sent_per_worker", sent * 1_256_832.0),
        ] {
            assert_eq!(number(&data, name), bytes, "stage {stage}, {name}");
        }
    }
}

#[test]
fn exact_schemes_stay_with_one_worker_over_twenty_steps() {
    let data = digits_at("0.1", 20, &["compare=true"]);
    let gradient = most(&data, "max_gradient_difference");
    let weight = last(&data, "max_weight_difference");
    assert!(gradient <= 1e-5 && weight <= 1e-5, "{gradient:e} {weight:e}");
}

#[test]
fn algorithms_send_their_plan_and_agree() {
    let buffer = 4.0 * 209_472.0;
    for (algorithm, bytes, messages) in [
        ("ring", 1.5, 6.0),
        ("recursive-halving-doubling", 1.5, 4.0),
        // The root of the tree sends to both that ask it.
        ("tree", 2.0, 2.0),
        ("parameter-server", 1.0, 1.0),
        ("sharded-parameter-server", 1.5, 6.0),
    ] {
        let set = [&format!("algorithm={algorithm}")[..], "steps=2"];
        let data = run(&lab(), &set);
        assert_eq!(number(&data, "bytes_sent_per_worker") / buffer, bytes, "{algorithm}");
        assert_eq!(number(&data, "messages_per_worker"), messages, "{algorithm}");
        let found = most(&data, "max_gradient_difference");
        assert!(found <= 1e-5 && identical(&data), "{algorithm} {found:e}");
    }
}

#[test]
fn lossy_exchanges_still_learn() {
    let accuracy = |rate: &str, more: &[&str]| number(&digits_at(rate, 300, more), "accuracy");
    let dense = accuracy("0.1", &[]);
    assert!(dense >= 0.95, "{dense}");
    for compression in ["compression=top-k", "compression=sign"] {
        let lost = accuracy("0.1", &[compression, "error_feedback=false"]);
        let kept = accuracy("0.1", &[compression]);
        assert!(
            lost <= dense - 0.04 && kept >= dense - 0.02,
            "{compression} {lost} {kept} {dense}"
        );
    }
    let local = accuracy("0.1", &["synchronize_every=8"]);
    assert!(local >= dense - 0.02, "{local} {dense}");
    let (late, late_slow) = (accuracy("0.1", &["delay=8"]), accuracy("0.03", &["delay=8"]));
    let slow = accuracy("0.03", &[]);
    assert!(late <= dense - 0.1 && late_slow >= late, "{dense} {late} {late_slow}");
    assert!(late_slow <= slow + 0.02, "{late_slow} {slow}");
}

#[test]
fn averaging_every_eight_steps_sends_an_eighth() {
    let every = digits_at("0.1", 16, &["synchronize_every=8"]);
    let always = digits_at("0.1", 16, &[]);
    let bytes = |data: &RunData| number(data, "bytes_sent_per_worker");
    assert_eq!(bytes(&every), (bytes(&always) / 8.0).floor());
    assert!(identical(&every));
    // A last period that the end cuts short does not count.
    let cut = digits_at("0.1", 20, &["synchronize_every=8"]);
    assert_eq!(bytes(&cut), (bytes(&always) / 8.0).floor());
    // One average at the end of five steps.
    let last = digits_at("0.1", 5, &["synchronize_every=8"]);
    assert_eq!(bytes(&last), (bytes(&always) / 5.0).floor());
}

#[test]
fn the_timeline_takes_as_long_as_a_step() {
    for more in [
        &[][..],
        &["overlap=true"],
        &["overlap=true", "slow_worker_factor=3"],
        &["zero_stage=3"],
        &["zero_stage=3", "overlap=true"],
        &["zero_stage=2", "overlap=true", "slow_worker_factor=2"],
        &["algorithm=tree", "overlap=true", "link=nvlink2"],
        &["algorithm=parameter-server"],
        &["synchronize_every=2", "overlap=true"],
    ] {
        let data = digits_at("0.1", 1, more);
        let Frame::Timeline(timeline) = frame(&data, "timeline") else { panic!("no timeline") };
        let ends = timeline.marks.iter().find(|mark| mark.label == "step ends");
        let (ends, step) = (ends.unwrap().at, number(&data, "step_seconds"));
        assert!((ends / step - 1.0).abs() < 1e-9, "{more:?}: {ends} {step}");
    }
}

#[test]
fn the_timeline_has_the_number_of_what_a_worker_sends() {
    let data = digits_at("0.1", 1, &[]);
    let Frame::Timeline(timeline) = frame(&data, "timeline") else { panic!("no timeline") };
    let class = timeline.classes.iter().position(|class| class.contains("numbered")).unwrap();
    let sending: Vec<_> = timeline.spans.iter().filter(|span| span.class == class).collect();
    let first = sending.iter().map(|span| span.start).fold(f64::INFINITY, f64::min);
    let mut labels: Vec<&str> =
        sending.iter().filter(|span| span.start == first).map(|span| &*span.label).collect();
    labels.sort_unstable();
    // On a ring of four each sends another chunk.
    assert_eq!(labels, ["0", "1", "2", "3"]);
}

#[test]
fn compressed_bytes_are_counted_on_the_wire() {
    for (compression, each) in [("int8", 4 + 25_450), ("sign", 4 + 3182), ("top-k", 8 * 255)] {
        let data = digits_at("0.1", 2, &[&format!("compression={compression}")]);
        assert_eq!(number(&data, "bytes_sent_per_worker"), f64::from(3 * each));
        assert_eq!(number(&data, "messages_per_worker"), 3.0);
        let ratio = number(&data, "compression_ratio");
        assert!((ratio - 4.0 * 25_450.0 / f64::from(each)).abs() < 1e-9, "{ratio}");
        assert!(identical(&data));
    }
}

const SMALL: [&str; 4] = ["layers=1", "hidden=16", "context=8", "steps=4"];

#[test]
fn a_run_pauses_steps_takes_knobs_and_goes_on() {
    let orders = [
        Command::Pause,
        Command::Step(2),
        turn("algorithm", "tree"),
        turn("learning_rate", 0.001),
        turn("steps", 6_i64),
        Command::Redraw,
        Command::Resume,
    ];
    let data = steered(&lab(), &SMALL, "starting the workers", &orders);
    assert_eq!(number(&data, "steps_done"), 6.0);
    assert_eq!(number(&data, "messages_per_worker"), 2.0);
    assert_eq!(data.changes.len(), 3);
    assert!(most(&data, "max_gradient_difference") <= 1e-5);
}

#[test]
fn a_link_brings_its_bandwidth() {
    let orders = [turn("link", "nvlink2"), turn("global_batch", 33_i64)];
    let data = steered(&lab(), &SMALL, "starting the workers", &orders);
    let faster = number(&data, "communication_seconds");
    let slower = number(&run(&lab(), &SMALL), "communication_seconds");
    assert!(faster < slower / 2.0, "{faster} {slower}");
    assert_eq!(number(&data, "steps_done"), 4.0);
    let refused = "global_batch stays what it was";
    assert!(data.notices.iter().any(|notice| notice.contains(refused)));
}

#[test]
fn stop_within_a_step_keeps_earlier_steps() {
    let knob = turn("learning_rate", 0.001);
    let (data, reason) = ended_within_a_step(&lab(), &SMALL, 1, knob);
    assert_eq!(reason, Some(StopReason::Asked));
    assert_eq!(number(&data, "steps_done"), 1.0);
    assert!(number(&data, "weight_bytes_per_worker") > 0.0);
    // The knob that was turned before the end has not made what was measured disappear.
    assert!(number(&data, "measured_speedup") > 0.0);
    assert_eq!(values(&data, "loss").len(), values(&data, "reference_loss").len());
}

#[test]
fn diverged_workers_synchronize_again() {
    for (after, more) in [
        (4, &[][..]),
        (2, &["algorithm=parameter-server"]),
        (3, &["optimizer=sgd", "algorithm=tree"]),
        (4, &["delay=2"]),
    ] {
        let all = [&SMALL[..3], &["steps=9", "synchronize_every=4"], more].concat();
        let turns = [(after, "synchronize_every", Value::Int(1))];
        let data = turned(&lab(), &all, &turns);
        assert_eq!(number(&data, "steps_done"), 9.0);
        assert!(identical(&data), "after step {after}: {more:?}");
    }
}

#[test]
fn a_larger_batch_that_is_accepted_is_still_one_workers() {
    let turns = [(2, "global_batch", Value::Int(64))];
    let data = turned(&lab(), &SMALL, &turns);
    let before = number(&run(&lab(), &SMALL), "model_flops");
    assert_eq!(number(&data, "model_flops"), 2.0 * before);
    assert_eq!(number(&data, "steps_done"), 4.0);
    assert!(most(&data, "max_gradient_difference") <= 1e-5 && identical(&data));
}

#[test]
fn delayed_gradients_apply_when_due() {
    let turns = [(2, "delay", Value::Int(2))];
    let data = turned(&lab(), &[&SMALL[..3], &["steps=6"]].concat(), &turns);
    let losses = values(&data, "loss");
    let one = values(&data, "reference_loss");
    // Steps 3 and 4 change nothing, so that step 5 begins where step 3 did.
    let weights = values(&data, "max_weight_difference");
    assert!((losses[2] - one[2]).abs() <= 1e-5, "{losses:?} {one:?}");
    assert!(weights[1] <= 1e-5 && weights[3] > 1e-4, "{weights:?}");
    assert!(identical(&data));
}

#[test]
fn turning_compression_off_drops_the_residual() {
    let on = (1, "compression", Value::Text("int8".to_owned()));
    let compressed = turned(&lab(), &SMALL, std::slice::from_ref(&on));
    let always = run(&lab(), &[&SMALL[..], &["compression=int8"]].concat());
    let sent = |data: &RunData| number(data, "bytes_sent_per_worker");
    assert_eq!(sent(&compressed), sent(&always));
    let off = (2, "compression", Value::Text("none".to_owned()));
    // So that no gradient is summed as it is, either.
    let rarely = (2, "synchronize_every", Value::Int(2));
    let data = turned(&lab(), &SMALL, &[on.clone(), off, rarely]);
    for (data, holds) in [(&compressed, true), (&data, false)] {
        let Frame::Stacks(memory) = frame(data, "memory") else { panic!("no stacks") };
        let part = memory.parts.iter().position(|part| part.starts_with("left"));
        let held = memory.stacks[1].values[part.unwrap()].unwrap();
        assert_eq!(held > 0.0, holds, "{held}");
    }
}

#[test]
fn knobs_that_memory_cannot_hold_are_refused() {
    let small = params(&lab(), &[]);
    let setup = Setup::read(&small).unwrap();
    let knobs = setup.knobs(&small, MemoryBudget::with(u64::MAX)).unwrap();
    let budget = MemoryBudget::with(setup.bytes(&knobs));
    assert!(setup.knobs(&small, budget).is_ok());
    for knob in ["delay=64", "global_batch=4096"] {
        let error = setup.knobs(&params(&lab(), &[knob]), budget).err();
        let message = error.unwrap().to_string();
        assert!(message.contains("make workers, hidden"), "{knob}: {message}");
    }
}
