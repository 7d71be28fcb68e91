//! Least-squares fits of a power law with an irreducible part, `y = floor + coefficient * x^-exponent`.
//!
//! For a given exponent the other two are linear, so one search over exponents finds all three.

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLaw {
    pub floor: f64,
    pub coefficient: f64,
    pub exponent: f64,
}

/// How the floor is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floor {
    Zero,
    Free,
    /// Free if that describes the points better by more than its additional parameter is worth, else zero.
    Told,
}

/// Exponents that are looked at; a loss that falls faster with size than its square has not been seen.
const EXPONENTS: [f64; 2] = [1e-3, 2.0];
const GRID: usize = 200;
const REFINEMENTS: usize = 80;

impl PowerLaw {
    pub fn at(&self, x: f64) -> f64 {
        self.floor + self.coefficient * x.powf(-self.exponent)
    }

    /// The sum of the squared distances.
    pub fn residual(&self, points: &[(f64, f64)]) -> f64 {
        points.iter().map(|(x, y)| (y - self.at(*x)).powi(2)).sum()
    }

    /// The best law through points with positive `x`; none of fewer than three, or where one is not finite.
    pub fn fit(points: &[(f64, f64)], floor: Floor) -> Option<Self> {
        let is_usable = |(x, y): &(f64, f64)| *x > 0.0 && x.is_finite() && y.is_finite();
        if points.len() < 3 || !points.iter().all(is_usable) {
            return None;
        }
        let zero = Self::search(points, false)?;
        match floor {
            Floor::Zero => Some(zero),
            Floor::Free => Some(Self::search(points, true).unwrap_or(zero)),
            Floor::Told => {
                let free = Self::search(points, true).unwrap_or(zero);
                let [zero_score, free_score] = [(zero, 2), (free, 3)]
                    .map(|(law, parameters)| score(law.residual(points), points.len(), parameters));
                Some(if free_score < zero_score { free } else { zero })
            }
        }
    }

    /// The exponent of least residual; none with a floor where the best has a negative one.
    fn search(points: &[(f64, f64)], has_floor: bool) -> Option<Self> {
        // Around their geometric mean the powers are of like size.
        let centre = points.iter().map(|(x, _)| x.ln()).sum::<f64>() / points.len() as f64;
        let law = |exponent: f64| linear(points, centre, exponent, has_floor);
        let residual = |exponent: f64| law(exponent).residual(points);
        let [low, high] = EXPONENTS.map(f64::ln);
        let at = |place: f64| (low + (high - low) * place / GRID as f64).exp();
        let best = (0..=GRID)
            .min_by(|a, b| residual(at(*a as f64)).total_cmp(&residual(at(*b as f64))))?;
        let (mut left, mut right) =
            ((best as f64 - 1.0).max(0.0), (best as f64 + 1.0).min(GRID as f64));
        for _ in 0..REFINEMENTS {
            let third = (right - left) / 3.0;
            if residual(at(left + third)) < residual(at(right - third)) {
                right -= third;
            } else {
                left += third;
            }
        }
        Some(law(at(0.5 * (left + right)))).filter(|law| law.floor >= 0.0)
    }
}

/// The least squares for one exponent.
fn linear(points: &[(f64, f64)], centre: f64, exponent: f64, has_floor: bool) -> PowerLaw {
    let power = |x: f64| (-exponent * (x.ln() - centre)).exp();
    let n = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (p, y) = if has_floor { (mean(&|at| power(at.0)), mean(&|at| at.1)) } else { (0.0, 0.0) };
    let both: f64 = points.iter().map(|at| (power(at.0) - p) * (at.1 - y)).sum();
    let square: f64 = points.iter().map(|at| (power(at.0) - p).powi(2)).sum();
    let slope = if square > 0.0 { both / square } else { 0.0 };
    PowerLaw { floor: y - slope * p, coefficient: slope * (exponent * centre).exp(), exponent }
}

