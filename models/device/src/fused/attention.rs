//! Causal attention over blocks of queries, without a stored mask or stored weights (Dao et al. 2022, arXiv:2205.14135).
//!
//! Forward keeps the logarithm of each row's sum of exponentials, from which backward computes the weights again.

use std::sync::Arc;

use macerator::Simd;

use super::vector::{Matrix, add_product, exp, max, sum};
use super::{Forward, Heads, Operation};

/// Queries with scores in memory at a time.
const BLOCK: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Attention {
    heads: Heads,
    time: usize,
    /// `[time, head]`.
    cosine: Arc<[f32]>,
    /// Negative for the first half of a head.
    sine: Arc<[f32]>,
}

#[derive(Clone, Copy)]
enum Turn {
    Forth,
    Back,
}

/// One head of one sequence as rows, `[time, head]`, and turned on its side, `[head, time]`.
#[derive(Default)]
struct Both {
    rows: Vec<f32>,
    columns: Vec<f32>,
}

impl Attention {
    /// Nothing where heads do not divide, have no pairs of numbers, or the tables are of another size.
    pub(super) fn new(heads: Heads, cosine: Arc<[f32]>, sine: Arc<[f32]>) -> Option<Self> {
        let time = cosine.len().checked_div(heads.head)?;
        let groups = heads.kv_heads > 0 && heads.heads.is_multiple_of(heads.kv_heads);
        let pairs = heads.head.is_multiple_of(2);
        let fits = time > 0 && time * heads.head == sine.len() && cosine.len() == sine.len();
        (groups && pairs && fits).then_some(Self { heads, time, cosine, sine })
    }

    /// Whether this number of rows is a whole number of sequences.
    pub(super) fn divides(&self, rows: usize) -> bool {
        rows.is_multiple_of(self.time)
    }

    /// Turns the rows of one head by their positions: number i and number i + head / 2 are a pair.
    #[inline(always)]
    fn turn(&self, rows: &mut [f32], turn: Turn, factor: f32) {
        let (head, half) = (self.heads.head, self.heads.head / 2);
        let sign = match turn {
            Turn::Forth => factor,
            Turn::Back => -factor,
        };
        let turns = self.cosine.chunks_exact(head).zip(self.sine.chunks_exact(head));
        for (row, (cosine, sine)) in rows.chunks_exact_mut(head).zip(turns) {
            let (a, b) = row.split_at_mut(half);
            let (sine_a, sine_b) = sine.split_at(half);
            let (cosine_a, cosine_b) = cosine.split_at(half);
            let pairs = a.iter_mut().zip(b).zip(cosine_a.iter().zip(cosine_b));
            for (((a, b), (ca, cb)), (sa, sb)) in pairs.zip(sine_a.iter().zip(sine_b)) {
                let (x, y) = (*a, *b);
                *a = x * ca * factor + y * sa * sign;
                *b = y * cb * factor + x * sb * sign;
            }
        }
    }

    /// Rows of one head out of those of all, `apart` numbers from one to the next.
    #[inline(always)]
    fn gather(&self, from: &[f32], apart: usize, to: &mut Vec<f32>) {
        let head = self.heads.head;
        to.resize(self.time * head, 0.0);
        for (to, from) in to.chunks_exact_mut(head).zip(from.chunks(apart)) {
            to.copy_from_slice(&from[..head]);
        }
    }

    #[inline(always)]
    fn scatter(&self, from: &[f32], to: &mut [f32], apart: usize) {
        let head = self.heads.head;
        for (from, to) in from.chunks_exact(head).zip(to.chunks_mut(apart)) {
            to[..head].copy_from_slice(from);
        }
    }

    #[inline(always)]
    fn on_its_side(&self, both: &mut Both) {
        let (head, time) = (self.heads.head, self.time);
        both.columns.resize(head * time, 0.0);
        for (t, row) in both.rows.chunks_exact(head).enumerate() {
            for (to, &from) in both.columns[t..].iter_mut().step_by(time).zip(row) {
                *to = from;
            }
        }
    }

