//! Bad input: every case an error that names the parameter and the way out, never a panic or a wrapped number.

use mlsys_lab::{Frame, LabError, RunData, Settings, Value};

use crate::contract::{lines, settings};
use crate::run::{run, run_into};

/// Parameters that are refused, and fragments of the message.
const REFUSED: &str = include_str!("contract/refused.txt");

/// Runs of which a metric is not finite, and fragments of the message, the first its beginning.
const NOT_FINITE: &str = include_str!("contract/not_finite.txt");

/// The error of a run that must not succeed.
pub(crate) fn error(kind: &str, set: &[&str]) -> LabError {
    let settings = Settings::from_pairs(set.iter().copied()).expect("name=value");
    match run(kind, &settings) {
        Ok(data) => panic!("{kind} {set:?} runs: {:?}", data.metrics()),
        Err(error) => error,
    }
}

/// Each case of a table with its error's message.
fn cases(table: &'static str, is_usage: bool) -> impl Iterator<Item = (String, Vec<String>)> {
    lines(table).map(move |columns| {
        let [kind, set, fragments] = columns[..] else {
            panic!("{columns:?}: a lab, its settings, and what the message says");
        };
        let error = error(kind, &settings(set));
        assert_eq!(error.is_usage(), is_usage, "{kind} {set}: {error}");
        let fragments = fragments.split(" & ").map(|part| part.replace("\\n", "\n")).collect();
        (format!("{kind} {set}: {error}"), fragments)
    })
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    for (message, fragments) in cases(REFUSED, true) {
        for fragment in fragments {
            assert!(message.contains(&fragment), "'{fragment}' is not in: {message}");
        }
    }
}

#[test]
fn a_metric_that_is_not_finite_fails_the_run_with_the_reason() {
    for (message, fragments) in cases(NOT_FINITE, false) {
        assert!(message.contains(&format!(": {}", fragments[0])), "{message}");
        for fragment in fragments {
            assert!(message.contains(&fragment), "'{fragment}' is not in: {message}");
        }
    }
}

#[test]
fn hostile_expressions_are_refused() {
    let deep = format!("expression={}x{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(error("graph", &[deep.as_str()]).is_usage());
    let escape = error("graph", &["expression=x + \u{1b}[31m"]).to_string();
    assert!(!escape.contains('\u{1b}'), "{escape:?}");
}

#[test]
fn infinities_that_reach_no_metric_are_no_error() {
    for (set, metric, value) in [
        // A branch that is not used has no say, not even by 0 times infinity.
        (&["expression=a = sqrt(x); y", "inputs.x=0", "inputs.y=3"][..], "grad.x", 0.0),
        (&["expression=1/exp(1000) + y", "inputs.y=3"], "value", 3.0),
        (&["expression=x^3", "inputs.x=-2"], "grad.x", 12.0),
    ] {
        let settings = Settings::from_pairs(set.iter().copied()).expect("name=value");
        let data = run("graph", &settings).unwrap_or_else(|error| panic!("{set:?}: {error}"));
        assert_eq!(data.metric(metric).and_then(|v| v.as_f64()), Some(value), "{set:?}");
    }
}

#[test]
fn a_graph_that_fails_reports_no_metric_but_shows_where_it_broke() {
    let set = ["expression=a = log(x); 2*a", "inputs.x=-1"];
    let settings = Settings::from_pairs(set).expect("name=value");
    let mut data = RunData::default();
    assert!(run_into(&mut data, "graph", &settings).is_err());
    assert!(data.metrics().is_empty());
    let Some((_, Frame::Table(table))) = data.frames.get("values") else {
        panic!("the values are a table");
    };
    let values: Vec<&Value> = table.rows.iter().map(|row| &row[2]).collect();
    assert_eq!(values, [&Value::Float(-1.0), &"NaN".into(), &"NaN".into()]);
}

/// A pipeline far longer than the model has stages without a layer; neither the first full one nor the microbatches in
/// flight may take time or run over.
#[test]
fn a_pipeline_of_any_length_is_judged_at_once() {
    for set in [
        &["pipeline=1e12", "tensor=1", "data=1", "global_batch=16"][..],
        &["pipeline=1e18", "tensor=1", "data=1", "global_batch=16", "chunks_per_stage=64"],
        &["pipeline=9e18", "tensor=1", "data=1", "global_batch=16"],
    ] {
        let settings = Settings::from_pairs(set.iter().copied()).expect("name=value");
        match run("parallel-plan", &settings) {
            Ok(data) => assert!(!data.metrics().is_empty(), "{set:?}"),
            Err(error) => assert!(!error.to_string().is_empty(), "{set:?}"),
        }
    }
}
