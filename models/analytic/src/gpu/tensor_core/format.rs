//! Floating-point formats shorter than 64 bits.

/// A binary format: significant bits and the range of exponents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    /// With the leading one that is not stored.
    bits: i32,
    /// Exponent of the smallest normal number.
    lowest: i32,
    /// Exponent of the largest.
    highest: i32,
}

impl Format {
    pub(super) const FP32: Self = Self::new(24, -126, 127);
    pub(super) const TF32: Self = Self::new(11, -126, 127);
    pub(super) const FP16: Self = Self::new(11, -14, 15);
    pub(super) const BF16: Self = Self::new(8, -126, 127);

    const fn new(bits: i32, lowest: i32, highest: i32) -> Self {
        Self { bits, lowest, highest }
    }

    /// From a number of this size to the next, at `x`.
    pub(super) fn spacing(self, x: f64) -> f64 {
        // The exponent field is exact where a logarithm rounds; zero and what is below count as the smallest.
        let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        f64::from(2).powi(exponent.max(self.lowest) - (self.bits - 1))
    }

    /// The spacing at 1.
    pub(super) fn epsilon(self) -> f64 {
        self.spacing(1.0)
    }

    /// The nearest number, of two equally near the even one; infinity beyond the largest.
    pub(super) fn round(self, x: f64) -> f64 {
        let spacing = self.spacing(x);
        let rounded = (x / spacing).round_ties_even() * spacing;
        if rounded.abs() >= f64::from(2).powi(self.highest + 1) {
            return f64::INFINITY.copysign(x);
        }
        rounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_to_32_bits_is_the_machine_s_own() {
        let numbers = (0..20_000_u64).map(|i| {
            let bits = mlsys_lab::random::bits(3, i);
            let exponent = 1023 - 140 + bits % 250;
            f64::from_bits((bits & 0x800f_ffff_ffff_ffff) | exponent << 52)
        });
        for x in numbers.chain([0.0, -0.0, 1.0, 1e-45, 3.5e38, 1.0 + f64::EPSILON]) {
            assert_eq!(Format::FP32.round(x), f64::from(x as f32), "{x:e}");
        }
    }

    #[test]
    fn short_formats_round_as_their_tables_say() {
        for (format, x, nearest) in [
            (Format::FP16, 2049.0, 2048.0),
            (Format::FP16, 2051.0, 2052.0),
            (Format::FP16, 65_519.0, 65_504.0),
            (Format::FP16, 65_520.0, f64::INFINITY),
            (Format::FP16, 2.0_f64.powi(-24) * 0.75, 2.0_f64.powi(-24)),
            (Format::FP16, 1.0 + 1.0 / 2048.0, 1.0),
            (Format::BF16, 257.0, 256.0),
            (Format::BF16, 1e38, 9.969_209_968_386_869e37),
            (Format::TF32, 70_000.0, 70_016.0),
        ] {
            assert_eq!(format.round(x), nearest, "{format:?} {x}");
        }
    }
}
