//! The mathematical functions on 32 lanes.

use super::core::Core;
use super::registers::{double, float};
use crate::code::Reg;
use crate::math::{self, Math};
use crate::types::Scalar;

impl Core<'_> {
    pub(super) fn math(&mut self, of: Math, scalar: Scalar, into: Reg, [a, b, c]: [Reg; 3]) {
        match (of, scalar) {
            (Math::Min | Math::Max | Math::Abs, _) if !scalar.is_real() => {
                self.whole(of, scalar, into, a, b)
            }
            (Math::Popc, _) => self.narrow2(into, a, a, |x, _| x.count_ones()),
            (Math::Clz, _) => self.narrow2(into, a, a, |x, _| x.leading_zeros()),
            (Math::Ffs, _) => {
                self.narrow2(into, a, a, |x, _| if x == 0 { 0 } else { x.trailing_zeros() + 1 })
            }
            (Math::Brev, _) => self.narrow2(into, a, a, |x, _| x.reverse_bits()),
            (Math::IsNan | Math::IsInf, Scalar::Double) => {
                let x = self.wide(a).map(double);
                let test = |x: f64| {
                    if of == Math::IsNan { x.is_nan() } else { x.is_infinite() }
                };
                self.put(into, &x.map(|x| u32::from(test(x))));
            }
            (Math::IsNan, _) => self.narrow2(into, a, a, |x, _| u32::from(float(x).is_nan())),
            (Math::IsInf, _) => self.narrow2(into, a, a, |x, _| u32::from(float(x).is_infinite())),
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
                    float(x[lane]).mul_add(float(y[lane]), float(z[lane])).to_bits()
                });
                self.put(into, &result);
            }
            (_, Scalar::Double) if of.arguments() == 2 => {
                self.doubles(into, a, b, |x, y| math::two_f64(of, x, y))
            }
            (_, Scalar::Double) => self.doubles(into, a, a, |x, _| math::one_f64(of, x)),
            _ if of.arguments() == 2 => self.floats(into, a, b, |x, y| math::two_f32(of, x, y)),
            _ => self.floats(into, a, a, |x, _| math::one_f32(of, x)),
        }
    }

    /// `min`, `max` and `abs` of whole numbers.
    pub(super) fn whole(&mut self, of: Math, scalar: Scalar, into: Reg, a: Reg, b: Reg) {
        match (of, scalar) {
            (Math::Min, Scalar::Unsigned) => self.narrow2(into, a, b, u32::min),
            (Math::Max, Scalar::Unsigned) => self.narrow2(into, a, b, u32::max),
            (Math::Min, Scalar::Long) => {
                self.wide2(into, a, b, |x, y| (x as i64).min(y as i64) as u64)
            }
            (Math::Max, Scalar::Long) => {
                self.wide2(into, a, b, |x, y| (x as i64).max(y as i64) as u64)
            }
            (Math::Min, Scalar::UnsignedLong) => self.wide2(into, a, b, u64::min),
            (Math::Max, Scalar::UnsignedLong) => self.wide2(into, a, b, u64::max),
            (Math::Min, _) => self.narrow2(into, a, b, |x, y| (x as i32).min(y as i32) as u32),
            (Math::Max, _) => self.narrow2(into, a, b, |x, y| (x as i32).max(y as i32) as u32),
            (_, Scalar::Unsigned | Scalar::UnsignedLong) if scalar.is_wide() => {
                self.wide2(into, a, a, |x, _| x)
            }
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
