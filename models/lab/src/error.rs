//! Why a parameter cannot be used, and why a run did not reach its end.

use mlsys_expr::ExprError;

use crate::device::DeviceId;
use crate::schema::{Range, Type};
use crate::value::Value;

/// Most errors of one expression that are shown: more have one cause.
pub const MOST_EXPRESSION_ERRORS: usize = 12;

/// Why a run did not reach its end. A run that diverges is no error: that is a result.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A parameter cannot be used.
    #[error("{0}")]
    Param(ParamError),
    /// Parameters that are fine one by one do not fit together.
    #[error("{}: {message}", .params.join(", "))]
    Contradiction {
        params: Vec<String>,
        /// What does not fit and what would.
        message: String,
    },
    /// A text parameter holds an expression that does not read; the message shows where.
    #[error("parameter '{param}': {message}")]
    Expression {
        param: String,
        /// The error with the expression and a mark under the place.
        message: String,
    },
    /// An analytic result is NaN or infinite.
    #[error("{metric} is not finite: {reason}")]
    NotFinite {
        metric: String,
        /// Where it comes from.
        reason: String,
    },
    /// A file the run needs cannot be used.
    #[error("{0}")]
    Data(String),
    /// The device cannot be opened.
    #[error("device {device} cannot be used: {reason}")]
    Device { device: DeviceId, reason: String },
    /// A worker process elsewhere cannot be used: which, what happened, and what to do.
    #[error("{0}")]
    Worker(String),
    /// The run failed on the device: out of memory, lost, or a panic in its thread.
    #[error("the run failed on {device}: {reason}")]
    Failed { device: DeviceId, reason: String },
}

impl LabError {
    /// Parameters that do not fit together.
    pub fn contradiction<'a>(
        params: impl IntoIterator<Item = &'a str>,
        message: impl Into<String>,
    ) -> Self {
        Self::Contradiction {
            params: params.into_iter().map(str::to_owned).collect(),
            message: message.into(),
        }
    }

    /// A parameter's expression with an error.
    pub fn expression(param: &str, source: &str, error: &ExprError) -> Self {
        Self::expressions(param, source, std::slice::from_ref(error))
    }

    /// A parameter's expression with several errors, of which the first [`MOST_EXPRESSION_ERRORS`] are shown.
    pub fn expressions(param: &str, source: &str, errors: &[ExprError]) -> Self {
        let shown = errors.iter().take(MOST_EXPRESSION_ERRORS).map(|error| error.shown(source));
        let more = errors.len().saturating_sub(MOST_EXPRESSION_ERRORS);
        let more = (more > 0).then(|| format!("and {more} more like these"));
        let message = shown.chain(more).collect::<Vec<_>>().join("\n");
        Self::Expression { param: param.to_owned(), message }
    }

    /// Whether the input is wrong, rather than the run having failed.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Param(_) | Self::Contradiction { .. } | Self::Expression { .. } => true,
            Self::NotFinite { .. }
            | Self::Data(_)
            | Self::Device { .. }
            | Self::Worker(_)
            | Self::Failed { .. } => false,
        }
    }
}

/// A parameter that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("parameter '{param}': {problem}")]
pub struct ParamError {
    /// The name as given.
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
    #[error("{value} is outside {}", Range::between(*.min, *.max))]
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
