//! The steps that a knob turns by.

use mlsys_lab::value::significant;

/// The next count in a direction: by one while it is small, by doubling between powers of two, else as [`notch`].
pub fn whole_notch(n: i64, notches: i32) -> i64 {
    const SMALL: i64 = 8;
    let mut n = n;
    for _ in 0..notches.unsigned_abs() {
        let up = notches > 0;
        let doubles = n >= SMALL && u64::try_from(n).is_ok_and(u64::is_power_of_two);
        n = match (up, doubles) {
            (true, true) => n.saturating_mul(2),
            (false, true) => n / 2,
            (true, false) if n < SMALL => n + 1,
            (false, false) if n <= SMALL => n - 1,
            (_, false) => notch(n as f64, notches.signum()) as i64,
        };
    }
    n
}

/// The next of ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ... in a direction; below a millionth it is zero.
pub fn notch(x: f64, notches: i32) -> f64 {
    const SMALLEST: f64 = 1e-6;
    const MANTISSAS: [f64; 3] = [1.0, 2.0, 5.0];
    if notches == 0 {
        return x;
    }
    if x < 0.0 {
        return -notch(-x, -notches);
    }
    let mut x = x;
    for _ in 0..notches.unsigned_abs() {
        let exponent = if x > 0.0 { x.log10().floor() } else { -6.0 };
        let ladder = (-1..=1).flat_map(|shift| {
            MANTISSAS
                .iter()
                .map(move |m| m * 10f64.powf(exponent + f64::from(shift)))
                // Without the last bits of rounding, so that a knob reads 0.2 and not 0.2000000001.
                .map(|v| significant(v, 4))
        });
        let near = x * 1e-9;
        x = if notches > 0 {
            ladder.filter(|&v| v > x + near && v >= SMALLEST).fold(f64::INFINITY, f64::min)
        } else {
            ladder.filter(|&v| v < x - near && v >= SMALLEST).fold(0.0, f64::max)
        };
    }
    x
}

/// The next multiple of a quarter in a direction, or of a quarter of the power of ten that the number has: a coordinate
/// is felt as a distance, and crosses zero.
pub fn even_notch(x: f64, notches: i32) -> f64 {
    let mut x = x;
    for _ in 0..notches.unsigned_abs() {
        let towards_zero = (x > 0.0) != (notches > 0);
        let size = x.abs().max(1.0);
        // From 10 down the steps are those below 10.
        let size = if towards_zero { size * (1.0 - 1e-9) } else { size };
        let step = 0.25 * 10_f64.powf(size.log10().floor().max(0.0));
        let near = 1e-9 * f64::from(notches.signum());
        x = if notches > 0 {
            ((x / step + near).floor() + 1.0) * step
        } else {
            ((x / step + near).ceil() - 1.0) * step
        };
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notches_walk_a_ladder_both_ways_and_end_at_zero() {
        let mut x = 0.01;
        let mut seen = Vec::new();
        for _ in 0..5 {
            x = notch(x, 1);
            seen.push(x);
        }
        assert_eq!(seen, [0.02, 0.05, 0.1, 0.2, 0.5]);
        for _ in 0..5 {
            x = notch(x, -1);
        }
        assert_eq!(x, 0.01);
        assert_eq!(notch(3.0, 1), 5.0);
        assert_eq!(notch(3.0, -1), 2.0);
        assert_eq!(notch(1e-6, -1), 0.0);
        assert_eq!(notch(0.0, 1), 1e-6);
    }

    #[test]
    fn coordinates_go_by_quarters_through_zero() {
        for (from, notches, to) in [
            (2.0, 1, 2.25),
            (2.1, 1, 2.25),
            (2.1, -1, 2.0),
            (0.25, -2, -0.25),
            (-1.25, 1, -1.0),
            (9.75, 2, 12.5),
            (12.5, -2, 9.75),
            (-10.0, -1, -12.5),
            (1e6, 1, 1.25e6),
        ] {
            assert_eq!(even_notch(from, notches), to, "{from} by {notches}");
        }
    }

    #[test]
    fn counts_go_by_one_then_double() {
        let walk = |from: i64, notches: i32| {
            let mut n = from;
            std::iter::repeat_with(|| {
                n = whole_notch(n, notches);
                n
            })
            .take(4)
            .collect::<Vec<_>>()
        };
        assert_eq!(walk(6, 1), [7, 8, 16, 32]);
        assert_eq!(walk(32, -1), [16, 8, 4, 3]);
        assert_eq!(walk(2, -1), [1, 0, -1, -2]);
        assert_eq!(walk(400, 1), [500, 1000, 2000, 5000]);
    }
}
