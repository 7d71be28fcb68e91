//! Tables of runs: what they report and draw, and of bad input the error that names the parameter and the way out.

use mlsys_lab::frame::{Span, Total};
use mlsys_lab::{DeviceId, Frame, LabError, RunData, Value};

use crate::contract::{columns, lines};
use crate::run::{lab, number, ran, run, run_lab, settings};

const REFUSED: &str = include_str!("contract/refused.txt");

/// Runs of which a metric is not finite, and fragments of the message, the first its beginning.
const NOT_FINITE: &str = include_str!("contract/not_finite.txt");

const VALUES: &str = include_str!("contract/values.txt");

/// Rows of panels.
const ROWS: &str = include_str!("contract/rows.txt");

/// The error of a run that must not succeed.
pub(crate) fn error(kind: &str, set: &[&str]) -> LabError {
    match run(kind, &settings(set)) {
        Ok(data) => panic!("{kind} {set:?} runs: {:?}", data.metrics()),
        Err(error) => error,
    }
}

/// Each case of a table with its error's message.
fn refusals(table: &'static str, is_usage: bool) -> impl Iterator<Item = (String, Vec<String>)> {
    lines(table).map(move |[kind, set, fragments]| {
        let error = error(kind, &columns(set));
        assert_eq!(error.is_usage(), is_usage, "{kind} {set}: {error}");
        let fragments = fragments.split(" & ").map(|part| part.replace("\\n", "\n")).collect();
        (format!("{kind} {set}: {error}"), fragments)
    })
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    for (message, fragments) in refusals(REFUSED, true) {
        for fragment in fragments {
            assert!(message.contains(&fragment), "'{fragment}' is not in: {message}");
        }
    }
}

#[test]
fn a_non_finite_metric_fails_the_run() {
    for (message, fragments) in refusals(NOT_FINITE, false) {
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
fn metrics_have_the_values_of_the_table() {
    for [kind, set, expected] in lines(VALUES) {
        let data = ran(kind, &columns(set));
        for expected in columns(expected) {
            let words: Vec<&str> = expected.split(' ').collect();
            let case = format!("{kind} {set}: {expected}, not {:?}", data.metric(words[0]));
            match words[1..] {
                [value, "+-", tolerance] => {
                    let [value, tolerance] =
                        [value, tolerance].map(|x| x.parse().expect("a number"));
                    let apart: f64 = number(&data, words[0]) - value;
                    assert!(apart.abs() <= tolerance, "{case}");
                }
                [value] => {
                    let found = data.metric(words[0]).unwrap_or_else(|| panic!("{case}"));
                    let same = value.parse::<f64>().ok().zip(found.as_f64());
                    assert!(
                        same.map_or_else(|| found.to_string() == value, |(a, b)| a == b),
                        "{case}"
                    );
                }
                _ => panic!("{expected}: a metric, its value, and +- a tolerance"),
            }
        }
    }
}

/// What a frame shows, a line an element, with ` ; ` between its parts.
fn shown(frame: &Frame) -> Vec<String> {
    if let Some(table) = frame.table() {
        let row = |row: &Vec<Value>| row.iter().map(Value::to_string).collect::<Vec<_>>();
        return table
            .rows
            .iter()
            .map(|cells| row(cells).join(" ; ").trim_end().to_owned())
            .collect();
    }
    if let Some(graph) = frame.graph() {
        let mut marks = graph.walk.iter().flat_map(|step| &step.marks);
        assert!(marks.all(|mark| mark.value.is_finite()), "JSON has no NaN: it is a word");
        return graph.walk.iter().map(|step| step.text.clone()).collect();
    }
    let timeline = frame.timeline().expect("a table, a graph or a timeline");
    let span =
        |span: &Span| format!("{} ; {} ; {}", timeline.lanes[span.lane], span.start, span.end);
    let peak = timeline.total.iter().filter_map(Total::peak);
    let peak = peak.map(|(_, most)| format!("peak ; {most}"));
    timeline.spans.iter().map(span).chain(peak).collect()
}

#[test]
fn panels_show_the_rows_of_the_table_in_its_order_also_of_runs_that_fail() {
    let mut sent: Option<(&str, &str, RunData)> = None;
    let mut after = ("", 0);
    for [kind, set, panel, row] in lines(ROWS) {
        if sent.as_ref().is_none_or(|(other, others, _)| (*other, *others) != (kind, set)) {
            let (data, _) = run_lab(lab(kind), DeviceId::CPU, &settings(&columns(set)));
            (sent, after) = (Some((kind, set, data)), ("", 0));
        }
        let (_, _, data) = sent.as_ref().expect("a run");
        let rows = shown(&data.frames[panel].1);
        let from = if after.0 == panel { after.1 } else { 0 };
        let place = rows[from..].iter().position(|other| other == row);
        let place = place.unwrap_or_else(|| panic!("{kind} {set} {panel}: no {row} in {rows:#?}"));
        after = (panel, from + place + 1);
    }
}

#[test]
fn a_graph_that_fails_reports_no_metric_and_a_simulation_those_before_the_failure() {
    for (kind, set, metrics) in [
        ("graph", &["expression=a = log(x); 2*a", "inputs.x=-1"][..], &[][..]),
        (
            "pipeline",
            &["forward_time=0", "backward_input_time=0", "backward_weight_time=0"],
            &["bubble_time", "ideal_time", "makespan"],
        ),
    ] {
        let (data, ended) = run_lab(lab(kind), DeviceId::CPU, &settings(set));
        assert!(ended.is_err(), "{kind}");
        assert!(data.metrics().into_keys().eq(metrics.iter().copied()), "{:?}", data.metrics());
    }
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
        match run("parallel-plan", &settings(set)) {
            Ok(data) => assert!(!data.metrics().is_empty(), "{set:?}"),
            Err(error) => assert!(!error.to_string().is_empty(), "{set:?}"),
        }
    }
}

/// Ten thousand operations one behind the other, on a stack half as large as a thread's usual one.
#[test]
fn a_graph_of_ten_thousand_nodes_is_no_trouble() {
    let steps = (1..10_000).map(|i| format!("a{i} = a{} + x*y; ", i - 1));
    let expression = format!("a0 = x; {}z = a9999", steps.collect::<String>());
    let work = move || {
        let set = [format!("expression={expression}"), "inputs.x=2".into(), "inputs.y=0.5".into()];
        number(&ran("graph", &set), "grad.x")
    };
    let found = std::thread::Builder::new().stack_size(1 << 20).spawn(work).expect("a thread");
    // 1 from the beginning, and y = 0.5 from each of 9,999 products.
    assert_eq!(found.join().expect("no overflow"), 1.0 + 0.5 * 9_999.0);
}
