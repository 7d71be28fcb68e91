//! Softmax and cross-entropy together: the probabilities are never stored.

use std::sync::Arc;

use macerator::Simd;

use super::vector::{exp, max, sum};
use super::{Forward, Operation};

#[derive(Clone, Debug)]
pub(super) struct CrossEntropy {
    /// Of each row; all less than `classes`.
    pub(super) labels: Arc<[usize]>,
    pub(super) classes: usize,
}

/// Of logits `[rows, classes]`: the mean of l - z of the right class, with l = log Σ eᶻ, which is kept. The gradient by z
/// is eᶻ⁻ˡ, less 1 for the right class, over the rows.
impl Operation<1> for CrossEntropy {
    #[inline(always)]
    fn forward<S: Simd>(&self, [logits]: [&[f32]; 1]) -> Forward {
        let mut kept = vec![0.0; self.labels.len()];
        let mut losses = kept.clone();
        let rows = logits.chunks_exact(self.classes).zip(&*self.labels);
        for (((row, &label), kept), loss) in rows.zip(&mut kept).zip(&mut losses) {
            let largest = max(row);
            let others = sum(row, row, |z, _| exp(z - largest));
            // Not by way of what is kept: differences of large logits lose no digits.
            *loss = others.ln() - (row[label] - largest);
            *kept = largest + others.ln();
        }
        let losses = sum(&losses, &losses, |loss, _| loss);
        Forward { result: vec![losses / self.labels.len() as f32], kept }
    }

    #[inline(always)]
    fn backward<S: Simd>(
        &self,
        [logits]: [&[f32]; 1],
        kept: &[f32],
        slope: &[f32],
        _: [bool; 1],
    ) -> [Vec<f32>; 1] {
        let each = slope[0] / self.labels.len() as f32;
        let mut gradient = vec![0.0; logits.len()];
        let rows = logits.chunks_exact(self.classes).zip(gradient.chunks_exact_mut(self.classes));
        for (((row, by_row), &l), &label) in rows.zip(kept).zip(&*self.labels) {
            for (by_z, &z) in by_row.iter_mut().zip(row) {
                *by_z = exp(z - l) * each;
            }
            by_row[label] -= each;
        }
        [gradient]
    }
}
