//! What atomics leave in memory.

use crate::typed_ast::Atomic;
use crate::types::Scalar;

/// What an atomic leaves behind; none if it leaves what was there.
pub(super) fn changed(atomic: Atomic, ty: Scalar, old: u64, a: u64, b: u64) -> Option<u64> {
    let float = |x: u64| f32::from_bits(x as u32);
    Some(match (atomic, ty) {
        (Atomic::Add, Scalar::Float) => u64::from((float(old) + float(a)).to_bits()),
        (Atomic::Add, Scalar::Double) => (f64::from_bits(old) + f64::from_bits(a)).to_bits(),
        (Atomic::Add, Scalar::Half | Scalar::Bfloat16) => {
            u64::from(ty.rounded(f64::from(float(old)) + f64::from(float(a))).to_bits())
        }
        (Atomic::Add, _) => old.wrapping_add(a),
        (Atomic::Subtract, _) => old.wrapping_sub(a),
        (Atomic::Min | Atomic::Max, _) => {
            let less = if ty == Scalar::Int {
                (a as u32 as i32) < old as u32 as i32
            } else if ty == Scalar::Long {
                (a as i64) < old as i64
            } else {
                a < old
            };
            return (a != old && less == (atomic == Atomic::Min)).then_some(a);
        }
        (Atomic::Exchange, _) => a,
        (Atomic::Increment, _) => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        (Atomic::Decrement, _) => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
        (Atomic::CompareAndSwap, _) if old == a => b,
        (Atomic::CompareAndSwap, _) => return None,
        (Atomic::And, _) => old & a,
        (Atomic::Or, _) => old | a,
        (Atomic::Xor, _) => old ^ a,
    })
}

/// What atomics of one kind, which commute, leave in all: from what some of them and the others left of the first value.
pub(super) fn combined(atomic: Atomic, ty: Scalar, one: u64, other: u64, first: u64) -> u64 {
    match atomic {
        Atomic::Add => one.wrapping_add(other).wrapping_sub(first),
        Atomic::Xor => one ^ other ^ first,
        Atomic::Subtract
        | Atomic::Min
        | Atomic::Max
        | Atomic::Exchange
        | Atomic::Increment
        | Atomic::Decrement
        | Atomic::CompareAndSwap
        | Atomic::And
        | Atomic::Or => changed(atomic, ty, one, other, 0).unwrap_or(one),
    }
}
