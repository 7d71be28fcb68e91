//! Numbers of 8 and 16 bits: in memory as the type has them, in a register as the int or the float with their value.

use crate::types::Scalar;

impl Scalar {
    /// The register of bits in memory.
    #[inline(always)]
    pub(crate) fn register(self, memory: u64) -> u64 {
        match self {
            Self::Char => u64::from(memory as i8 as i32 as u32),
            Self::UnsignedChar => u64::from(memory as u8),
            Self::Short => u64::from(memory as i16 as i32 as u32),
            Self::UnsignedShort => u64::from(memory as u16),
            Self::Half => u64::from(from_half(memory as u16).to_bits()),
            Self::Bfloat16 => u64::from((memory as u32) << 16),
            Self::Bool
            | Self::Int
            | Self::Unsigned
            | Self::Long
            | Self::UnsignedLong
            | Self::Float
            | Self::Double => memory,
        }
    }

    /// The bits in memory of a register.
    #[inline(always)]
    pub(crate) fn memory(self, register: u64) -> u64 {
        match self {
            Self::Half => u64::from(half(f64::from(f32::from_bits(register as u32)))),
            Self::Bfloat16 => register >> 16 & 0xffff,
            Self::Bool
            | Self::Char
            | Self::UnsignedChar
            | Self::Short
            | Self::UnsignedShort
            | Self::Int
            | Self::Unsigned
            | Self::Long
            | Self::UnsignedLong
            | Self::Float
            | Self::Double => register,
        }
    }

    /// The nearest number of a type with a fraction that is no wider than a float.
    #[inline(always)]
    pub(crate) fn rounded(self, x: f64) -> f32 {
        match self {
            Self::Half => from_half(half(x)),
            Self::Bfloat16 => bfloat16(x),
            Self::Bool
            | Self::Char
            | Self::UnsignedChar
            | Self::Short
            | Self::UnsignedShort
            | Self::Int
            | Self::Unsigned
            | Self::Long
            | Self::UnsignedLong
            | Self::Float
            | Self::Double => x as f32,
        }
    }
}

fn from_half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2_f32.powi(exponent - 15),
    }
}

/// The bits of the nearest half, of two as near the even one.
fn half(x: f64) -> u16 {
    let sign = u16::from(x.is_sign_negative()) << 15;
    if x.is_nan() {
        return 0x7fff;
    }
    let x = x.abs();
    // The exponent of the last place.
    let place = (x.log2().floor() as i32).clamp(-14, 16) - 10;
    let steps = (x * 2_f64.powi(-place)).round_ties_even();
    if steps * 2_f64.powi(place) >= 65_520.0 {
        return sign | 0x7c00;
    }
    sign | ((((place + 24) as u16) << 10) + steps as u16)
}

fn bfloat16(x: f64) -> f32 {
    let y = x as f32;
    if !y.is_finite() {
        return y;
    }
    let kept = f32::from_bits(y.to_bits() & 0xffff_0000);
    let next = f32::from_bits(kept.to_bits().wrapping_add(0x1_0000));
    let (below, above) = ((x - f64::from(kept)).abs(), (f64::from(next) - x).abs());
    let is_even = kept.to_bits() & 0x1_0000 == 0;
    // Past the largest one the distance to infinity counts as one step.
    let above = if next.is_finite() { above } else { 2_f64.powi(120) - below };
    if below < above || (below == above && is_even) { kept } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_to_the_nearest_and_read_back() {
        for bits in 0..=0xffff_u16 {
            let value = from_half(bits);
            assert!(value.is_nan() || half(f64::from(value)) == bits, "{bits:#x} {value}");
        }
        // By the rules of IEEE 754: ties to even, the first number that overflows, the least that is not zero.
        for (x, bits) in [
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 3.0 / 2048.0, 0x3c02),
            (65_519.9, 0x7bff),
            (65_520.0, 0x7c00),
            (2_f64.powi(-25), 0),
            (1.1 * 2_f64.powi(-25), 1),
            (-0.1, 0xae66),
        ] {
            assert_eq!(half(x), bits, "{x}");
        }
        for (x, bits) in [(1.0 + 1.0 / 256.0, 0x3f80), (1.0 + 3.0 / 256.0, 0x3f82), (0.1, 0x3dcd)] {
            assert_eq!(bfloat16(x).to_bits() >> 16, bits, "{x}");
        }
        assert_eq!(Scalar::Bfloat16.rounded(3.4e38), f32::INFINITY);
        assert_eq!(Scalar::Bfloat16.rounded(3.39e38).to_bits() >> 16, 0x7f7f);
    }
}
