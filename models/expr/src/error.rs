//! What can be wrong with a source, and with a value.
use std::fmt;
use std::ops::RangeInclusive;

use crate::ast::{BinaryOp, Expr};
use crate::excerpt::Excerpt;
use crate::function::Function;
use crate::source::{Dialect, MAX_DEPTH, MAX_NODES, MAX_PROGRAM_NODES, Span};

/// A source that is not an expression: what is wrong, where, and the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExprError {
    /// What is wrong, without a full stop.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to write instead, where that can be told.
    pub help: Option<String>,
}

impl ExprError {
    pub(super) fn new(span: Span, message: impl Into<String>) -> ExprError {
        ExprError { message: message.into(), span, help: None }
    }

    pub(super) fn help(self, help: impl Into<String>) -> ExprError {
        ExprError { help: Some(help.into()), ..self }
    }

    /// Where it is wrong, in characters from 1.
    pub fn column(&self, source: &str) -> usize {
        self.span.column(source)
    }

    /// Message and place, the line of the source, and carets under the place.
    pub fn shown(&self, source: &str) -> String {
        let before = source.get(..self.span.start).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = source.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or("");
        let column = before.chars().rev().take_while(|&c| c != '\n').count();
        let marked = source.get(self.span.start..self.span.end).unwrap_or("");
        let length = marked.chars().take_while(|&c| c != '\n').count();
        let Excerpt { line, mark } = Excerpt::new(line, column, length);
        let place = if source.contains('\n') {
            format!("line {}, column {}", before.matches('\n').count() + 1, column + 1)
        } else {
            format!("column {}", column + 1)
        };
        let help = self.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{}, at {place}{help}\n  {line}\n  {mark}", self.message)
    }
}

impl fmt::Display for ExprError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ExprError {}

/// An expression without a value: why, and which part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalError {
    /// Why there is no value.
    pub kind: EvalErrorKind,
    /// The part of the expression that has none.
    pub span: Span,
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq)]
pub enum EvalErrorKind {
    /// There is no such name.
    UnknownName {
        /// The name as it stands in the source.
        name: String,
        /// The name that was perhaps meant.
        nearest: Option<String>,
    },
    /// The name is known but has no value here: a check that needs it is skipped.
    Missing {
        /// The name as it stands in the source.
        name: String,
        /// Why it has no value.
        reason: String,
    },
    /// A value of another kind was needed.
    Type {
        /// The kind that was needed.
        expected: &'static str,
        /// The kind that was found.
        found: &'static str,
    },
    /// A series without points has no value.
    EmptySeries {
        /// The name of the series.
        name: String,
    },
    /// `at` asked for a step at which nothing was recorded.
    NoSuchStep {
        /// The name of the series.
        name: String,
        /// The step that was asked for.
        step: f64,
        /// The recorded step next to it.
        nearest: u64,
    },
    /// The tolerance of `close` is less than zero.
    NegativeTolerance,
    /// The result is infinite or undefined, as of log(-1).
    NotFinite,
    /// Also of zero raised to a negative power.
    DivisionByZero,
    /// In a pattern: a number that is no integer.
    NotAnInteger,
    /// In a pattern: an integer beyond 2^53.
    TooLarge,
    /// In a pattern: a power with a negative exponent.
    NegativeExponent,
    /// A function of another dialect than the one evaluated.
    Foreign {
        /// The function that has no meaning here.
        function: Function,
    },
}

impl EvalErrorKind {
    pub(super) const fn at(self, span: Span) -> EvalError {
        EvalError { kind: self, span }
    }
}

impl EvalError {
    /// Why a known name has no value here, where that is all that stands in the way.
    pub fn missing(&self) -> Option<&str> {
        if let EvalErrorKind::Missing { reason, .. } = &self.kind { Some(reason) } else { None }
    }

    /// The way out, where there is one to tell.
    pub fn help(&self) -> Option<String> {
        if let EvalErrorKind::UnknownName { nearest: Some(name), .. } = &self.kind {
            Some(format!("did you mean `{name}`?"))
        } else if let EvalErrorKind::NoSuchStep { nearest, .. } = &self.kind {
            Some(format!("the nearest recorded step is {nearest}"))
        } else {
            None
        }
    }