    /// Blocks of queries: the first of each, and the end.
    fn blocks(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let time = self.time;
        (0..time).step_by(BLOCK).map(move |first| (first, time.min(first + BLOCK)))
    }

    fn factor(&self) -> f32 {
        1.0 / (self.heads.head as f32).sqrt()
    }
}

/// Of queries, keys and values; it keeps log Σ eˢ over the scores s of each query, `[batch, heads, time]`.
///
/// With weights w = softmax(s) and the slope t of the result: ∂v = wᵀ t, and with p = t vᵀ, ∂s = w (p - Σ w p).
impl Operation<3> for Attention {
    #[inline(always)]
    fn forward<S: Simd>(&self, [q, k, v]: [&[f32]; 3]) -> Forward {
        let (Heads { heads, kv_heads, head }, time) = (self.heads, self.time);
        let (wide, narrow, group) = (heads * head, kv_heads * head, heads / kv_heads);
        let mut result = vec![0.0; q.len()];
        let mut kept = vec![0.0; q.len() / head];
        let (mut keys, mut queries) = (Both::default(), Vec::new());
        let (mut weights, mut packed) = (vec![0.0; BLOCK.min(time) * time], Vec::new());
        let sequences = q.chunks_exact(time * wide).zip(k.chunks_exact(time * narrow));
        let sequences = sequences.zip(v.chunks_exact(time * narrow));
        let results = result.chunks_exact_mut(time * wide);
        let sums = kept.chunks_exact_mut(time * heads);
        for ((((q, k), v), result), kept) in sequences.zip(results).zip(sums) {
            for (i, kept) in kept.chunks_exact_mut(time).enumerate() {
                let (own, shared) = (i * head, i / group * head);
                if i % group == 0 {
                    self.gather(&k[shared..], narrow, &mut keys.rows);
                    self.turn(&mut keys.rows, Turn::Forth, 1.0);
                    self.on_its_side(&mut keys);
                }
                self.gather(&q[own..], wide, &mut queries);
                self.turn(&mut queries, Turn::Forth, self.factor());
                for (first, seen) in self.blocks() {
                    let count = seen - first;
                    let scores = &mut weights[..count * seen];
                    scores.fill(0.0);
                    let rows = Matrix::of_rows(&queries[first * head..], head);
                    let sizes = [count, head, seen];
                    let columns = (&*keys.columns, time);
                    add_product::<S>((scores, seen), rows, columns, sizes, &mut packed);
                    for (t, row) in scores.chunks_exact_mut(seen).enumerate() {
                        let (row, ahead) = row.split_at_mut(first + t + 1);
                        let largest = max(row);
                        for s in &mut *row {
                            *s = exp(*s - largest);
                        }
                        let total = sum(row, row, |w, _| w);
                        for s in &mut *row {
                            *s /= total;
                        }
                        ahead.fill(0.0);
                        kept[first + t] = largest + total.ln();
                    }
                    let to = (&mut result[first * wide + own..], wide);
                    let rows = Matrix::of_rows(scores, seen);
                    let from = (&v[shared..], narrow);
                    add_product::<S>(to, rows, from, [count, seen, head], &mut packed);
                }
            }
        }
        Forward { result, kept }
    }

