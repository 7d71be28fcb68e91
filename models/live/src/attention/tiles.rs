//! Which keys a query sees, and how the score matrix falls into tiles.

use std::ops::Range;

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AttentionMask {
    /// Whether keys behind the query's own place count.
    pub(super) ahead: Causality,
    /// Window: only keys nearer than this many positions, the query's own included; all if absent.
    pub(super) window: Option<usize>,
}

/// Whether a query sees later keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "bool")]
pub(super) enum Causality {
    /// It does not: causal attention.
    Hidden,
    /// It does.
    Seen,
}

impl From<bool> for Causality {
    fn from(causal: bool) -> Self {
        if causal { Self::Hidden } else { Self::Seen }
    }
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
        let behind = first.saturating_sub(keys.end - 1);
        let nearest = behind.max(keys.start.saturating_sub(last));
        let farthest = last.abs_diff(keys.start).max((keys.end - 1).abs_diff(first));
        let is_far = |distance| self.window.is_some_and(|window| distance >= window);
        let far = (is_far(nearest), is_far(farthest));
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Tiling {
    #[serde(rename = "tile_rows")]
    pub(super) rows: usize,
    #[serde(rename = "tile_columns")]
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
