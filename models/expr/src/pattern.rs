//! The value of a pattern over threads: integer arithmetic as a kernel would do it.
use crate::ast::{BinaryOp, Expr, Node, UnaryOp};
use crate::error::{EvalError, EvalErrorKind};
use crate::function::Function;
use crate::source::Span;

/// Largest magnitude of an integer: up to here a double holds every integer exactly.
const LARGEST: i64 = 1 << 53;

/// Evaluates an expression of dialect [`Pattern`](super::Dialect::Pattern) in integers.
///
/// Division truncates towards zero and `%` takes the sign of its left operand, as in C. Comparisons and logic give 1
/// or 0. `and`, `or` and `if` evaluate only what they need.
///
/// # Errors
/// A name that `lookup` does not know, division by zero, a negative exponent, or a value beyond 2^53.
pub fn evaluate_pattern(
    expr: &Expr,
    lookup: &dyn Fn(&str) -> Option<i64>,
) -> Result<i64, EvalError> {
    let span = expr.span;
    match &expr.node {
        Node::Number(value) => integer(*value, span),
        Node::Text(_) | Node::Bool(_) => Err(EvalErrorKind::NotAnInteger.at(span)),
        Node::Name(name) => match lookup(name.as_str()) {
            Some(value) => bounded(Some(value), span),
            None => {
                let name = name.to_string();
                Err(EvalErrorKind::UnknownName { name, nearest: None }.at(span))
            }
        },
        Node::Unary(UnaryOp::Not, operand) => {
            Ok(i64::from(evaluate_pattern(operand, lookup)? == 0))
        }
        Node::Unary(UnaryOp::Negate, operand) => Ok(-evaluate_pattern(operand, lookup)?),
        Node::Binary(BinaryOp::Or, left, right) => Ok(i64::from(
            evaluate_pattern(left, lookup)? != 0 || evaluate_pattern(right, lookup)? != 0,
        )),
        Node::Binary(BinaryOp::And, left, right) => Ok(i64::from(
            evaluate_pattern(left, lookup)? != 0 && evaluate_pattern(right, lookup)? != 0,
        )),
        Node::Binary(op, left, right) => {
            arithmetic(*op, evaluate_pattern(left, lookup)?, evaluate_pattern(right, lookup)?, span)
        }
        Node::Call(function, arguments) => call(*function, arguments, span, lookup),
    }
}

fn arithmetic(op: BinaryOp, a: i64, b: i64, span: Span) -> Result<i64, EvalError> {
    match op {
        BinaryOp::Or => Ok(i64::from(a != 0 || b != 0)),
        BinaryOp::And => Ok(i64::from(a != 0 && b != 0)),
        BinaryOp::Equal => Ok(i64::from(a == b)),
        BinaryOp::NotEqual => Ok(i64::from(a != b)),
        BinaryOp::Less => Ok(i64::from(a < b)),
        BinaryOp::LessOrEqual => Ok(i64::from(a <= b)),
        BinaryOp::Greater => Ok(i64::from(a > b)),
        BinaryOp::GreaterOrEqual => Ok(i64::from(a >= b)),
        BinaryOp::Add => bounded(a.checked_add(b), span),
        BinaryOp::Subtract => bounded(a.checked_sub(b), span),
        BinaryOp::Multiply => bounded(a.checked_mul(b), span),
        BinaryOp::Divide | BinaryOp::Remainder if b == 0 => {
            Err(EvalErrorKind::DivisionByZero.at(span))
        }
        BinaryOp::Divide => bounded(a.checked_div(b), span),
        BinaryOp::Remainder => bounded(a.checked_rem(b), span),
        BinaryOp::Power if b < 0 => Err(EvalErrorKind::NegativeExponent.at(span)),
        BinaryOp::Power => bounded(power(a, b), span),
    }
}

/// `base^exponent` for an exponent of at least 0, or `None` on overflow.
fn power(base: i64, exponent: i64) -> Option<i64> {
    match base {
        // The only bases with powers that stay small for every exponent.
        -1..=1 if exponent > 1 => base.checked_pow(if exponent % 2 == 0 { 2 } else { 1 }),
        _ => base.checked_pow(u32::try_from(exponent).ok()?),
    }
}

