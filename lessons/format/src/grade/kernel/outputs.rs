//! What a run left in its buffers, compared with what should be there.

use std::collections::BTreeMap;

use mlsys_expr::{Env, EvalError, LookupError, Value as Known, evaluate};
use mlsys_lab::LabError;
use mlsys_lab::frame::kernel::Element;
use mlsys_lab::nearest::nearest;
use mlsys_lab::report::RunData;
use mlsys_lab::value::{Value, number};

use crate::grade::kernel::launch::Launch;
use crate::model::{Formula, Tolerance};

/// Elements of a buffer that the lab reports.
pub(crate) const SHOWN: usize = 4096;

/// Counts of faults, by which two failures are distinguished.
const FAULTS: [&str; 8] = [
    "out_of_bounds",
    "uninitialized_reads",
    "races",
    "barrier_divergence",
    "overflows",
    "divisions_by_zero",
    "misaligned_accesses",
    "other_faults",
];

/// Why it is not known what a buffer must hold.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExpectedError {
    #[error("the test has no arguments")]
    NoArguments,
    #[error("no argument is a buffer called '{0}'")]
    NoBuffer(String),
    #[error("{0} is no number")]
    NotANumber(&'static str),
    #[error("{0}")]
    NoValue(EvalError),
    #[error("the reference cannot be run: {0}")]
    Reference(LabError),
    #[error("the reference is not right itself: {0}")]
    FaultyReference(String),
}

/// The elements that a formula gives for a buffer.
pub(crate) fn expected(
    launch: &Launch,
    buffer: &str,
    value: &Formula,
) -> Result<Vec<Value>, ExpectedError> {
    let arguments = launch.arguments().ok_or(ExpectedError::NoArguments)?;
    let count = match arguments.get(buffer) {
        Some(Value::Table(fields)) => fields.get("buffer").and_then(Value::as_f64),
        Some(_) | None => None,
    };
    let Some(count) = count else { return Err(ExpectedError::NoBuffer(buffer.to_owned())) };
    (0..(count as usize).min(SHOWN))
        .map(|i| match evaluate(&value.expr, &AtElement { launch, arguments, i }) {
            Ok(Known::Number(x)) => Ok(Value::Float(x)),
            Ok(other) => Err(ExpectedError::NotANumber(other.kind())),
            Err(error) => Err(ExpectedError::NoValue(error)),
        })
        .collect()
}

/// Names in an expected value: `i`, the launch's numbers, and what buffers held at `i` at the start.
struct AtElement<'a> {
    launch: &'a Launch,
    arguments: &'a BTreeMap<String, Value>,
    i: usize,
}

impl Env for AtElement<'_> {
    fn lookup(&self, name: &str) -> Result<Known, LookupError> {
        if name == "i" {
            return Ok(Known::Number(self.i as f64));
        }
        if let Ok(number) = self.launch.numbers.lookup(name) {
            return Ok(number);
        }
        let missing = |reason: &str| LookupError::Missing { reason: reason.to_owned() };
        match self.arguments.get(name) {
            Some(Value::Table(buffer)) => match buffer.get("fill").and_then(Value::as_str) {
                Some("index") => Ok(Known::Number(self.i as f64)),
                Some("ones") => Ok(Known::Number(1.0)),
                Some("zeros") => Ok(Known::Number(0.0)),
                Some("random") => {
                    Err(missing("what a random fill gives has no formula; write a reference"))
                }
                Some(_) | None => Err(missing("nothing is written there at the start")),
            },
            Some(_) => Err(missing("it is no number")),
            None => {
                let numbers = self.launch.numbers.0.keys();
                let known = self.arguments.keys().chain(numbers).map(String::as_str);
                let nearest = nearest(name, known.chain(["i"])).map(str::to_owned);
                Err(LookupError::Unknown { nearest })
            }
        }
    }
}

pub(super) fn contents(data: &RunData, buffer: &str) -> Vec<Value> {
    match data.metric(&format!("buffer.{buffer}")) {
        Some(Value::Array(values)) => values,
        Some(_) | None => Vec::new(),
    }
}

/// The buffers of a run by name.
pub(super) fn buffers(data: &RunData) -> Vec<(String, Vec<Value>)> {
    let metrics = data.metrics();
    let names = metrics.keys().filter_map(|name| name.strip_prefix("buffer."));
    names.map(|buffer| (buffer.to_owned(), contents(data, buffer))).collect()
}

/// The first thing that went wrong in a run, if anything did.
pub(super) fn problem(data: &RunData) -> Option<String> {
    if data.metric("correct") == Some(Value::Bool(true)) {
        return None;
    }
    let first = data.metric("first_problem");
    Some(first.as_ref().and_then(Value::as_str).unwrap_or("something went wrong").to_owned())
}

/// The buffers and the counts of faults of a run.
pub(super) fn outputs(data: &RunData) -> BTreeMap<String, Value> {
    let metrics = data.metrics().into_iter();
    let kept = metrics.filter(|(name, _)| name.starts_with("buffer.") || FAULTS.contains(name));
    kept.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// The first element that is not as wanted.
pub(super) struct Difference {
    /// None where the kernel has no such buffer.
    pub(super) element: Option<Element>,
    pub(super) say: String,
    /// How many more there are, to be said behind it.
    pub(super) more: String,
}

pub(super) fn difference(
    buffer: &str,
    given: &[Value],
    wanted: &[Value],
    near: Tolerance,
) -> Option<Difference> {
    if given.len() < wanted.len() {
        let say = format!("the kernel has no {buffer} of {} elements", wanted.len());
        return Some(Difference { element: None, say, more: String::new() });
    }
    let agrees = |given: &Value, wanted: &Value| match (given.as_f64(), wanted.as_f64()) {
        (Some(given), Some(wanted)) => near.accepts(given, wanted),
        // Elements that the reference does not write are not compared; texts and booleans are equal or not.
        _ => *wanted == Value::from("poison") || given == wanted,
    };
    let differing: Vec<usize> =
        (0..wanted.len()).filter(|&at| !agrees(&given[at], &wanted[at])).collect();
    let at = *differing.first()?;
    let element = Element { buffer: buffer.to_owned(), at };
    let [given, wanted] = told_apart(&given[at], &wanted[at]);
    let say = format!("{element} is {given}, and should be {wanted}");
    let more = match differing.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more differ"),
    };
    Some(Difference { element: Some(element), say, more })
}

/// Two different elements as text, with all their digits where six are the same.
fn told_apart(given: &Value, wanted: &Value) -> [String; 2] {
    let shown = |value: &Value, number: fn(f64) -> String| match value.as_f64() {
        Some(x) => number(x),
        None if *value == Value::from("poison") => "not written".to_owned(),
        None => value.to_string(),
    };
    let short = [given, wanted].map(|value| shown(value, number));
    if short[0] != short[1] {
        return short;
    }
    [given, wanted].map(|value| shown(value, |x| format!("{x:?}")))
}
