//! Constants, and results that are known.

use super::block::Writer;
use super::expression::Text;
use super::{Told, type_name};
use crate::source::Place;
use crate::typed::{Expr, Kind, Operation};
use crate::types::{Scalar, Type};

impl Writer<'_, '_> {
    pub(super) fn real(&mut self, value: f64, of: Scalar, place: Place) -> Told<Text> {
        type_name(of, place)?;
        if value.is_finite() {
            return Ok(signed(format!("{:?}f", value as f32)));
        }
        // WGSL takes no infinity as a constant: its bits come out of a variable.
        self.module.uses_infinity = true;
        let bits = "bitcast<f32>(infinity_bits)";
        Ok(if value.is_nan() {
            Text::atom("bitcast<f32>(infinity_bits | 1u)")
        } else if value < 0.0 {
            Text::sum(format!("-{bits}"))
        } else {
            Text::atom(bits)
        })
    }

    /// A result that is known: WGSL refuses constants that overflow or divide by zero, where C goes on.
    pub(super) fn folded(
        &mut self,
        operation: Operation,
        left: &Expr,
        right: &Expr,
        expr: &Expr,
    ) -> Option<Told<Text>> {
        if let (Kind::Real(x), Kind::Real(y)) = (&left.kind, &right.kind) {
            let (x, y) = (*x as f32, *y as f32);
            let result = match operation {
                Operation::Add => x + y,
                Operation::Subtract => x - y,
                Operation::Multiply => x * y,
                Operation::Divide => x / y,
                Operation::Remainder
                | Operation::And
                | Operation::Or
                | Operation::Xor
                | Operation::Left
                | Operation::Right => return None,
            };
            return Some(self.real(f64::from(result), Scalar::Float, expr.place));
        }
        if let (Kind::Whole(x), Kind::Whole(y), Type::Scalar(of)) =
            (&left.kind, &right.kind, expr.ty)
        {
            let result = match operation {
                Operation::Add => x.wrapping_add(*y),
                Operation::Subtract => x.wrapping_sub(*y),
                Operation::Multiply => x.wrapping_mul(*y),
                Operation::Divide
                | Operation::Remainder
                | Operation::And
                | Operation::Or
                | Operation::Xor
                | Operation::Left
                | Operation::Right => return None,
            };
            let result = if of == Scalar::Unsigned {
                i64::from(result as u32)
            } else {
                i64::from(result as i32)
            };
            return Some(whole(result, of, expr.place));
        }
        None
    }
}

/// A number; one below zero is no operand as it stands.
pub(super) fn signed(text: String) -> Text {
    if text.starts_with('-') { Text::sum(text) } else { Text::atom(text) }
}

pub(super) fn whole(value: i64, of: Scalar, place: Place) -> Told<Text> {
    type_name(of, place)?;
    Ok(match of {
        Scalar::Bool => Text::atom(if value == 0 { "false" } else { "true" }),
        Scalar::Unsigned => Text::atom(format!("{}u", value as u32)),
        Scalar::Float => signed(format!("{:?}f", value as f32)),
        // The least one is the negative of a number that has none.
        _ if value == i64::from(i32::MIN) => Text::atom("i32(-2147483648)"),
        Scalar::Int | Scalar::Long | Scalar::UnsignedLong | Scalar::Double => {
            signed(format!("{value}i"))
        }
    })
}
