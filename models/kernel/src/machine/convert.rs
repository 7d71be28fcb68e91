//! Conversions from type to type on 32 lanes.

use super::core::{Core, lanes};
use super::finding::Fault;
use super::registers::{double, float};
use crate::code::{Reg, WARP};
use crate::types::Scalar;

impl Core<'_> {
    pub(super) fn convert(&mut self, from: Scalar, to: Scalar, into: Reg, of: Reg) {
        if from.is_real() && !to.is_real() && to != Scalar::Bool {
            self.whole_from_real(from, to, into, of);
            return;
        }
        let (mut narrow, mut wide) = ([0; WARP], [0; WARP]);
        for lane in 0..WARP {
            let x = || self.warp.narrow[usize::from(of)][lane];
            let w = || self.warp.wide[usize::from(of)][lane];
            match to {
                Scalar::Bool => {
                    narrow[lane] = u32::from(match from {
                        Scalar::Float => float(x()) != 0.0,
                        Scalar::Double => double(w()) != 0.0,
                        Scalar::Long | Scalar::UnsignedLong => w() != 0,
                        Scalar::Bool | Scalar::Int | Scalar::Unsigned => x() != 0,
                    });
                }
                Scalar::Int | Scalar::Unsigned => {
                    narrow[lane] = if from.is_wide() { w() as u32 } else { x() }
                }
                Scalar::Long | Scalar::UnsignedLong => {
                    wide[lane] = match from {
                        Scalar::Int => x() as i32 as i64 as u64,
                        Scalar::Bool | Scalar::Unsigned | Scalar::Float => u64::from(x()),
                        Scalar::Long | Scalar::UnsignedLong | Scalar::Double => w(),
                    };
                }
                Scalar::Float => {
                    narrow[lane] = match from {
                        Scalar::Int => x() as i32 as f32,
                        Scalar::Bool | Scalar::Unsigned => x() as f32,
                        Scalar::Long => w() as i64 as f32,
                        Scalar::UnsignedLong => w() as f32,
                        Scalar::Float => float(x()),
                        Scalar::Double => double(w()) as f32,
                    }
                    .to_bits();
                }
                Scalar::Double => {
                    wide[lane] = match from {
                        Scalar::Int => f64::from(x() as i32),
                        Scalar::Bool | Scalar::Unsigned => f64::from(x()),
                        Scalar::Long => w() as i64 as f64,
                        Scalar::UnsignedLong => w() as f64,
                        Scalar::Float => f64::from(float(x())),
                        Scalar::Double => double(w()),
                    }
                    .to_bits();
                }
            }
        }
        if to.is_wide() { self.put_wide(into, &wide) } else { self.put(into, &narrow) }
    }

    /// Towards zero; what does not fit becomes the nearest that does, as on a device, and is a fault.
    pub(super) fn whole_from_real(&mut self, from: Scalar, to: Scalar, into: Reg, of: Reg) {
        let (mut narrow, mut wide) = ([0; WARP], [0; WARP]);
        for lane in lanes(self.warp.mask) {
            let x = match from {
                Scalar::Double => double(self.warp.wide[usize::from(of)][lane]),
                Scalar::Bool
                | Scalar::Int
                | Scalar::Unsigned
                | Scalar::Long
                | Scalar::UnsignedLong
                | Scalar::Float => f64::from(float(self.warp.narrow[usize::from(of)][lane])),
            };
            let whole = x.trunc();
            let (low, high) = match to {
                Scalar::Unsigned => (0.0, 4_294_967_296.0),
                Scalar::Long => (-9_223_372_036_854_775_808.0, 9_223_372_036_854_775_808.0),
                Scalar::UnsignedLong => (0.0, 18_446_744_073_709_551_616.0),
                Scalar::Bool | Scalar::Int | Scalar::Float | Scalar::Double => {
                    (-2_147_483_648.0, 2_147_483_648.0)
                }
            };
            if !(whole >= low && whole < high) {
                self.find(Fault::Overflow, lane, || format!("{x} does not fit into {to}"));
            }
            match to {
                Scalar::Unsigned => narrow[lane] = whole as u32,
                Scalar::Long => wide[lane] = whole as i64 as u64,
                Scalar::UnsignedLong => wide[lane] = whole as u64,
                Scalar::Bool | Scalar::Int | Scalar::Float | Scalar::Double => {
                    narrow[lane] = whole as i32 as u32
                }
            }
        }
        if to.is_wide() { self.put_wide(into, &wide) } else { self.put(into, &narrow) }
    }
}
