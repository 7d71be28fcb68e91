//! Rounding against the definition of each format, code by code.

use crate::formats::*;

/// Bits of exponent and fraction, and whether the highest exponent has infinities.
fn fields(format: Format) -> (u32, u32, bool) {
    match format {
        Format::Fp32 => (8, 23, true),
        Format::Bf16 => (8, 7, true),
        Format::Fp16 => (5, 10, true),
        Format::E4m3 => (4, 3, false),
        Format::E5m2 => (5, 2, true),
    }
}

/// What a code means, from the definition of the format; none for NaN.
fn value(format: Format, code: u32) -> Option<f64> {
    let (exponents, fractions, infinities) = fields(format);
    let sign = if code >> (exponents + fractions) & 1 == 1 { -1.0 } else { 1.0 };
    let exponent = code >> fractions & ((1 << exponents) - 1);
    let fraction = code & ((1 << fractions) - 1);
    let bias = (1 << (exponents - 1)) - 1;
    let highest = (1 << exponents) - 1;
    if exponent == highest && infinities {
        return (fraction == 0).then_some(sign * f64::INFINITY);
    }
    if exponent == highest && fraction == (1 << fractions) - 1 {
        return None;
    }
    let share = f64::from(fraction) / f64::from(1 << fractions);
    let size = if exponent == 0 {
        share * 2_f64.powi(1 - bias)
    } else {
        (1.0 + share) * 2_f64.powi(exponent as i32 - bias)
    };
    Some(sign * size)
}

const SHORT: [Format; 4] = [Format::Bf16, Format::Fp16, Format::E4m3, Format::E5m2];

fn codes(format: Format) -> u32 {
    1 << (8 * format.bytes())
}

/// Whether two numbers are the same, zeros by their sign as well.
fn same(a: f32, b: f64) -> bool {
    f64::from(a) == b && a.is_sign_negative() == b.is_sign_negative()
}

#[test]
fn every_code_is_rounded_to_itself() {
    for format in SHORT {
        let mut numbers = 0;
        for code in 0..codes(format) {
            let Some(value) = value(format, code) else { continue };
            numbers += 1;
            // Each is a number of 32 bits.
            let narrow = value as f32;
            assert!(same(narrow, value), "{format:?} {code:x}");
            if value.is_infinite() {
                assert!(same(format.round(narrow), value) && format.overflows(narrow));
                continue;
            }
            assert!(same(format.round(narrow), value), "{format:?} {code:x}");
            assert!(same(format.round_by(narrow, 0.0), value), "{format:?} {code:x}");
            assert!(!format.overflows(narrow), "{format:?} {code:x}");
        }
        let nans = match format {
            Format::Fp32 | Format::Bf16 => 254,
            Format::Fp16 => 2046,
            Format::E4m3 => 2,
            Format::E5m2 => 6,
        };
        assert_eq!(codes(format) - numbers, nans, "{format:?}");
        assert!(format.round(f32::NAN).is_nan());
    }
}

#[test]
fn rounding_is_to_nearest_even() {
    for format in SHORT {
        // Positive codes in order are positive numbers in order.
        for code in 0..codes(format) / 2 - 1 {
            let (Some(low), Some(high)) = (value(format, code), value(format, code + 1)) else {
                continue;
            };
            // Past the largest, the next number would be as far again.
            let limit = if high.is_infinite() {
                2.0 * low - value(format, code - 1).expect("a number")
            } else {
                high
            };
            let middle = (low + limit) / 2.0;
            let narrow = middle as f32;
            assert_eq!(f64::from(narrow), middle, "{format:?} {code:x}");
            let even = if code % 2 == 0 { low } else { high };
            let below = f32::from_bits(narrow.to_bits() - 1);
            let above = f32::from_bits(narrow.to_bits() + 1);
            for (x, wanted) in [(narrow, even), (below, low), (above, high)] {
                assert!(same(format.round(x), wanted), "{format:?} {code:x}: {x:e}");
                assert!(same(format.round(-x), -wanted), "{format:?} {code:x}: -{x:e}");
                assert_eq!(format.overflows(x), wanted.is_infinite());
            }
        }
    }
}

#[test]
fn e4m3_saturates() {
    for x in [448.1, 464.0, 480.0, 1e30, f32::INFINITY] {
        assert_eq!(Format::E4m3.round(x), 448.0);
        assert_eq!(Format::E4m3.round(-x), -448.0);
        assert_eq!(Format::E4m3.round_by(x, 0.0), 448.0);
        assert_eq!(Format::E4m3.overflows(x), x > 464.0);
    }
    assert!(Format::E4m3.round_by(f32::NAN, 0.5).is_nan());
}

#[test]
fn ranges_are_those_of_the_tables() {
    for (format, smallest, normal, largest, at_one) in [
        (
            Format::Bf16,
            9.183_549_615_799_121e-41,
            1.175_494_350_822_287_5e-38,
            3.389_531_389_251_535_5e38,
            0.007_812_5,
        ),
        (Format::Fp16, 5.960_464_477_539_063e-8, 6.103_515_625e-5, 65_504.0, 9.765_625e-4),
        (Format::E4m3, 0.001_953_125, 0.015_625, 448.0, 0.125),
        (Format::E5m2, 1.525_878_906_25e-5, 6.103_515_625e-5, 57_344.0, 0.25),
        (
            Format::Fp32,
            1.401_298_464_324_817e-45,
            1.175_494_350_822_287_5e-38,
            3.402_823_466_385_288_6e38,
            1.192_092_895_507_812_5e-7,
        ),
    ] {
        let found = (
            format.smallest(),
            format.smallest_normal(),
            f64::from(format.largest()),
            format.spacing(1.0),
        );
        assert_eq!(found, (smallest, normal, largest, at_one), "{format:?}");
    }
}

#[test]
fn neighbours_are_the_codes_before_and_after() {
    for format in SHORT {
        let finite = |code| value(format, code).filter(|value: &f64| value.is_finite());
        for code in 1..codes(format) / 2 {
            let (Some(low), Some(here)) = (finite(code - 1), finite(code)) else { continue };
            let high = finite(code + 1).unwrap_or(f64::INFINITY);
            let neighbours = format.neighbours(here as f32).map(f64::from);
            assert_eq!(neighbours, [low, high], "{format:?} {code:x}");
            let neighbours = format.neighbours(-here as f32).map(f64::from);
            assert_eq!(neighbours, [-high, -low], "{format:?} -{code:x}");
        }
        let smallest = format.smallest() as f32;
        assert_eq!(format.neighbours(0.0), [-smallest, smallest]);
    }
}

#[test]
fn ones_stop_adding_up() {
    for (format, wanted) in [(Format::Bf16, 256.0), (Format::Fp16, 2048.0), (Format::Fp32, 4096.0)]
    {
        let sum = (0..4096).fold(0.0_f32, |sum, _| format.round(sum + 1.0));
        assert_eq!(sum, wanted, "{format:?}");
    }
}

#[test]
fn rounding_at_random_keeps_the_mean() {
    for (format, x) in [(Format::Bf16, 1.001_f32), (Format::E4m3, -0.3), (Format::Fp16, 1e-8)] {
        let draws = 100_000;
        let sum: f64 = (0..draws)
            .map(|draw| f64::from(format.round_by(x, mlsys_lab::random::unit(3, draw))))
            .sum();
        let mean = sum / draws as f64;
        let spread = format.spacing(x.abs()) / (draws as f64).sqrt();
        assert!((mean - f64::from(x)).abs() < 3.0 * spread, "{format:?}: {mean}");
    }
}
