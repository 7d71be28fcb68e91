//! The same attention in double precision on the host: what results are held against.

use super::tiles::Sight;
use super::ways::Drawn;

/// Multiply-adds that the reference takes at most: beyond that it looks at some of the queries, evenly over the sequence.
const MOST_WORK: usize = 1 << 28;

/// What some queries should find.
pub(super) struct Exact {
    /// The queries that were looked at, ascending.
    pub(super) queries: Vec<usize>,
    /// What each finds: head after head, query after query, `width` numbers each.
    pub(super) found: Vec<f64>,
    width: usize,
    heads: usize,
    /// The largest of all.
    largest: f64,
}

impl Exact {
    /// Softmax attention as it is written, every query against every key that it sees.
    pub(super) fn of(drawn: &Drawn, sight: Sight, logit_scale: f64) -> Self {
        let Drawn { heads, sequence, width, .. } = *drawn;
        let one = 2 * heads * sequence * width;
        let count = (MOST_WORK / one.max(1)).clamp(1, sequence);
        let place = |i: usize| (i * (sequence - 1)).checked_div(count - 1);
        // Of one query alone the last, which sees all.
        let queries: Vec<usize> = (0..count).map(|i| place(i).unwrap_or(sequence - 1)).collect();
        let mut found = Vec::with_capacity(heads * count * width);
        for head in 0..heads {
            for &query in &queries {
                found.extend(row(drawn, head, query, sight, logit_scale));
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

    /// What the last query of the first head should find.
    pub(super) fn last(&self) -> &[f64] {
        let end = self.queries.len() * self.width;
        self.found.get(end - self.width..end).unwrap_or_default()
    }
}

/// One row of the scores of a head: those of the keys in `keys` that the query sees.
pub(super) fn scores(
    drawn: &Drawn,
    head: usize,
    query: usize,
    keys: std::ops::Range<usize>,
    sight: Sight,
    logit_scale: f64,
) -> Vec<f64> {
    let width = drawn.width;
    let row = |numbers: &'_ [f32], place: usize| -> Vec<f64> {
        let start = (head * drawn.sequence + place) * width;
        let numbers = numbers.get(start..start + width).unwrap_or_default();
        numbers.iter().map(|x| f64::from(*x)).collect()
    };
    let q = row(&drawn.q, query);
    let scale = logit_scale / (width as f64).sqrt();
    keys.filter(|key| sight.sees(query, *key))
        .map(|key| {
            let start = (head * drawn.sequence + key) * width;
            let k = drawn.k.get(start..start + width).unwrap_or_default();
            let products = q.iter().zip(k).map(|(a, b)| a * f64::from(*b));
            products.sum::<f64>() * scale
        })
        .collect()
}

fn row(drawn: &Drawn, head: usize, query: usize, sight: Sight, logit_scale: f64) -> Vec<f64> {
    let keys = 0..drawn.sequence;
    let scores = scores(drawn, head, query, keys.clone(), sight, logit_scale);
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut found) = (0.0, vec![0.0; drawn.width]);
    let seen = keys.filter(|key| sight.sees(query, *key));
    for (key, score) in seen.zip(scores) {
        let share = (score - most).exp();
        sum += share;
        let start = (head * drawn.sequence + key) * drawn.width;
        let v = drawn.v.get(start..start + drawn.width).unwrap_or_default();
        for (to, value) in found.iter_mut().zip(v) {
            *to += share * f64::from(*value);
        }
    }
    found.iter().map(|x| x / sum).collect()
}
