//! Arithmetic of 32 lanes: wrapping, truncating and rounding as C on a device does, with faults told.

use super::core::{Core, lanes};
use super::finding::Fault;
use super::registers::{double, float};
use crate::code::{Reg, WARP};
use crate::typed::{Comparison, Operation};
use crate::types::Scalar;

impl Core<'_> {
    pub(super) fn arithmetic(
        &mut self,
        operation: Operation,
        scalar: Scalar,
        into: Reg,
        a: Reg,
        b: Reg,
    ) {
        use Operation::{Add, And, Divide, Left, Multiply, Or, Remainder, Right, Subtract, Xor};
        match (scalar, operation) {
            (_, Divide | Remainder) if !scalar.is_real() => {
                self.divide(operation, scalar, into, a, b)
            }
            (_, Left | Right) => self.shift(operation, scalar, into, a, b),
            (Scalar::Int | Scalar::Bool, Add) => self.signed("+", into, a, b, |x, y| {
                let r = x.wrapping_add(y);
                (r, ((x ^ r) & (y ^ r)) as u32)
            }),
            (Scalar::Int | Scalar::Bool, Subtract) => self.signed("-", into, a, b, |x, y| {
                let r = x.wrapping_sub(y);
                (r, ((x ^ y) & (x ^ r)) as u32)
            }),
            (Scalar::Int | Scalar::Bool, Multiply) => self.signed("*", into, a, b, |x, y| {
                let exact = i64::from(x) * i64::from(y);
                let r = exact as i32;
                (r, u32::from(i64::from(r) != exact) << 31)
            }),
            (Scalar::Unsigned, Add) => self.narrow2(into, a, b, u32::wrapping_add),
            (Scalar::Unsigned, Subtract) => self.narrow2(into, a, b, u32::wrapping_sub),
            (Scalar::Unsigned, Multiply) => self.narrow2(into, a, b, u32::wrapping_mul),
            (Scalar::Long, Add) => self.signed_wide("+", into, a, b, i64::overflowing_add),
            (Scalar::Long, Subtract) => self.signed_wide("-", into, a, b, i64::overflowing_sub),
            (Scalar::Long, Multiply) => self.signed_wide("*", into, a, b, i64::overflowing_mul),
            (Scalar::UnsignedLong, Add) => self.wide2(into, a, b, u64::wrapping_add),
            (Scalar::UnsignedLong, Subtract) => self.wide2(into, a, b, u64::wrapping_sub),
            (Scalar::UnsignedLong, Multiply) => self.wide2(into, a, b, u64::wrapping_mul),
            (Scalar::Float, Add) => self.floats(into, a, b, |x, y| x + y),
            (Scalar::Float, Subtract) => self.floats(into, a, b, |x, y| x - y),
            (Scalar::Float, Multiply) => self.floats(into, a, b, |x, y| x * y),
            (Scalar::Float, Divide) => self.floats(into, a, b, |x, y| x / y),
            (Scalar::Double, Add) => self.doubles(into, a, b, |x, y| x + y),
            (Scalar::Double, Subtract) => self.doubles(into, a, b, |x, y| x - y),
            (Scalar::Double, Multiply) => self.doubles(into, a, b, |x, y| x * y),
            (Scalar::Double, Divide) => self.doubles(into, a, b, |x, y| x / y),
            (Scalar::Long | Scalar::UnsignedLong, And) => self.wide2(into, a, b, |x, y| x & y),
            (Scalar::Long | Scalar::UnsignedLong, Or) => self.wide2(into, a, b, |x, y| x | y),
            (Scalar::Long | Scalar::UnsignedLong, Xor) => self.wide2(into, a, b, |x, y| x ^ y),
            (_, And) => self.narrow2(into, a, b, |x, y| x & y),
            (_, Or) => self.narrow2(into, a, b, |x, y| x | y),
            (_, Xor) => self.narrow2(into, a, b, |x, y| x ^ y),
            // Whole numbers are divided above, and the checker lets no number with a fraction have a remainder.
            (_, Divide | Remainder) => {}
        }
    }

    /// Whole division truncates; by zero it gives all ones, as devices do, and is a fault.
    fn divide(&mut self, operation: Operation, scalar: Scalar, into: Reg, a: Reg, b: Reg) {
        let quotient = operation == Operation::Divide;
        let sign = if quotient { "/" } else { "%" };
        let (mut narrow, mut wide) = ([0; WARP], [0; WARP]);
        for lane in lanes(self.warp.mask) {
            let read = |core: &Self, reg: Reg| -> i128 {
                match scalar {
                    Scalar::Unsigned => i128::from(core.warp.narrow[usize::from(reg)][lane]),
                    Scalar::Long => i128::from(core.warp.wide[usize::from(reg)][lane] as i64),
                    Scalar::UnsignedLong => i128::from(core.warp.wide[usize::from(reg)][lane]),
                    Scalar::Bool | Scalar::Int | Scalar::Float | Scalar::Double => {
                        i128::from(core.warp.narrow[usize::from(reg)][lane] as i32)
                    }
                }
            };
            let (x, y) = (read(self, a), read(self, b));
            let result = if y == 0 {
                self.find(Fault::DivisionByZero, lane, || format!("{x} {sign} 0 has no value"));
                if quotient { -1 } else { x }
            } else {
                let exact = if quotient { x / y } else { x % y };
                let low = match scalar {
                    Scalar::Long => -x == i128::from(i64::MAX) + 1 && y == -1,
                    Scalar::Int => -x == i128::from(i32::MAX) + 1 && y == -1,
                    Scalar::Bool
                    | Scalar::Unsigned
                    | Scalar::UnsignedLong
                    | Scalar::Float
                    | Scalar::Double => false,
                };
                if low {
                    self.find(Fault::Overflow, lane, || {
                        format!("{x} {sign} {y} does not fit into its type")
                    });
                }
                exact
            };
            narrow[lane] = result as u32;
            wide[lane] = result as u64;
        }
        if scalar.is_wide() { self.put_wide(into, &wide) } else { self.put(into, &narrow) }
    }

    fn shift(&mut self, operation: Operation, scalar: Scalar, into: Reg, a: Reg, b: Reg) {
        // The count may be of any whole type: its low 32 bits, with a glance at whether it is in range.
        let left = operation == Operation::Left;
        let bits = scalar.bytes() * 8;
        let counts = self.narrow(b);
        for lane in lanes(self.warp.mask).filter(|lane| counts[*lane] >= bits) {
            let count = counts[lane] as i32;
            self.find(Fault::Shift, lane, || {
                format!("a shift by {count} of a number of {bits} bits has no value")
            });
        }
        if scalar.is_wide() {
            let x = self.wide(a);
            let mut result = [0; WARP];
            for lane in 0..WARP {
                let count = counts[lane] & 63;
                result[lane] = match (left, scalar) {
                    (true, _) => x[lane] << count,
                    (false, Scalar::Long) => ((x[lane] as i64) >> count) as u64,
                    (false, _) => x[lane] >> count,
                };
            }
            self.put_wide(into, &result);
        } else {
            self.narrow2(into, a, b, |x, count| match (left, scalar) {
                (true, _) => x << (count & 31),
                (false, Scalar::Unsigned) => x >> (count & 31),
                (false, _) => ((x as i32) >> (count & 31)) as u32,
            });
        }
    }

    pub(super) fn compare(
        &mut self,
        comparison: Comparison,
        scalar: Scalar,
        into: Reg,
        a: Reg,
        b: Reg,
    ) {
        use Comparison::{Equal, Less, LessEqual, NotEqual};
        macro_rules! narrow {
            ($of:expr) => {
                match comparison {
                    Equal => self.narrow2(into, a, b, |x, y| u32::from($of(x) == $of(y))),
                    NotEqual => self.narrow2(into, a, b, |x, y| u32::from($of(x) != $of(y))),
                    Less => self.narrow2(into, a, b, |x, y| u32::from($of(x) < $of(y))),
                    LessEqual => self.narrow2(into, a, b, |x, y| u32::from($of(x) <= $of(y))),
                }
            };
        }
        macro_rules! wide {
            ($of:expr) => {{
                let (x, y) = (self.wide(a), self.wide(b));
                let mut result = [0; WARP];
                for lane in 0..WARP {
                    let (x, y) = ($of(x[lane]), $of(y[lane]));
                    result[lane] = u32::from(match comparison {
                        Equal => x == y,
                        NotEqual => x != y,
                        Less => x < y,
                        LessEqual => x <= y,
                    });
                }
                self.put(into, &result);
            }};
        }
        match scalar {
            Scalar::Bool | Scalar::Unsigned => narrow!(|x: u32| x),
            Scalar::Int => narrow!(|x: u32| x as i32),
            Scalar::Float => narrow!(float),
            Scalar::Long => wide!(|x: u64| x as i64),
            Scalar::UnsignedLong => wide!(|x: u64| x),
            Scalar::Double => wide!(double),
        }
    }

    pub(super) fn negate(&mut self, scalar: Scalar, into: Reg, a: Reg) {
        match scalar {
            Scalar::Bool | Scalar::Int => self.signed("* -1, from", into, a, a, |x, _| {
                let (r, over) = x.overflowing_neg();
                (r, u32::from(over) << 31)
            }),
            Scalar::Unsigned => self.narrow2(into, a, a, |x, _| x.wrapping_neg()),
            Scalar::Float => self.narrow2(into, a, a, |x, _| x ^ 1 << 31),
            Scalar::Long => self.signed_wide("* -1, from", into, a, a, |x, _| x.overflowing_neg()),
            Scalar::UnsignedLong => self.wide2(into, a, a, |x, _| x.wrapping_neg()),
            Scalar::Double => self.wide2(into, a, a, |x, _| x ^ 1 << 63),
        }
    }

    pub(super) fn complement(&mut self, scalar: Scalar, into: Reg, a: Reg) {
        if scalar.is_wide() {
            self.wide2(into, a, a, |x, _| !x);
        } else {
            self.narrow2(into, a, a, |x, _| !x);
        }
    }

    pub(super) fn select(&mut self, into: Reg, c: Reg, a: Reg, b: Reg) {
        let c = self.narrow(c);
        let (x, y) = (self.narrow(a), self.narrow(b));
        let mut result = [0; WARP];
        for lane in 0..WARP {
            result[lane] = if c[lane] != 0 { x[lane] } else { y[lane] };
        }
        self.put(into, &result);
    }

    pub(super) fn select_wide(&mut self, into: Reg, c: Reg, a: Reg, b: Reg) {
        let c = self.narrow(c);
        let (x, y) = (self.wide(a), self.wide(b));
        let mut result = [0; WARP];
        for lane in 0..WARP {
            result[lane] = if c[lane] != 0 { x[lane] } else { y[lane] };
        }
        self.put_wide(into, &result);
    }
}
