//! The value of a lesson's expression.

use super::{
    BinaryOp, Env, EvalError, EvalErrorKind, Expr, Function, LookupError, Name, Node, Point, Span,
    UnaryOp, Value,
};
use std::cmp::Ordering;
use std::sync::Arc;

/// Evaluates an expression of dialect [`Lesson`](super::Dialect::Lesson); never to a series, whose bare name is its
/// last value.
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
        (_, [argument]) => finite(elementary(function, number(argument, env)?, span)?, span),
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

/// A function of one number; the result may not be finite.
fn elementary(function: Function, x: f64, span: Span) -> Result<f64, EvalError> {
    Ok(match function {
        Function::Abs => x.abs(),
        Function::Sqrt => x.sqrt(),
        Function::Exp => x.exp(),
        Function::Log | Function::Ln => x.ln(),
        Function::Log2 => x.log2(),
        Function::Log10 => x.log10(),
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        Function::Tanh => x.tanh(),
        Function::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Function::Relu => x.max(0.0),
        Function::Floor => x.floor(),
        Function::Ceil => x.ceil(),
        Function::Round => x.round(),
        Function::First
        | Function::Last
        | Function::Min
        | Function::Max
        | Function::Mean
        | Function::Median
        | Function::Len
        | Function::At
        | Function::Close
        | Function::Xor
        | Function::If => return Err(EvalErrorKind::Foreign { function }.at(span)),
    })
}

fn aggregate(function: Function, argument: &Expr, env: &dyn Env) -> Result<f64, EvalError> {
    let (name, points) = series(argument, env)?;
    let count = points.len() as f64;
    if function == Function::Len {
        return Ok(count);
    }
    let values = points.iter().map(|(_, value)| *value);
    let value = match function {
        Function::First => values.clone().next(),
        Function::Last => values.clone().next_back(),
        Function::Min => values.reduce(f64::min),
        Function::Max => values.reduce(f64::max),
        Function::Mean => values.reduce(|sum, value| sum + value).map(|sum| sum / count),
        Function::Median => median(values.collect()),
        Function::Len
        | Function::At
        | Function::Close
        | Function::Abs
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Ln
        | Function::Log2
        | Function::Log10
        | Function::Sin
        | Function::Cos
        | Function::Tanh
        | Function::Sigmoid
        | Function::Relu
        | Function::Floor
        | Function::Ceil
        | Function::Round
        | Function::Xor
        | Function::If => return Err(EvalErrorKind::Foreign { function }.at(argument.span)),
    };
    value.ok_or_else(|| empty(name, argument.span))
}

/// The middle value, or halfway between the middle two.
fn median(mut values: Vec<f64>) -> Option<f64> {
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
