//! Knobs turned, pauses and orders while a run goes on.

use mlsys_lab::control::Command;

use super::*;
use crate::trial::steered;

fn set(name: &str, value: Value) -> Command {
    Command::Set {
        name: name.to_owned(),
        value,
    }
}

const SMALL: [&str; 4] = ["layers=1", "steps=4", "hidden=16", "context=8"];

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
    let orders = [
        set("link", Value::Text("nvlink2".to_owned())),
        set("global_batch", Value::Int(33)),
    ];
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
