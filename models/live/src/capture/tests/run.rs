//! Whole runs: what is declared is reported, and the record is true.

use super::super::lab;
use std::sync::mpsc::{self, Sender};

use mlsys_lab::control::{Command, Limits};
use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{
    Control, DeviceId, Lab, LabError, Params, Run, RunData, Settings, Sink, Tables, Value,
};

/// A run on the CPU.
fn try_capture(set: &[&str]) -> Result<RunData, LabError> {
    let control = Control::free(Limits::default(), Default::default());
    let mut data = RunData::default();
    run(set, control, &mut data)?;
    Ok(data)
}

fn run(set: &[&str], control: Control, sink: &mut dyn Sink) -> Result<(), LabError> {
    let lab = lab().unwrap();
    let settings = Settings::from_pairs(set.iter().copied()).unwrap();
    let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None)
        .unwrap_or_else(|error| panic!("{set:?}: {error:?}"));
    lab.run(&mut Run { params, device: DeviceId::CPU, sink, control })
}

/// A run on the CPU that must end well.
fn capture(set: &[&str]) -> RunData {
    try_capture(set).unwrap_or_else(|error| panic!("{set:?}: {error}"))
}

fn number(data: &RunData, name: &str) -> f64 {
    let found = data.metric(name).and_then(|value| value.as_f64());
    found.unwrap_or_else(|| panic!("no metric {name}"))
}

/// Small networks of each kind, with what makes their graphs differ.
const NETWORKS: [&[&str]; 6] = [
    &["layers=[20, 16, 16, 4]", "batch_size=8"],
    &["layers=[6, 3]", "batch_size=2", "activation=identity"],
    &["layers=[20, 16, 4]", "batch_size=8", "activation=gelu"],
    &["model=cnn", "width=2", "depth=3", "batch_size=2", "activation=silu"],
    &["model=transformer", "width=16", "context=8", "batch_size=2"],
    &["model=transformer", "width=16", "kv_heads=4", "depth=1", "context=1", "batch_size=3"],
];

#[test]
fn every_network_reports_what_is_declared_and_draws_every_panel() {
    let lab = lab().unwrap();
    let schema = lab.schema();
    for set in NETWORKS {
        let data = capture(set);
        let reported = data.metrics();
        for metric in &schema.metrics {
            let found = match metric.name.strip_suffix('*') {
                Some(stem) => reported.keys().any(|name| name.starts_with(stem)),
                None => reported.contains_key(metric.name.as_str()),
            };
            assert!(found, "{set:?}: {} is not reported", metric.name);
        }
        for name in reported.keys() {
            assert!(schema.metric(name).is_some(), "{set:?}: {name}");
        }
        for panel in &schema.panels {
            let drawn = data.frames.contains_key(panel.name.as_str());
            assert!(drawn, "{set:?}: {} is not drawn", panel.name);
        }
    }
}

#[test]
fn the_record_done_again_is_the_network_and_its_gradient_is_the_slope() {
    for set in NETWORKS {
        let data = capture(set);
        let replay = number(&data, "replay_difference");
        assert!(replay <= 1e-6, "{set:?}: {replay}");
        let slopes = number(&data, "gradient_check_error");
        assert!(slopes <= 1e-3, "{set:?}: {slopes}");
        assert_eq!(number(&data, "steps_done"), 9.0, "{set:?}");
    }
}

#[test]
fn what_cannot_be_recorded_is_refused_with_a_sentence_about_its_parameter() {
    for (set, said) in [
        (&["layers=[]"][..], "at least two sizes"),
        (&["layers=[784]"], "at least two sizes"),
        (&["layers=[784, 0, 10]"], "size 2 is 0"),
        (&["layers=[784, 2.5]"], "size 2 is 2.5"),
        (&["layers=[784, 10000000]"], "size 2 is 10000000"),
        (&["model=transformer", "width=30"], "heads"),
        (&["model=transformer", "kv_heads=3"], "kv_heads"),
        (&["model=transformer", "width=12"], "even"),
        (&["model=transformer", "ffn=100001"], "100001"),
        (&["gpu=v100-sxm2-16gb", "precision=bf16-tensor"], "precision"),
    ] {
        let error = try_capture(set).expect_err(set[0]).to_string();
        assert!(error.contains(said), "{set:?}: {error}");
    }
    let many = format!("layers=[{}]", vec!["2"; 100].join(", "));
    let error = try_capture(&[&many]).expect_err("100 layers").to_string();
    assert!(error.contains("at most 64 layers"), "{error}");
}

#[test]
fn a_network_too_large_for_the_machine_is_counted_and_says_what_is_left_out() {
    let data = capture(&["model=transformer", "width=4096", "heads=32", "context=1024"]);
    assert!(data.notices[0].contains("are left out"), "{:?}", data.notices);
    assert!(data.metric("gradient_check_error").is_none());
    assert!(number(&data, "saved_bytes") > 1e9);
}

/// A sink that turns a knob as soon as the record is counted, before anything is computed.
struct Turning {
    data: RunData,
    sender: Sender<Command>,
    turns: Vec<(&'static str, Value)>,
}

impl Sink for Turning {
    fn report(&mut self, report: Report) {
        self.data.report(report);
        for (name, value) in self.turns.drain(..) {
            let name = name.to_owned();
            let turn = Command::Set { name, value };
            self.sender.send(turn).unwrap();
        }
    }

    fn wants_frame(&mut self, _panel: &str, _moment: Moment) -> bool {
        true
    }
}

/// A run with knobs turned while it goes on.
fn turned(turns: &[(&'static str, Value)]) -> (RunData, Result<(), LabError>) {
    let (sender, receiver) = mpsc::channel();
    let mut sink = Turning { data: RunData::default(), sender, turns: turns.to_vec() };
    let control = Control::steered(receiver, Limits::default(), Default::default());
    let ended = run(&["layers=[20, 16, 4]", "batch_size=8"], control, &mut sink);
    (sink.data, ended)
}

#[test]
fn knobs_that_contradict_on_the_way_to_others_do_not_end_the_run() {
    let text = |text: &str| Value::Text(text.to_owned());
    let fits = [("gpu", text("v100-sxm2-16gb")), ("precision", text("fp16-tensor"))];
    let (data, ended) = turned(&fits);
    ended.unwrap();
    assert!(data.metric("gradient_check_error").is_some());
    let (data, ended) =
        turned(&[("gpu", text("v100-sxm2-16gb")), ("precision", text("bf16-tensor"))]);
    assert!(data.notices.iter().any(|notice| notice.contains("precision")), "{:?}", data.notices);
    // The checks were still made; that the knobs fit nothing is how it ends.
    assert!(data.metric("gradient_check_error").is_some());
    assert!(ended.unwrap_err().to_string().contains("precision"));
}

#[test]
fn turned_live_a_knob_gives_the_counts_of_a_run_that_began_so() {
    let (data, ended) = turned(&[("batch_size", Value::Int(3)), ("fuse", Value::Bool(true))]);
    ended.unwrap();
    let fresh = capture(&["layers=[20, 16, 4]", "batch_size=3", "fuse=true"]);
    assert_eq!(data.changes.len(), 2);
    for (name, value) in fresh.metrics() {
        if !matches!(name, "wall_seconds" | "gradient_check_error" | "replay_difference") {
            assert_eq!(data.metric(name), Some(value), "{name}");
        }
    }
    assert!(number(&data, "replay_difference") <= 1e-6);
    assert!(number(&data, "gradient_check_error") <= 1e-3);
}
