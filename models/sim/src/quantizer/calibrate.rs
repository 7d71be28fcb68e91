//! Which range a grid is to cover, judged by examples of what will come.

use super::{Grid, Scheme};

/// The share of values that a percentile keeps inside.
const KEPT: f64 = 0.999;

/// Ranges that are tried for the least error, from the whole one down to a tenth of it.
const TRIED: u32 = 40;

/// How a range is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Calibration {
    /// From the least value to the greatest.
    MinMax,
    /// All but the outermost thousandth.
    Percentile,
    /// Whatever part of the whole range loses least by rounding and cutting off together, in the mean of the squares.
    LeastError,
}

impl Calibration {
    /// By its name among parameters.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "min-max" => Some(Self::MinMax),
            "percentile" => Some(Self::Percentile),
            "mean-squared-error" => Some(Self::LeastError),
            _ => None,
        }
    }

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
    fn a_calibrated_range_covers_all_or_most_or_what_loses_least() {
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
