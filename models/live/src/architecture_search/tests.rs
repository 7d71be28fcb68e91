use mlsys_lab::control::StopReason;
use mlsys_lab::report::Report;
use mlsys_lab::{Frame, RunData, Value};
use mlsys_nn::capture::forward_counts;

use super::space::Candidate;
use super::*;
use crate::stepped::LiveLab;
use crate::trial::{
    Then, answered, frame, must_be_declared, must_refuse, number, over, run, turn, values,
};

fn lab() -> LiveLab {
    super::lab().unwrap()
}

const QUICK: [&str; 3] = ["training_steps=1", "batch_size=4", "evaluations=6"];

fn quick(more: &[&str]) -> RunData {
    run(&lab(), &over(&QUICK, more))
}

fn rows(data: &RunData) -> Vec<Vec<Value>> {
    let Frame::Table(table) = frame(data, "candidates") else { panic!("candidates") };
    table.rows.clone()
}

/// Whether a report says that this many candidates have been tried.
fn after(report: &Report, candidate: u64) -> bool {
    matches!(report, Report::Point { name, step, .. } if &**name == "hypervolume" && *step == candidate)
}

/// What was tried, in order: choices, parameters, flops.
fn choices(data: &RunData) -> Vec<Vec<Value>> {
    rows(data).into_iter().map(|row| row[..3].to_vec()).collect()
}

#[test]
fn every_candidate_counts_what_its_record_counts() {
    for candidate in Candidate::all() {
        let architecture = candidate.architecture();
        let (parameters, flops) = forward_counts(&architecture, [3, 784]).unwrap();
        assert_eq!(architecture.parameters(), parameters, "{candidate:?}");
        assert_eq!(architecture.forward_flops(3), flops, "{candidate:?}");
        let costs = candidate.config().costs();
        let sum: u64 = costs.iter().map(|cost| cost.flops(3)).sum();
        assert_eq!(sum, flops, "{candidate:?}");
        let weights: u64 = costs.iter().map(|cost| cost.weights).sum();
        assert_eq!(weights, parameters, "{candidate:?}");
    }
}

#[test]
fn default_search_tries_twelve_of_72() {
    let data = run(&lab(), &["training_steps=1", "batch_size=4"]);
    assert_eq!(number(&data, "candidates"), 72.0);
    assert_eq!(number(&data, "evaluated"), 12.0);
    assert_eq!(data.metric("front_is_valid"), Some(Value::Bool(true)));
    must_be_declared(&lab(), &data);
    for name in ["best_accuracy", "best_within_budget", "hypervolume"] {
        let series = values(&data, name);
        assert_eq!(series.len(), 12, "{name}");
        assert!(series.is_sorted(), "{name}: {series:?}");
    }
    assert_eq!(values(&data, "best_accuracy"), values(&data, "best_within_budget"));
    let Frame::Scatter(front) = frame(&data, "front") else { panic!("front") };
    assert_eq!(front.points.len(), 12);
    assert_eq!(front.front().len() as f64, number(&data, "front_size"));
}

#[test]
fn evolution_breeds_where_random_search_goes_on() {
    let evolved = choices(&quick(&[]));
    // Random search does not look at what it has found.
    let random = choices(&quick(&["method=random"]));
    let other = quick(&["method=random", "latency=measured", "latency_batch=2"]);
    assert_eq!(random, choices(&other));
    assert_eq!(random[..4], evolved[..4]);
    assert_ne!(random[4..], evolved[4..]);
}

#[test]
fn trying_all_is_never_worse() {
    let all = quick(&["method=exhaustive"]);
    assert_eq!(number(&all, "evaluated"), 72.0);
    assert_eq!(all.metric("front_is_valid"), Some(Value::Bool(true)));
    for method in ["method=random", "method=evolution"] {
        let some = quick(&[method]);
        assert!(number(&all, "hypervolume") >= number(&some, "hypervolume"));
        assert!(number(&all, "best_accuracy") >= number(&some, "best_accuracy"));
    }
}

