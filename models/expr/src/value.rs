//! What names stand for while an expression is evaluated.

use std::sync::Arc;

/// One point of a series: the step and the finite value recorded there.
pub type Point = (u64, f64);

/// What a name stands for, or an expression comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A finite number.
    Number(f64),
    /// A text, such as the name of a device.
    Text(String),
    /// A truth value.
    Bool(bool),
    /// Points in the order they were recorded, shared rather than copied.
    Series(Arc<[Point]>),
}

impl Value {
    /// What kind of value it is, for messages.
    pub const fn kind(&self) -> &'static str {
        match self {
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::Bool(_) => "true or false",
            Value::Series(_) => "a series",
        }
    }
}

/// Gives names their values.
pub trait Env {
    /// The value of `name`, dots included.
    fn lookup(&self, name: &str) -> Result<Value, LookupError>;
}

/// Why a name has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupError {
    /// There is no such name; perhaps another one was meant.
    Unknown {
        /// The known name nearest to it.
        nearest: Option<String>,
    },
    /// The name is known but has no value here, for the reason given: the check is skipped, not failed.
    Missing {
        /// Why there is no value, for the learner to read.
        reason: String,
    },
}
