//! The value of a lesson's expression.
use std::cmp::Ordering;
use std::sync::Arc;

use crate::ast::{BinaryOp, Expr, Name, Node, UnaryOp};
use crate::error::{EvalError, EvalErrorKind};
use crate::function::Function;
use crate::source::Span;

/// Evaluates an expression of dialect [`Lesson`](super::Dialect::Lesson); a series counts as its last value.
///
/// Comparisons and logic give `Bool`. Where a number is needed, true counts as 1 and false as 0; where a truth value
/// is needed, a number other than 0 is true. `and` and `or` leave out the right operand where the left decides.
///
/// # Errors
/// A name without a value, a value of the wrong kind, or a result that is not a finite number, with its place.
pub fn evaluate(expr: &Expr, env: &dyn Env) -> Result<Value, EvalError> {
    match &expr.node {
        Node::Number(value) => Ok(Value::Number(*value)),
        Node::Text(text) => Ok(Value::Text(text.clone())),
        Node::Bool(value) => Ok(Value::Bool(*value)),
        Node::Name(name) => match lookup(name, expr.span, env)? {
            Value::Series(points) => match points.last() {
                Some((_, value)) => finite(*value, expr.span),
                None => Err(empty(name, expr.span)),
            },
            Value::Number(value) => finite(value, expr.span),
            value @ (Value::Text(_) | Value::Bool(_)) => Ok(value),
        },
        Node::Unary(UnaryOp::Not, operand) => Ok(Value::Bool(!truth(operand, env)?)),
        Node::Unary(UnaryOp::Negate, operand) => Ok(Value::Number(-number(operand, env)?)),
        Node::Binary(op, left, right) => binary(*op, left, right, expr.span, env),
        Node::Call(function, arguments) => call(*function, arguments, expr.span, env),
    }
}

fn binary(
    op: BinaryOp,
    left: &Expr,
    right: &Expr,
    span: Span,
    env: &dyn Env,
) -> Result<Value, EvalError> {
    match op {
        BinaryOp::Or => Ok(Value::Bool(truth(left, env)? || truth(right, env)?)),
        BinaryOp::And => Ok(Value::Bool(truth(left, env)? && truth(right, env)?)),
        BinaryOp::Equal => equal(left, right, env).map(Value::Bool),
        BinaryOp::NotEqual => equal(left, right, env).map(|equal| Value::Bool(!equal)),
        BinaryOp::Less => compare(left, right, env, Ordering::is_lt),
        BinaryOp::LessOrEqual => compare(left, right, env, Ordering::is_le),
        BinaryOp::Greater => compare(left, right, env, Ordering::is_gt),
        BinaryOp::GreaterOrEqual => compare(left, right, env, Ordering::is_ge),
        BinaryOp::Add => finite(number(left, env)? + number(right, env)?, span),
        BinaryOp::Subtract => finite(number(left, env)? - number(right, env)?, span),
        BinaryOp::Multiply => finite(number(left, env)? * number(right, env)?, span),
        BinaryOp::Divide => {
            let dividend = number(left, env)?;
            finite(dividend / divisor(right, env)?, span)
        }
        BinaryOp::Remainder => {
            let dividend = number(left, env)?;
            finite(dividend % divisor(right, env)?, span)
        }
        BinaryOp::Power => {
            let (base, exponent) = (number(left, env)?, number(right, env)?);
            if base == 0.0 && exponent < 0.0 {
                return Err(EvalErrorKind::DivisionByZero.at(span));
            }
            finite(base.powf(exponent), span)
        }
    }
}

fn equal(left: &Expr, right: &Expr, env: &dyn Env) -> Result<bool, EvalError> {
    match (evaluate(left, env)?, evaluate(right, env)?) {
        (Value::Text(left), Value::Text(right)) => Ok(left == right),
        (Value::Text(_), other) => Err(mismatch("a text", &other, right.span)),
        (other, Value::Text(_)) => Err(mismatch("a text", &other, left.span)),
        (a, b) => Ok(as_number(&a, left.span)? == as_number(&b, right.span)?),
    }
}

fn compare(
    left: &Expr,
    right: &Expr,
    env: &dyn Env,
    holds: fn(Ordering) -> bool,
) -> Result<Value, EvalError> {
    let (left, right) = (number(left, env)?, number(right, env)?);
    Ok(Value::Bool(left.partial_cmp(&right).is_some_and(holds)))
}

