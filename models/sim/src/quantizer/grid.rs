//! Evenly spaced levels: integers with a scale and a zero point, and the calibration of their range by examples.

mlsys_lab::named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Scheme {
        /// From the least value to the greatest, with an integer that stands for zero.
        Affine = "affine",
        /// Zero is the integer 0, and all integers are used: one more below it than above.
        Symmetric = "symmetric",
        /// Zero is the integer 0, and the lowest integer is left out: as many below it as above.
        SymmetricRestricted = "symmetric-restricted",
    }
}

/// Whether integers go below zero; symmetric ones always do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// From -2^(b-1) on.
    Signed,
    /// From 0 on.
    Unsigned,
}

/// The levels `scale * (q - zero)` for the integers q from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    pub low: i64,
    pub high: i64,
    /// The distance of two levels, above 0.
    pub scale: f32,
    pub zero: i64,
}

/// Bits that a grid can have: narrower ones have no level on one side of zero, wider ones would not fit into codes.
pub(super) fn usable(bits: u32) -> u32 {
    bits.clamp(2, 31)
}

/// Whole numbers up to here are floats of 32 bits.
const EXACT: i64 = 1 << 24;

/// The least and the greatest of some values, zero among them: padding and ReLU need a level for it.
pub fn range(values: &[f32]) -> (f64, f64) {
    let values = values.iter().map(|x| f64::from(*x));
    values.fold((0.0, 0.0), |(least, most), x| (least.min(x), most.max(x)))
}

impl Scheme {
    /// The lowest and the highest integer of 2 to 31 bits.
    pub fn integers(self, bits: u32, sign: Sign) -> (i64, i64) {
        let half = 1_i64 << (usable(bits) - 1);
        match (self, sign) {
            (Self::SymmetricRestricted, Sign::Signed | Sign::Unsigned) => (1 - half, half - 1),
            (Self::Affine, Sign::Unsigned) => (0, 2 * half - 1),
            (Self::Affine, Sign::Signed) | (Self::Symmetric, Sign::Signed | Sign::Unsigned) => {
                (-half, half - 1)
            }
        }
    }

    /// The distance of two levels that just covers a range with zero in it; 1 for a range of nothing but zero.
    pub fn step(self, bits: u32, (least, most): (f64, f64)) -> f64 {
        let half = (1_i64 << (usable(bits) - 1)) as f64;
        let size = most.max(-least);
        let step = match self {
            Self::Affine => (most - least) / (2.0 * half - 1.0),
            Self::Symmetric => size / half,
            Self::SymmetricRestricted => size / (half - 1.0),
        };
        if step == 0.0 { 1.0 } else { step }
    }

    /// The integer that stands for zero, if the range begins at `least`.
    ///
    /// In f64: in f32 the range from -1 to 1 would give 127 instead of 128.
    pub fn zero(self, (low, high): (i64, i64), least: f64, step: f64) -> i64 {
        match self {
            Self::Affine => {
                let place = (low as f64 - least / step).round_ties_even();
                (place as i64).clamp(low, high)
            }
            Self::Symmetric | Self::SymmetricRestricted => 0,
        }
    }
}

impl Grid {
    /// The grid of 2 to 31 bits over a range, which is widened to zero; affine integers are unsigned.
    pub fn over((least, most): (f64, f64), bits: u32, scheme: Scheme) -> Self {
        let (least, most) = (least.min(0.0), most.max(0.0));
        let (low, high) = scheme.integers(bits, Sign::Unsigned);
        let step = scheme.step(bits, (least, most));
        // A step below the smallest float would be none at all.
        let scale = (step as f32).clamp(f32::MIN_POSITIVE, f32::MAX);
        Self { low, high, scale, zero: scheme.zero((low, high), least, step) }
    }

    /// q = clamp(rhe(value/S) + Z, qmin, qmax), in f32 as devices do it; in f64 if the integers are too many for f32.
    pub fn code(&self, value: f32) -> i64 {
        self.unbounded(value).clamp(self.low, self.high)
    }

    /// The integer that would stand for a value if there were no lowest and highest.
    pub fn unbounded(&self, value: f32) -> i64 {
        let place = if self.is_fine() {
            (f64::from(value) / f64::from(self.scale)).round_ties_even() as i64
        } else {
            (value / self.scale).round_ties_even() as i64
        };
        place.saturating_add(self.zero)
    }

