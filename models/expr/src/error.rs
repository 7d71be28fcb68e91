//! What can be wrong with a source, and with a value.
use std::ops::RangeInclusive;

use crate::ast::{BinaryOp, Expr};
use crate::function::Function;
use crate::source::{Dialect, Excerpt, MAX_DEPTH, MAX_NODES, MAX_PROGRAM_NODES, Span};

/// A source that is not an expression: what is wrong, where, and the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", in_parentheses(.help.as_deref()))]
pub struct ExprError {
    /// What is wrong, without a full stop.
    pub message: String,
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
        let help = in_parentheses(self.help.as_deref());
        format!("{}, at {place}{help}\n  {line}\n  {mark}", self.message)
    }
}

/// The way out, behind a message.
fn in_parentheses(help: Option<&str>) -> String {
    help.map_or_else(String::new, |help| format!(" ({help})"))
}

/// An expression without a value: why, and which part of it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{kind}{}", in_parentheses(self.help().as_deref()))]
pub struct EvalError {
    pub kind: EvalErrorKind,
    pub span: Span,
}

/// Why an expression has no value; names are given as they stand in the source.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EvalErrorKind {
    #[error("nothing is called `{name}`")]
    UnknownName { name: String, nearest: Option<String> },
    /// The name is known but has no value here: a check that needs it is skipped.
    #[error("`{name}` has no value here: {reason}")]
    Missing { name: String, reason: String },
    #[error("{expected} is needed, but this is {found}")]
    Type { expected: &'static str, found: &'static str },
    #[error("the series `{name}` has no points")]
    EmptySeries { name: String },
    /// `at` asked for a step at which nothing was recorded; `nearest` is the recorded step next to it.
    #[error("the series `{name}` has no point at step {step}")]
    NoSuchStep { name: String, step: f64, nearest: u64 },
    #[error("the tolerance of `close` is negative")]
    NegativeTolerance,
    /// Infinite or undefined, as log(-1).
    #[error("the result is not a finite number")]
    NotFinite,
    /// Also zero raised to a negative power.
    #[error("division by zero")]
    DivisionByZero,
    #[error("a pattern works in integers, and this is none")]
    NotAnInteger,
    #[error("the integer is beyond 2^53")]
    TooLarge,
    #[error("the exponent of an integer power is negative")]
    NegativeExponent,
    /// A function of another dialect than the one evaluated.
    #[error("`{function}` has no meaning here")]
    Foreign { function: Function },
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

/// What other dialects have and this one lacks.
pub(super) fn foreign(dialect: Dialect, place: Span, what: &str) -> ExprError {
    let functions: Vec<_> = Function::names_in(dialect).collect();
    let operators = match dialect {
        Dialect::Graph => "+ - * / ^",
        Dialect::Lesson | Dialect::Pattern | Dialect::ClosedForm => {
            "or and not == != < <= > >= + - * / % ^"
        }
    };
    ExprError::new(place, format!("{dialect} has no `{what}`"))
        .help(format!("it has {operators} and {}", functions.join(", ")))
}

pub(super) fn dotted_name(dialect: Dialect, place: Span) -> ExprError {
    ExprError::new(place, format!("a name in {dialect} has no dots"))
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
    ExprError::new(place, format!("`{function}` takes {wanted}, not {found}"))
}

pub(super) fn no_series(function: Function, argument: &Expr) -> ExprError {
    let step = if function == Function::At { ", 100" } else { "" };
    ExprError::new(argument.span, format!("`{function}` takes the name of a series here"))
        .help(format!("for example {function}(run.loss{step})"))
}

pub(super) fn stray_literal(place: Span) -> ExprError {
    ExprError::new(place, "a text, `true` or `false` stands only next to `==` or `!=`")
}

pub(super) fn chained(first: BinaryOp, second: BinaryOp, place: Span) -> ExprError {
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