fn call(
    function: Function,
    arguments: &[Expr],
    span: Span,
    env: &dyn Env,
) -> Result<Value, EvalError> {
    match (function, arguments) {
        (_, [argument]) if function.takes_series(1) => {
            finite(aggregate(function, argument, env)?, span)
        }
        (_, [argument]) => {
            let value = function.of_one(number(argument, env)?);
            finite(value.ok_or_else(|| EvalErrorKind::Foreign { function }.at(span))?, span)
        }
        (Function::At, [series, step]) => finite(value_at(series, step, env)?, span),
        (Function::Min, [a, b]) => Ok(Value::Number(number(a, env)?.min(number(b, env)?))),
        (Function::Max, [a, b]) => Ok(Value::Number(number(a, env)?.max(number(b, env)?))),
        (Function::Close, [a, b, tolerance]) => {
            let (a, b, relative) = (number(a, env)?, number(b, env)?, number(tolerance, env)?);
            if relative < 0.0 {
                return Err(EvalErrorKind::NegativeTolerance.at(tolerance.span));
            }
            Ok(Value::Bool((a - b).abs() <= relative * a.abs().max(b.abs())))
        }
        _ => Err(EvalErrorKind::Foreign { function }.at(span)),
    }
}

type OfSeries = fn(&[Point]) -> Option<f64>;

/// The functions of a series; none has a value but `len` where the series has no points.
const OF_SERIES: [(Function, OfSeries); 7] = [
    (Function::First, |points| points.first().map(|point| point.1)),
    (Function::Last, |points| points.last().map(|point| point.1)),
    (Function::Min, |points| values(points).reduce(f64::min)),
    (Function::Max, |points| values(points).reduce(f64::max)),
    (Function::Mean, |points| {
        values(points).reduce(|sum, value| sum + value).map(|sum| sum / points.len() as f64)
    }),
    (Function::Median, |points| median(values(points))),
    (Function::Len, |points| Some(points.len() as f64)),
];

fn values(points: &[Point]) -> impl Iterator<Item = f64> {
    points.iter().map(|point| point.1)
}

fn aggregate(function: Function, argument: &Expr, env: &dyn Env) -> Result<f64, EvalError> {
    let (name, points) = series(argument, env)?;
    match OF_SERIES.iter().find(|(known, _)| *known == function) {
        Some((_, value)) => value(&points).ok_or_else(|| empty(name, argument.span)),
        None => Err(EvalErrorKind::Foreign { function }.at(argument.span)),
    }
}

/// The middle value, or halfway between the middle two; none of none.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2)?;
    let lower = values.get((values.len() - 1) / 2)?;
    Some(lower / 2.0 + upper / 2.0)
}

fn value_at(argument: &Expr, step: &Expr, env: &dyn Env) -> Result<f64, EvalError> {
    let (name, points) = series(argument, env)?;
    let wanted = number(step, env)?;
    let distance = |at: u64| (at as f64 - wanted).abs();
    let nearest = points.iter().min_by(|(a, _), (b, _)| distance(*a).total_cmp(&distance(*b)));
    match nearest {
        Some((at, value)) if distance(*at) == 0.0 => Ok(*value),
        Some((at, _)) => {
            Err(EvalErrorKind::NoSuchStep { name: name.to_string(), step: wanted, nearest: *at }
                .at(step.span))
        }
        None => Err(empty(name, argument.span)),
    }
}

fn series<'a>(argument: &'a Expr, env: &dyn Env) -> Result<(&'a Name, Arc<[Point]>), EvalError> {
    let Node::Name(name) = &argument.node else {
        return Err(mismatch("a series", &evaluate(argument, env)?, argument.span));
    };
    match lookup(name, argument.span, env)? {
        Value::Series(points) => Ok((name, points)),
        other @ (Value::Number(_) | Value::Text(_) | Value::Bool(_)) => {
            Err(mismatch("a series", &other, argument.span))
        }
    }
}

fn lookup(name: &Name, span: Span, env: &dyn Env) -> Result<Value, EvalError> {
    env.lookup(name.as_str()).map_err(|error| {
        let name = name.to_string();
        match error {
            LookupError::Unknown { nearest } => EvalErrorKind::UnknownName { name, nearest },
            LookupError::Missing { reason } => EvalErrorKind::Missing { name, reason },
        }
        .at(span)
    })
}

fn number(expr: &Expr, env: &dyn Env) -> Result<f64, EvalError> {
    as_number(&evaluate(expr, env)?, expr.span)
}

fn truth(expr: &Expr, env: &dyn Env) -> Result<bool, EvalError> {
    Ok(number(expr, env)? != 0.0)
}

fn as_number(value: &Value, span: Span) -> Result<f64, EvalError> {
    match value {
        Value::Number(number) => Ok(*number),
        Value::Bool(truth) => Ok(f64::from(u8::from(*truth))),
        Value::Text(_) | Value::Series(_) => Err(mismatch("a number", value, span)),
    }
}

