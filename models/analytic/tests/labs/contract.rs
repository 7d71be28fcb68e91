//! What every lab's schema promises.

mod well_formed;

use std::collections::BTreeSet;

use mlsys_harness::tables::{tables, worded_numbers};
use mlsys_lab::frame::Frame;
use mlsys_lab::schema::{Draw, Type};
use mlsys_lab::{DeviceId, RunData, Schema, Value};

use self::well_formed::well_formed;
use crate::run::{REGISTRY, lab, ran, run_lab};

/// Settings that together meet every `when` of every lab, in addition to the defaults.
const CASES: &str = include_str!("contract/cases.txt");

/// Where metrics with a condition are reported, and where not.
const CONDITIONS: &str = include_str!("contract/conditions.txt");

/// The columns of each line of a table, with ` | ` between two; a line that begins with `#` is a remark.
pub(crate) fn lines<const N: usize>(
    table: &'static str,
) -> impl Iterator<Item = [&'static str; N]> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let columns: Vec<&str> = line.split(" | ").collect();
        columns.try_into().unwrap_or_else(|_| panic!("{line}: it has not {N} columns"))
    })
}

/// The parts of a column, such as settings, with ` & ` between two; `-` stands for none.
pub(crate) fn columns(column: &'static str) -> Vec<&'static str> {
    if column == "-" { Vec::new() } else { column.split(" & ").collect() }
}

/// Every lab as it is, and the cases of the table.
fn cases() -> Vec<(String, Vec<&'static str>)> {
    let defaults = REGISTRY.iter().map(|lab| (lab.schema().kind.clone(), Vec::new()));
    let others = lines(CASES).map(|[kind, set]| (kind.to_owned(), columns(set)));
    defaults.chain(others).collect()
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Bool(_) => Type::Bool,
        Value::Int(_) => Type::Int,
        Value::Float(_) => Type::Float,
        Value::Text(_) => Type::String,
        Value::Array(_) => Type::Array,
        Value::Table(_) => Type::Table,
    }
}

#[test]
fn reported_metrics_are_declared_and_finite() {
    for (kind, set) in cases() {
        let schema = lab(&kind).schema();
        for (name, value) in ran(&kind, &set).metrics() {
            let declared = schema.metric(name);
            let declared = declared.unwrap_or_else(|| panic!("{kind} reports {name} undeclared"));
            assert_eq!(type_of(&value), declared.ty, "{kind} {name}: {value}");
            assert!(value.is_finite(), "{kind} {name}: {value}");
        }
    }
}

#[test]
fn metrics_are_within_their_ranges() {
    for (kind, set) in cases() {
        assert_eq!(lab(&kind).schema().out_of_range(&ran(&kind, &set)), None, "{kind} {set:?}");
    }
    for lab in REGISTRY.iter() {
        let schema = lab.schema();
        for preset in &schema.presets {
            let (data, _) = run_lab(lab, DeviceId::CPU, &preset.settings());
            assert_eq!(schema.out_of_range(&data), None, "{} {}", schema.kind, preset.name);
        }
    }
}

#[test]
fn unconditional_metrics_are_reported() {
    for lab in REGISTRY.iter() {
        let schema = lab.schema();
        let data = ran(&schema.kind, &[""; 0]);
        for metric in schema.metrics.iter().filter(|metric| metric.when.is_none()) {
            assert!(reported(&data, &metric.name), "{} {}", schema.kind, metric.name);
        }
    }
}

#[test]
fn metrics_follow_their_conditions() {
    let mut listed = BTreeSet::new();
    for [metric, met, unmet] in lines(CONDITIONS) {
        let (kind, name) = metric.split_once(' ').expect("a lab and a metric");
        assert!(reported(&ran(kind, &columns(met)), name), "{metric} with {met}");
        assert!(!reported(&ran(kind, &columns(unmet)), name), "{metric} with {unmet}");
        listed.insert((kind, name));
    }
    // What needs a network or a device is absent here, since the registry supplies it: `plug.rs` and `lowering.rs` look at it.
    let joined = |schema: &Schema, name: &str| {
        let begins = |start: &str| name.starts_with(start);
        (schema.kind == "kernel" && (begins("network_") || begins("device_")))
            || (schema.kind == "graph" && begins("burn_"))
            || (schema.kind == "lowering" && (begins("compile_seconds") || begins("max_")))
    };
    for lab in REGISTRY.iter() {
        let schema = lab.schema();
        let metrics = schema.metrics.iter().filter(|m| m.when.is_some());
        for metric in metrics.filter(|m| !joined(schema, &m.name)) {
            assert!(
                listed.contains(&(schema.kind.as_str(), metric.name.as_str())),
                "{} {} has a condition and is missing from conditions.txt",
                schema.kind,
                metric.name
            );
        }
    }
}

fn reported(data: &RunData, metric: &str) -> bool {
    data.metrics().keys().any(|name| match metric.strip_suffix('*') {
        Some(stem) => name.starts_with(stem),
        None => *name == metric,
    })
}

#[test]
fn panels_get_well_formed_pictures() {
    for (kind, set) in cases() {
        let schema = lab(&kind).schema();
        let drawn: BTreeSet<&str> = schema
            .panels
            .iter()
            .filter(|panel| panel.draw == Draw::Frame)
            .map(|panel| panel.name.as_str())
            .collect();
        let data = ran(&kind, &set);
        let sent: BTreeSet<&str> = data.frames.keys().map(AsRef::as_ref).collect();
        assert_eq!(sent, drawn, "{kind}");
        assert!(!drawn.is_empty(), "{kind} shows nothing");
        for (panel, (_, frame)) in &data.frames {
            well_formed(frame, &format!("{kind} {panel} {set:?}"));
        }
    }
}

#[test]
fn units_of_numbers_stand_in_titles() {
    let mut worded = Vec::new();
    for (kind, set) in cases() {
        for (panel, (_, frame)) in &ran(&kind, &set).frames {
            let columns = tables(frame).into_iter().flat_map(worded_numbers);
            worded.extend(columns.map(|column| format!("{kind} {panel} {set:?}, {column}")));
        }
    }
    assert!(worded.is_empty(), "numbers in words: {worded:#?}");
}

#[test]
fn steps_show_the_branch_that_is_taken() {
    let mut shown = Vec::new();
    for lab in REGISTRY.iter() {
        let kind = &lab.schema().kind;
        let data = ran(kind, &[""; 0]);
        let Some((_, Frame::Table(steps))) = data.frames.get("steps") else { continue };
        let cells = steps.rows.iter().flatten().map(ToString::to_string);
        shown.extend(
            cells.filter(|cell| cell.contains("if(")).map(|cell| format!("{kind}: {cell}")),
        );
    }
    assert!(shown.is_empty(), "write `if` around the whole formula: {shown:#?}");
}

#[test]
fn kinds_are_distinct_and_say_what_a_learner_must_know() {
    let kinds: BTreeSet<&str> = REGISTRY.iter().map(|lab| lab.schema().kind.as_str()).collect();
    assert_eq!(kinds.len(), REGISTRY.iter().count());
    for lab in REGISTRY.iter() {
        let schema = lab.schema();
        assert!(!schema.is_live(), "{} answers at once", schema.kind);
        assert!(schema.formula.is_some(), "{} has no formula", schema.kind);
        assert!(!schema.source.is_empty(), "{} has no source", schema.kind);
    }
}
