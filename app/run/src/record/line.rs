//! One report as one line of JSON, and any line back as what it says.

use std::collections::BTreeMap;

use mlsys_lab::frame::Frame;
use mlsys_lab::output;
use mlsys_lab::report::{Change, Report};
use mlsys_lab::value::Value;
use serde::Deserialize;
use serde_json::{Value as Json, json};

/// The line for a report, without its end; waiting is not kept, pictures are written at the end, values of series
/// have lines of their own, and what a run leaves has a file of its own.
pub fn of(report: &Report) -> Option<String> {
    let json = match report {
        Report::Status(_) | Report::Frame { .. } | Report::Point { .. } | Report::Artifact(_) => {
            return None;
        }
        // JSON has no NaN: null stands for a value that was not finite.
        Report::Scalar { name, value } => {
            json!({ "scalar": { "name": name.as_ref(), "value": output::value(value) } })
        }
        Report::Change(Change { step, name, value }) => {
            json!({ "change": { "step": step, "name": name, "value": output::value(value) } })
        }
        Report::Diverged { step, reason } => {
            json!({ "diverged": { "step": step, "reason": reason } })
        }
        Report::Notice(text) => json!({ "notice": text }),
    };
    Some(json.to_string())
}

/// The line of a picture.
pub fn of_frame(panel: &str, step: u64, frame: &Frame) -> Result<String, serde_json::Error> {
    serde_json::to_string(&json!({ "frame": { "panel": panel, "step": step, "frame": frame } }))
}

/// What a line says.
pub enum Said {
    /// One thing.
    Report(Report),
    /// Values of series.
    Points(Vec<Points>),
}

/// Values of one series.
pub struct Points {
    /// The metric.
    pub name: String,
    /// Where they were measured.
    pub steps: Steps,
    /// The values; NaN where one was not finite.
    pub values: Vec<f64>,
}

/// The steps of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steps {
    /// Evenly: the first, and from each to the next.
    Even(u64, u64),
    /// One by one.
    Listed(Vec<u64>),
}

/// Reads a line of any version so far; the error is a sentence.
pub fn read(line: &str) -> Result<Said, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
    Ok(Said::Report(match line {
        Line::Points(columns) => {
            let columns = columns.into_iter().map(|(name, column)| column.points(name));
            return columns.collect::<Result<_, _>>().map(Said::Points);
        }
        Line::Scalar { name, value } => {
            Report::Scalar { name: name.into(), value: value.unwrap_or(Value::Float(f64::NAN)) }
        }
        Line::Point { name, step, value } => {
            Report::Point { name: name.into(), step, value: value.unwrap_or(f64::NAN) }
        }
        Line::Change { step, name, value } => Report::Change(Change { step, name, value }),
        Line::Diverged { step, reason } => Report::Diverged { step, reason },
        Line::Notice(text) => Report::Notice(text),
        Line::Frame { panel, step, frame } => Report::Frame { panel: panel.into(), step, frame },
    }))
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Points(BTreeMap<String, Column>),
    Scalar { name: String, value: Option<Value> },
    Point { name: String, step: u64, value: Option<f64> },
    Change { step: u64, name: String, value: Value },
    Diverged { step: u64, reason: String },
    Notice(String),
    Frame { panel: String, step: u64, frame: Box<Frame> },
}

/// Values of one metric, as a line holds them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    from: Option<u64>,
    by: Option<u64>,
    steps: Option<Vec<u64>>,
    f32: Option<Vec<Option<f64>>>,
    f64: Option<Vec<Option<f64>>>,
}

impl Column {
    fn points(self, name: String) -> Result<Points, String> {
        let values: Vec<f64> = match (self.f32, self.f64) {
            (Some(values), None) => {
                let rounded = |x: f64| f64::from(x as f32);
                values.into_iter().map(|x| x.map_or(f64::NAN, rounded)).collect()
            }
            (None, Some(values)) => values.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect(),
            (None, None) | (Some(_), Some(_)) => {
                return Err(format!("'{}' needs either f32 or f64", name.escape_debug()));
            }
        };
        let steps = match (self.from, self.by, self.steps) {
            (Some(from), by, None) => Steps::Even(from, by.unwrap_or(1)),
            (None, None, Some(steps)) => Steps::Listed(steps),
            _ => {
                return Err(format!(
                    "'{}' needs either from and by, or steps",
                    name.escape_debug()
                ));
            }
        };
        if !steps.fit(values.len()) {
            return Err(format!("the steps of '{}' do not fit its values", name.escape_debug()));
        }
        Ok(Points { name, steps, values })
    }
}

impl Steps {
    /// Whether there is a step for each of so many values, none before the one before it.
    pub fn fit(&self, count: usize) -> bool {
        match self {
            Self::Even(from, by) => {
                let strides = u64::try_from(count).map(|count| count.saturating_sub(1));
                let span = strides.ok().and_then(|strides| by.checked_mul(strides));
                span.and_then(|span| from.checked_add(span)).is_some()
            }
            Self::Listed(steps) => steps.len() == count && steps.is_sorted(),
        }
    }
}

/// A description or an outcome, if it is JSON.
pub fn object(text: &[u8]) -> Result<Json, String> {
    let json: Json = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if json.is_object() { Ok(json) } else { Err("it holds no object".to_owned()) }
}