    #[inline(always)]
    fn backward<S: Simd>(
        &self,
        [q, k, v]: [&[f32]; 3],
        kept: &[f32],
        slope: &[f32],
        _: [bool; 3],
    ) -> [Vec<f32>; 3] {
        let (Heads { heads, kv_heads, head }, time) = (self.heads, self.time);
        let (wide, narrow, group) = (heads * head, kv_heads * head, heads / kv_heads);
        let (mut by_q, mut by_k, mut by_v) =
            (vec![0.0; q.len()], vec![0.0; k.len()], vec![0.0; v.len()]);
        let (mut keys, mut values) = (Both::default(), Both::default());
        let (mut queries, mut slopes) = (Vec::new(), Vec::new());
        let (mut by_queries, mut by_keys) = (vec![0.0; time * head], vec![0.0; time * head]);
        let mut weights = vec![0.0; BLOCK.min(time) * time];
        let (mut by_weights, mut packed) = (weights.clone(), Vec::new());
        let sequences = q.chunks_exact(time * wide).zip(k.chunks_exact(time * narrow));
        let sequences = sequences.zip(v.chunks_exact(time * narrow));
        let sequences = sequences.zip(slope.chunks_exact(time * wide));
        let gradients = by_q.chunks_exact_mut(time * wide);
        let gradients = gradients.zip(by_k.chunks_exact_mut(time * narrow));
        let gradients = gradients.zip(by_v.chunks_exact_mut(time * narrow));
        let kept = kept.chunks_exact(time * heads);
        for (((((q, k), v), slope), ((by_q, by_k), by_v)), kept) in
            sequences.zip(gradients).zip(kept)
        {
            for (i, kept) in kept.chunks_exact(time).enumerate() {
                let (own, shared) = (i * head, i / group * head);
                if i % group == 0 {
                    self.gather(&k[shared..], narrow, &mut keys.rows);
                    self.turn(&mut keys.rows, Turn::Forth, 1.0);
                    self.on_its_side(&mut keys);
                    self.gather(&v[shared..], narrow, &mut values.rows);
                    self.on_its_side(&mut values);
                    by_keys.fill(0.0);
                }
                self.gather(&q[own..], wide, &mut queries);
                self.turn(&mut queries, Turn::Forth, self.factor());
                self.gather(&slope[own..], wide, &mut slopes);
                by_queries.fill(0.0);
                for (first, seen) in self.blocks() {
                    let count = seen - first;
                    let weights = &mut weights[..count * seen];
                    let by_weights = &mut by_weights[..count * seen];
                    weights.fill(0.0);
                    by_weights.fill(0.0);
                    let (queries, slopes) = (&queries[first * head..], &slopes[first * head..]);
                    let sizes = [count, head, seen];
                    let rows = Matrix::of_rows(queries, head);
                    let columns = (&*keys.columns, time);
                    add_product::<S>((weights, seen), rows, columns, sizes, &mut packed);
                    let rows = Matrix::of_rows(slopes, head);
                    let columns = (&*values.columns, time);
                    add_product::<S>((by_weights, seen), rows, columns, sizes, &mut packed);
                    let rows = weights.chunks_exact_mut(seen).zip(&kept[first..]);
                    let rows = rows.zip(by_weights.chunks_exact_mut(seen));
                    for (t, ((row, &l), by_row)) in rows.enumerate() {
                        let (row, ahead) = row.split_at_mut(first + t + 1);
                        let (by_row, by_ahead) = by_row.split_at_mut(first + t + 1);
                        for w in &mut *row {
                            *w = exp(*w - l);
                        }
                        let mean = sum(row, by_row, |w, p| w * p);
                        for (p, w) in by_row.iter_mut().zip(&*row) {
                            *p = w * (*p - mean);
                        }
                        ahead.fill(0.0);
                        by_ahead.fill(0.0);
                    }
                    let sizes = [count, seen, head];
                    let to = (&mut by_queries[first * head..], head);
                    let rows = Matrix::of_rows(by_weights, seen);
                    add_product::<S>(to, rows, (&keys.rows, head), sizes, &mut packed);
                    let sizes = [seen, count, head];
                    let rows = Matrix { numbers: by_weights, row: 1, column: seen };
                    let to = (&mut *by_keys, head);
                    add_product::<S>(to, rows, (queries, head), sizes, &mut packed);
                    let rows = Matrix { numbers: weights, row: 1, column: seen };
                    let to = (&mut by_v[shared..], narrow);
                    add_product::<S>(to, rows, (slopes, head), sizes, &mut packed);
                }
                self.turn(&mut by_queries, Turn::Back, self.factor());
                self.scatter(&by_queries, &mut by_q[own..], wide);
                if i % group == group - 1 {
                    self.turn(&mut by_keys, Turn::Back, 1.0);
                    self.scatter(&by_keys, &mut by_k[shared..], narrow);
                }
            }
        }
        [by_q, by_k, by_v]
    }
}
