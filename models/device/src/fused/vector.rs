//! Loops that the compiler turns into vectors as wide as the processor has: AVX-512, AVX2, NEON.
//!
//! They do so where they are inlined into a function that is compiled for that processor: all that is large here and in
//! the operations is `inline(always)`. Sums run in a fixed number of partial sums, whatever the width.

use macerator::{Scalar, Simd, Vector};

/// Partial sums: the numbers of the widest vector.
pub(super) const LANES: usize = 16;

/// Rows of a product that are computed together: as many sums as hide the latency of a multiply-add.
pub(super) const ROWS: usize = 8;

/// eˣ to the last digit or two, for x in -87 to 88; beyond, that of the nearer end.
///
/// x = n ln 2 + r, and eˣ = 2ⁿ eʳ: the first factor is an exponent, the second a polynomial (Cephes, Moshier 1989).
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    /// Added and taken away again it rounds to a whole number, which is left in the last bits.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts, the first of few digits: n times it is exact.
    let r = x - n * (355.0 / 512.0) - n * -2.121_944_4e-4;
    let mut p = 1.987_569_1e-4;
    for c in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        p = p * r + c;
    }
    let p = p * r * r + r + 1.0;
    p * f32::from_bits(shifted.to_bits().wrapping_add(127) << 23)
}

/// The terms f(a, b) of two rows of one length, summed.
#[inline(always)]
pub(super) fn sum(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    fold(a, b, 0.0, |sum, a, b| sum + f(a, b), |a, b| a + b)
}

#[inline(always)]
pub(super) fn max(row: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if a < b { b } else { a };
    fold(row, row, f32::NEG_INFINITY, |max, x, _| larger(max, x), larger)
}

