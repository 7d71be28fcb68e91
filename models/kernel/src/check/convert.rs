//! Conversions, and arithmetic on what is known before the kernel runs.

use super::{Checked, Checker};
use crate::source::Place;
use crate::typed::{Expr, Kind, Operation};
use crate::types::{Access, Scalar, Type};

/// A whole number as a type holds it; none where it does not fit, and a signed result is then a fault to be found.
pub(super) fn fitted(value: i128, scalar: Scalar) -> Option<i64> {
    Some(match scalar {
        Scalar::Bool => i64::from(value != 0),
        Scalar::Int => i64::from(i32::try_from(value).ok()?),
        Scalar::Unsigned => i64::from(value as u32),
        Scalar::Long => i64::try_from(value).ok()?,
        Scalar::UnsignedLong => value as u64 as i64,
        Scalar::Float | Scalar::Double => return None,
    })
}

/// The number that a type's 64 bits stand for.
pub(super) fn number(value: i64, scalar: Scalar) -> i128 {
    match scalar {
        Scalar::UnsignedLong => i128::from(value as u64),
        Scalar::Bool
        | Scalar::Int
        | Scalar::Unsigned
        | Scalar::Long
        | Scalar::Float
        | Scalar::Double => i128::from(value),
    }
}

impl Checker {
    /// As a condition: whether it is not zero.
    pub(super) fn truth(&mut self, expr: Expr) -> Checked<Expr> {
        match expr.ty {
            Type::Scalar(Scalar::Bool) => Ok(expr),
            Type::Scalar(_) | Type::Pointer { .. } => {
                self.convert(expr, Type::Scalar(Scalar::Bool))
            }
            Type::Void | Type::Array { .. } => {
                let message = format!("a {} is neither true nor false", expr.ty);
                self.tell(expr.place, message, "compare it with something")
            }
        }
    }

    /// To another type without being asked, as C does between numbers.
    pub(super) fn convert(&mut self, expr: Expr, ty: Type) -> Checked<Expr> {
        let place = expr.place;
        match (expr.ty, ty) {
            (from, to) if from == to => Ok(expr),
            (Type::Scalar(from), Type::Scalar(to)) => Ok(converted(expr, from, to)),
            (Type::Pointer { .. }, Type::Scalar(Scalar::Bool)) => {
                Ok(Expr { place, ty, kind: Kind::Convert(Box::new(expr)) })
            }
            (Type::Pointer { to: from, access }, Type::Pointer { to, access: wanted }) => {
                if from != to {
                    self.tell(
                        place,
                        format!("a {} is no {ty}", expr.ty),
                        format!("if that is meant, write ({ty})"),
                    )
                } else if access == Access::Constant && wanted == Access::Mutable {
                    self.tell(
                        place,
                        format!("a {} may not be written through a {ty}", expr.ty),
                        format!("make it const {ty}"),
                    )
                } else {
                    Ok(Expr { ty, ..expr })
                }
            }
            (Type::Scalar(_), Type::Pointer { .. }) if matches!(expr.kind, Kind::Whole(0)) => {
                Ok(Expr { place, ty, kind: Kind::Whole(0) })
            }
            (from, to) => self.tell(place, format!("a {from} is no {to}"), ""),
        }
    }

    /// To another type because it was asked for.
    pub(super) fn cast(&mut self, expr: Expr, ty: Type) -> Checked<Expr> {
        match (expr.ty, ty) {
            // Reading the same bytes as another type is what such a cast means here as on the device.
            (
                Type::Pointer { access: Access::Constant, .. },
                Type::Pointer { access: Access::Mutable, .. },
            ) => self.tell(
                expr.place,
                "a cast that makes const writable is not part of this",
                "leave out const where it is declared",
            ),
            (Type::Pointer { .. }, Type::Pointer { .. }) => {
                Ok(Expr { place: expr.place, ty, kind: Kind::Convert(Box::new(expr)) })
            }
            (_, Type::Void) => {
                Ok(Expr { place: expr.place, ty, kind: Kind::Convert(Box::new(expr)) })
            }
            (Type::Pointer { .. }, Type::Scalar(scalar)) if scalar != Scalar::Bool => self.tell(
                expr.place,
                "an address is no number here",
                "subtract two pointers to count the elements between them",
            ),
            _ => self.convert(expr, ty),
        }
    }

    /// Two numbers brought to the type in which they meet.
    pub(super) fn met(
        &mut self,
        left: Expr,
        right: Expr,
        place: Place,
        mark: &str,
    ) -> Checked<(Scalar, Expr, Expr)> {
        let (Some(one), Some(other)) = (left.ty.scalar(), right.ty.scalar()) else {
            return self.tell(
                place,
                format!("'{mark}' takes no {} and {}", left.ty, right.ty),
                "it takes numbers",
            );
        };
        let ty = one.meeting(other);
        Ok((ty, converted(left, one, ty), converted(right, other, ty)))
    }
}

/// A number in another type; at once if it is known.
pub(super) fn converted(expr: Expr, from: Scalar, to: Scalar) -> Expr {
    let place = expr.place;
    let ty = Type::Scalar(to);
    if from == to {
        return expr;
    }
    let kind = if let Kind::Whole(value) = expr.kind {
        match to {
            Scalar::Float => Some(Kind::Real(f64::from(number(value, from) as f32))),
            Scalar::Double => Some(Kind::Real(number(value, from) as f64)),
            // Converting keeps the low bits, which is what the device does too.
            Scalar::Int => Some(Kind::Whole(i64::from(value as i32))),
            Scalar::Bool | Scalar::Unsigned | Scalar::UnsignedLong => {
                fitted(number(value, from), to).map(Kind::Whole)
            }
            Scalar::Long => Some(Kind::Whole(value)),
        }
    } else if let Kind::Real(value) = expr.kind {
        match to {
            Scalar::Float => Some(Kind::Real(f64::from(value as f32))),
            Scalar::Double => Some(Kind::Real(value)),
            Scalar::Bool => Some(Kind::Whole(i64::from(value != 0.0))),
            // A number that does not fit is a fault, found where it happens.
            Scalar::Int | Scalar::Unsigned | Scalar::Long | Scalar::UnsignedLong => {
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
