//! What names in a lesson's expressions stand for once its labs have run.

use std::collections::BTreeMap;

use mlsys_expr::{Env, Expr, LookupError, Value as Known};
use mlsys_lab::nearest::nearest;
use mlsys_lab::report::RunData;
use mlsys_lab::schema::{Label, Schema};
use mlsys_lab::value::Value;

use crate::model::{Formula, Lesson};

/// What `device.` may be followed by.
pub const DEVICE_FACTS: [&str; 4] = ["name", "backend", "memory_bytes", "peak_flops_per_second"];

/// The device a lesson ran on, as its expressions see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceFacts {
    /// The name its maker gave it.
    pub name: String,
    /// The back end: `cuda`, `wgpu` or `cpu`.
    pub backend: String,
    /// Memory in bytes, where the driver reports it.
    pub memory_bytes: Option<u64>,
    /// Highest rate measured on it, in flop/s, once a saved run has one.
    pub peak_flops_per_second: Option<f64>,
}

/// The results of a lesson's labs under the names its expressions use.
#[derive(Default)]
pub struct LessonEnv<'a> {
    labs: BTreeMap<&'a str, Lab<'a>>,
    device: Option<&'a DeviceFacts>,
}

enum Lab<'a> {
    Ran(&'a Schema, &'a RunData),
    NotRun(String),
}

impl<'a> LessonEnv<'a> {
    /// No labs and no device: only constants have values.
    pub fn new() -> Self {
        Self::default()
    }

    /// The labs of a lesson before any has run.
    pub fn unrun(lesson: &'a Lesson) -> Self {
        let reason = "the lab has not run yet";
        let tries = lesson.predictions().filter(|predict| predict.turn.is_some());
        let runs = lesson.labs().map(|lab| &lab.id).chain(tries.map(|one| &one.id));
        runs.fold(Self::new(), |env, id| env.without_run(id, reason))
    }

    /// Adds what a lab has reported, under its id.
    pub fn with_run(mut self, id: &'a str, schema: &'a Schema, data: &'a RunData) -> Self {
        self.labs.insert(id, Lab::Ran(schema, data));
        self
    }

    /// Adds a lab without a run, and the reason that expressions give for it.
    pub fn without_run(mut self, id: &'a str, reason: impl Into<String>) -> Self {
        self.labs.insert(id, Lab::NotRun(reason.into()));
        self
    }

    /// Adds the device.
    pub fn on(mut self, device: &'a DeviceFacts) -> Self {
        self.device = Some(device);
        self
    }

    /// Where the value of an expression comes from: [`Label`] says what counts where its names differ.
    pub fn label(&self, formula: &Formula) -> Label {
        self.label_in(&formula.expr)
    }

    /// The same of a part of an expression.
    pub(crate) fn label_in(&self, expr: &Expr) -> Label {
        label_of_expr(expr, |lab| match self.labs.get(lab)? {
            Lab::Ran(schema, _) => Some(*schema),
            Lab::NotRun(_) => None,
        })
    }

    fn device(&self, fact: &str) -> Result<Known, LookupError> {
        let Some(device) = self.device else { return Err(missing("no device was used")) };
        let number = |x: Option<f64>, why: &str| x.map(Known::Number).ok_or_else(|| missing(why));
        match fact {
            "name" => Ok(Known::Text(device.name.clone())),
            "backend" => Ok(Known::Text(device.backend.clone())),
            "memory_bytes" => {
                let bytes = device.memory_bytes.map(|bytes| bytes as f64);
                number(bytes, "the driver does not tell how much memory the device has")
            }
            "peak_flops_per_second" => number(
                device.peak_flops_per_second,
                "the device's peak has not been measured; `mlsys lab device-peak` does it",
            ),
            unknown => Err(LookupError::Unknown {
                nearest: nearest(unknown, DEVICE_FACTS).map(|fact| format!("device.{fact}")),
            }),
        }
    }
}

/// Where the value of an expression comes from, given the schemas of the lesson's labs by their ids.
pub fn label_of<'s>(formula: &Formula, schema: impl Fn(&str) -> Option<&'s Schema>) -> Label {
    label_of_expr(&formula.expr, schema)
}

fn label_of_expr<'s>(expr: &Expr, schema: impl Fn(&str) -> Option<&'s Schema>) -> Label {
    let label = |name: &str| {
        let (lab, metric) = name.split_once('.')?;
        if lab == "device" {
            return Some(Label::Measured);
        }
        let schema = schema(lab)?;
        Some(schema.label(schema.metric(metric)?))
    };
    let names = expr.names();
    names.iter().filter_map(|(name, _)| label(name.as_str())).min().unwrap_or(Label::Computed)
}

impl Env for LessonEnv<'_> {
    fn lookup(&self, name: &str) -> Result<Known, LookupError> {
        let (stem, metric) = name.split_once('.').unwrap_or((name, ""));
        if stem == "device" {
            return self.device(metric);
        }
        match self.labs.get(stem) {
            None => Err(LookupError::Unknown {
                nearest: nearest(stem, self.labs.keys().copied().chain(["device"]))
                    .map(str::to_owned),
            }),
            Some(Lab::NotRun(reason)) => Err(missing(reason)),
            Some(Lab::Ran(schema, data)) => value_of(stem, metric, schema, data),
        }
    }
}

/// The value of a metric as expressions know values.
fn value_of(id: &str, metric: &str, schema: &Schema, data: &RunData) -> Result<Known, LookupError> {
    if let Some(series) = data.series.get(metric) {
        return Ok(Known::Series(series.points().into()));
    }
    if let Some(value) = data.scalars.get(metric) {
        return known(value)
            .ok_or_else(|| missing("it is a nested value, and expressions have none"));
    }
    match schema.metric(metric) {
        Some(known) => Err(missing(&match (&known.when, &data.diverged) {
            (Some(when), _) => format!("it is there only when {when}"),
            (None, Some((step, reason))) => format!("the run diverged at step {step}: {reason}"),
            (None, None) => "the run did not report it".to_owned(),
        })),
        None => Err(LookupError::Unknown {
            nearest: schema.nearest_metric(metric).map(|metric| format!("{id}.{metric}")),
        }),
    }
}

/// A list of numbers is a series over its positions from 0, a list of texts one text with commas.
fn known(value: &Value) -> Option<Known> {
    match value {
        Value::Bool(b) => Some(Known::Bool(*b)),
        Value::Int(_) | Value::Float(_) => value.as_f64().map(Known::Number),
        Value::Text(text) => Some(Known::Text(text.clone())),
        Value::Array(items) => {
            let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            if let Some(texts) = texts.filter(|texts| !texts.is_empty()) {
                return Some(Known::Text(texts.join(", ")));
            }
            let numbers: Option<Vec<f64>> = items.iter().map(Value::as_f64).collect();
            numbers.map(|numbers| Known::Series((0..).zip(numbers).collect()))
        }
        Value::Table(_) => None,
    }
}

fn missing(reason: &str) -> LookupError {
    LookupError::Missing { reason: reason.to_owned() }
}
