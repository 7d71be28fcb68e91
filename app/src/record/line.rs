//! A report as one line of JSON, and back.

use mlsys_lab::frame::Frame;
use mlsys_lab::output;
use mlsys_lab::report::{Change, Report};
use mlsys_lab::value::Value;
use serde::Deserialize;
use serde_json::{Value as Json, json};

/// The line for a report; waiting is not kept, and pictures are written at the end.
pub fn of(report: &Report) -> Option<Json> {
    match report {
        Report::Status(_) | Report::Frame { .. } => None,
        Report::Scalar { name, value } => {
            Some(json!({ "scalar": { "name": name.as_ref(), "value": output::value(value) } }))
        }
        // JSON has no NaN: null stands for a value that was not finite.
        Report::Point { name, step, value } => {
            Some(json!({ "point": { "name": name.as_ref(), "step": step, "value": value } }))
        }
        Report::Change(Change { step, name, value }) => {
            Some(json!({ "change": { "step": step, "name": name, "value": output::value(value) } }))
        }
        Report::Diverged { step, reason } => {
            Some(json!({ "diverged": { "step": step, "reason": reason } }))
        }
        Report::Notice(text) => Some(json!({ "notice": text })),
    }
}

/// The report that a line holds.
pub fn read(line: &str) -> Result<Report, serde_json::Error> {
    Ok(match serde_json::from_str(line)? {
        Line::Scalar { name, value } => Report::Scalar {
            name: name.into(),
            value: value.unwrap_or(Value::Float(f64::NAN)),
        },
        Line::Point { name, step, value } => Report::Point {
            name: name.into(),
            step,
            value: value.unwrap_or(f64::NAN),
        },
        Line::Change { step, name, value } => Report::Change(Change { step, name, value }),
        Line::Diverged { step, reason } => Report::Diverged { step, reason },
        Line::Notice(text) => Report::Notice(text),
        Line::Frame { panel, step, frame } => Report::Frame {
            panel: panel.into(),
            step,
            frame,
        },
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Scalar {
        name: String,
        value: Option<Value>,
    },
    Point {
        name: String,
        step: u64,
        value: Option<f64>,
    },
    Change {
        step: u64,
        name: String,
        value: Value,
    },
    Diverged {
        step: u64,
        reason: String,
    },
    Notice(String),
    Frame {
        panel: String,
        step: u64,
        frame: Frame,
    },
}