/// Akaike's criterion for small samples (Hurvich & Tsai 1989), with the variance as one more parameter; less is better.
fn score(residual: f64, points: usize, parameters: usize) -> f64 {
    let (n, k) = (points as f64, parameters as f64 + 1.0);
    if n - k - 1.0 <= 0.0 {
        return f64::INFINITY;
    }
    n * (residual.max(f64::MIN_POSITIVE) / n).ln() + 2.0 * k + 2.0 * k * (k + 1.0) / (n - k - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::random;

    const SIZES: [f64; 7] = [1.2e9, 2.6e9, 4.7e9, 1.0e10, 1.9e10, 4.0e10, 7.1e10];

    fn points(law: PowerLaw, noise: f64, seed: u64) -> Vec<(f64, f64)> {
        let drawn = |at: usize| 2.0 * random::unit(seed, at as u64) - 1.0;
        SIZES.iter().enumerate().map(|(at, x)| (*x, law.at(*x) + noise * drawn(at))).collect()
    }

    #[test]
    fn exact_points_give_their_law_back() {
        for (floor, exponent) in [(0.0, 0.076), (0.0, 0.5), (1.2, 0.3), (0.7, 0.15)] {
            let law = PowerLaw { floor, coefficient: 8.0 * 1e9_f64.powf(exponent), exponent };
            let fitted = PowerLaw::fit(&points(law, 0.0, 1), Floor::Told).unwrap();
            assert!((fitted.exponent - exponent).abs() < 1e-4 * exponent, "{law:?} {fitted:?}");
            assert!((fitted.floor - floor).abs() < 1e-3, "{law:?} {fitted:?}");
            assert!((fitted.at(1e12) - law.at(1e12)).abs() < 1e-3);
        }
    }

    /// Gauss-Newton with a full normal matrix, started near the truth: another way to the same minimum.
    fn gauss_newton(points: &[(f64, f64)], start: PowerLaw) -> PowerLaw {
        let mut law = start;
        for _ in 0..200 {
            let (mut a, mut b) = ([[0.0; 3]; 3], [0.0; 3]);
            for (x, y) in points {
                let power = x.powf(-law.exponent);
                // Scaled so that the columns are of like size.
                let row = [1.0, power * law.coefficient, -law.coefficient * power * x.ln()];
                for i in 0..3 {
                    b[i] += row[i] * (y - law.at(*x));
                    for j in 0..3 {
                        a[i][j] += row[i] * row[j];
                    }
                }
            }
            for i in 0..3 {
                for below in i + 1..3 {
                    let factor = a[below][i] / a[i][i];
                    let pivot = a[i];
                    for (cell, above) in a[below].iter_mut().zip(pivot) {
                        *cell -= factor * above;
                    }
                    b[below] -= factor * b[i];
                }
            }
            let mut step = [0.0; 3];
            for i in (0..3).rev() {
                let known: f64 = (i + 1..3).map(|j| a[i][j] * step[j]).sum();
                step[i] = (b[i] - known) / a[i][i];
            }
            law.floor += step[0];
            law.coefficient *= 1.0 + step[1];
            law.exponent += step[2];
        }
        law
    }

    #[test]
    fn the_fit_is_the_least_squares_of_another_method() {
        let law = PowerLaw { floor: 1.3, coefficient: 1.5e3, exponent: 0.35 };
        for seed in 0..20 {
            let points = points(law, 0.004, seed);
            let fitted = PowerLaw::fit(&points, Floor::Free).unwrap();
            let other = gauss_newton(&points, law);
            assert!((fitted.exponent - other.exponent).abs() < 1e-5, "{fitted:?} {other:?}");
            assert!((fitted.floor - other.floor).abs() < 1e-4, "{fitted:?} {other:?}");
            assert!(fitted.residual(&points) <= other.residual(&points) * (1.0 + 1e-6));
        }
    }

    #[test]
    fn a_floor_is_told_only_where_the_points_bend() {
        let straight = PowerLaw { floor: 0.0, coefficient: 10.0, exponent: 0.08 };
        let bent = PowerLaw { floor: 1.4, coefficient: 1.5e3, exponent: 0.35 };
        let floor =
            |law, noise, seed| PowerLaw::fit(&points(law, noise, seed), Floor::Told).unwrap().floor;
        let told = |law, noise| (0..50).filter(|seed| floor(law, noise, *seed) > 0.0).count();
        assert!(told(straight, 0.01) <= 5);
        assert!(told(bent, 0.002) >= 45);
        assert!(PowerLaw::fit(&[(1.0, 2.0), (2.0, 1.0)], Floor::Zero).is_none());
        assert!(PowerLaw::fit(&[(1.0, 2.0), (2.0, f64::NAN), (3.0, 1.0)], Floor::Zero).is_none());
    }
}