    /// Where it goes wrong, in characters from 1.
    pub fn column(&self, source: &str) -> usize {
        self.span.column(source)
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            EvalErrorKind::UnknownName { name, .. } => write!(f, "nothing is called `{name}`")?,
            EvalErrorKind::Missing { name, reason } => {
                write!(f, "`{name}` has no value here: {reason}")?
            }
            EvalErrorKind::Type { expected, found } => {
                write!(f, "{expected} is needed, but this is {found}")?
            }
            EvalErrorKind::EmptySeries { name } => write!(f, "the series `{name}` has no points")?,
            EvalErrorKind::NoSuchStep { name, step, .. } => {
                write!(f, "the series `{name}` has no point at step {step}")?;
            }
            EvalErrorKind::NegativeTolerance => {
                f.write_str("the tolerance of `close` is negative")?
            }
            EvalErrorKind::NotFinite => f.write_str("the result is not a finite number")?,
            EvalErrorKind::DivisionByZero => f.write_str("division by zero")?,
            EvalErrorKind::NotAnInteger => {
                f.write_str("a pattern works in integers, and this is none")?
            }
            EvalErrorKind::TooLarge => f.write_str("the integer is beyond 2^53")?,
            EvalErrorKind::NegativeExponent => {
                f.write_str("the exponent of an integer power is negative")?
            }
            EvalErrorKind::Foreign { function } => {
                write!(f, "`{}` has no meaning here", function.name())?;
            }
        }
        match self.help() {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for EvalError {}

/// What other dialects have and this one lacks.
pub(super) fn foreign(dialect: Dialect, place: Span, what: &str) -> ExprError {
    let functions: Vec<_> = Function::names_in(dialect).collect();
    let operators = match dialect {
        Dialect::Graph => "+ - * / ^",
        Dialect::Lesson | Dialect::Pattern | Dialect::ClosedForm => {
            "or and not == != < <= > >= + - * / % ^"
        }
    };
    ExprError::new(place, format!("{} has no `{what}`", dialect.place()))
        .help(format!("it has {operators} and {}", functions.join(", ")))
}

pub(super) fn dotted_name(dialect: Dialect, place: Span) -> ExprError {
    ExprError::new(place, format!("a name in {} has no dots", dialect.place()))
}

pub(super) fn unknown_function(dialect: Dialect, place: Span, name: &str) -> ExprError {
    let help = match Function::suggestion(name, dialect) {
        Some(known) => format!("did you mean `{known}`?"),
        None => format!("to multiply, write {name}*(...)"),
    };
    ExprError::new(place, format!("there is no function `{name}`")).help(help)
}

pub(super) fn wrong_arity(
    function: Function,
    arity: &RangeInclusive<usize>,
    found: usize,
    place: Span,
) -> ExprError {
    let wanted = match (*arity.start(), *arity.end()) {
        (1, 1) => "1 argument".to_owned(),
        (least, most) if least == most => format!("{least} arguments"),
        (least, most) => format!("{least} to {most} arguments"),
    };
    let name = function.name();
    ExprError::new(place, format!("`{name}` takes {wanted}, not {found}"))
}

pub(super) fn no_series(function: Function, argument: &Expr) -> ExprError {
    let name = function.name();
    let step = if function == Function::At { ", 100" } else { "" };
    ExprError::new(argument.span, format!("`{name}` takes the name of a series here"))
        .help(format!("for example {name}(run.loss{step})"))
}

pub(super) fn stray_literal(place: Span) -> ExprError {
    ExprError::new(place, "a text, `true` or `false` stands only beside `==` or `!=`")
}

pub(super) fn chained(first: BinaryOp, second: BinaryOp, place: Span) -> ExprError {
    let (first, second) = (first.symbol(), second.symbol());
    ExprError::new(place, "comparisons cannot be chained")
        .help(format!("join two comparisons: `a {first} b and b {second} c`"))
}

pub(super) fn loose_not(place: Span) -> ExprError {
    ExprError::new(place, "`not` binds too loosely to stand here")
        .help("put it in parentheses: `(not x)`")
}

pub(super) fn too_deep(place: Span) -> ExprError {
    ExprError::new(place, format!("nested more than {MAX_DEPTH} levels deep"))
        .help("split it, or group a long chain of operators with parentheses")
}

pub(super) fn too_large(place: Span) -> ExprError {
    let message = format!("an expression has at most {MAX_NODES} numbers, names and operators");
    ExprError::new(place, message)
}

pub(super) fn too_many_statements(place: Span) -> ExprError {
    let message = format!("a graph has at most {MAX_PROGRAM_NODES} numbers, names and operators");
    ExprError::new(place, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_shown_at_its_place() {
        let error = |start, end, help: Option<&str>| ExprError {
            message: "wrong".to_owned(),
            span: Span { start, end },
            help: help.map(str::to_owned),
        };
        for (source, error, expected) in [
            ("a + bc", error(4, 6, None), "wrong, at column 5\n  a + bc\n      ^^"),
            ("a +", error(3, 3, Some("add it")), "wrong, at column 4 (add it)\n  a +\n     ^"),
            ("a;\nb + ?", error(7, 8, None), "wrong, at line 2, column 5\n  b + ?\n      ^"),
        ] {
            assert_eq!(error.shown(source), expected);
        }
    }
}
