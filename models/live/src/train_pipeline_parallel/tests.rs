//! Whole runs, against one worker, against the instant lab and against the formulas of the contract.

use mlsys_lab::RunData;
use mlsys_lab::control::StopReason;
use mlsys_lab::frame::Frame;
use mlsys_lab::report::{FrameTrigger, Report, Sink};
use mlsys_nn::random::Stream;
use mlsys_sim::pipeline::{Plan, Schedule, Slot};

use super::draw_unfinished;
use super::params::Setup;
use super::stage::Diary;
use crate::stepped::LiveLab;
use crate::trial::{
    Then, answered, flat, frame, most, must_be_declared, number, params, refused, run, steered,
    turn, values,
};

fn lab() -> LiveLab {
    crate::train_pipeline_parallel::lab().unwrap()
}

fn array(data: &RunData, name: &str) -> Vec<f64> {
    flat(&data.metric(name).unwrap())
}

fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-9 * want.abs(), "{got} is not {want}");
}

#[test]
fn the_default_run_is_what_the_contract_says() {
    let data = run(&lab(), &["clock=modelled"]);
    must_be_declared(&lab(), &data);
    for (name, want) in [
        ("parameters", 209_472.0),
        ("model_flops", 1_358_954_496.0),
        ("bytes_per_boundary", 524_288.0),
        ("bytes_sent_per_worker", 524_288.0),
        ("messages_per_worker", 16.0),
        ("bubble_fraction", 3.0 / 11.0),
        ("speedup", 2.7797913277621413),
        ("steps_done", 10.0),
    ] {
        near(number(&data, name), want);
    }
    assert_eq!(array(&data, "peak_activations"), [8.0; 4]);
    assert_eq!(array(&data, "staleness"), [0.0; 4]);
    assert!(most(&data, "max_gradient_difference") <= 1e-5);
    let losses = values(&data, "loss");
    assert_eq!(losses.len(), 10);
    assert!(losses[9] < losses[0], "{losses:?}");
}

const SYNCHRONOUS: [&str; 4] = ["gpipe", "1f1b", "interleaved-1f1b", "zb-h1"];

