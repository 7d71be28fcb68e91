//! The lines of `reports.jsonl`: a report each, as JSON, and values of series by the batch.
//!
//! `{"points":{"loss":{"from":1,"by":1,"f32":[0.71,0.69]},"accuracy":{"steps":[1,10,20],"f64":[0.5,0.61,null]}}}`
//!
//! `{"clock":[120,4.031]}`: the values of step 120 were there 4.031 s after the start; once a second, and at the end.
//!
//! Evenly spaced steps are a start and a stride. Values that were computed in single precision, as a device's mostly are,
//! are written in the shortest text that reads back as the same number; `null` stands for a value that was not finite.
//!
//! Lines of values are nearly all of a record. They are read just as they are written here, their numbers by fast-float2,
//! which is exact, and three times as fast as serde_json where that is exact; all other lines are read by serde_json.

use std::io;
use std::sync::Arc;

use mlsys_lab::frame::Frame;
use mlsys_lab::output;
use mlsys_lab::report::{Change, Report};
use mlsys_lab::value::Value;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

/// The line for a report, without its end. Status is not recorded, frames are written once at the end, values go into
/// batches and artifacts into files of their own.
pub fn report_line(report: &Report) -> Option<String> {
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

pub fn frame_line(panel: &str, step: u64, frame: &Frame) -> Result<String, serde_json::Error> {
    serde_json::to_string(&json!({ "frame": { "panel": panel, "step": step, "frame": frame } }))
}

/// Values of one metric at ascending steps, to be written.
#[derive(Clone, Debug, Default)]
struct Column {
    steps: Vec<u64>,
    values: Vec<f64>,
}

/// The columns of one line, in the order of the metrics' first values.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    columns: Vec<Column>,
}

impl Batch {
    pub fn push(&mut self, metric: usize, step: u64, value: f64) {
        if self.columns.len() <= metric {
            self.columns.resize_with(metric + 1, Column::default);
        }
        if let Some(column) = self.columns.get_mut(metric) {
            column.steps.push(step);
            column.values.push(value);
        }
    }

    /// Appends the line to `text`, if there are values, and empties the columns.
    pub fn write(&mut self, names: &[Arc<str>], text: &mut Vec<u8>) -> io::Result<()> {
        let mut is_first = true;
        for (name, column) in names.iter().zip(&mut self.columns) {
            if column.steps.is_empty() {
                continue;
            }
            text.extend_from_slice(if is_first { b"{\"points\":{" } else { b"," });
            is_first = false;
            serde_json::to_writer(&mut *text, name.as_ref())?;
            text.extend_from_slice(b":{");
            column.write_steps(text)?;
            column.write_values(text)?;
            text.push(b'}');
            column.steps.clear();
            column.values.clear();
        }
        if !is_first {
            text.extend_from_slice(b"}}\n");
        }
        Ok(())
    }
}

impl Column {
    fn write_steps(&self, text: &mut Vec<u8>) -> io::Result<()> {
        match even(&self.steps) {
            Some((from, by)) => {
                text.extend_from_slice(b"\"from\":");
                serde_json::to_writer(&mut *text, &from)?;
                text.extend_from_slice(b",\"by\":");
                serde_json::to_writer(&mut *text, &by)?;
            }
            None => {
                text.extend_from_slice(b"\"steps\":");
                serde_json::to_writer(&mut *text, &self.steps)?;
            }
        }
        Ok(())
    }

    fn write_values(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let start = text.len();
        text.extend_from_slice(b",\"f32\":[");
        for (index, &value) in self.values.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            if !single(value, text)? {
                text.truncate(start);
                return self.write_double(text);
            }
        }
        text.push(b']');
        Ok(())
    }

    fn write_double(&self, text: &mut Vec<u8>) -> io::Result<()> {
        text.extend_from_slice(b",\"f64\":[");
        for (index, &value) in self.values.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            if value.is_finite() {
                serde_json::to_writer(&mut *text, &value)?;
            } else {
                text.extend_from_slice(b"null");
            }
        }
        text.push(b']');
        Ok(())
    }
}

/// First step and stride, if the steps lie evenly.
fn even(steps: &[u64]) -> Option<(u64, u64)> {
    let from = *steps.first()?;
    let by = match steps.get(1) {
        Some(second) => second.checked_sub(from)?,
        None => 1,
    };
    let is_even = |pair: &[u64]| match pair {
        [before, after] => after.checked_sub(*before) == Some(by),
        _ => true,
    };
    steps.windows(2).all(is_even).then_some((from, by))
}

/// Writes a value in single precision; false if it would not come back as it is.
fn single(value: f64, text: &mut Vec<u8>) -> io::Result<bool> {
    if !value.is_finite() {
        text.extend_from_slice(b"null");
        return Ok(true);
    }
    let single = value as f32;
    if f64::from(single).to_bits() != value.to_bits() {
        return Ok(false);
    }
    let start = text.len();
    serde_json::to_writer(&mut *text, &single)?;
    // Read as a double and then rounded, which is not always the same as read as a single.
    let read = text.get(start..).and_then(|text| fast_float2::parse::<f64, _>(text).ok());
    Ok(read.is_some_and(|back| (back as f32).to_bits() == single.to_bits()))
}

pub enum Line {
    Report(Report),
    Points(Vec<Points>),
    /// A step, and when it was over in seconds since the start.
    Clock(u64, f64),
}

/// Values of one series.
pub struct Points {
    pub metric: String,
    pub steps: Steps,
    /// NaN or infinite where a value was not finite.
    pub values: Vec<f64>,
}

/// The steps of values, ascending and as many.
pub enum Steps {
    Even { from: u64, by: u64 },
    Listed(Vec<u64>),
}

