//! Typed expressions, worked out at once where their operands are known before the kernel runs.

use crate::check::known;
use crate::diagnostic::Place;
use crate::operators::Sides;
use crate::typed_ast::{Comparison, Expr, Kind, Operation, Stmt, StmtKind};
use crate::types::{Scalar, Type};

/// A number in another type; at once if it is known.
pub(super) fn converted(expr: Expr, from: Scalar, to: Scalar) -> Expr {
    let place = expr.place;
    let ty = Type::Scalar(to);
    if from == to {
        return expr;
    }
    let kind = if let Kind::Whole(value) = expr.kind {
        match to {
            Scalar::Half | Scalar::Bfloat16 => {
                Some(Kind::Real(f64::from(to.rounded(number(value, from) as f64))))
            }
            Scalar::Float => Some(Kind::Real(f64::from(number(value, from) as f32))),
            Scalar::Double => Some(Kind::Real(number(value, from) as f64)),
            // Converting keeps the low bits, which is what the device does too.
            Scalar::Int => Some(Kind::Whole(i64::from(value as i32))),
            Scalar::Char => Some(Kind::Whole(i64::from(value as i8))),
            Scalar::Short => Some(Kind::Whole(i64::from(value as i16))),
            Scalar::UnsignedChar => Some(Kind::Whole(i64::from(value as u8))),
            Scalar::UnsignedShort => Some(Kind::Whole(i64::from(value as u16))),
            Scalar::Bool | Scalar::Unsigned | Scalar::UnsignedLong => {
                fitted(number(value, from), to).map(Kind::Whole)
            }
            Scalar::Long => Some(Kind::Whole(value)),
        }
    } else if let Kind::Real(value) = expr.kind {
        match to {
            Scalar::Half | Scalar::Bfloat16 | Scalar::Float => {
                Some(Kind::Real(f64::from(to.rounded(value))))
            }
            Scalar::Double => Some(Kind::Real(value)),
            Scalar::Bool => Some(Kind::Whole(i64::from(value != 0.0))),
            // A number that does not fit is a fault, found where it happens.
            Scalar::Char
            | Scalar::UnsignedChar
            | Scalar::Short
            | Scalar::UnsignedShort
            | Scalar::Int
            | Scalar::Unsigned
            | Scalar::Long
            | Scalar::UnsignedLong => {
                let whole = value.trunc();
                let fits = whole.abs() < 9e18
                    && fitted(whole as i128, to)
                        .is_some_and(|fit| number(fit, to) == whole as i128);
                fits.then_some(Kind::Whole(whole as i64))
            }
        }
    } else {
        None
    };
    match kind {
        Some(kind) => Expr { place, ty, kind },
        None => Expr { place, ty, kind: Kind::Convert(Box::new(expr)) },
    }
}

/// An operation on two numbers of one type; at once if both are known and nothing goes wrong.
pub(super) fn arithmetic(
    operation: Operation,
    scalar: Scalar,
    left: Expr,
    right: Expr,
    place: Place,
) -> Expr {
    let ty = Type::Scalar(scalar);
    if let (Kind::Whole(a), Kind::Whole(b)) = (&left.kind, &right.kind) {
        let shift = right.ty.scalar().unwrap_or(scalar);
        let (a, b) = (number(*a, scalar), number(*b, shift));
        let bits = i128::from(scalar.bytes()) * 8;
        let known = match operation {
            Operation::Add => Some(a + b),
            Operation::Subtract => Some(a - b),
            Operation::Multiply => a.checked_mul(b),
            Operation::Divide => (b != 0).then(|| a / b),
            Operation::Remainder => (b != 0 && !(b == -1 && a < 0)).then(|| a % b),
            Operation::And => Some(a & b),
            Operation::Or => Some(a | b),
            Operation::Xor => Some(a ^ b),
            Operation::Left => (0..bits).contains(&b).then(|| a << b),
            Operation::Right => (0..bits).contains(&b).then(|| a >> b),
        };
        if let Some(value) = known.and_then(|value| fitted(value, scalar)) {
            return Expr { place, ty, kind: Kind::Whole(value) };
        }
    }
    Expr { place, ty, kind: Kind::Arithmetic(operation, Box::new(left), Box::new(right)) }
}

