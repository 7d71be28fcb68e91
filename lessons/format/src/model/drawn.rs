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

/// The numbers that a directive names, and the directive before they are put in.
#[derive(Clone, Debug, PartialEq)]
pub struct Variants<T> {
    /// The names in file order, each with two values or more; the first of each is printed where there is no learner.
    pub names: Vec<Varied>,
    /// The values drawn, in the order of the names.
    pub drawn: Vec<f64>,
    /// The directive as it is written, with names in place of numbers.
    pub written: T,
}

impl Varied {
    /// What it takes where the question alone is drawn: of another directive's number the printed one.
    pub(super) fn own_values(&self) -> &[f64] {
        if self.shared.is_some() { &self.values[..1] } else { &self.values }
    }

    /// The directive and the name that it is drawn for.
    pub(crate) fn origin(&self, directive: &str) -> DrawnNumber {
        let own = || DrawnNumber { directive: directive.to_owned(), name: self.name.value.clone() };
        self.shared.clone().unwrap_or_else(own)
    }
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
