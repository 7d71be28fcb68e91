//! Registers of 32 lanes: reading, writing under the mask, and a function of one lane done in all.

use crate::bytecode::{Reg, WARP};
use crate::machine::execute::{Executor, NanWatch};
use crate::machine::fault::Fault;
use crate::machine::warp::{Narrow, Wide, lanes};
use crate::types::Scalar;

impl Executor<'_> {
    #[inline(always)]
    pub(super) fn put(&mut self, into: Reg, result: &Narrow) {
        put_masked(self.warp.mask, &mut self.warp.narrow[usize::from(into)], result);
    }

    #[inline(always)]
    pub(super) fn put_wide(&mut self, into: Reg, result: &Wide) {
        put_masked(self.warp.mask, &mut self.warp.wide[usize::from(into)], result);
    }

    /// Writes values of a type: their low bits where it is narrow.
    #[inline(always)]
    pub(super) fn put_values(&mut self, into: Reg, ty: Scalar, result: &Wide) {
        if ty.is_wide() {
            self.put_wide(into, result);
        } else {
            self.put(into, &result.map(|value| value as u32));
        }
    }

    #[inline(always)]
    pub(super) fn value(&self, reg: Reg, ty: Scalar, lane: usize) -> u64 {
        if ty.is_wide() {
            self.warp.wide[usize::from(reg)][lane]
        } else {
            u64::from(self.warp.narrow[usize::from(reg)][lane])
        }
    }

    #[inline(always)]
    pub(super) fn narrow(&self, reg: Reg) -> Narrow {
        self.warp.narrow[usize::from(reg)]
    }

    #[inline(always)]
    pub(super) fn wide(&self, reg: Reg) -> Wide {
        self.warp.wide[usize::from(reg)]
    }

    #[inline(always)]
    pub(super) fn narrow2(&mut self, into: Reg, a: Reg, b: Reg, f: impl Fn(u32, u32) -> u32) {
        let (x, y) = (self.narrow(a), self.narrow(b));
        let mut result = [0; WARP];
        for lane in 0..WARP {
            result[lane] = f(x[lane], y[lane]);
        }
        self.put(into, &result);
    }

    #[inline(always)]
    pub(super) fn wide2(&mut self, into: Reg, a: Reg, b: Reg, f: impl Fn(u64, u64) -> u64) {
        let (x, y) = (self.wide(a), self.wide(b));
        let mut result = [0; WARP];
        for lane in 0..WARP {
            result[lane] = f(x[lane], y[lane]);
        }
        self.put_wide(into, &result);
    }

    /// A signed operation with a mark, its highest bit, where it left its type.
    #[inline(always)]
    pub(super) fn signed(
        &mut self,
        sign: &str,
        into: Reg,
        a: Reg,
        b: Reg,
        f: impl Fn(i32, i32) -> (i32, u32),
    ) {
        let (x, y) = (self.narrow(a), self.narrow(b));
        let mut result = [0; WARP];
        let mut over = [0; WARP];
        let mut any = 0;
        for lane in 0..WARP {
            let (value, mark) = f(x[lane] as i32, y[lane] as i32);
            result[lane] = value as u32;
            over[lane] = mark;
            any |= mark;
        }
        if any >> 31 != 0 {
            for lane in lanes(self.warp.mask).filter(|lane| over[*lane] >> 31 != 0) {
                let (x, y, r) = (x[lane] as i32, y[lane] as i32, result[lane] as i32);
                self.find(Fault::Overflow, lane, || {
                    format!("{x} {sign} {y} does not fit into an int and becomes {r}")
                });
            }
        }
        self.put(into, &result);
    }

    #[inline(always)]
    pub(super) fn signed_wide(
        &mut self,
        sign: &str,
        into: Reg,
        a: Reg,
        b: Reg,
        f: impl Fn(i64, i64) -> (i64, bool),
    ) {
        let (x, y) = (self.wide(a), self.wide(b));
        let mut result = [0; WARP];
        let mut over = 0_u32;
        for lane in 0..WARP {
            let (value, left) = f(x[lane] as i64, y[lane] as i64);
            result[lane] = value as u64;
            over |= u32::from(left) << lane;
        }
        for lane in lanes(over & self.warp.mask) {
            let (x, y, r) = (x[lane] as i64, y[lane] as i64, result[lane] as i64);
            self.find(Fault::Overflow, lane, || {
                format!("{x} {sign} {y} does not fit into a long long and becomes {r}")
            });
        }
        self.put_wide(into, &result);
    }

    #[inline(always)]
    pub(super) fn floats(&mut self, into: Reg, a: Reg, b: Reg, f: impl Fn(f32, f32) -> f32) {
        if self.nan == NanWatch::On {
            let (x, y) = (self.narrow(a), self.narrow(b));
            for lane in lanes(self.warp.mask) {
                let (x, y) = (float(x[lane]), float(y[lane]));
                if f(x, y).is_nan() && !x.is_nan() && !y.is_nan() {
                    self.find(Fault::NotANumber, lane, || format!("of {x} and {y} comes NaN"));
                }
            }
        }
        self.narrow2(into, a, b, |x, y| f(float(x), float(y)).to_bits());
    }

    #[inline(always)]
    pub(super) fn doubles(&mut self, into: Reg, a: Reg, b: Reg, f: impl Fn(f64, f64) -> f64) {
        if self.nan == NanWatch::On {
            let (x, y) = (self.wide(a), self.wide(b));
            for lane in lanes(self.warp.mask) {
                let (x, y) = (double(x[lane]), double(y[lane]));
                if f(x, y).is_nan() && !x.is_nan() && !y.is_nan() {
                    self.find(Fault::NotANumber, lane, || format!("of {x} and {y} comes NaN"));
                }
            }
        }
        self.wide2(into, a, b, |x, y| f(double(x), double(y)).to_bits());
    }
}

#[inline(always)]
fn put_masked<T: Copy>(mask: u32, register: &mut [T; WARP], result: &[T; WARP]) {
    if mask == u32::MAX {
        *register = *result;
    } else {
        for lane in 0..WARP {
            let runs = mask & (1 << lane) != 0;
            register[lane] = if runs { result[lane] } else { register[lane] };
        }
    }
}

pub(super) fn float(bits: u32) -> f32 {
    f32::from_bits(bits)
}

pub(super) fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}
