//! Loops over vectors as wide as the processor has them, found when the program runs: AVX-512, AVX2, NEON.

use std::hint::black_box;

use macerator::{AutoArch, Scalar, Simd, Vector, WithSimd};

/// Sums that do not wait for each other: enough to hide a multiply-add's latency (4 clocks on 2 units), few enough for
/// the 16 registers of AVX2.
const CHAINS: u64 = 12;

/// Multiply-adds of every chain in one round.
const LENGTH: u64 = 4096;

/// Does rounds of independent multiply-adds in registers.
pub(super) fn multiply_add(rounds: u64) {
    black_box(AutoArch::new().dispatch(Chains { rounds }));
}

/// Floating-point operations of one round: a multiply-add is two.
pub(super) fn flops_in_a_round() -> u64 {
    2 * CHAINS * LENGTH * AutoArch::new().dispatch(Lanes) as u64
}

/// The sum of all numbers, which takes reading each once.
pub(super) fn sum(numbers: &[f32]) -> f32 {
    AutoArch::new().dispatch(Sum(numbers))
}

struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self) -> usize {
        f32::lanes::<S>()
    }
}

struct Chains {
    rounds: u64,
}

impl WithSimd for Chains {
    type Output = f32;

    // Named one by one: in an array they would be kept in memory wherever the compiler does not unroll the loop.
    #[inline(always)]
    fn with_simd<S: Simd>(self) -> f32 {
        let number = |x: f32| -> Vector<S, f32> { black_box(x).splat::<S>() };
        // x -> x/2 + 1/2 goes to 1 and stays there: no number is too small for full speed.
        let (by, plus) = (number(0.5), number(0.5));
        let (mut a, mut b, mut c, mut d) = (number(0.1), number(0.2), number(0.3), number(0.4));
        let (mut e, mut f, mut g, mut h) = (number(0.5), number(0.6), number(0.7), number(0.8));
        let (mut i, mut j, mut k, mut l) = (number(0.9), number(1.1), number(1.2), number(1.3));
        for _ in 0..self.rounds * LENGTH {
            a = a.mul_add(by, plus);
            b = b.mul_add(by, plus);
            c = c.mul_add(by, plus);
            d = d.mul_add(by, plus);
            e = e.mul_add(by, plus);
            f = f.mul_add(by, plus);
            g = g.mul_add(by, plus);
            h = h.mul_add(by, plus);
            i = i.mul_add(by, plus);
            j = j.mul_add(by, plus);
            k = k.mul_add(by, plus);
            l = l.mul_add(by, plus);
        }
        (a + b + c + d + e + f + g + h + i + j + k + l).reduce_add()
    }
}

struct Sum<'a>(&'a [f32]);

impl WithSimd for Sum<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self) -> f32 {
        let (before, vectors, after) = f32::align_to::<S>(self.0);
        let zero: Vector<S, f32> = 0.0.splat::<S>();
        let (mut a, mut b, mut c, mut d) = (zero, zero, zero, zero);
        let (mut e, mut f, mut g, mut h) = (zero, zero, zero, zero);
        let (eights, rest) = vectors.as_chunks::<8>();
        for [p, q, r, s, t, u, v, w] in eights {
            a += *p;
            b += *q;
            c += *r;
            d += *s;
            e += *t;
            f += *u;
            g += *v;
            h += *w;
        }
        for vector in rest {
            a += *vector;
        }
        let ends: f32 = before.iter().chain(after).sum();
        ends + (a + b + c + d + e + f + g + h).reduce_add()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_read_once() {
        let numbers: Vec<f32> = (0..1003_u16).map(f32::from).collect();
        for from in 0..9 {
            let expected: f32 = numbers[from..].iter().sum();
            assert_eq!(sum(&numbers[from..]), expected);
        }
        assert_eq!(sum(&[]), 0.0);
    }

    #[test]
    fn the_chains_end_at_one_and_are_counted() {
        let lanes = AutoArch::new().dispatch(Lanes);
        // Twelve chains of as many lanes, each at the number that halving towards one leads to.
        let ends = AutoArch::new().dispatch(Chains { rounds: 1 });
        assert_eq!(ends, 12.0 * lanes as f32);
        assert_eq!(flops_in_a_round(), 2 * 12 * 4096 * lanes as u64);
    }
}