#[test]
fn pipeline_gradients_equal_one_workers() {
    let mut stream = Stream::new(11, "test/pipelines");
    let mut pick = |values: &[usize]| values[stream.below(values.len())];
    for round in 0..16 {
        let schedule = SYNCHRONOUS[round % 4];
        let (stages, chunks) = (pick(&[1, 2, 3]), pick(&[1, 2]));
        let parts = if schedule == "interleaved-1f1b" { stages * chunks } else { stages };
        let microbatches = stages * pick(&[1, 2]);
        let recompute = if pick(&[0, 1, 2]) == 0 { "true" } else { "false" };
        let set = [
            format!("schedule={schedule}"),
            format!("stages={stages}"),
            format!("chunks_per_stage={chunks}"),
            format!("layers={}", parts * pick(&[1, 2])),
            format!("microbatches={microbatches}"),
            format!("global_batch={}", microbatches * pick(&[1, 3])),
            format!("hidden={}", pick(&[16, 32])),
            format!("context={}", pick(&[4, 7])),
            format!("recompute={recompute}"),
            format!("seed={round}"),
            "optimizer=sgd".to_owned(),
            "learning_rate=0.1".to_owned(),
            "steps=2".to_owned(),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let data = run(&lab(), &set);
        for metric in ["max_gradient_difference", "max_weight_difference"] {
            assert!(most(&data, metric) <= 1e-5, "{metric} {set:?}");
        }
    }
}

fn ran(data: &RunData) -> Vec<Vec<String>> {
    let Frame::Table(table) = frame(data, "order") else { panic!("no table") };
    let column = |stage: usize| {
        let cells = table.rows.iter().map(|row| row[stage].to_string());
        cells.filter(|cell| !cell.is_empty()).collect()
    };
    (1..table.columns.len()).map(column).collect()
}

/// What ran on each stage, such as `F3`, by the times at which it began, read off the panel that shows them.
fn began(data: &RunData) -> Vec<Vec<(String, f64)>> {
    let Frame::Timeline(timeline) = frame(data, "timeline") else { panic!("no timeline") };
    let lane = |lane: usize| {
        let spans = timeline.spans.iter().filter(|span| span.lane == lane);
        let done = spans.map(|span| {
            let letter = match timeline.classes[span.class].as_str() {
                "forward" => 'F',
                "backward for weights" => 'W',
                _ => 'B',
            };
            (format!("{letter}{}", span.label), span.start)
        });
        let mut done: Vec<(String, f64)> = done.collect();
        done.sort_by(|a, b| a.1.total_cmp(&b.1));
        done
    };
    (0..timeline.lanes.len()).map(lane).collect()
}

/// Everything runs forward after the stage before it and backward after the stage behind it, by the clock.
fn assert_waits_for_its_input(stages: &[Vec<(String, f64)>], name: &str) {
    for (before, after) in stages.iter().zip(&stages[1..]) {
        for (label, start) in before.iter().filter(|(label, _)| !label.starts_with('W')) {
            let (_, other) = after.iter().find(|(other, _)| other == label).unwrap();
            assert_eq!(start < other, label.starts_with('F'), "{name} {label}");
        }
    }
}

#[test]
fn order_bubble_and_peaks_match_the_simulation() {
    for name in SYNCHRONOUS {
        let named = format!("schedule={name}");
        let set = [
            named.as_str(),
            "layers=8",
            "hidden=16",
            "context=4",
            "microbatches=4",
            "global_batch=4",
            "steps=1",
            "clock=measured",
            "link=nvlink5",
            "bandwidth_bytes_per_second=1e300",
            "latency_seconds=0",
        ];
        let data = run(&lab(), &set);
        let schedule: Schedule = name.parse().unwrap();
        let plan = Plan::new(schedule, 4, 4, 2).unwrap();
        let chunks = if schedule == Schedule::Interleaved { 2 } else { 1 };
        let order = |stage| {
            let operations = plan.stage(stage).iter();
            let labels = operations.map(|&operation| {
                let label = mlsys_sim::pipeline::label(operation, chunks);
                format!("{}{label}", operation.work.letter())
            });
            labels.collect::<Vec<String>>()
        };
        let planned = (0..4).map(order).collect::<Vec<_>>();
        assert_eq!(ran(&data), planned, "{name}");
        let began = began(&data);
        let labels =
            |done: &Vec<(String, f64)>| done.iter().map(|(label, _)| label.clone()).collect();
        let by_the_clock: Vec<Vec<String>> = began.iter().map(labels).collect();
        assert_eq!(by_the_clock, planned, "{name}");
        assert_waits_for_its_input(&began, name);
        let instant = mlsys_analytic::lab("pipeline").unwrap();
        let alone = run(&instant, &[&named, "microbatches=4"]);
        near(number(&data, "bubble_fraction"), number(&alone, "bubble_fraction"));
        assert_eq!(array(&data, "peak_activations"), array(&alone, "peak_activations"));
        // The network is so fast that nothing is left but the orders themselves.
        let unit = number(&data, "compute_seconds") / 12.0;
        near(number(&data, "step_seconds"), unit * number(&alone, "makespan"));
    }
}

const SMALL: [&str; 4] = ["hidden=16", "context=8", "global_batch=16", "optimizer=sgd"];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().chain(more).copied().collect()
}

#[test]
fn asynchronous_pipeline_has_stale_weights() {
    for stash in ["true", "false"] {
        let stash = format!("stash_weights={stash}");
        let set = small(&["schedule=asynchronous", &stash, "steps=6", "learning_rate=0.1"]);
        let data = run(&lab(), &set);
        assert_eq!(array(&data, "staleness"), [3.0, 2.0, 1.0, 0.0]);
        assert_eq!(array(&data, "peak_activations"), [4.0, 3.0, 2.0, 1.0]);
        assert!(!data.series.contains_key("max_gradient_difference"));
        let far = values(&data, "max_weight_difference");
        assert!(*far.last().unwrap() > 1e-4, "{far:?}");
        let losses = values(&data, "loss");
        assert!(losses.iter().all(|loss| loss.is_finite()));
        assert!(number(&data, "bubble_fraction").abs() < 1e-9);
        // Weights of stage 0, four versions of them where they are kept.
        let weights = number(&data, "weight_bytes_per_worker");
        let own = 4.0 * (64.0 * 16.0 + 2.0 * 16.0 + 16.0 * (4.0 * 16.0 + 3.0 * 48.0));
        let last = own + 4.0 * 16.0;
        let want = if stash.ends_with("true") { 4.0 * own } else { last };
        near(weights, want);
    }
}

#[test]
fn one_stage_that_never_drains_is_one_worker() {
    let data =
        run(&lab(), &small(&["schedule=asynchronous", "stages=1", "steps=3", "learning_rate=0.1"]));
    assert_eq!(array(&data, "staleness"), [0.0]);
    assert!(most(&data, "max_weight_difference") <= 1e-5);
    assert_eq!(number(&data, "bytes_sent_per_worker"), 0.0);
    assert_eq!(number(&data, "bytes_per_boundary"), 0.0);
}

