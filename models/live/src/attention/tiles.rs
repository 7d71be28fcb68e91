//! Which keys a query sees, and how the score matrix falls into tiles.

use std::ops::Range;

use super::variants::RandomInputs;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AttentionMask {
    /// Whether keys behind the query's own place count.
    pub(super) ahead: Causality,
    /// Window: only keys nearer than this many positions, the query's own included; all if absent.
    pub(super) window: Option<usize>,
}

/// Whether a query sees later keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Causality {
    /// It does not: causal attention.
    Hidden,
    /// It does.
    Seen,
}

impl AttentionMask {
    pub(super) fn sees(self, query: usize, key: usize) -> bool {
        let hidden = match self.ahead {
            Causality::Hidden => key > query,
            Causality::Seen => false,
        };
        !hidden && self.window.is_none_or(|window| query.abs_diff(key) < window)
    }

    /// What some of the queries see of some of the keys; both ranges have something in them.
    pub(super) fn coverage(self, tile: &Tile) -> Coverage {
        let (queries, keys) = (&tile.queries, &tile.keys);
        let (first, last) = (queries.start, queries.end - 1);
        let hidden = match self.ahead {
            Causality::Hidden => (keys.start > last, keys.end - 1 > first),
            Causality::Seen => (false, false),
        };
        let far = match self.window {
            // The nearest and the farthest of all pairs.
            Some(window) => {
                let behind = first.saturating_sub(keys.end - 1);
                let before = keys.start.saturating_sub(last);
                let nearest = behind.max(before);
                let farthest = last.abs_diff(keys.start).max((keys.end - 1).abs_diff(first));
                (nearest >= window, farthest >= window)
            }
            None => (false, false),
        };
        match (hidden.0 || far.0, hidden.1 || far.1) {
            (true, _) => Coverage::Nothing,
            (false, true) => Coverage::Part,
            (false, false) => Coverage::All,
        }
    }
}

/// How much of a tile its queries see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    All,
    /// Some pairs do not count, or none does and the corners alone do not tell.
    Part,
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) queries: Range<usize>,
    pub(super) keys: Range<usize>,
}

/// The size of tiles; the last ones are smaller where it does not divide the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tiling {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Tiling {
    /// The queries of each row of tiles.
    pub(super) fn bands(self, sequence: usize) -> impl Iterator<Item = Range<usize>> {
        pieces(sequence, self.rows)
    }

    /// The tiles of a row of which something is seen, from the left.
    pub(super) fn band(
        self,
        queries: Range<usize>,
        sequence: usize,
        mask: AttentionMask,
    ) -> impl Iterator<Item = Tile> {
        pieces(sequence, self.columns)
            .map(move |keys| Tile { queries: queries.clone(), keys })
            .filter(move |tile| mask.coverage(tile) != Coverage::Nothing)
    }

    /// All tiles of which something is seen, row by row.
    pub(super) fn tiles(self, sequence: usize, mask: AttentionMask) -> impl Iterator<Item = Tile> {
        let bands = self.bands(sequence);
        bands.flat_map(move |queries| self.band(queries, sequence, mask))
    }

    /// How many tiles there are, seen or not.
    pub(super) fn count(self, sequence: usize) -> usize {
        let down = sequence.div_ceil(self.rows);
        down.saturating_mul(sequence.div_ceil(self.columns))
    }
}

fn pieces(whole: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    let size = size.max(1);
    let starts = (0..whole).step_by(size);
    starts.map(move |start| start..start.saturating_add(size).min(whole))
}

// The same attention in double precision on the host: what results are held against.

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

    /// What the last query of the first head should find.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_is_judged_as_its_pairs_are_one_by_one() {
        for ahead in [Causality::Hidden, Causality::Seen] {
            for window in [None, Some(1), Some(3), Some(7), Some(50)] {
                let mask = AttentionMask { ahead, window };
                for (rows, columns) in [(1, 1), (3, 2), (4, 5), (20, 3), (2, 30)] {
                    let tiling = Tiling { rows, columns };
                    for queries in tiling.bands(13) {
                        for keys in pieces(13, columns) {
                            let tile = Tile { queries: queries.clone(), keys };
                            let pairs = tile
                                .queries
                                .clone()
                                .flat_map(|q| tile.keys.clone().map(move |k| mask.sees(q, k)));
                            let pairs: Vec<bool> = pairs.collect();
                            let expected = match pairs.iter().filter(|seen| **seen).count() {
                                0 => Coverage::Nothing,
                                all if all == pairs.len() => Coverage::All,
                                _ => Coverage::Part,
                            };
                            assert_eq!(mask.coverage(&tile), expected, "{mask:?} {tile:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn tiles_cover_every_pair_that_is_seen_once() {
        let mask = AttentionMask { ahead: Causality::Hidden, window: Some(4) };
        for (rows, columns) in [(1, 1), (3, 4), (5, 2), (100, 100)] {
            let tiling = Tiling { rows, columns };
            let mut found = vec![0; 11 * 11];
            for tile in tiling.tiles(11, mask) {
                for query in tile.queries.clone() {
                    for key in tile.keys.clone().filter(|key| mask.sees(query, *key)) {
                        found[query * 11 + key] += 1;
                    }
                }
            }
            for (place, count) in found.iter().enumerate() {
                let seen = usize::from(mask.sees(place / 11, place % 11));
                assert_eq!(*count, seen, "{place}");
            }
        }
        assert_eq!(Tiling { rows: 32, columns: 32 }.count(256), 64);
        assert_eq!(Tiling { rows: 30, columns: 50 }.count(256), 54);
    }
}