fn divisor(expr: &Expr, env: &dyn Env) -> Result<f64, EvalError> {
    let divisor = number(expr, env)?;
    if divisor == 0.0 { Err(EvalErrorKind::DivisionByZero.at(expr.span)) } else { Ok(divisor) }
}

fn finite(value: f64, span: Span) -> Result<Value, EvalError> {
    if value.is_finite() {
        Ok(Value::Number(value))
    } else {
        Err(EvalErrorKind::NotFinite.at(span))
    }
}

fn mismatch(expected: &'static str, found: &Value, span: Span) -> EvalError {
    EvalErrorKind::Type { expected, found: found.kind() }.at(span)
}

fn empty(name: &Name, span: Span) -> EvalError {
    EvalErrorKind::EmptySeries { name: name.to_string() }.at(span)
}

/// One point of a series: the step and the finite value recorded there.
pub type Point = (u64, f64);

/// What a name stands for, or an expression comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Number(f64),
    Text(String),
    Bool(bool),
    /// Points in the order they were recorded, shared rather than copied.
    Series(Arc<[Point]>),
}

impl Value {
    pub const fn kind(&self) -> &'static str {
        match self {
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::Bool(_) => "true or false",
            Value::Series(_) => "a series",
        }
    }
}

pub trait Env {
    fn lookup(&self, name: &str) -> Result<Value, LookupError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupError {
    /// There is no such name; perhaps another one was meant.
    Unknown { nearest: Option<String> },
    /// The name is known but has no value here, for the reason given: the check is skipped, not failed.
    Missing {
        /// Why there is no value, for the learner to read.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use crate::nearest::nearest;
    use crate::properties::table;
    use crate::{Dialect, Env, LookupError, Value, evaluate, parse};
    use std::sync::Arc;

    struct Lesson;

    const NAMES: [&str; 6] =
        ["run.loss", "run.none", "run.steps", "two.identical", "device.name", "answer.grad.x"];

    impl Env for Lesson {
        fn lookup(&self, name: &str) -> Result<Value, LookupError> {
            match name {
                "run.loss" => {
                    Ok(Value::Series(Arc::from([(0, 4.0), (10, 1.0), (20, 3.0), (25, 2.0)])))
                }
                "run.none" => Ok(Value::Series(Arc::from([]))),
                "run.steps" => Ok(Value::Number(40.0)),
                "two.identical" => Ok(Value::Bool(true)),
                "device.name" => Ok(Value::Text("flex".to_owned())),
                "answer.grad.x" => Ok(Value::Number(7.000_000_001)),
                "device.peak_flops_per_second" => {
                    Err(LookupError::Missing { reason: "no saved device-peak run".to_owned() })
                }
                _ => Err(LookupError::Unknown { nearest: nearest(name, NAMES).map(str::to_owned) }),
            }
        }
    }

    /// The value, or the part of the source that has none and why.
    fn value(source: &str) -> Result<Value, (String, String)> {
        let expr =
            parse(source, Dialect::Lesson).map_err(|error| (String::new(), error.to_string()))?;
        evaluate(&expr, &Lesson).map_err(|error| {
            let part = source.get(error.span.start..error.span.end).unwrap_or("");
            (part.to_owned(), error.to_string())
        })
    }

    #[test]
    fn numbers() {
        for [source, expected] in table(include_str!("tests/numbers.txt")) {
            assert_eq!(value(source), Ok(Value::Number(expected.parse().unwrap())), "{source}");
        }
    }

    #[test]
    fn truths() {
        for [source, expected] in table(include_str!("tests/truths.txt")) {
            assert_eq!(value(source), Ok(Value::Bool(expected == "true")), "{source}");
        }
    }

    #[test]
    fn errors_name_the_part_that_has_no_value() {
        for [source, part, message] in table(include_str!("tests/without_value.txt")) {
            assert_eq!(value(source), Err((part.to_owned(), message.to_owned())), "{source}");
        }
    }

    #[test]
    fn missing_values_are_no_failures() -> Result<(), crate::ExprError> {
        let peak = evaluate(&parse("device.peak_flops_per_second > 1", Dialect::Lesson)?, &Lesson);
        assert_eq!(
            peak.as_ref().err().and_then(|error| error.missing()),
            Some("no saved device-peak run")
        );
        let typo = evaluate(&parse("run.lsos > 1", Dialect::Lesson)?, &Lesson);
        assert_eq!(typo.as_ref().err().and_then(|error| error.missing()), None);
        assert_eq!(
            typo.err().map(|error| error.to_string()).as_deref(),
            Some("nothing is called `run.lsos` (did you mean `run.loss`?)")
        );
        Ok(())
    }
}
