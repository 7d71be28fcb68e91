//! The one source of random numbers: a fixed generator with one named stream per purpose.
//!
//! It is our own because a series must be the same bit for bit on every machine and in every later
//! release, while libraries of random numbers reserve the right to change theirs. For the same reason
//! nothing here calls the platform's mathematics library: see [`exact`].
//!
//! A purpose has a stream to itself, so that one knob does not disturb another's draws: with more
//! training data the initial weights stay what they were.

pub mod exact;

use std::f64::consts::PI;

/// A stream of random numbers: xoshiro256++ (Blackman & Vigna 2019), seeded by SplitMix64.
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
    /// The second normal deviate of a Box-Muller pair, until it is asked for.
    spare: Option<f64>,
}

impl Stream {
    /// The stream that `seed` gives for `purpose`, such as `"spiral/train/shape"`.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let mut counter = mix(seed) ^ fnv1a(purpose);
        let state = std::array::from_fn(|_| {
            counter = counter.wrapping_add(GOLDEN_GAMMA);
            mix(counter)
        });
        Self { state, spare: None }
    }

    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A number in [0, 1), uniform, a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn uniform_in(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// An integer in 0..`bound`, every one equally likely (Lemire 2019); 0 for `bound` = 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            let low = product as u64;
            // 2⁶⁴ mod bound low words belong to integers that would come up once too often.
            if low >= bound || low >= bound.wrapping_neg().checked_rem(bound).unwrap_or(0) {
                return (product >> 64) as usize;
            }
        }
    }

    /// A standard normal deviate (Box & Muller 1958).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // 1 - u lies in (0, 1], where the logarithm is finite.
        let radius = (-2.0 * exact::ln(1.0 - self.uniform())).sqrt();
        let (sine, cosine) = exact::sin_cos(2.0 * PI * self.uniform());
        self.spare = Some(radius * sine);
        radius * cosine
    }

    /// Puts the items into a random order, every order equally likely (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64 (Steele, Lea & Flood 2014).
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The 64-bit FNV-1a hash, which tells purposes apart.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_xoshiro256_plus_plus() {
        // First outputs of the reference C code from state {1, 2, 3, 4}.
        let mut stream = Stream { state: [1, 2, 3, 4], spare: None };
        let first: Vec<u64> = (0..4).map(|_| stream.bits()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn splitmix_and_fnv_are_the_published_ones() {
        // SplitMix64 from 0 starts with this number; FNV-1a of "a" is in its specification.
        assert_eq!(mix(GOLDEN_GAMMA), 0xe220_a839_7b1d_cdaf);
        assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn streams_differ_by_seed_and_by_purpose() {
        let first = |seed, purpose| Stream::new(seed, purpose).bits();
        assert_eq!(first(1, "shuffle"), first(1, "shuffle"));
        assert_ne!(first(1, "shuffle"), first(2, "shuffle"));
        assert_ne!(first(1, "shuffle"), first(1, "weights"));
    }

    #[test]
    fn normal_deviates_have_the_moments_of_a_normal_distribution() {
        let mut stream = Stream::new(7, "test");
        let draws: Vec<f64> = (0..100_000).map(|_| stream.normal()).collect();
        // Each bound is about four standard errors of that moment.
        for (power, expected, bound) in
            [(1, 0.0, 0.013), (2, 1.0, 0.018), (3, 0.0, 0.05), (4, 3.0, 0.13)]
        {
            let moment = draws.iter().map(|x| x.powi(power)).sum::<f64>() / draws.len() as f64;
            assert!((moment - expected).abs() < bound, "moment {power} is {moment}");
        }
    }

    #[test]
    fn integers_stay_below_the_bound() {
        let mut stream = Stream::new(7, "test");
        let mut counts = [0_i32; 10];
        for _ in 0..10_000 {
            counts[stream.below(10)] += 1;
        }
        assert!(counts.iter().all(|count| (count - 1000).abs() < 120), "{counts:?}");
        assert_eq!((stream.below(1), stream.below(0)), (0, 0));
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut stream = Stream::new(7, "test");
        let mut items: Vec<usize> = (0..100).collect();
        stream.shuffle(&mut items);
        assert!(items.iter().enumerate().any(|(place, &item)| place != item));
        items.sort_unstable();
        assert!(items.iter().enumerate().all(|(place, &item)| place == item));
    }
}
