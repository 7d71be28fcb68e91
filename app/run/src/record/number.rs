//! Numbers read from text, bit for bit as the standard library reads them, and faster on those that records hold.

use std::ops::RangeInclusive;

/// Powers of ten that are floats without rounding.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Below this, every whole number is a float.
const WHOLE: u64 = 1 << 53;

/// As many digits as always fit 64 bits.
const DIGITS: usize = 19;

/// The number that the text begins with, and how long it is; it is written as JSON writes numbers.
#[inline]
pub fn scan(text: &[u8]) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    let (mut mantissa, mut at) = match text.get(start..start + 2) {
        // One digit before the point, as most numbers have it.
        Some([digit @ b'0'..=b'9', b'.']) => (u64::from(digit - b'0'), start + 1),
        Some(_) | None => digits(text, start, 0),
    };
    if at == start {
        return None;
    }
    let mut count = at - start;
    let mut exponent = 0_i64;
    if text.get(at) == Some(&b'.') {
        let point = at + 1;
        (mantissa, at) = digits(text, point, mantissa);
        if at == point {
            return None;
        }
        count += at - point;
        exponent = point as i64 - at as i64;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        let (power, end) = power(text, at + 1)?;
        exponent += power;
        at = end;
    }
    if count > DIGITS && count - leading_zeros(text, start) > DIGITS {
        return standard(text, at);
    }
    let size = if mantissa < WHOLE && (-22..=22).contains(&exponent) {
        // Both are floats without rounding, so that one division or product rounds once, as it must.
        let power = EXACT.get(exponent.unsigned_abs() as usize)?;
        if exponent < 0 { mantissa as f64 / power } else { mantissa as f64 * power }
    } else if NEGATIVE.contains(&exponent) && mantissa != 0 {
        product(mantissa, exponent)
    } else {
        return standard(text, at);
    };
    Some((if negative { -size } else { size }, at))
}

/// A run of digits behind a mantissa; where there are too many for it, the caller takes another way.
fn digits(text: &[u8], at: usize, mantissa: u64) -> (u64, usize) {
    const TENS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
    let (mut at, mut mantissa) = (at, mantissa);
    while let Some(eight) = text.get(at..at + 8).and_then(<[u8]>::first_chunk) {
        let digits = u64::from_le_bytes(*eight) ^ ZEROS;
        let others = not_digits(digits);
        if others == 0 {
            mantissa = mantissa.wrapping_mul(100_000_000).wrapping_add(value(digits));
            at += 8;
        } else {
            // Without a branch on how many there are: that is as good as random, and would be guessed wrong.
            let count = others.trailing_zeros() / 8;
            let tens = TENS.get(count as usize).copied().unwrap_or(1);
            let digits = digits.checked_shl(64 - 8 * count).unwrap_or(0);
            mantissa = mantissa.wrapping_mul(tens).wrapping_add(value(digits));
            return (mantissa, at + count as usize);
        }
    }
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (mantissa, at)
}