impl Steps {
    /// Whether there is an ascending step for each of `count` values.
    fn fit(&self, count: usize) -> bool {
        match self {
            Self::Even { from, by } => {
                let strides = (count as u64).saturating_sub(1);
                by.checked_mul(strides).and_then(|span| from.checked_add(span)).is_some()
            }
            Self::Listed(steps) => steps.len() == count && steps.is_sorted(),
        }
    }

    /// The steps of the first and the last of `count` values that fit; none if there are no values.
    pub fn ends(&self, count: usize) -> Option<(u64, u64)> {
        match self {
            Self::Even { from, by } => Some((*from, from + by * (count.checked_sub(1)? as u64))),
            Self::Listed(steps) => Some((*steps.first()?, *steps.last()?)),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LineError {
    #[error("it is not text")]
    NotUtf8,
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("its values or their steps do not read")]
    Points,
    #[error("it is too long")]
    TooLong,
    #[error("there are too many metrics")]
    TooManyMetrics,
    #[error("the steps of '{}' go backwards", .0.escape_debug())]
    Backwards(String),
}

/// Reads a line; a blank one has no values.
pub fn read(line: &[u8]) -> Result<Line, LineError> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(Line::Points(Vec::new()));
    }
    if let Some(columns) = line.strip_prefix(b"{\"points\":{") {
        return Cursor(columns).columns().map(Line::Points).ok_or(LineError::Points);
    }
    if let Some(report) = line.strip_prefix(b"{\"scalar\":").and_then(exact_scalar) {
        return Ok(Line::Report(report));
    }
    let text = str::from_utf8(line).map_err(|_| LineError::NotUtf8)?;
    Ok(Line::Report(match serde_json::from_str(text)? {
        Json::Clock(step, seconds) => return Ok(Line::Clock(step, seconds)),
        Json::Scalar { name, value } => {
            Report::Scalar { name: name.into(), value: value.unwrap_or(Value::Float(f64::NAN)) }
        }
        Json::Change { step, name, value } => Report::Change(Change { step, name, value }),
        Json::Diverged { step, reason } => Report::Diverged { step, reason },
        Json::Notice(text) => Report::Notice(text),
        Json::Frame { panel, step, frame } => Report::Frame { panel: panel.into(), step, frame },
    }))
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Json {
    Scalar { name: String, value: Option<Value> },
    Change { step: u64, name: String, value: Value },
    Diverged { step: u64, reason: String },
    Notice(String),
    Frame { panel: String, step: u64, frame: Box<Frame> },
    Clock(u64, f64),
}

/// A scalar that is a number with a fraction, which serde_json might read one unit in the last place off.
fn exact_scalar(line: &[u8]) -> Option<Report> {
    let mut cursor = Cursor(line);
    cursor.eat(b"{\"name\":")?;
    let name: String = cursor.json()?;
    cursor.eat(b",\"value\":")?;
    let number = cursor.0.strip_suffix(b"}}")?;
    let has_fraction = number.iter().any(|byte| b".eE".contains(byte));
    let value = fast_float2::parse(number).ok().filter(|_| has_fraction)?;
    Some(Report::Scalar { name: name.into(), value: Value::Float(value) })
}

/// The rest of a line.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn eat(&mut self, expected: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(expected)?;
        Some(())
    }

    fn json<T: DeserializeOwned>(&mut self) -> Option<T> {
        let mut values = serde_json::Deserializer::from_slice(self.0).into_iter();
        let value = values.next()?.ok()?;
        self.0 = self.0.get(values.byte_offset()..)?;
        Some(value)
    }

    /// Columns to the end of the line.
    fn columns(&mut self) -> Option<Vec<Points>> {
        let mut columns = Vec::new();
        loop {
            let metric = self.json()?;
            self.eat(b":{")?;
            let steps = self.steps()?;
            let is_single = self.eat(b",\"f32\":[").is_some();
            if !is_single {
                self.eat(b",\"f64\":[")?;
            }
            let likely = columns.last().map_or(0, |column: &Points| column.values.len());
            let mut values = self.numbers(likely)?;
            if is_single {
                values.iter_mut().for_each(|value| *value = f64::from(*value as f32));
            }
            if !steps.fit(values.len()) {
                return None;
            }
            columns.push(Points { metric, steps, values });
            self.eat(b"}")?;
            if self.eat(b",").is_none() {
                self.eat(b"}}")?;
                return self.0.is_empty().then_some(columns);
            }
        }
    }

    fn steps(&mut self) -> Option<Steps> {
        if self.eat(b"\"steps\":").is_some() {
            return self.json().map(Steps::Listed);
        }
        self.eat(b"\"from\":")?;
        let from = self.json()?;
        self.eat(b",\"by\":")?;
        Some(Steps::Even { from, by: self.json()? })
    }

    /// Numbers to the end of their array, NaN for `null`.
    /// Numbers to the end of an array, of a length that is guessed.
    fn numbers(&mut self, likely: usize) -> Option<Vec<f64>> {
        let mut numbers = Vec::with_capacity(likely);
        loop {
            let (number, length) = match self.0 {
                [b'n', ..] => (f64::NAN, self.eat(b"null").map(|()| 0)?),
                // fast-float2 takes more for a number than JSON does.
                [b'-' | b'0'..=b'9', ..] => fast_float2::parse_partial(self.0).ok()?,
                _ => return None,
            };
            numbers.push(number);
            let (separator, rest) = self.0.get(length..)?.split_first()?;
            self.0 = rest;
            match separator {
                b',' => {}
                b']' => return Some(numbers),
                _ => return None,
            }
        }
    }
}