    /// Whether a value lies so far outside that its level is more than half a step away.
    pub fn clips(&self, value: f32) -> bool {
        !(self.low..=self.high).contains(&self.unbounded(value))
    }

    /// S*(q - Z).
    pub fn value(&self, code: i64) -> f32 {
        let place = code - self.zero;
        if self.is_fine() {
            (f64::from(self.scale) * place as f64) as f32
        } else {
            self.scale * place as f32
        }
    }

    /// Whether not every integer is a float of 32 bits.
    fn is_fine(&self) -> bool {
        self.high - self.low > EXACT
    }

    pub fn round(&self, value: f32) -> f32 {
        self.value(self.code(value))
    }
}

/// The share of values that a percentile keeps inside.
const KEPT: f64 = 0.999;

/// Ranges that are tried for the least error, from the whole one down to a tenth of it.
const TRIED: u32 = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Calibration {
    MinMax,
    /// All but the outermost thousandth.
    Percentile,
    /// Whatever part of the whole range loses least by rounding and cutting off together, in the mean of the squares.
    LeastError,
}

impl Calibration {
    /// A grid for values of which these are examples. Values that are not finite do not count.
    pub fn grid(self, examples: &[f32], bits: u32, scheme: Scheme) -> Grid {
        let mut sorted: Vec<f32> = examples.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_by(f32::total_cmp);
        let at = |share: f64| {
            let place = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
            sorted.get(place).map_or(0.0, |x| f64::from(*x))
        };
        let whole = (at(0.0), at(1.0));
        match self {
            Self::MinMax => Grid::over(whole, bits, scheme),
            Self::Percentile => {
                let outside = (1.0 - KEPT) / 2.0;
                // What begins at zero, as after ReLU, is cut at its far end alone.
                let range = match (whole.0 < 0.0, whole.1 > 0.0) {
                    (true, true) => (at(outside), at(1.0 - outside)),
                    (true, false) => (at(1.0 - KEPT), 0.0),
                    (false, _) => (0.0, at(KEPT)),
                };
                Grid::over(range, bits, scheme)
            }
            Self::LeastError => {
                let error = |grid: &Grid| {
                    let squares = sorted.iter().map(|x| {
                        let error = f64::from(grid.round(*x)) - f64::from(*x);
                        error * error
                    });
                    squares.sum::<f64>()
                };
                let mut best = Grid::over(whole, bits, scheme);
                let mut least = error(&best);
                for tried in 1..TRIED {
                    let share = 1.0 - 0.9 * f64::from(tried) / f64::from(TRIED - 1);
                    let grid = Grid::over((whole.0 * share, whole.1 * share), bits, scheme);
                    let lost = error(&grid);
                    if lost < least {
                        (best, least) = (grid, lost);
                    }
                }
                best
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibrated_ranges() {
        // A thousand values up to 1, and one far away.
        let mut examples: Vec<f32> = (0..=1000).map(|i| i as f32 / 1000.0).collect();
        examples.push(10.0);
        let top = |calibration: Calibration| {
            let grid = calibration.grid(&examples, 4, Scheme::Affine);
            assert_eq!(grid.round(0.0), 0.0);
            grid.value(grid.high)
        };
        assert_eq!(top(Calibration::MinMax), 10.0);
        assert!((0.99..1.01).contains(&top(Calibration::Percentile)));
        let error = |calibration: Calibration| {
            let grid = calibration.grid(&examples, 4, Scheme::Affine);
            let squares = examples.iter().map(|x| f64::from(grid.round(*x) - x).powi(2));
            squares.sum::<f64>()
        };
        let least = error(Calibration::LeastError);
        assert!(least <= error(Calibration::MinMax) && least <= error(Calibration::Percentile));
        for calibration in [Calibration::MinMax, Calibration::Percentile, Calibration::LeastError] {
            let grid = calibration.grid(&[], 8, Scheme::Symmetric);
            assert_eq!(grid.round(0.0), 0.0);
            let grid = calibration.grid(&[f32::NAN, 2.0], 8, Scheme::Affine);
            assert!(grid.scale > 0.0 && grid.scale.is_finite());
        }
    }
}
