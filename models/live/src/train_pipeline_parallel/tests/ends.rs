//! How runs end, and what they do not say before they can.

use mlsys_lab::report::Report;

use super::{array, lab};
use crate::trial::{Then, answered, number, run};

#[test]
fn a_learning_rate_far_too_large_ends_the_run_with_a_reason() {
    for (schedule, said) in [("schedule=gpipe", "overshoots"), ("schedule=asynchronous", "late")] {
        let set =
            ["hidden=16", "context=8", "optimizer=adam", "learning_rate=10", "steps=30", schedule];
        let mut reason = None;
        let (data, _) = answered(&lab(), &set, |report| {
            if let Report::Diverged { reason: said, .. } = report {
                reason = Some(said.clone());
            }
            Then::On
        });
        let reason = reason.unwrap_or_default();
        assert!(reason.contains("learning rate 10 ") && reason.contains(said), "{reason}");
        assert!(number(&data, "steps_done") < 30.0);
    }
}

#[test]
fn a_pipeline_that_is_still_filling_has_no_steady_values() {
    let set =
        ["hidden=16", "context=8", "schedule=asynchronous", "microbatches=1", "global_batch=2"];
    let after = |steps: &str| run(&lab(), &[&set[..], &[steps]].concat());
    let first = after("steps=1");
    for metric in ["staleness", "bytes_sent_per_worker", "messages_per_worker"] {
        assert!(first.metric(metric).is_none(), "{metric}");
    }
    assert!(after("steps=3").metric("staleness").is_none());
    let steady = after("steps=4");
    assert_eq!(array(&steady, "staleness"), [3.0, 2.0, 1.0, 0.0]);
    // A stage in the middle sends a microbatch on and its gradient back.
    assert_eq!(number(&steady, "messages_per_worker"), 2.0);
}
