//! Numbers that look random and depend on nothing but a seed and a place.

/// Sixty-four bits for the element at `index`: splitmix64 of the place, so that an element does not depend on how
/// many there are.
pub fn bits(seed: u64, index: u64) -> u64 {
    let mut z = seed
        .wrapping_mul(0xd134_2543_de82_ef95)
        .wrapping_add((index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A number from 0 up to 1, a multiple of 2^-24.
pub fn unit(seed: u64, index: u64) -> f64 {
    (bits(seed, index) >> 40) as f64 / f64::from(1 << 24)
}