#[inline(always)]
fn fold(
    a: &[f32],
    b: &[f32],
    start: f32,
    take: impl Fn(f32, f32, f32) -> f32,
    join: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut lanes = [start; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for ((lane, &a), &b) in lanes.iter_mut().zip(a).zip(b) {
            *lane = take(*lane, a, b);
        }
    }
    for ((lane, &a), &b) in lanes.iter_mut().zip(a_rest).zip(b_rest) {
        *lane = take(*lane, a, b);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = join(lanes[i], lanes[i + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// A matrix in a slice: the number at (r, c) is that at r * `row` + c * `column`.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    pub(super) numbers: &'a [f32],
    pub(super) row: usize,
    pub(super) column: usize,
}

impl<'a> Matrix<'a> {
    pub(super) fn of_rows(numbers: &'a [f32], row: usize) -> Self {
        Self { numbers, row, column: 1 }
    }
}

/// Eight rows of the left side of a product, or of what there is of them; what is computed for the others is not stored.
pub(super) trait Band {
    /// The number of terms.
    fn inner(&self) -> usize;

    /// The factor of every row in term k, written to `spare` where they are not next to each other. Each is read from
    /// memory into all of a vector at once, which takes none of the units that multiply.
    fn factors<'a>(&'a self, k: usize, spare: &'a mut [f32; ROWS]) -> &'a [f32; ROWS];
}

/// Factors next to each other.
impl Band for &[[f32; ROWS]] {
    #[inline(always)]
    fn inner(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn factors<'a>(&'a self, k: usize, _: &'a mut [f32; ROWS]) -> &'a [f32; ROWS] {
        &self[k]
    }
}

/// Rows where they are, all of one length.
impl Band for [&[f32]; ROWS] {
    #[inline(always)]
    fn inner(&self) -> usize {
        self[0].len()
    }

    #[inline(always)]
    fn factors<'a>(&'a self, k: usize, spare: &'a mut [f32; ROWS]) -> &'a [f32; ROWS] {
        for (to, row) in spare.iter_mut().zip(self) {
            *to = row[k];
        }
        spare
    }
}

/// Rows of a transposed matrix: columns of one with rows of `row` numbers, from column `first` on.
struct Columns<'a> {
    numbers: &'a [f32],
    row: usize,
    first: usize,
}

impl Band for Columns<'_> {
    #[inline(always)]
    fn inner(&self) -> usize {
        self.numbers.len() / self.row
    }

    #[inline(always)]
    fn factors<'a>(&'a self, k: usize, spare: &'a mut [f32; ROWS]) -> &'a [f32; ROWS] {
        let from = &self.numbers[k * self.row + self.first..];
        match from.first_chunk() {
            Some(full) => full,
            None => {
                spare[..from.len()].copy_from_slice(from);
                spare
            }
        }
    }
}

/// Adds a b to c: `[rows, inner]` by `[inner, columns]`. The rows of b and c are `row` numbers apart.
#[inline(always)]
pub(super) fn add_product<S: Simd>(
    (c, c_row): (&mut [f32], usize),
    a: Matrix<'_>,
    b: (&[f32], usize),
    [rows, inner, columns]: [usize; 3],
    packed: &mut Vec<[f32; ROWS]>,
) {
    packed.resize(inner, [0.0; ROWS]);
    for first in (0..rows).step_by(ROWS) {
        let count = ROWS.min(rows - first);
        // Rows of a next to each other.
        for r in 0..count {
            let from = a.numbers[(first + r) * a.row..].iter().step_by(a.column);
            for (to, &from) in packed.iter_mut().zip(from) {
                to[r] = from;
            }
        }
        add_band::<S>((&mut c[first * c_row..], c_row), &packed.as_slice(), b, columns, count);
    }
}

/// The same of an a that is small enough to be read where it is, once for each tile.
#[inline(always)]
pub(super) fn add_small_product<S: Simd>(
    (c, c_row): (&mut [f32], usize),
    a: &[f32],
    b: (&[f32], usize),
    [rows, inner, columns]: [usize; 3],
) {
    for first in (0..rows).step_by(ROWS) {
        let mut band = [&a[..inner]; ROWS];
        for (r, row) in band.iter_mut().enumerate() {
            *row = &a[(first + r).min(rows - 1) * inner..][..inner];
        }
        let count = ROWS.min(rows - first);
        add_band::<S>((&mut c[first * c_row..], c_row), &band, b, columns, count);
    }
}

/// Adds aᵀ b to c, of a `[inner, rows]` and b `[inner, columns]`.
#[inline(always)]
pub(super) fn add_small_transposed_product<S: Simd>(
    (c, c_row): (&mut [f32], usize),
    (a, rows): (&[f32], usize),
    b: (&[f32], usize),
    columns: usize,
) {
    for first in (0..rows).step_by(ROWS) {
        let band = Columns { numbers: a, row: rows, first };
        let count = ROWS.min(rows - first);
        add_band::<S>((&mut c[first * c_row..], c_row), &band, b, columns, count);
    }
}

/// The product of a band: tiles next to each other, of which `count` rows are stored.
#[inline(always)]
fn add_band<S: Simd>(
    (c, c_row): (&mut [f32], usize),
    band: &impl Band,
    (b, b_row): (&[f32], usize),
    columns: usize,
    count: usize,
) {
    let lanes = f32::lanes::<S>();
    let mut at = 0;
    // Only the widest vectors come with registers for twice as many sums.
    while lanes == LANES && at + 2 * lanes <= columns {
        tile::<S, 2>((&mut c[at..], c_row), band, (&b[at..], b_row), 2 * lanes, count);
        at += 2 * lanes;
    }
    while at < columns {
        let width = lanes.min(columns - at);
        tile::<S, 1>((&mut c[at..], c_row), band, (&b[at..], b_row), width, count);
        at += width;
    }
}

/// The part of a product that is [`ROWS`] high and C vectors wide, from column `at` on; of the last vector, `columns`.
#[inline(always)]
pub(super) fn tile<S: Simd, const C: usize>(
    (c, c_row): (&mut [f32], usize),
    band: &impl Band,
    (b, b_row): (&[f32], usize),
    columns: usize,
    count: usize,
) {
    let (lanes, inner) = (f32::lanes::<S>(), band.inner());
    let mut sums = [[0.0.splat::<S>(); C]; ROWS];
    // What is read past the last column is not stored; only past the end of b there is nothing to read.
    let whole = b.len().checked_sub(C * lanes).map_or(0, |last| last / b_row + 1).min(inner);
    let (mut at, mut spare) = (0, [0.0; ROWS]);
    for k in 0..whole {
        let own = &b[at..][..C * lanes];
        let mut row = [0.0.splat::<S>(); C];
        for (to, own) in row.iter_mut().zip(own.chunks_exact(lanes)) {
            *to = bytemuck::pod_read_unaligned(bytemuck::cast_slice(own));
        }
        sums = with_term::<S, C>(sums, band.factors(k, &mut spare), row);
        at += b_row;
    }
    for k in whole..inner {
        let mut row = [0.0.splat::<S>(); C];
        for (to, own) in row.iter_mut().zip(b[k * b_row..].chunks(lanes)) {
            *to = padded(own);
        }
        sums = with_term::<S, C>(sums, band.factors(k, &mut spare), row);
    }
    // A copy: the sums themselves stay in registers.
    let stored = sums;
    for (sums, c) in stored.iter().zip(c.chunks_mut(c_row)).take(count) {
        let sums: &[f32] = bytemuck::cast_slice(sums);
        for (c, sum) in c[..columns].iter_mut().zip(sums) {
            *c += sum;
        }
    }
}

#[inline(always)]
fn with_term<S: Simd, const C: usize>(
    mut sums: [[Vector<S, f32>; C]; ROWS],
    factors: &[f32; ROWS],
    row: [Vector<S, f32>; C],
) -> [[Vector<S, f32>; C]; ROWS] {
    for (sums, factor) in sums.iter_mut().zip(factors) {
        let factor = factor.splat::<S>();
        for (sum, b) in sums.iter_mut().zip(row) {
            *sum = factor.mul_add(b, *sum);
        }
    }
    sums
}

/// A vector of the numbers, with zeros for those that are missing.
#[inline(always)]
fn padded<S: Simd>(numbers: &[f32]) -> Vector<S, f32> {
    let mut all = [0.0_f32; LANES];
    all[..numbers.len()].copy_from_slice(numbers);
    bytemuck::pod_read_unaligned(bytemuck::cast_slice(&all[..f32::lanes::<S>()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use macerator::{AutoArch, WithSimd};

    struct Product<'a>((&'a mut [f32], usize), Matrix<'a>, (&'a [f32], usize), [usize; 3]);

    impl WithSimd for Product<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self) {
            add_product::<S>(self.0, self.1, self.2, self.3, &mut Vec::new());
        }
    }

    #[test]
    fn exponentials_are_those_of_the_standard_library() {
        for i in -8700..=8800 {
            let x = i as f32 / 100.0 + 0.003 * (i % 3) as f32;
            let (ours, exact) = (exp(x), f64::from(x.clamp(-87.0, 88.0)).exp());
            let error = (f64::from(ours) / exact - 1.0).abs();
            assert!(error < 4e-7, "{x}: {ours:e} {exact:e}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f32::NEG_INFINITY) < 1e-37);
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn sums_and_products_of_every_size() {
        let number = |i: usize| ((i * 7919) % 23) as f32 - 11.0;
        for size in [1, 3, 8, 15, 16, 17, 33, 41, 70] {
            let [a, b] = [1, 2].map(|k| (0..size).map(|i| number(i * k + k)).collect::<Vec<_>>());
            assert_eq!(
                sum(&a, &b, |a, b| a * b),
                a.iter().zip(&b).map(|(a, b)| a * b).sum::<f32>()
            );
            assert_eq!(max(&a), a.iter().copied().fold(f32::NEG_INFINITY, f32::max));
            for [rows, inner] in [[1, 5], [4, 3], [6, 40]] {
                // Both orders of a in memory, and rows further apart than they are long.
                let apart = size + 3;
                let a: Vec<f32> = (0..rows * inner).map(number).collect();
                let b: Vec<f32> = (0..inner * apart).map(|i| number(i + 5)).collect();
                for (row, column) in [(inner, 1), (1, rows)] {
                    let mut c = vec![1.0; rows * apart];
                    let matrix = Matrix { numbers: &a, row, column };
                    let sizes = [rows, inner, size];
                    let (to, from) = ((&mut *c, apart), (&*b, apart));
                    AutoArch::new().dispatch(Product(to, matrix, from, sizes));
                    for (i, &found) in c.iter().enumerate() {
                        let (r, at) = (i / apart, i % apart);
                        let terms = (0..inner).map(|k| a[r * row + k * column] * b[k * apart + at]);
                        let exact = 1.0 + if at < size { terms.sum::<f32>() } else { 0.0 };
                        assert_eq!(found, exact, "{rows} {inner} {size}: {i}");
                    }
                }
            }
        }
    }
}
