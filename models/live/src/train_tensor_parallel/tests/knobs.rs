//! What is turned while a run goes on.

use mlsys_lab::Value;
use mlsys_lab::control::{Command, StopReason};
use mlsys_lab::report::Report;

use super::lab;
use crate::trial::{Then, answered, number, run, steered, values};

const SMALL: [&str; 4] = ["layers=2", "global_batch=4", "steps=2", "context=16"];

fn set(name: &str, value: impl Into<Value>) -> Command {
    Command::Set { name: name.to_owned(), value: value.into() }
}

#[test]
fn sums_can_be_left_out_of_a_run_that_has_begun() {
    let orders = [set("skip_all_reduce", true)];
    let data = steered(&lab(), &SMALL, "opening the device", &orders);
    assert!(values(&data, "max_output_difference")[0] > 1e-2);
    // Those of the backward pass are still done.
    assert_eq!(number(&data, "all_reduces"), 4.0);
}

#[test]
fn the_modelled_clock_follows_the_link_and_the_gradients_do_not() {
    let whole = run(&lab(), &SMALL);
    let orders = [set("link", "10gige")];
    let slow = steered(&lab(), &SMALL, "opening the device", &orders);
    let seconds = |data| number(data, "communication_seconds");
    assert!(seconds(&slow) > 5.0 * seconds(&whole));
    assert_eq!(values(&slow, "loss"), values(&whole, "loss"));
}

#[test]
fn a_link_that_carries_nothing_is_not_taken() {
    let orders = [set("bandwidth_bytes_per_second", 0.0)];
    let data = steered(&lab(), &SMALL, "opening the device", &orders);
    let said = data.notices.join("\n");
    assert!(said.contains("bandwidth_bytes_per_second stays what it was"), "{said}");
    assert!(number(&data, "communication_seconds").is_finite());
}

#[test]
fn sums_done_again_bring_the_ranks_together_again() {
    for rule in ["optimizer=sgd", "optimizer=adam"] {
        for mode in ["mode=tensor", "mode=tensor-sequence"] {
            let wrong = [mode, rule, "skip_all_reduce=true", "learning_rate=0.05"];
            let small = ["layers=2", "global_batch=4", "steps=6", "context=16"];
            let (data, _) = answered(&lab(), &[&small[..], &wrong].concat(), |report| {
                if matches!(report, Report::Point { name, step: 3, .. } if &**name == "loss") {
                    return Then::Order(set("skip_all_reduce", false));
                }
                Then::On
            });
            for metric in ["max_output_difference", "max_gradient_difference"] {
                let found = values(&data, metric);
                assert!(found[..3].iter().all(|far| *far > 1e-2), "{found:?}");
                assert!(
                    found[3..].iter().all(|far| *far <= 1e-4),
                    "{mode} {rule} {metric}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn a_run_that_is_stopped_within_a_step_says_that_it_was_stopped() {
    let (data, reason) = answered(&lab(), &SMALL, |report| {
        if matches!(report, Report::Status(said) if said == "opening the device") {
            return Then::Order(set("learning_rate", 0.01));
        }
        // Between the turn that takes the knob and the step that follows.
        if matches!(report, Report::Change(_)) {
            return Then::Stop;
        }
        Then::On
    });
    assert_eq!(reason, Some(StopReason::Asked));
    assert_eq!(number(&data, "steps_done"), 0.0);
}

#[test]
fn a_learning_rate_far_too_large_ends_the_run_with_a_reason() {
    let set = ["learning_rate=10", "optimizer=adam", "steps=30"];
    let mut reason = None;
    let (data, _) = answered(
        &lab(),
        &[&["layers=2", "global_batch=4", "context=16"][..], &set].concat(),
        |report| {
            if let Report::Diverged { reason: said, .. } = report {
                reason = Some(said.clone());
            }
            Then::On
        },
    );
    assert!(reason.unwrap().contains("learning rate 10 "));
    assert!(number(&data, "steps_done") < 30.0);
}
