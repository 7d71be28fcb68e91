//! The drawn inputs, and the same attention in double precision on the host: what results are held against.

use std::ops::Range;

use mlsys_nn::random::Stream;

use super::tiles::AttentionMask;

/// Queries, keys and values on the host: standard normal, `[heads, sequence, width]`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RandomInputs {
    pub(super) heads: usize,
    pub(super) sequence: usize,
    pub(super) width: usize,
    pub(super) q: Vec<f32>,
    pub(super) k: Vec<f32>,
    pub(super) v: Vec<f32>,
}

impl RandomInputs {
    pub(super) fn new(seed: u64, [heads, sequence, width]: [usize; 3]) -> Self {
        let draw = |purpose: &str| {
            let mut stream = Stream::new(seed, purpose);
            let count = heads * sequence * width;
            (0..count).map(|_| stream.normal() as f32).collect()
        };
        Self {
            heads,
            sequence,
            width,
            q: draw("attention/queries"),
            k: draw("attention/keys"),
            v: draw("attention/values"),
        }
    }

    /// The vector of one of `q`, `k` and `v` at a position.
    pub(super) fn vector<'a>(&self, of: &'a [f32], head: usize, position: usize) -> &'a [f32] {
        let start = (head * self.sequence + position) * self.width;
        &of[start..start + self.width]
    }
}

/// Multiply-adds that the reference takes at most: beyond that it looks at some of the queries, evenly over the sequence.
const MOST_WORK: usize = 1 << 28;

pub(super) struct Exact {
    /// The queries that were looked at, ascending.
    pub(super) queries: Vec<usize>,
    /// What each finds: head after head, query after query, `width` numbers each.
    pub(super) found: Vec<f64>,
    width: usize,
    heads: usize,
    largest: f64,
}

impl Exact {
    /// Softmax attention as it is written, every query against every key that it sees.
    pub(super) fn compute(drawn: &RandomInputs, mask: AttentionMask, logit_scale: f64) -> Self {
        let RandomInputs { heads, sequence, width, .. } = *drawn;
        let one = 2 * heads * sequence * width;
        let count = (MOST_WORK / one.max(1)).clamp(1, sequence);
        let place = |i: usize| (i * (sequence - 1)).checked_div(count - 1);
        // Of one query alone the last, which sees all.
        let queries: Vec<usize> = (0..count).map(|i| place(i).unwrap_or(sequence - 1)).collect();
        let mut found = Vec::with_capacity(heads * count * width);
        for head in 0..heads {
            for &query in &queries {
                found.extend(row(drawn, head, query, mask, logit_scale));
            }
        }
        let largest = found.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        Self { queries, found, width, heads, largest }
    }

    /// The largest difference of a result, whole as it came from the device, over the largest output.
    pub(super) fn difference(&self, result: &[f32]) -> f64 {
        let sequence = result.len() / (self.width * self.heads).max(1);
        let rows = (0..self.heads)
            .flat_map(|head| self.queries.iter().map(move |query| head * sequence + query));
        let mut worst = 0.0_f64;
        for (row, found) in rows.zip(self.found.chunks(self.width)) {
            let start = row * self.width;
            for (place, exact) in found.iter().enumerate() {
                let there = result.get(start + place).copied().unwrap_or(f32::NAN);
                let difference = (f64::from(there) - exact).abs();
                if !difference.is_finite() {
                    // What is no number is as wrong as can be.
                    return f64::MAX;
                }
                worst = worst.max(difference);
            }
        }
        (worst / self.largest.max(f64::MIN_POSITIVE)).min(f64::MAX)
    }

    pub(super) fn last(&self) -> &[f64] {
        let end = self.queries.len() * self.width;
        &self.found[end - self.width..end]
    }
}

/// One row of the scores of a head: those of the keys in `keys` that the query sees.
pub(super) fn scores(
    drawn: &RandomInputs,
    head: usize,
    query: usize,
    keys: Range<usize>,
    mask: AttentionMask,
    logit_scale: f64,
) -> Vec<f64> {
    let q = drawn.vector(&drawn.q, head, query);
    let scale = logit_scale / (drawn.width as f64).sqrt();
    keys.filter(|key| mask.sees(query, *key))
        .map(|key| {
            let products = q.iter().zip(drawn.vector(&drawn.k, head, key));
            products.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>() * scale
        })
        .collect()
}

fn row(
    drawn: &RandomInputs,
    head: usize,
    query: usize,
    mask: AttentionMask,
    logit_scale: f64,
) -> Vec<f64> {
    let keys = 0..drawn.sequence;
    let scores = scores(drawn, head, query, keys.clone(), mask, logit_scale);
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut found) = (0.0, vec![0.0; drawn.width]);
    let seen = keys.filter(|key| mask.sees(query, *key));
    for (key, score) in seen.zip(scores) {
        let share = (score - most).exp();
        sum += share;
        for (to, value) in found.iter_mut().zip(drawn.vector(&drawn.v, head, key)) {
            *to += share * f64::from(*value);
        }
    }
    found.iter().map(|x| x / sum).collect()
}
