//! Functions and operators on the values of a closed form's expressions.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a function names the kinds of values that it takes; all others are errors"
)]

use std::cmp::Ordering;

use mlsys_expr::{BinaryOp, Function};
use mlsys_lab::value::{duration, percent, significant};
use mlsys_lab::{Tables, Value};

/// Most entries of a list.
const MAX_LIST: usize = 4096;

/// Longest text that a formula makes, in bytes.
pub(super) const MAX_TEXT: usize = 4096;

/// Why an expression makes no sense: a mistake in the file.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum EvaluationError {
    #[error("a number is needed, but this is {0}")]
    NotANumber(&'static str),
    #[error("`{0}` works with whole numbers")]
    NotWhole(&'static str),
    #[error("`{0}` takes another kind of value")]
    WrongKind(&'static str),
    #[error("`{0}` takes other kinds of values")]
    WrongKinds(&'static str),
    #[error("`{0}` gives no number")]
    NotArithmetic(BinaryOp),
    #[error("a list of {0} and one of {1} do not match")]
    DifferentLengths(usize, usize),
    #[error("a list has at most {MAX_LIST} entries")]
    LongList,
    #[error("a text has at most {MAX_TEXT} bytes")]
    LongText,
    #[error("nothing is called `{0}`")]
    UnknownName(String),
    #[error("`{0}` is not computed yet")]
    NotComputed(String),
}

type Evaluated = Result<Value, EvaluationError>;

pub(super) fn apply(
    function: Function,
    values: &[Value],
) -> Result<Option<Value>, EvaluationError> {
    let whole = |value: &Value| match value {
        Value::Int(x) => Ok(*x),
        _ => Err(EvaluationError::NotWhole(function.name())),
    };
    Ok(Some(match (function, values) {
        (Function::Min | Function::Max, values) => {
            let values = match values {
                [Value::Array(list)] => list.as_slice(),
                values => values,
            };
            let wanted = match function {
                Function::Min => Ordering::Less,
                _ => Ordering::Greater,
            };
            let mut best: Option<&Value> = None;
            for value in values {
                float(value)?;
                let is_better = |best| order(value, best) == Some(wanted) || is_nan(best);
                if best.is_none_or(is_better) {
                    best = Some(value);
                }
            }
            return Ok(best.cloned());
        }
        (Function::Sum, [Value::Array(list)]) => sum(list)?,
        (Function::Mean, [Value::Array(list)]) => {
            Value::Float(float(&sum(list)?)? / list.len() as f64)
        }
        (Function::Len, [Value::Array(list)]) => Value::Int(list.len() as i64),
        (Function::At, [Value::Array(list), index]) => {
            return Ok(usize::try_from(whole(index)?).ok().and_then(|i| list.get(i)).cloned());
        }
        (Function::Count, [Value::Array(list), value]) => {
            Value::Int(list.iter().filter(|one| same(one, value)).count() as i64)
        }
        (Function::IsNumber, [value]) => Value::Bool(value.as_f64().is_some()),
        (Function::Join, [Value::Array(list), Value::Text(between)]) => {
            text(list.iter().map(Value::to_string).collect::<Vec<_>>().join(between))?
        }
        (Function::Column, [Value::Text(table), Value::Text(field)]) => {
            let tables = Tables::builtin();
            let names = tables.names(table).into_iter();
            Value::Array(names.filter_map(|name| tables.field(table, name, field)).collect())
        }
        (Function::AtLeast, [Value::Array(list), least]) => {
            let enough = |value: &&Value| order(value, least).is_some_and(Ordering::is_ge);
            let compare = |a: &&Value, b: &&Value| order(a, b).unwrap_or(Ordering::Equal);
            return Ok(list.iter().filter(enough).min_by(compare).cloned());
        }
        (Function::Sorted, [Value::Array(list)]) => {
            let mut list = list.clone();
            list.sort_by(|a, b| order(a, b).unwrap_or(Ordering::Equal));
            list.dedup_by(|a, b| same(a, b));
            Value::Array(list)
        }
        (Function::Before, [Value::Text(text), Value::Text(mark)]) => {
            Value::from(text.split(mark.as_str()).next().unwrap_or(text))
        }
        (Function::List, values) => Value::Array(values.to_vec()),
        (Function::Range, [from, to]) => {
            let (from, to) = (whole(from)?, whole(to)?);
            if to.saturating_sub(from) >= MAX_LIST as i64 {
                return Err(EvaluationError::LongList);
            }
            Value::Array((from..=to).map(Value::Int).collect())
        }
        (Function::Div | Function::DivUp | Function::RoundUp, [Value::Int(_), Value::Int(0)]) => {
            Value::Float(f64::NAN)
        }
        (Function::Div, [Value::Int(a), Value::Int(b)]) => Value::Int(a.wrapping_div(*b)),
        (Function::DivUp, [Value::Int(a), Value::Int(b)]) => Value::Int(div_up(*a, *b)),
        (Function::RoundUp, [Value::Int(a), Value::Int(b)]) => {
            arithmetic(BinaryOp::Multiply, &Value::Int(div_up(*a, *b)), &Value::Int(*b))?
        }
        (Function::Div, [a, b]) => Value::Float((float(a)? / float(b)?).trunc()),
        (Function::DivUp, [a, b]) => Value::Float((float(a)? / float(b)?).ceil()),
        (Function::RoundUp, [a, b]) => Value::Float((float(a)? / float(b)?).ceil() * float(b)?),
        (Function::Significant, [x, digits]) => {
            let digits = usize::try_from(whole(digits)?).unwrap_or(1).clamp(1, 17);
            Value::Float(significant(float(x)?, digits))
        }
        (Function::Table, [Value::Text(table), Value::Text(entry), Value::Text(field)]) => {
            return Ok(Tables::builtin().field(table, entry, field));
        }
        (Function::Names, [Value::Text(table)]) => {
            Value::Array(Tables::builtin().names(table).into_iter().map(Value::from).collect())
        }
        (function, [Value::Array(list)]) => {
            let each = list.iter().map(|value| apply_to_one(function, value));
            Value::Array(each.collect::<Result<_, _>>()?)
        }
        (function, [value]) => apply_to_one(function, value)?,
        (function, _) => return Err(EvaluationError::WrongKinds(function.name())),
    }))
}

fn apply_to_one(function: Function, value: &Value) -> Evaluated {
    Ok(match (function, value) {
        (Function::Duration, x) => Value::Text(duration(float(x)?)),
        (Function::Percent, x) => Value::Text(percent(float(x)?)),
        (Function::Floor | Function::Ceil | Function::Round, Value::Int(x)) => Value::Int(*x),
        (Function::Abs, Value::Int(x)) if *x != i64::MIN => Value::Int(x.abs()),
        (function, value) => {
            let x = function.of_one(float(value)?);
            let x = x.ok_or_else(|| EvaluationError::WrongKind(function.name()))?;
            let rounds = matches!(function, Function::Floor | Function::Ceil | Function::Round);
            if rounds && x.abs() < 9.2e18 { Value::Int(x as i64) } else { Value::Float(x) }
        }
    })
}

fn sum(list: &[Value]) -> Evaluated {
    list.iter().try_fold(Value::Int(0), |sum, value| match (&sum, value) {
        (Value::Int(x), Value::Int(y)) if x.checked_add(*y).is_some() => Ok(Value::Int(x + y)),
        (sum, value) => Ok(Value::Float(float(sum)? + float(value)?)),
    })
}

fn div_up(a: i64, b: i64) -> i64 {
    let quotient = a.wrapping_div(b);
    quotient + i64::from(a.wrapping_rem(b) != 0 && (a > 0) == (b > 0))
}

/// A text of at most [`MAX_TEXT`] bytes.
fn text(text: String) -> Evaluated {
    if text.len() > MAX_TEXT { Err(EvaluationError::LongText) } else { Ok(Value::Text(text)) }
}

/// An operation on two values, none of them a list; exact on whole numbers as far as 64 bits reach.
pub(super) fn arithmetic(op: BinaryOp, left: &Value, right: &Value) -> Evaluated {
    // A text and what stands behind it are joined.
    if op == BinaryOp::Add && (left.as_str().is_some() || right.as_str().is_some()) {
        return text(format!("{left}{right}"));
    }
    if let (Value::Int(a), Value::Int(b)) = (left, right) {
        let exact = match op {
            BinaryOp::Add => a.checked_add(*b),
            BinaryOp::Subtract => a.checked_sub(*b),
            BinaryOp::Multiply => a.checked_mul(*b),
            BinaryOp::Remainder => a.checked_rem(*b),
            BinaryOp::Power => u32::try_from(*b).ok().and_then(|b| a.checked_pow(b)),
            _ => None,
        };
        if let Some(exact) = exact {
            return Ok(Value::Int(exact));
        }
    }
    let (a, b) = (float(left)?, float(right)?);
    Ok(Value::Float(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide => a / b,
        BinaryOp::Remainder => a % b,
        BinaryOp::Power => a.powf(b),
        _ => return Err(EvaluationError::NotArithmetic(op)),
    }))
}

/// The order of two numbers, exact for whole ones; `None` where one is no number.
pub(super) fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (a, b) => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// Whether two values are the same; numbers by their size.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    order(a, b).map_or_else(|| a == b, Ordering::is_eq)
}

pub(super) fn compare(op: BinaryOp, left: &Value, right: &Value) -> Result<bool, EvaluationError> {
    match op {
        BinaryOp::Equal => return Ok(same(left, right)),
        BinaryOp::NotEqual => return Ok(!same(left, right)),
        _ => {}
    }
    float(left)?;
    float(right)?;
    Ok(order(left, right).is_some_and(|order| match op {
        BinaryOp::Less => order.is_lt(),
        BinaryOp::LessOrEqual => order.is_le(),
        BinaryOp::Greater => order.is_gt(),
        _ => order.is_ge(),
    }))
}

pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Bool(truth) => *truth,
        Value::Int(x) => *x != 0,
        Value::Float(x) => *x != 0.0,
        Value::Text(_) | Value::Array(_) | Value::Table(_) => true,
    }
}

fn is_nan(value: &Value) -> bool {
    matches!(value, Value::Float(x) if x.is_nan())
}

fn float(value: &Value) -> Result<f64, EvaluationError> {
    match value {
        Value::Bool(truth) => Ok(f64::from(u8::from(*truth))),
        value => value.as_f64().ok_or(EvaluationError::NotANumber(value.type_name())),
    }
}

/// What it costs to copy a value.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(size).sum::<usize>(),
        Value::Table(entries) => 1 + entries.values().map(size).sum::<usize>(),
        Value::Text(text) => 1 + text.len() / 64,
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => 1,
    }
}
