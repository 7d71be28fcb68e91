//! Exact arithmetic on counts.

use mlsys_lab::LabError;

/// ceil(a / b) of a count and a positive divisor.
pub const fn div_up(a: i64, b: i64) -> i64 {
    a / b + (a % b != 0) as i64
}

/// The least multiple of `granularity` that is not below `x`, if it fits.
pub fn up(x: i64, granularity: i64) -> Option<i64> {
    div_up(x, granularity).checked_mul(granularity)
}

/// Bits of an index into `count` things: ceil(log2 count), 0 for one or none.
pub const fn index_bits(count: usize) -> u32 {
    match count.checked_sub(1) {
        Some(last) => usize::BITS - last.leading_zeros(),
        None => 0,
    }
}

/// A count that parameters of this size push beyond 64 bits.
pub fn too_large<'a>(params: impl IntoIterator<Item = &'a str>, count: &str) -> LabError {
    LabError::contradiction(
        params,
        format!("{count} would be beyond 2^63 - 1; choose smaller values"),
    )
}

#[cfg(test)]
mod tests {
    use super::{div_up, index_bits, up};

    #[test]
    fn as_many_bits_as_the_last_index_needs() {
        for (count, bits) in
            [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (1024, 10), (1025, 11)]
        {
            assert_eq!(index_bits(count), bits, "{count}");
        }
        assert_eq!(index_bits(usize::MAX), usize::BITS);
    }

    #[test]
    fn rounding_up_is_exact_to_the_last_integer() {
        for (a, b, quotient) in
            [(0, 4, 0), (1, 4, 1), (4, 4, 1), (5, 4, 2), (i64::MAX, 1, i64::MAX)]
        {
            assert_eq!(div_up(a, b), quotient, "{a} / {b}");
        }
        assert_eq!(div_up(i64::MAX, 2), 1 << 62);
        assert_eq!(up(33, 32), Some(64));
        assert_eq!(up(64, 32), Some(64));
        assert_eq!(up(i64::MAX, 256), None);
    }
}
