//! Logarithm, sine and cosine from additions, multiplications and divisions alone.
//!
//! IEEE 754 fixes those operations to the last bit, while the platform's mathematics library may round
//! `ln` and `sin` differently on another system. Accurate to about 1e-15, not correctly rounded.

use std::f64::consts::{FRAC_PI_2, LN_2, SQRT_2};

/// The natural logarithm of a positive, normal number.
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as f64 - 1023.0;
    let mut mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if mantissa > SQRT_2 {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    // ln m = 2 artanh r = 2 (r + r³/3 + r⁵/5 + ...) with r = (m - 1)/(m + 1), |r| < 0.172.
    let r = (mantissa - 1.0) / (mantissa + 1.0);
    let square = r * r;
    let series = (0..11).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    exponent * LN_2 + 2.0 * r * series
}

/// Sine and cosine of an angle in radians; meant for a few turns, not for millions.
pub fn sin_cos(angle: f64) -> (f64, f64) {
    let quadrant = (angle / FRAC_PI_2).round();
    let rest = angle - quadrant * FRAC_PI_2;
    let square = rest * rest;
    // Taylor series by Horner's rule, up to x¹⁷ and x¹⁶ for |x| <= π/4.
    let nested = |first: i32| {
        (0..8).rev().fold(1.0, |sum, term| {
            let factor = first + 2 * term;
            1.0 - sum * square / f64::from(factor * (factor + 1))
        })
    };
    let (sine, cosine) = (rest * nested(2), nested(1));
    match quadrant.rem_euclid(4.0) as i32 {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_agree_with_the_platform() {
        for step in 1..20_000 {
            let x = f64::from(step) * 1e-3;
            for argument in [x, x * 1e-12, x * 1e12] {
                let (found, expected) = (ln(argument), argument.ln());
                assert!((found - expected).abs() <= 1e-15 * expected.abs().max(1.0), "{argument}");
            }
            for angle in [x, -x] {
                let (sine, cosine) = sin_cos(angle);
                assert!((sine - angle.sin()).abs() < 1e-14, "sin {angle}");
                assert!((cosine - angle.cos()).abs() < 1e-14, "cos {angle}");
            }
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
    }
}
