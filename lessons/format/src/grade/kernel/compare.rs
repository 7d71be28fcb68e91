//! What a run left in its buffers, and what it should have.

use std::collections::BTreeMap;

use mlsys_lab::report::RunData;
use mlsys_lab::value::{Value, number};

use crate::model::Tolerance;

/// What a buffer holds at the end.
pub(super) fn contents(data: &RunData, buffer: &str) -> Vec<Value> {
    match data.metric(&format!("buffer.{buffer}")) {
        Some(Value::Array(values)) => values,
        Some(_) | None => Vec::new(),
    }
}

/// The buffers and some counts of a run.
pub(super) fn outputs(data: &RunData, counts: &[&str]) -> BTreeMap<String, Value> {
    let metrics = data.metrics().into_iter();
    let told = metrics.filter(|(name, _)| name.starts_with("buffer.") || counts.contains(name));
    told.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// The first element that is not as wanted, and how many more there are.
pub(super) fn difference(
    buffer: &str,
    given: &[Value],
    wanted: &[Value],
    near: Tolerance,
) -> Option<String> {
    if given.len() < wanted.len() {
        return Some(format!("the kernel has no {buffer} of {} elements", wanted.len()));
    }
    let agrees = |given: &Value, wanted: &Value| match (given.as_f64(), wanted.as_f64()) {
        (Some(given), Some(wanted)) => near.accepts(given, wanted),
        // What nobody writes in the reference is nobody's business; else texts and truth values are the same or not.
        _ => *wanted == Value::from("poison") || given == wanted,
    };
    let differing: Vec<usize> =
        (0..wanted.len()).filter(|&at| !agrees(&given[at], &wanted[at])).collect();
    let first = *differing.first()?;
    let told = |value: &Value| match value.as_f64() {
        Some(x) => number(x),
        None if *value == Value::from("poison") => "not written".to_owned(),
        None => value.to_string(),
    };
    let more = match differing.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more differ"),
    };
    Some(format!(
        "{buffer}[{first}] is {}, and should be {}{more}",
        told(&given[first]),
        told(&wanted[first])
    ))
}
