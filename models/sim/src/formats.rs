//! Floating-point formats that networks are trained in, by rounding numbers of 32 bits to them.

#[cfg(test)]
mod tests;

mlsys_lab::named_enum! {
    /// A floating-point format, by its name among parameters; the widest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Format {
        /// IEEE 754 binary32.
        Fp32 = "fp32",
        /// The upper half of binary32: its range with 7 bits of fraction (Kalamkar et al. 2019).
        Bf16 = "bf16",
        /// IEEE 754 binary16.
        Fp16 = "fp16",
        /// 4 bits of exponent, 3 of fraction, no infinities: beyond 448 it saturates (Micikevicius et al. 2022).
        E4m3 = "fp8-e4m3",
        /// 5 bits of exponent, 2 of fraction, with infinities, like a shorter binary16 (Micikevicius et al. 2022).
        E5m2 = "fp8-e5m2",
    }
}

impl Format {
    /// Bytes of a number, bits of its fraction without the leading one, the exponent of the smallest normal number, and
    /// the largest finite number.
    #[inline(always)]
    const fn layout(self) -> (usize, i32, i32, f32) {
        match self {
            Self::Fp32 => (4, 23, -126, f32::MAX),
            Self::Bf16 => (2, 7, -126, f32::from_bits(0x7f7f_0000)),
            Self::Fp16 => (2, 10, -14, 65_504.0),
            Self::E4m3 => (1, 3, -6, 448.0),
            Self::E5m2 => (1, 2, -14, 57_344.0),
        }
    }

    pub fn bytes(self) -> usize {
        self.layout().0
    }

    pub fn largest(self) -> f32 {
        self.layout().3
    }

    /// The smallest positive number, subnormal ones included.
    pub fn smallest(self) -> f64 {
        let (_, fraction, lowest, _) = self.layout();
        power(lowest - fraction)
    }

    /// The smallest number with all bits of its fraction.
    pub fn smallest_normal(self) -> f64 {
        power(self.layout().2)
    }

    /// The distance from a number of this size to the next larger one, as long as there is one.
    #[inline(always)]
    pub fn spacing(self, size: f32) -> f64 {
        let exponent = (size.to_bits() >> 23 & 0xff) as i32 - 127;
        let (_, fraction, lowest, _) = self.layout();
        power(exponent.max(lowest) - fraction)
    }

    /// The numbers of the format next to one of them: below and above. Infinite beyond the largest.
    pub fn neighbours(self, x: f32) -> [f32; 2] {
        let away = |x: f32| {
            let next = f64::from(x) + self.spacing(x);
            if next > f64::from(self.largest()) { f32::INFINITY } else { next as f32 }
        };
        // Towards zero: half the spacing below a power of two, unless that is where subnormal numbers begin.
        let back = |x: f32| {
            let edge = x.to_bits() & 0x007f_ffff == 0 && f64::from(x) > self.smallest_normal();
            let step = self.spacing(x) * if edge { 0.5 } else { 1.0 };
            (f64::from(x) - step) as f32
        };
        let size = x.abs();
        if size == 0.0 {
            let smallest = self.smallest() as f32;
            [-smallest, smallest]
        } else if x > 0.0 {
            [back(size), away(size)]
        } else {
            [-away(size), -back(size)]
        }
    }

    /// The nearest number of the format, of two equally near ones that with an even fraction. What is too large becomes
    /// infinite, but 448 in e4m3, which has no infinity; NaN stays.
    #[inline(always)]
    pub fn round(self, x: f32) -> f32 {
        // In units of the spacing the number is below 2^11: what is added leaves no bits for a fraction, and the sum is
        // rounded as IEEE has it, ties to even. Each other step is exact in 64 bits.
        const WHOLE: f64 = 4_503_599_627_370_496.0;
        if self == Self::Fp32 {
            return x;
        }
        let size = x.abs();
        let spacing = self.spacing(size);
        let units = (f64::from(size) / spacing + WHOLE) - WHOLE;
        self.bounded(units * spacing, x)
    }

    /// The number of the format below or above, each with a probability that grows as the other is farther: above if
    /// `draw`, from 0 up to 1, is less than the share of the way to it. On average nothing is lost.
    #[inline(always)]
    pub fn round_by(self, x: f32, draw: f64) -> f32 {
        if self == Self::Fp32 {
            return x;
        }
        let size = x.abs();
        if !size.is_finite() {
            return self.bounded(f64::from(size), x);
        }
        let spacing = self.spacing(size);
        let units = f64::from(size) / spacing;
        let below = units.floor();
        let up = if draw < units - below { 1.0 } else { 0.0 };
        self.bounded((below + up) * spacing, x)
    }

    #[inline(always)]
    fn bounded(self, size: f64, sign: f32) -> f32 {
        let most = f64::from(self.largest());
        let size = match (size > most, self) {
            (false, _) => size as f32,
            (true, Self::E4m3) => self.largest(),
            (true, Self::Fp32 | Self::Bf16 | Self::Fp16 | Self::E5m2) => f32::INFINITY,
        };
        size.copysign(sign)
    }

    /// Whether a number loses its size when it is rounded: it becomes infinite, or saturates.
    pub fn overflows(self, x: f32) -> bool {
        // Up to the middle between 448 and the 480 that e4m3 has not, 448 is the nearest number.
        x.abs() > 464.0 && self == Self::E4m3
            || x.abs() > self.largest() && self.round(x).is_infinite()
    }
}

/// 2 to a power, as long as that is a normal number of 64 bits.
#[inline(always)]
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
