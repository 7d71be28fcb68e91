//! Every expectation of `tests/vectors.toml` against the lab it names.

use std::collections::BTreeMap;

use mlsys_lab::params::Given;
use mlsys_lab::{Settings, Value};
use serde::Deserialize;

use crate::run::{REGISTRY, run};

const TEXT: &str = include_str!("../../../../tests/vectors.toml");

#[derive(Deserialize)]
struct File {
    vector: Vec<Vector>,
}

#[derive(Default, Deserialize)]
struct Vector {
    id: String,
    lab: String,
    #[serde(default)]
    set: BTreeMap<String, Value>,
    expect: BTreeMap<String, Value>,
    rel: Option<f64>,
    abs: Option<f64>,
    #[serde(default)]
    exact: bool,
}

impl Vector {
    /// Whether a number is as near to the other as it must come.
    fn accepts(&self, got: f64, want: f64) -> bool {
        match (self.exact, self.rel, self.abs) {
            (true, None, None) => got == want,
            (false, Some(rel), None) => (got - want).abs() <= rel * want.abs() + 1e-12,
            (false, None, Some(abs)) => (got - want).abs() <= abs,
            _ => panic!("{}: needs one of exact, rel and abs", self.id),
        }
    }

    fn matches(&self, got: &Value, want: &Value) -> bool {
        match (got, want) {
            (Value::Array(got), Value::Array(want)) => {
                got.len() == want.len() && got.iter().zip(want).all(|(g, w)| self.matches(g, w))
            }
            (got, want) => match (got.as_f64(), want.as_f64()) {
                (Some(got), Some(want)) => self.accepts(got, want),
                _ => got == want,
            },
        }
    }
}

/// What of a vector does not hold.
fn failures(vector: &Vector) -> Vec<String> {
    let mut settings = Settings::new();
    for (name, value) in &vector.set {
        settings.push(name, Given::Value(value.clone()));
    }
    let data = match run(&vector.lab, &settings) {
        Ok(data) => data,
        Err(error) => return vec![format!("{}: {error}", vector.id)],
    };
    let metrics = data.metrics();
    let mut failures = Vec::new();
    for (metric, want) in &vector.expect {
        match metrics.get(metric.as_str()) {
            Some(got) if vector.matches(got, want) => {}
            Some(got) => failures.push(format!("{} {metric}: {got:?} is not {want:?}", vector.id)),
            None => failures.push(format!("{} {metric}: not reported", vector.id)),
        }
    }
    failures
}

#[test]
fn every_vector_holds() {
    let file: File = toml::from_str(TEXT).expect("the vectors read");
    let mut counted = BTreeMap::new();
    let mut wrong = Vec::new();
    for vector in &file.vector {
        assert!(!vector.expect.is_empty(), "{} expects nothing", vector.id);
        wrong.extend(failures(vector));
        *counted.entry(vector.lab.as_str()).or_insert(0_usize) += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // Counted in the text itself, so that a vector which is not read cannot go unnoticed.
    for lab in REGISTRY.iter() {
        let kind = lab.schema().kind.as_str();
        let line = format!("lab = \"{kind}\"");
        let written = TEXT.lines().filter(|l| l.trim() == line).count();
        assert!(written > 0, "no vector for {kind}");
        assert_eq!(counted.get(kind), Some(&written), "vectors of {kind}");
    }
    assert_eq!(file.vector.len(), TEXT.matches("[[vector]]\n").count());
}

#[test]
fn a_number_a_name_or_a_length_that_differs_is_noticed() {
    let list = |items: &[&str]| Value::Array(items.iter().map(|&item| item.into()).collect());
    let relative = Vector { rel: Some(1e-9), ..Vector::default() };
    let exact = Vector { exact: true, ..Vector::default() };
    let absolute = Vector { abs: Some(0.5), ..Vector::default() };
    for (vector, got, want, holds) in [
        (&relative, Value::Float(1.0 + 1e-10), Value::Int(1), true),
        (&relative, Value::Float(1.0 + 1e-8), Value::Int(1), false),
        (&exact, Value::Float(1.0 + 1e-15), Value::Int(1), false),
        (&absolute, Value::Int(3), Value::Float(3.5), true),
        (&absolute, Value::Int(3), Value::Float(3.6), false),
        (&relative, list(&["warps"]), list(&["warps", "registers"]), false),
        (&relative, list(&["warps"]), list(&["blocks"]), false),
        (&relative, Value::Float(f64::NAN), Value::Float(1.0), false),
    ] {
        assert_eq!(vector.matches(&got, &want), holds, "{got:?} {want:?}");
    }
}