#[test]
fn recomputation_keeps_the_gradient() {
    let bytes = |set: &[&str]| {
        let data = run(&lab(), &small(set));
        assert!(most(&data, "max_gradient_difference") <= 1e-5);
        number(&data, "activation_bytes_per_worker")
    };
    let whole = bytes(&["steps=1"]);
    let again = bytes(&["steps=1", "recompute=true"]);
    assert!(again < 0.5 * whole, "{again} {whole}");
    assert!(bytes(&["steps=1", "schedule=1f1b"]) < whole);
    let data = run(&lab(), &small(&["steps=1", "schedule=zb-h1"]));
    assert!(number(&data, "waiting_weight_bytes") > 0.0);
}

#[test]
fn what_does_not_fit_together_is_refused_with_a_way_out() {
    let interleaved = "schedule=interleaved-1f1b";
    for (set, want) in [
        (&["stages=3"][..], "take 2 or 4 stages"),
        (&["stages=16"], "take 4 stages"),
        (&["layers=7", "stages=2"], "take 1 or 7 stages"),
        (&["microbatches=12"], "take 8 or 16 microbatches"),
        (&[interleaved], "take 8 layers, or fewer chunks"),
        (&[interleaved, "layers=8", "microbatches=2"], "must be a multiple of 4"),
        (&["hidden=24"], "multiple of 16"),
        (&["bandwidth_bytes_per_second=0"], "bandwidth"),
    ] {
        assert!(refused(&lab(), set, &[want]));
    }
}

#[test]
fn the_link_knob_changes_only_modelled_time() {
    let orders = [turn("link", "10gige")];
    let set = small(&["steps=2"]);
    let turned = steered(&lab(), &set, "opening", &orders);
    let fixed = run(&lab(), &small(&["steps=2", "link=10gige"]));
    near(number(&turned, "step_seconds"), number(&fixed, "step_seconds"));
    assert_eq!(values(&turned, "loss"), values(&fixed, "loss"));
}

#[test]
fn stop_during_a_step_keeps_the_counts() {
    let (data, reason) = answered(&lab(), &small(&["steps=1"]), |report| {
        if matches!(report, Report::Point { name, .. } if &**name == "loss") {
            return Then::Stop;
        }
        Then::On
    });
    assert_eq!(reason, Some(StopReason::Asked));
    assert!(!data.series.contains_key("reference_loss"));
    assert_eq!(array(&data, "staleness"), [0.0; 4]);
    assert!(number(&data, "bytes_sent_per_worker") > 0.0);
}

/// Wants some panels until their offer ends.
struct Request(&'static [&'static str], Vec<String>);

impl Sink for Request {
    fn report(&mut self, report: Report) {
        let Report::Frame { panel, .. } = report else { panic!("{report:?}") };
        self.1.push(panel.to_string());
    }

    fn wants_frame(&mut self, panel: &str, _: FrameTrigger) -> bool {
        self.0.contains(&panel)
    }

    fn frames_done(&mut self) {
        self.0 = &[];
    }
}

#[test]
fn an_unfinished_step_draws_its_timeline_and_leaves_the_rest_of_a_request() {
    let setup = Setup::read(&params(&lab(), &[])).unwrap();
    let diary = Diary::default();
    let mut request = Request(&["timeline", "memory"], Vec::new());
    draw_unfinished(&mut request, 1, &setup, &diary);
    assert!(request.1.is_empty());
    let slot = Slot { operation: setup.operations(0, 0)[0], start: 0.0, end: 1.0 };
    diary.lock().unwrap().push(vec![slot]);
    draw_unfinished(&mut request, 1, &setup, &diary);
    assert_eq!(request.1, ["timeline"]);
    assert!(request.wants_frame("memory", FrameTrigger::Running));
    let mut other = Request(&["memory"], Vec::new());
    draw_unfinished(&mut other, 1, &setup, &diary);
    assert!(other.1.is_empty() && other.wants_frame("memory", FrameTrigger::Running));
}

#[test]
fn models_beyond_memory_are_refused() {
    let huge = ["layers=16", "hidden=512", "context=512", "global_batch=4096"];
    for compare in ["compare=true", "compare=false"] {
        let set = [&huge[..], &[compare]].concat();
        assert!(!refused(&lab(), &set, &["GB are free", "global_batch"]));
    }
}

#[test]
fn divergence_ends_the_run() {
    for (schedule, word) in [("schedule=gpipe", "overshoots"), ("schedule=asynchronous", "late")] {
        let set = ["hidden=16", "context=8", "learning_rate=10", "steps=30", schedule];
        let data = run(&lab(), &set);
        let (_, reason) = data.diverged.as_ref().unwrap();
        assert!(reason.contains("learning rate 10 ") && reason.contains(word), "{reason}");
        assert!(number(&data, "steps_done") < 30.0);
    }
}

#[test]
fn a_filling_pipeline_has_no_steady_values() {
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
