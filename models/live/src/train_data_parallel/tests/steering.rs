//! Knobs turned, pauses and orders while a run goes on.

use mlsys_lab::Frame;
use mlsys_lab::control::{Command, StopReason};

use super::*;
use crate::train_data_parallel::setup::Setup;
use crate::trial::{ended_within_a_step, params, steered, turned};
use mlsys_nn::memory_budget::MemoryBudget;

fn set(name: &str, value: Value) -> Command {
    Command::Set { name: name.to_owned(), value }
}

const SMALL: [&str; 4] = ["layers=1", "hidden=16", "context=8", "steps=4"];

#[test]
fn a_run_pauses_steps_takes_knobs_and_goes_on() {
    let orders = [
        Command::Pause,
        Command::Step(2),
        set("algorithm", Value::Text("tree".to_owned())),
        set("learning_rate", Value::Float(0.001)),
        set("steps", Value::Int(6)),
        Command::Redraw,
        Command::Resume,
    ];
    let data = steered(&lab(), &SMALL, "starting the workers", &orders);
    assert_eq!(number(&data, "steps_done"), 6.0);
    assert_eq!(number(&data, "messages_per_worker"), 2.0);
    assert_eq!(data.changes.len(), 3);
    let found = most(&data, "max_gradient_difference");
    assert!(found <= 1e-5, "{found:e}");
}

#[test]
fn another_link_brings_its_bandwidth_and_a_contradiction_is_refused() {
    let orders =
        [set("link", Value::Text("nvlink2".to_owned())), set("global_batch", Value::Int(33))];
    let data = steered(&lab(), &SMALL, "starting the workers", &orders);
    let faster = number(&data, "communication_seconds");
    let slower = number(&run(&lab(), &SMALL), "communication_seconds");
    assert!(faster < slower / 2.0, "{faster} {slower}");
    assert_eq!(number(&data, "steps_done"), 4.0);
    let refused = "global_batch stays what it was";
    assert!(data.notices.iter().any(|notice| notice.contains(refused)));
}

#[test]
fn a_stop_within_a_run_keeps_what_was_done() {
    let orders = [Command::Pause, Command::Step(1), Command::Stop];
    let data = steered(&lab(), &SMALL, "starting the workers", &orders);
    assert!(number(&data, "steps_done") <= 1.0);
    assert_eq!(data.metric("diverged"), Some(Value::Bool(false)));
}

#[test]
fn a_run_that_is_ended_within_a_step_says_so_and_keeps_what_the_steps_before_found() {
    let knob = set("learning_rate", Value::Float(0.001));
    let (data, reason) = ended_within_a_step(&lab(), &SMALL, 1, knob);
    assert_eq!(reason, Some(StopReason::Asked));
    assert_eq!(number(&data, "steps_done"), 1.0);
    assert!(number(&data, "weight_bytes_per_worker") > 0.0);
    // The knob that was turned before the end has not made what was measured disappear.
    assert!(number(&data, "measured_speedup") > 0.0);
    assert_eq!(values(&data, "loss").len(), values(&data, "reference_loss").len());
}

#[test]
fn workers_that_went_their_own_ways_become_alike_when_every_step_synchronizes_again() {
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
    let found = most(&data, "max_gradient_difference");
    assert!(found <= 1e-5 && identical(&data), "{found:e}");
}

#[test]
fn gradients_that_are_late_from_now_on_change_nothing_until_they_are_due() {
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
fn compression_is_turned_on_and_what_it_left_out_is_forgotten_when_it_is_turned_off() {
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
        let Frame::Stacks(memory) = &data.frames["memory"].1 else {
            panic!("memory is drawn otherwise");
        };
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
        let said = error.unwrap().to_string();
        assert!(said.contains("make workers, hidden"), "{knob}: {said}");
    }
}
