//! Which keys a query sees, and how the score matrix falls into tiles.

use std::ops::Range;

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AttentionMask {
    /// Whether keys behind the query's own place are hidden.
    pub(super) causal: bool,
    /// Window: only keys nearer than this many positions, the query's own included; all if absent.
    pub(super) window: Option<usize>,
}

impl AttentionMask {
    pub(super) fn sees(self, query: usize, key: usize) -> bool {
        let hidden = self.causal && key > query;
        !hidden && self.window.is_none_or(|window| query.abs_diff(key) < window)
    }

    /// What some of the queries see of some of the keys; both ranges have something in them.
    pub(super) fn coverage(self, tile: &Tile) -> Coverage {
        let (queries, keys) = (&tile.queries, &tile.keys);
        let (first, last) = (queries.start, queries.end - 1);
        let hidden = (self.causal && keys.start > last, self.causal && keys.end - 1 > first);
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
        self.bands(sequence).flat_map(move |queries| self.band(queries, sequence, mask))
    }

    pub(super) fn count(self, sequence: usize) -> usize {
        sequence.div_ceil(self.rows).saturating_mul(sequence.div_ceil(self.columns))
    }
}

pub(super) fn pieces(whole: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    let size = size.max(1);
    let starts = (0..whole).step_by(size);
    starts.map(move |start| start..start.saturating_add(size).min(whole))
}
