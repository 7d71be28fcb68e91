//! What the parser says about a source that it refuses.

use super::token::Token;
use super::{
    BinaryOp, Dialect, Expr, ExprError, Function, MAX_DEPTH, MAX_NODES, MAX_PROGRAM_NODES, Span,
};
use std::ops::RangeInclusive;

/// What other dialects have and this one lacks.
pub(super) fn foreign(dialect: Dialect, place: Span, what: &str) -> ExprError {
    let functions: Vec<_> = Function::names_in(dialect).collect();
    let operators = match dialect {
        Dialect::Graph => "+ - * / ^",
        Dialect::Lesson | Dialect::Pattern => "or and not == != < <= > >= + - * / % ^",
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

/// About a token that stands where a value should begin.
pub(super) fn no_value(dialect: Dialect, token: &Token, place: Span) -> ExprError {
    match token {
        Token::Text(text) => foreign(dialect, place, text),
        Token::Literal(value) => foreign(dialect, place, &value.to_string()),
        Token::Operator(BinaryOp::Add) => {
            ExprError::new(place, "there is no unary plus").help("leave the `+` out")
        }
        Token::End => ExprError::new(place, "a value is missing at the end"),
        Token::Number(_)
        | Token::Name(_)
        | Token::Operator(_)
        | Token::Not
        | Token::OpenParen
        | Token::CloseParen
        | Token::Comma
        | Token::Semicolon
        | Token::Assign => ExprError::new(place, "a value is missing here")
            .help("a number, a name, a function or a parenthesis can stand here"),
    }
}

/// About a token that stands behind a complete expression.
pub(super) fn no_continuation(token: &Token, place: Span) -> ExprError {
    match token {
        Token::Number(_)
        | Token::Text(_)
        | Token::Name(_)
        | Token::Literal(_)
        | Token::OpenParen => ExprError::new(place, "an operator is missing before this")
            .help("write 2*x, not 2x or 2 x"),
        Token::Not => {
            ExprError::new(place, "an operator is missing before `not`").help("write `a and not b`")
        }
        Token::CloseParen => ExprError::new(place, "this parenthesis was never opened"),
        Token::Assign => ExprError::new(place, "`=` assigns, which this place does not allow")
            .help("to compare, write `==`"),
        Token::Comma => ExprError::new(place, "a comma stands only between a function's arguments"),
        Token::Semicolon => ExprError::new(place, "only one expression can stand here"),
        Token::Operator(_) | Token::End => ExprError::new(place, "the expression should end here"),
    }
}
