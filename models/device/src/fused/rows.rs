//! A norm and a gate, row by row.

use macerator::Simd;

use super::vector::{exp, sum};
use super::{Forward, Operation};

#[derive(Clone, Debug)]
pub(super) struct RmsNorm {
    pub(super) epsilon: f32,
}

/// Of x `[rows, width]` and scale `[width]`. It keeps 1 / sqrt(mean(x²) + ε) of each row.
///
/// With r that number, y = x r s. For the slope t of y and h = t s: ∂s = Σ over rows of t x r, and
/// ∂x = r (h - x r² mean(h x)).
impl Operation<2> for RmsNorm {
    #[inline(always)]
    fn forward<S: Simd>(&self, [x, scale]: [&[f32]; 2]) -> Forward {
        let width = scale.len();
        let mut result = vec![0.0; x.len()];
        let mut kept = vec![0.0; x.len() / width];
        let rows = x.chunks_exact(width).zip(result.chunks_exact_mut(width));
        for ((x, y), kept) in rows.zip(&mut kept) {
            let mean_square = sum(x, x, |a, b| a * b) / width as f32;
            let r = 1.0 / (mean_square + self.epsilon).sqrt();
            *kept = r;
            for ((y, x), s) in y.iter_mut().zip(x).zip(scale) {
                *y = x * r * s;
            }
        }
        Forward { result, kept }
    }

    #[inline(always)]
    fn backward<S: Simd>(
        &self,
        [x, scale]: [&[f32]; 2],
        kept: &[f32],
        slope: &[f32],
        _: [bool; 2],
    ) -> [Vec<f32>; 2] {
        let width = scale.len();
        let (mut by_x, mut by_scale) = (vec![0.0; x.len()], vec![0.0; width]);
        let mut h = vec![0.0; width];
        let rows = x.chunks_exact(width).zip(by_x.chunks_exact_mut(width));
        for (((x, by_x), t), &r) in rows.zip(slope.chunks_exact(width)).zip(kept) {
            for ((((h, by_s), x), t), s) in h.iter_mut().zip(&mut by_scale).zip(x).zip(t).zip(scale)
            {
                *h = t * s;
                *by_s += t * x * r;
            }
            let along = r * r * sum(&h, x, |h, x| h * x) / width as f32;
            for ((by_x, x), h) in by_x.iter_mut().zip(x).zip(&h) {
                *by_x = r * (h - x * along);
            }
        }
        [by_x, by_scale]
    }
}

/// silu(g) u, in which silu(g) = g σ(g) and σ(g) = 1 / (1 + e⁻ᵍ).
///
/// The derivative of silu is σ (1 + g (1 - σ)); σ is computed again, which costs less than to keep it.
#[derive(Clone, Debug)]
pub(super) struct Gate;

#[inline(always)]
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

impl Operation<2> for Gate {
    #[inline(always)]
    fn forward<S: Simd>(&self, [gate, up]: [&[f32]; 2]) -> Forward {
        let mut result = vec![0.0; gate.len()];
        for ((y, &g), &u) in result.iter_mut().zip(gate).zip(up) {
            *y = g * sigmoid(g) * u;
        }
        Forward { result, kept: Vec::new() }
    }

    #[inline(always)]
    fn backward<S: Simd>(
        &self,
        [gate, up]: [&[f32]; 2],
        _: &[f32],
        slope: &[f32],
        _: [bool; 2],
    ) -> [Vec<f32>; 2] {
        let (mut by_gate, mut by_up) = (vec![0.0; gate.len()], vec![0.0; gate.len()]);
        let gradients = by_gate.iter_mut().zip(&mut by_up);
        for ((((by_g, by_u), &g), &u), &t) in gradients.zip(gate).zip(up).zip(slope) {
            let s = sigmoid(g);
            *by_g = t * u * s * (1.0 + g * (1.0 - s));
            *by_u = t * g * s;
        }
        [by_gate, by_up]
    }
}