/// `left && right` or `left || right`; at once if both are known.
pub(super) fn joined(is_and: bool, left: Expr, right: Expr, place: Place) -> Expr {
    let ty = Type::Scalar(Scalar::Bool);
    let kind = match (&left.kind, &right.kind) {
        (Kind::Whole(a), Kind::Whole(b)) if is_and => Kind::Whole(i64::from(*a != 0 && *b != 0)),
        (Kind::Whole(a), Kind::Whole(b)) => Kind::Whole(i64::from(*a != 0 || *b != 0)),
        _ if is_and => Kind::And(Box::new(left), Box::new(right)),
        _ => Kind::Or(Box::new(left), Box::new(right)),
    };
    Expr { place, ty, kind }
}

/// An `if`; where its condition is known, the side that is taken, as a compiler keeps it.
pub(super) fn decided(condition: Expr, then: Vec<Stmt>, otherwise: Vec<Stmt>) -> StmtKind {
    match known(&condition) {
        Some(0) => StmtKind::Block(otherwise),
        Some(_) => StmtKind::Block(then),
        None => StmtKind::If(condition, then, otherwise),
    }
}

/// A whole number as a type holds it; none where it does not fit, and a signed result is then a fault to be found.
fn fitted(value: i128, scalar: Scalar) -> Option<i64> {
    Some(match scalar {
        Scalar::Bool => i64::from(value != 0),
        Scalar::Char => i64::from(i8::try_from(value).ok()?),
        Scalar::UnsignedChar => i64::from(u8::try_from(value).ok()?),
        Scalar::Short => i64::from(i16::try_from(value).ok()?),
        Scalar::UnsignedShort => i64::from(u16::try_from(value).ok()?),
        Scalar::Int => i64::from(i32::try_from(value).ok()?),
        Scalar::Unsigned => i64::from(value as u32),
        Scalar::Long => i64::try_from(value).ok()?,
        Scalar::UnsignedLong => value as u64 as i64,
        Scalar::Half | Scalar::Bfloat16 | Scalar::Float | Scalar::Double => return None,
    })
}

/// The number that a type's 64 bits stand for.
fn number(value: i64, scalar: Scalar) -> i128 {
    let unsigned = scalar == Scalar::UnsignedLong;
    if unsigned { i128::from(value as u64) } else { i128::from(value) }
}

/// What a minus in front makes of a number; of a known one again a known one.
pub(super) fn negated(value: Expr, scalar: Scalar, place: Place) -> Expr {
    let ty = Type::Scalar(scalar);
    if let Kind::Whole(_) = value.kind {
        let zero = Expr { place, ty, kind: Kind::Whole(0) };
        return arithmetic(Operation::Subtract, scalar, zero, value, place);
    }
    let kind = if let Kind::Real(known) = value.kind {
        Kind::Real(-known)
    } else {
        Kind::Negate(Box::new(value))
    };
    Expr { place, ty, kind }
}

/// A comparison, as a condition that knows only one order of the sides.
pub(super) fn compared(
    comparison: Comparison,
    sides: Sides,
    left: Expr,
    right: Expr,
    place: Place,
) -> Expr {
    let (left, right) = match sides {
        Sides::AsWritten => (Box::new(left), Box::new(right)),
        Sides::Swapped => (Box::new(right), Box::new(left)),
    };
    let scalars = left.ty.scalar().zip(right.ty.scalar());
    let kind = match (&left.kind, &right.kind, scalars) {
        (Kind::Whole(a), Kind::Whole(b), Some((one, other))) => {
            let (a, b) = (number(*a, one), number(*b, other));
            let holds = match comparison {
                Comparison::Equal => a == b,
                Comparison::NotEqual => a != b,
                Comparison::Less => a < b,
                Comparison::LessEqual => a <= b,
            };
            Kind::Whole(i64::from(holds))
        }
        _ => Kind::Compare(comparison, left, right),
    };
    Expr { place, ty: Type::Scalar(Scalar::Bool), kind }
}

/// What lies at an address: a number, or still an array of them.
pub(super) fn loaded(address: Expr) -> Expr {
    match address.ty {
        Type::Pointer { to, .. } => {
            Expr { place: address.place, ty: Type::Scalar(to), kind: Kind::Load(Box::new(address)) }
        }
        Type::Void | Type::Scalar(_) | Type::Array { .. } => address,
    }
}

pub(super) fn scaled(index: Expr, stride: i64, scalar: Scalar, place: Place) -> Expr {
    if stride == 1 {
        return index;
    }
    let stride = Expr { place, ty: Type::Scalar(scalar), kind: Kind::Whole(stride) };
    arithmetic(Operation::Multiply, scalar, index, stride, place)
}
