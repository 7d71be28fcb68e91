//! SplitMix64 (Steele, Lea and Flood 2014): the same numbers everywhere, for choices of the program and for tests.

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of numbers from a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mix(self.0)
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound.max(1) as u64) as usize
    }

    /// One of `choices`, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A number from `low` up to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// 64 bits for the element at `index`, which do not depend on the number of elements.
pub fn bits(seed: u64, index: u64) -> u64 {
    mix(seed.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add((index + 1).wrapping_mul(GAMMA)))
}

/// A number from 0 up to 1, a multiple of 2^-24.
pub fn unit(seed: u64, index: u64) -> f64 {
    (bits(seed, index) >> 40) as f64 / f64::from(1 << 24)
}
