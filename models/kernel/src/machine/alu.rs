//! Arithmetic, conversions and functions of 32 lanes: wrapping, truncating and rounding as CUDA does, with faults.

use crate::bytecode::{Reg, WARP};
use crate::machine::execute::Executor;
use crate::machine::fault::Fault;
use crate::machine::inspect::real;
use crate::machine::registers::{double, float};
use crate::machine::warp::lanes;
use crate::math;
use crate::math::Math;
use crate::typed_ast::{Comparison, Operation};
use crate::types::Scalar;

impl Executor<'_> {
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
            (Scalar::Half | Scalar::Bfloat16, Add) => {
                self.floats(into, a, b, |x, y| scalar.rounded(f64::from(x + y)))
            }
            (Scalar::Double, Add) => self.doubles(into, a, b, |x, y| x + y),
            (Scalar::Half | Scalar::Bfloat16, Subtract) => {
                self.floats(into, a, b, |x, y| scalar.rounded(f64::from(x - y)))
            }
            (Scalar::Double, Subtract) => self.doubles(into, a, b, |x, y| x - y),
            (Scalar::Half | Scalar::Bfloat16, Multiply) => {
                self.floats(into, a, b, |x, y| scalar.rounded(f64::from(x * y)))
            }
            (Scalar::Double, Multiply) => self.doubles(into, a, b, |x, y| x * y),
            (Scalar::Half | Scalar::Bfloat16, Divide) => {
                self.floats(into, a, b, |x, y| scalar.rounded(f64::from(x / y)))
            }
            (Scalar::Double, Divide) => self.doubles(into, a, b, |x, y| x / y),
            (Scalar::Long | Scalar::UnsignedLong, And) => self.wide2(into, a, b, |x, y| x & y),
            (Scalar::Long | Scalar::UnsignedLong, Or) => self.wide2(into, a, b, |x, y| x | y),
            (Scalar::Long | Scalar::UnsignedLong, Xor) => self.wide2(into, a, b, |x, y| x ^ y),
            // What is smaller than an int was promoted.
            (_, Add) => self.signed("+", into, a, b, |x, y| {
                let r = x.wrapping_add(y);
                (r, ((x ^ r) & (y ^ r)) as u32)
            }),
            (_, Subtract) => self.signed("-", into, a, b, |x, y| {
                let r = x.wrapping_sub(y);
                (r, ((x ^ y) & (x ^ r)) as u32)
            }),
            (_, Multiply) => self.signed("*", into, a, b, |x, y| {
                let exact = i64::from(x) * i64::from(y);
                let r = exact as i32;
                (r, u32::from(i64::from(r) != exact) << 31)
            }),
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
        let whole = |bits: u64| {
            if !scalar.is_signed() {
                i128::from(bits)
            } else if scalar.is_wide() {
                i128::from(bits as i64)
            } else {
                i128::from(bits as u32 as i32)
            }
        };
        let mut results = [0; WARP];
        for lane in lanes(self.warp.mask) {
            let [x, y] = [a, b].map(|reg| whole(self.value(reg, scalar, lane)));
            let result = if y == 0 {
                self.find(Fault::DivisionByZero, lane, || format!("{x} {sign} 0 has no value"));
                if quotient { -1 } else { x }
            } else {
                let exact = if quotient { x / y } else { x % y };
                let least = if scalar.is_wide() { i64::MIN } else { i64::from(i32::MIN) };
                if scalar.is_signed() && x == i128::from(least) && y == -1 {
                    self.find(Fault::Overflow, lane, || {
                        format!("{x} {sign} {y} does not fit into its type")
                    });
                }
                exact
            };
            results[lane] = result as u64;
        }
        self.put_values(into, scalar, &results);
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
            let result = std::array::from_fn(|lane| match (left, scalar) {
                (true, _) => x[lane] << (counts[lane] & 63),
                (false, Scalar::Long) => ((x[lane] as i64) >> (counts[lane] & 63)) as u64,
                (false, _) => x[lane] >> (counts[lane] & 63),
            });
            self.put_wide(into, &result);
            return;
        }
        self.narrow2(into, a, b, |x, count| match (left, scalar) {
            (true, _) => x << (count & 31),
            (false, Scalar::Unsigned) => x >> (count & 31),
            (false, _) => ((x as i32) >> (count & 31)) as u32,
        });
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
            Scalar::Bool | Scalar::UnsignedChar | Scalar::UnsignedShort | Scalar::Unsigned => {
                narrow!(|x: u32| x)
            }
            Scalar::Char | Scalar::Short | Scalar::Int => narrow!(|x: u32| x as i32),
            Scalar::Half | Scalar::Bfloat16 | Scalar::Float => narrow!(float),
            Scalar::Long => wide!(|x: u64| x as i64),
            Scalar::UnsignedLong => wide!(|x: u64| x),
            Scalar::Double => wide!(double),
        }
    }

    pub(super) fn negate(&mut self, scalar: Scalar, into: Reg, a: Reg) {
        match scalar {
            Scalar::Bool
            | Scalar::Char
            | Scalar::UnsignedChar
            | Scalar::Short
            | Scalar::UnsignedShort
            | Scalar::Int => self.signed("* -1, from", into, a, a, |x, _| {
                let (r, over) = x.overflowing_neg();
                (r, u32::from(over) << 31)
            }),
            Scalar::Unsigned => self.narrow2(into, a, a, |x, _| x.wrapping_neg()),
            Scalar::Half | Scalar::Bfloat16 | Scalar::Float => {
                self.narrow2(into, a, a, |x, _| x ^ 1 << 31)
            }
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
        let (c, x, y) = (self.narrow(c), self.narrow(a), self.narrow(b));
        self.put(into, &std::array::from_fn(|lane| if c[lane] != 0 { x[lane] } else { y[lane] }));
    }

    pub(super) fn select_wide(&mut self, into: Reg, c: Reg, a: Reg, b: Reg) {
        let (c, x, y) = (self.narrow(c), self.wide(a), self.wide(b));
        let chosen = std::array::from_fn(|lane| if c[lane] != 0 { x[lane] } else { y[lane] });
        self.put_wide(into, &chosen);
    }

    pub(super) fn convert(&mut self, from: Scalar, to: Scalar, into: Reg, of: Reg) {
        if from.is_real() && !to.is_real() && to != Scalar::Bool {
            self.whole_from_real(from, to, into, of);
            return;
        }
        let mut results = [0; WARP];
        for (lane, result) in results.iter_mut().enumerate() {
            let bits = self.value(of, from, lane);
            *result = match to {
                Scalar::Bool if from.is_real() => u64::from(real(bits, from) != 0.0),
                Scalar::Bool => u64::from(bits != 0),
                Scalar::Int | Scalar::Unsigned => bits,
                Scalar::Char | Scalar::UnsignedChar | Scalar::Short | Scalar::UnsignedShort => {
                    to.register(bits)
                }
                Scalar::Long | Scalar::UnsignedLong if from.is_signed() && !from.is_wide() => {
                    bits as i32 as u64
                }
                Scalar::Long | Scalar::UnsignedLong => bits,
                // Rounded once: not by way of a double.
                Scalar::Float if from == Scalar::Long => (bits as i64 as f32).to_bits().into(),
                Scalar::Float if from == Scalar::UnsignedLong => (bits as f32).to_bits().into(),
                Scalar::Half | Scalar::Bfloat16 => to.rounded(real(bits, from)).to_bits().into(),
                Scalar::Float => (real(bits, from) as f32).to_bits().into(),
                Scalar::Double => real(bits, from).to_bits(),
            };
        }
        self.put_values(into, to, &results);
    }

    /// Towards zero; what does not fit becomes the nearest that does, as on a device, and is a fault.
    fn whole_from_real(&mut self, from: Scalar, to: Scalar, into: Reg, of: Reg) {
        let mut results = [0; WARP];
        for lane in lanes(self.warp.mask) {
            let x = real(self.value(of, from, lane), from);
            let whole = x.trunc();
            let (low, high, nearest) = match to {
                Scalar::Unsigned => (0.0, 4_294_967_296.0, u64::from(whole as u32)),
                Scalar::Long => {
                    (-9_223_372_036_854_775_808.0, 9_223_372_036_854_775_808.0, whole as i64 as u64)
                }
                Scalar::UnsignedLong => (0.0, 18_446_744_073_709_551_616.0, whole as u64),
                Scalar::Char => (-128.0, 128.0, to.register(whole as i32 as u64)),
                Scalar::UnsignedChar => (0.0, 256.0, to.register(whole as i32 as u64)),
                Scalar::Short => (-32_768.0, 32_768.0, to.register(whole as i32 as u64)),
                Scalar::UnsignedShort => (0.0, 65_536.0, to.register(whole as i32 as u64)),
                Scalar::Bool
                | Scalar::Int
                | Scalar::Half
                | Scalar::Bfloat16
                | Scalar::Float
                | Scalar::Double => (-2_147_483_648.0, 2_147_483_648.0, whole as i32 as u64),
            };
            if !(whole >= low && whole < high) {
                self.find(Fault::Overflow, lane, || format!("{x} does not fit into {to}"));
            }
            results[lane] = nearest;
        }
        self.put_values(into, to, &results);
    }

    pub(super) fn math(&mut self, of: Math, scalar: Scalar, into: Reg, [a, b, c]: [Reg; 3]) {
        match (of, scalar) {
            (Math::Min | Math::Max | Math::Abs, _) if !scalar.is_real() => {
                self.whole(of, scalar, into, a, b)
            }
            _ if of.reinterprets().is_some() && scalar.is_wide() => {
                self.wide2(into, a, a, |x, _| x);
            }
            _ if of.reinterprets().is_some() => self.narrow2(into, a, a, |x, _| x),
            (Math::Popc, _) => self.narrow2(into, a, a, |x, _| x.count_ones()),
            (Math::Clz, _) => self.narrow2(into, a, a, |x, _| x.leading_zeros()),
            (Math::Ffs, _) => {
                self.narrow2(into, a, a, |x, _| if x == 0 { 0 } else { x.trailing_zeros() + 1 })
            }
            (Math::Brev, _) => self.narrow2(into, a, a, |x, _| x.reverse_bits()),
            (Math::IsNan | Math::IsInf | Math::IsFinite | Math::SignBit, _) => {
                let test = |lane: usize| {
                    let x = real(self.value(a, scalar, lane), scalar);
                    u32::from(if of == Math::IsNan {
                        x.is_nan()
                    } else if of == Math::IsInf {
                        x.is_infinite()
                    } else if of == Math::IsFinite {
                        x.is_finite()
                    } else {
                        x.is_sign_negative()
                    })
                };
                self.put(into, &std::array::from_fn(test));
            }
            (Math::Fma, Scalar::Double) => {
                let (x, y, z) = (self.wide(a), self.wide(b), self.wide(c));
                let result = std::array::from_fn(|lane| {
                    double(x[lane]).mul_add(double(y[lane]), double(z[lane])).to_bits()
                });
                self.put_wide(into, &result);
            }
            (Math::Fma, _) => {
                let (x, y, z) = (self.narrow(a), self.narrow(b), self.narrow(c));
                let result = std::array::from_fn(|lane| {
                    let [x, y, z] = [x, y, z].map(|all| float(all[lane]));
                    if scalar.is_small() {
                        let [x, y, z] = [x, y, z].map(f64::from);
                        scalar.rounded(x.mul_add(y, z)).to_bits()
                    } else {
                        x.mul_add(y, z).to_bits()
                    }
                });
                self.put(into, &result);
            }
            (_, Scalar::Double) if of.arguments() == 2 => {
                self.doubles(into, a, b, |x, y| math::two_f64(of, x, y))
            }
            (_, Scalar::Double) => self.doubles(into, a, a, |x, _| math::one_f64(of, x)),
            _ if of.arguments() == 2 => {
                self.floats(into, a, b, |x, y| scalar.rounded(f64::from(math::two_f32(of, x, y))))
            }
            _ => self.floats(into, a, a, |x, _| scalar.rounded(f64::from(math::one_f32(of, x)))),
        }
    }

    /// `min`, `max` and `abs` of whole numbers.
    pub(super) fn whole(&mut self, of: Math, scalar: Scalar, into: Reg, a: Reg, b: Reg) {
        match (of, scalar) {
            // Without its sign bit turned round, a signed number below zero would count as a large one.
            (Math::Min | Math::Max, _) if scalar.is_wide() => {
                let (turn, least) = (u64::from(scalar.is_signed()) << 63, of == Math::Min);
                self.wide2(into, a, b, |x, y| if (x ^ turn < y ^ turn) == least { x } else { y });
            }
            (Math::Min | Math::Max, _) => {
                let (turn, least) = (u32::from(scalar != Scalar::Unsigned) << 31, of == Math::Min);
                self.narrow2(into, a, b, |x, y| if (x ^ turn < y ^ turn) == least { x } else { y });
            }
            (_, Scalar::UnsignedLong) => self.wide2(into, a, a, |x, _| x),
            (_, Scalar::Unsigned) => self.narrow2(into, a, a, |x, _| x),
            (_, Scalar::Long) => {
                self.signed_wide("as abs, from", into, a, a, |x, _| x.overflowing_abs())
            }
            _ => self.signed("as abs, from", into, a, a, |x, _| {
                let (r, over) = x.overflowing_abs();
                (r, u32::from(over) << 31)
            }),
        }
    }
}