fn call(
    function: Function,
    arguments: &[Expr],
    span: Span,
    lookup: &dyn Fn(&str) -> Option<i64>,
) -> Result<i64, EvalError> {
    match (function, arguments) {
        (Function::If, [condition, then, otherwise]) => {
            let taken = if evaluate_pattern(condition, lookup)? != 0 { then } else { otherwise };
            evaluate_pattern(taken, lookup)
        }
        (Function::Abs, [x]) => Ok(evaluate_pattern(x, lookup)?.abs()),
        (Function::Min, [a, b]) => {
            Ok(evaluate_pattern(a, lookup)?.min(evaluate_pattern(b, lookup)?))
        }
        (Function::Max, [a, b]) => {
            Ok(evaluate_pattern(a, lookup)?.max(evaluate_pattern(b, lookup)?))
        }
        (Function::Xor, [a, b]) => {
            bounded(Some(evaluate_pattern(a, lookup)? ^ evaluate_pattern(b, lookup)?), span)
        }
        _ => Err(EvalErrorKind::Foreign { function }.at(span)),
    }
}

pub(super) fn integer(value: f64, span: Span) -> Result<i64, EvalError> {
    if value.fract() != 0.0 {
        return Err(EvalErrorKind::NotAnInteger.at(span));
    }
    if value.abs() > LARGEST as f64 {
        return Err(EvalErrorKind::TooLarge.at(span));
    }
    Ok(value as i64)
}

fn bounded(value: Option<i64>, span: Span) -> Result<i64, EvalError> {
    value
        .filter(|value| (-LARGEST..=LARGEST).contains(value))
        .ok_or_else(|| EvalErrorKind::TooLarge.at(span))
}

#[cfg(test)]
mod tests {
    use super::evaluate_pattern;
    use crate::properties::table;
    use crate::{Dialect, EvalErrorKind, ExprError, parse};

    fn value(source: &str, lane: i64) -> Result<Result<i64, EvalErrorKind>, ExprError> {
        let expr = parse(source, Dialect::Pattern)?;
        let lookup = |name: &str| match name {
            "lane" => Some(lane),
            "warpSize" => Some(32),
            "huge" => Some(i64::MIN),
            _ => None,
        };
        Ok(evaluate_pattern(&expr, &lookup).map_err(|error| error.kind))
    }

    #[test]
    fn computes_as_c_does() -> Result<(), ExprError> {
        for [source, lane, expected] in table(include_str!("tests/patterns.txt")) {
            let (lane, expected) = (lane.parse().unwrap(), expected.parse().unwrap());
            assert_eq!(value(source, lane)?, Ok(expected), "{source} at lane {lane}");
        }
        Ok(())
    }

    #[test]
    fn takes_one_branch_only() -> Result<(), ExprError> {
        for source in ["if(1, 7, 1/0)", "if(0, 1/0, 7)", "7*(0 == (0 and 1/0))", "7*(1 or 1/0)"] {
            assert_eq!(value(source, 0)?, Ok(7), "{source}");
        }
        Ok(())
    }

    #[test]
    fn refuses_invalid_integer_arithmetic() -> Result<(), ExprError> {
        for (source, expected) in [
            ("1/lane", EvalErrorKind::DivisionByZero),
            ("1%lane", EvalErrorKind::DivisionByZero),
            ("2^-1", EvalErrorKind::NegativeExponent),
            ("2^54", EvalErrorKind::TooLarge),
            ("2^9007199254740991", EvalErrorKind::TooLarge),
            ("2^53*2^53", EvalErrorKind::TooLarge),
            ("2^53 + 1", EvalErrorKind::TooLarge),
            ("huge", EvalErrorKind::TooLarge),
            ("tidd", EvalErrorKind::UnknownName { name: "tidd".into(), nearest: None }),
        ] {
            assert_eq!(value(source, 0)?, Err(expected), "{source}");
        }
        for (source, message) in [
            ("1.5*lane", "a pattern works in integers, and this is none"),
            ("9007199254740994", "the integer is beyond 2^53"),
            ("lane.x", "a name in a pattern over threads has no dots"),
            ("sqrt(lane)", "a pattern over threads has no `sqrt`"),
            ("true", "a pattern over threads has no `true`"),
            ("xor(lane)", "`xor` takes 2 arguments, not 1"),
        ] {
            let found = value(source, 0).err().map(|error| error.message);
            assert_eq!(found.as_deref(), Some(message), "{source}");
        }
        Ok(())
    }
}
