//! Which keys a query sees, and how the score matrix falls into tiles.

use std::ops::Range;

/// Which keys a query sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sight {
    /// Whether keys behind the query's own place count.
    pub(super) ahead: Ahead,
    /// Only keys nearer than so many places, the own one included; all if absent.
    pub(super) window: Option<usize>,
}

/// Whether a query sees what lies ahead of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// It does not: causal attention.
    Hidden,
    /// It does.
    Seen,
}

impl Sight {
    /// Whether a query sees a key.
    pub(super) fn sees(self, query: usize, key: usize) -> bool {
        let hidden = match self.ahead {
            Ahead::Hidden => key > query,
            Ahead::Seen => false,
        };
        !hidden && self.window.is_none_or(|window| query.abs_diff(key) < window)
    }

    /// What some of the queries see of some of the keys; both ranges have something in them.
    pub(super) fn of(self, tile: &Tile) -> Seen {
        let (queries, keys) = (&tile.queries, &tile.keys);
        let (first, last) = (queries.start, queries.end - 1);
        let hidden = match self.ahead {
            Ahead::Hidden => (keys.start > last, keys.end - 1 > first),
            Ahead::Seen => (false, false),
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
            (true, _) => Seen::Nothing,
            (false, true) => Seen::Part,
            (false, false) => Seen::All,
        }
    }
}

/// How much of a tile its queries see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Every key is seen by every query.
    All,
    /// Some pairs do not count, or none does and the corners alone do not tell.
    Part,
    /// No query sees any key.
    Nothing,
}

/// Some queries against some keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) queries: Range<usize>,
    pub(super) keys: Range<usize>,
}

/// The size of tiles; the last ones are smaller where it does not divide the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tiling {
    /// Queries in a tile.
    pub(super) rows: usize,
    /// Keys in a tile.
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
        sight: Sight,
    ) -> impl Iterator<Item = Tile> {
        pieces(sequence, self.columns)
            .map(move |keys| Tile { queries: queries.clone(), keys })
            .filter(move |tile| sight.of(tile) != Seen::Nothing)
    }

    /// All tiles of which something is seen, row by row.
    pub(super) fn tiles(self, sequence: usize, sight: Sight) -> impl Iterator<Item = Tile> {
        let bands = self.bands(sequence);
        bands.flat_map(move |queries| self.band(queries, sequence, sight))
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
        for ahead in [Ahead::Hidden, Ahead::Seen] {
            for window in [None, Some(1), Some(3), Some(7), Some(50)] {
                let sight = Sight { ahead, window };
                for (rows, columns) in [(1, 1), (3, 2), (4, 5), (20, 3), (2, 30)] {
                    let tiling = Tiling { rows, columns };
                    for queries in tiling.bands(13) {
                        for keys in pieces(13, columns) {
                            let tile = Tile { queries: queries.clone(), keys };
                            let pairs = tile
                                .queries
                                .clone()
                                .flat_map(|q| tile.keys.clone().map(move |k| sight.sees(q, k)));
                            let pairs: Vec<bool> = pairs.collect();
                            let expected = match pairs.iter().filter(|seen| **seen).count() {
                                0 => Seen::Nothing,
                                all if all == pairs.len() => Seen::All,
                                _ => Seen::Part,
                            };
                            assert_eq!(sight.of(&tile), expected, "{sight:?} {tile:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn tiles_cover_every_pair_that_is_seen_once() {
        let sight = Sight { ahead: Ahead::Hidden, window: Some(4) };
        for (rows, columns) in [(1, 1), (3, 4), (5, 2), (100, 100)] {
            let tiling = Tiling { rows, columns };
            let mut found = vec![0; 11 * 11];
            for tile in tiling.tiles(11, sight) {
                for query in tile.queries.clone() {
                    for key in tile.keys.clone().filter(|key| sight.sees(query, *key)) {
                        found[query * 11 + key] += 1;
                    }
                }
            }
            for (place, count) in found.iter().enumerate() {
                let seen = usize::from(sight.sees(place / 11, place % 11));
                assert_eq!(*count, seen, "{place}");
            }
        }
        assert_eq!(Tiling { rows: 32, columns: 32 }.count(256), 64);
        assert_eq!(Tiling { rows: 30, columns: 50 }.count(256), 54);
    }
}