#[test]
fn budgets_bound_what_counts_as_best() {
    let none = quick(&["max_parameters=1"]);
    assert!(none.metric("best_within_budget").is_none());
    let some = quick(&["max_parameters=6000", "max_latency_seconds=1e-3"]);
    let rows = rows(&some);
    let meet = rows.iter().filter(|row| row[1].as_f64() <= Some(6000.0));
    let best = meet.filter_map(|row| row[5].as_f64()).reduce(f64::max);
    let reported = some.metric("best_within_budget");
    assert_eq!(reported.and_then(|value| value.as_f64()), best);
    let Frame::Scatter(front) = frame(&some, "front") else { panic!("front") };
    assert_eq!((front.series.len(), front.lines.len()), (2, 1));
}

#[test]
fn another_chip_moves_every_latency_and_no_accuracy() {
    let [v100, h100] = ["v100-sxm2-16gb", "h100-sxm5-80gb"].map(|gpu| {
        let gpu = format!("gpu={gpu}");
        rows(&quick(&["method=random", &gpu]))
    });
    for (old, new) in v100.iter().zip(&h100) {
        assert_eq!((&old[..3], &old[5]), (&new[..3], &new[5]));
        assert!(new[3].as_f64() < old[3].as_f64());
    }
}

#[test]
fn knobs_weigh_anew_what_was_tried() {
    let quick_ones = over(&QUICK, &["method=random"]);
    let (turned, _) = answered(&lab(), &quick_ones, |report| {
        if after(report, 3) {
            Then::Order(turn("gpu", "h100-sxm5-80gb"))
        } else if after(report, 4) {
            Then::Order(turn("evaluations", 5_i64))
        } else {
            Then::On
        }
    });
    assert_eq!(number(&turned, "evaluated"), 5.0);
    let plain = quick(&["method=random", "gpu=h100-sxm5-80gb", "evaluations=5"]);
    let latencies =
        |data: &RunData| rows(data).into_iter().map(|row| row[3].clone()).collect::<Vec<_>>();
    assert_eq!(latencies(&turned), latencies(&plain));
    // The area goes on by the chip that the run began with.
    let kept = quick(&["method=random", "evaluations=5"]);
    assert_eq!(values(&turned, "hypervolume"), values(&kept, "hypervolume"));
}

#[test]
fn a_search_that_is_stopped_tells_what_it_has() {
    let stop = |now: bool| if now { Then::Stop } else { Then::On };
    let (data, reason) = answered(&lab(), &QUICK, |report| stop(after(report, 2)));
    assert_eq!(reason, Some(StopReason::Asked));
    assert_eq!(number(&data, "evaluated"), 2.0);
    assert_eq!(number(&data, "steps_done"), 2.0);
    // Between a candidate and its end, only whole candidates count.
    let (none, reason) = answered(&lab(), &QUICK, |report| {
        stop(matches!(report, Report::Status(text) if text.starts_with("training 1")))
    });
    assert_eq!(reason, Some(StopReason::Asked));
    assert_eq!(number(&none, "evaluated"), 0.0);
    assert_eq!(none.metric("front_is_valid"), Some(Value::Bool(true)));
}

#[test]
fn a_chip_without_an_fp32_peak_is_refused() {
    must_refuse(&lab(), &[(&["gpu=tpu-v2"], "no fp32 peak"), (&["gpu=mi300x"], "another gpu")]);
    // Measured, the chip does not matter.
    let data = quick(&["gpu=tpu-v2", "latency=measured", "evaluations=1"]);
    assert!(data.metric("rank_correlation").is_none());
}

#[test]
fn a_budget_that_is_met_exactly_is_met() {
    let budgets = Budgets { seconds: Some(2.0), parameters: Some(100) };
    assert!(!budgets.exceeded(2.0, 100));
    assert!(budgets.exceeded(2.1, 100) && budgets.exceeded(2.0, 101));
    let none = Budgets { seconds: None, parameters: None };
    assert!(!none.exceeded(f64::MAX, u64::MAX));
}
