//! What can be wrong with a parameter, and what to do about it.

use crate::schema::Type;
use crate::value::{Value, number};

/// A parameter that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("parameter '{param}': {problem}")]
pub struct ParamError {
    /// The name as somebody wrote it.
    pub param: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// The ways a parameter can be wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The lab has no such parameter.
    #[error("no such parameter{}", hint(.nearest, .known))]
    Unknown {
        /// The nearest name.
        nearest: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// A value of another type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// What it takes.
        expected: Type,
        /// What was given, described.
        found: String,
    },
    /// A number outside its range.
    #[error("{value} is outside {}", range(*.min, *.max))]
    OutOfRange {
        /// The number given.
        value: Value,
        /// Smallest allowed.
        min: Option<f64>,
        /// Largest allowed.
        max: Option<f64>,
    },
    /// A name that is none of an enum's.
    #[error("'{value}' is not one of its values{}", hint(.nearest, .known))]
    NotOneOf {
        /// The name given.
        value: String,
        /// The nearest allowed name.
        nearest: Option<String>,
        /// All allowed names.
        known: Vec<String>,
    },
    /// A metric needs it and nothing supplies it.
    #[error("it is unset{}; set it with --set NAME=VALUE", entry_hint(.entry))]
    Unset {
        /// The table entry that was to supply it.
        entry: Option<String>,
    },
    /// It was set twice.
    #[error("it is set more than once")]
    Repeated,
    /// It names something on the user's machine, so a lesson may not set it.
    #[error("only the command line may set it")]
    CommandLineOnly,
    /// It cannot change while the run goes on.
    #[error("it cannot change during a run; set it before the run starts")]
    NotLive,
}

fn hint(nearest: &Option<String>, known: &[String]) -> String {
    match nearest {
        Some(name) => format!("; did you mean '{name}'?"),
        None if known.is_empty() => String::new(),
        None => format!("; there are: {}", known.join(", ")),
    }
}

fn entry_hint(entry: &Option<String>) -> String {
    match entry {
        Some(entry) => format!(" (table entry {entry} does not exist)"),
        None => String::new(),
    }
}

fn range(min: Option<f64>, max: Option<f64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("{} to {}", number(min), number(max)),
        (Some(min), None) => format!("{} and above", number(min)),
        (None, Some(max)) => format!("{} and below", number(max)),
        (None, None) => "its range".to_owned(),
    }
}
