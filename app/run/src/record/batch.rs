//! Values of series as lines: one line holds what was measured since the last, an array for each metric.
//!
//! `{"points":{"loss":{"from":1,"by":1,"f32":[0.71,0.69]},"accuracy":{"steps":[1,10,20],"f64":[0.5,0.61,null]}}}`
//!
//! Steps that lie evenly are a start and a stride. Values that were computed in single precision, as a device's mostly
//! are, stand in the shortest text that gives them back as such; `null` stands for what was not finite.

use std::io;
use std::sync::Arc;

use super::number;

/// Values of one metric at ascending steps.
#[derive(Clone, Debug, Default)]
pub struct Column {
    steps: Vec<u64>,
    values: Vec<f64>,
}

/// The columns of one line, in the order of the metrics' first values.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    columns: Vec<Column>,
}

impl Batch {
    /// Takes a value of the metric with this number.
    pub fn push(&mut self, metric: usize, step: u64, value: f64) {
        if self.columns.len() <= metric {
            self.columns.resize_with(metric + 1, Column::default);
        }
        if let Some(column) = self.columns.get_mut(metric) {
            column.steps.push(step);
            column.values.push(value);
        }
    }

    /// Appends the line to `text`, if there is anything to say, and empties the columns.
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

/// Writes a value in single precision; says no if it would not come back as it is.
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
    let read = text.get(start..).and_then(number::scan);
    Ok(read.is_some_and(|(back, _)| (back as f32).to_bits() == single.to_bits()))
}
