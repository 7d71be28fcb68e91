//! Numbers that differ between learners or between launches.

use mlsys_lab::value::Value;

use crate::diagnostic::{Located, Place};

/// A number that takes each of these values.
#[derive(Clone, Debug, PartialEq)]
pub struct Varied {
    pub name: Located<String>,
    pub values: Vec<f64>,
    /// The number that it is, of another directive; none for a draw of its own.
    pub shared: Option<DrawnNumber>,
    /// Where the values stand.
    pub place: Place,
}

/// A number that a question, or a lab for a parameter, draws by learner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnNumber {
    pub directive: String,
    pub name: String,
}

/// A drawn number as a setting.
pub(crate) fn drawn_value(x: f64) -> Value {
    if is_count(x) { Value::Int(x as i64) } else { Value::Float(x) }
}

pub(super) fn is_count(x: f64) -> bool {
    x.fract() == 0.0 && x.abs() < 2_f64.powi(53)
}

/// A number as an expression has it, in parentheses where it is negative.
pub(super) fn literal(x: f64) -> String {
    let text = if is_count(x) { format!("{}", x as i64) } else { format!("{x:?}") };
    if x < 0.0 { format!("({text})") } else { text }
}