/// What turns eight characters into eight digits.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The highest bit of each byte that is no digit; behind the first such byte the bits say nothing.
fn not_digits(digits: u64) -> u64 {
    (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080
}

/// The value of eight digits, the first in the lowest byte: neighbours become pairs, pairs fours, fours eights.
fn value(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

/// The zeros a number begins with, those behind its point included.
fn leading_zeros(text: &[u8], start: usize) -> usize {
    let digits = text.iter().skip(start).filter(|&&byte| byte != b'.');
    digits.take_while(|&&byte| byte == b'0').count()
}

/// The power of ten behind an `e`.
fn power(text: &[u8], at: usize) -> Option<(i64, usize)> {
    let sign = match text.get(at) {
        Some(b'-') => -1,
        Some(_) | None => 1,
    };
    let start = at + usize::from(matches!(text.get(at), Some(b'-' | b'+')));
    let (value, end) = digits(text, start, 0);
    // Floats span 700 powers of ten: what has more digits than that is beyond them, or zero.
    let value = if end - start > 6 { 999_999 } else { value as i64 };
    (end > start).then_some((sign * value, end))
}

/// The exponents for which [`RECIPROCALS`] makes [`product`] exact.
const NEGATIVE: RangeInclusive<i64> = -27..=-1;

/// For each power of five up to the 27th, the highest 128 bits of its reciprocal, rounded up: high half, low half.
const RECIPROCALS: [(u64, u64); 28] = reciprocals();

const fn reciprocals() -> [(u64, u64); 28] {
    let mut table = [(0, 0); 28];
    let mut power = 1_u64;
    let mut k = 1;
    while k < table.len() {
        power *= 5;
        // 2^(127 + bits) / power, where bits is the length of the power: long division by 64-bit digits.
        let bits = 64 - power.leading_zeros();
        let mut rest = 0_u128;
        let mut quotient = 0_u128;
        let mut digit = 3;
        while digit > 0 {
            digit -= 1;
            let one = 127 + bits;
            let limb = if one / 64 == digit { 1_u64 << (one % 64) } else { 0 };
            let part = (rest << 64) | limb as u128;
            quotient = (quotient << 64) | (part / power as u128);
            rest = part % power as u128;
        }
        quotient += 1;
        table[k] = ((quotient >> 64) as u64, quotient as u64);
        k += 1;
    }
    table
}

/// The float nearest to a whole number divided by a power of ten, after Lemire, "Number parsing at a gigabyte per
/// second", 2021: the number times the power's reciprocal, of which the highest 64 bits decide nearly always, and 128
/// always for exponents in [`NEGATIVE`].
fn product(mantissa: u64, exponent: i64) -> f64 {
    const LOW_BITS: u64 = 0x1ff;
    let zeros = mantissa.leading_zeros();
    let mantissa = mantissa << zeros;
    let index = exponent.unsigned_abs() as usize;
    let (high_part, low_part) = RECIPROCALS.get(index).copied().unwrap_or_default();
    let (mut high, mut low) = wide(mantissa, high_part);
    if high & LOW_BITS == LOW_BITS {
        let (carried, _) = wide(mantissa, low_part);
        let (sum, carry) = low.overflowing_add(carried);
        low = sum;
        high += u64::from(carry);
    }
    let upper = (high >> 63) as u32;
    // One bit more than a float holds, to round by.
    let cut = upper + 64 - 52 - 3;
    let mut bits = high >> cut;
    let half_way = low <= 1 && exponent >= -4 && bits & 3 == 1 && bits << cut == high;
    if half_way {
        // Exactly between two floats: the even one.
        bits &= !1;
    }
    bits += bits & 1;
    bits >>= 1;
    // floor(exponent * log2(10)), as 217706 / 65536 gives it for all powers here.
    let mut power = ((exponent * 217_706) >> 16) + 63 + i64::from(upper) - i64::from(zeros) + 1023;
    if bits >= 2 << 52 {
        bits = 1 << 52;
        power += 1;
    }
    f64::from_bits((bits & !(1 << 52)) | ((power as u64) << 52))
}

/// A product of 64-bit numbers: high half, low half.
fn wide(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    ((product >> 64) as u64, product as u64)
}

/// The standard library's reading.
#[cold]
fn standard(text: &[u8], end: usize) -> Option<(f64, usize)> {
    let number = str::from_utf8(text.get(..end)?).ok()?;
    Some((number.parse().ok()?, end))
}

#[cfg(test)]
mod tests {
    use super::scan;

    #[track_caller]
    fn reads(text: &str) {
        let (value, length) = scan(text.as_bytes()).unwrap();
        let expected: f64 = text.parse().unwrap();
        assert_eq!(value.to_bits(), expected.to_bits(), "{text}");
        assert_eq!(length, text.len(), "{text}");
        // What follows changes nothing, not even where whole words are looked at.
        let followed = format!("{text},1234567890123");
        assert_eq!(scan(followed.as_bytes()), Some((value, length)), "{text}");
    }

    #[test]
    fn hard_cases_read_as_the_standard_library_reads_them() {
        for text in [
            "0",
            "-0",
            "-0.0",
            "1",
            "0.1",
            "0.30000000000000004",
            "123456789012345678901234567890",
            "9007199254740993",
            "9007199254740993.0",
            "9007199254740992.5",
            "0.000000000000000000000000000001",
            "1e-7",
            "1.5E+10",
            "1e400",
            "-1e400",
            "1e-400",
            "2.2250738585072014e-308",
            "4.9e-324",
            "1.7976931348623157e308",
            "8.988465674311579e307",
            "1e22",
            "1e23",
            "9.5367431640625e-7",
            "1152921504606846975.5",
            "0.00000000000000000000012345678901234567",
            "1e99999999999",
            "18446744073709551615",
            "18446744073709551616",
            "7450580596923828125e-27",
            "1e-27",
            "4503599627370496.5",
            "4503599627370497.5",
            "4503599627370497.4999999999999",
        ] {
            reads(text);
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", "-", ".5", "1.", "-.1", "e5", "1e", "1e+", "nan", "null", "+1"] {
            assert_eq!(scan(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn numbers_of_all_lengths_and_sizes_read_as_the_standard_library_reads_them() {
        let mut bits = 88_172_645_463_325_252_u64;
        let mut draw = || {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            bits
        };
        for _ in 0..20_000 {
            let any = f64::from_bits(draw());
            if any.is_finite() {
                reads(&format!("{any:?}"));
            }
            reads(&format!("{:?}", (draw() >> 11) as f64 / (1_u64 << 53) as f64));
            reads(&format!("{:?}", f32::from_bits(draw() as u32 & 0x7f7f_ffff)));
            let mantissa = draw() >> (draw() % 60);
            let power = (draw() % 70) as i64 - 45;
            reads(&format!("{mantissa}e{power}"));
            // Just beside the middle between two floats, where rounding decides.
            let middle = (draw() >> 11 | 1 << 52) * 2 + 1;
            reads(&format!("{middle}"));
            reads(&format!("{middle}.0000000001"));
            let digits = mantissa.to_string();
            let (whole, places) = digits.split_at(draw() as usize % digits.len());
            let whole = if whole.is_empty() { "0" } else { whole };
            reads(&format!("-{whole}.{places}"));
        }
    }
}
