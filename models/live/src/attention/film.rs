//! The score matrix with the tiles that go over it, and what each row knows after each of them.

use std::ops::Range;

use mlsys_lab::Frame;
use mlsys_lab::frame::{Cell, CellRow, Cells, FrameSequence, Kind, Pane, Tone};
use mlsys_sim::inference::Pass;

use super::tiles::{AttentionMask, Tile, scores};
use super::ways::Drawn;
use super::{Knobs, Setup};

/// Rows of the picture: some queries of each row of tiles, or of some rows of tiles.
const ROWS: usize = 16;
/// Columns of the picture: a tile has several, or several tiles have one.
const COLUMNS: usize = 32;
/// More pictures than this are not looked through: then one stands for several tiles.
const STILLS: usize = 64;

const HIDDEN: usize = 0;
const AHEAD: usize = 1;
const DONE: usize = 2;
const HERE: usize = 3;
const GREW: usize = 4;

const NOTE: &str = "Behind a query: its maximum m and sum l so far, and x: what both sums were multiplied by because m grew.";

/// The first head, tile by tile.
pub(super) fn film(setup: &Setup, knobs: &Knobs, drawn: &Drawn) -> Frame {
    let grid = Grid::new(setup, knobs);
    let mut rows: Vec<Row> = grid.queries.iter().map(|query| Row::new(*query)).collect();
    let mut stills = Vec::new();
    let tiles = grid.tiles(setup, knobs);
    // Several tiles at once if there are many, but never of two rows of tiles.
    let at_once = tiles.len().div_ceil(STILLS).max(1);
    let bands = tiles.chunk_by(|a, b| a.queries == b.queries);
    for some in bands.flat_map(|band| band.chunks(at_once)) {
        let [first, .., last] = some else {
            if let [one] = some {
                stills.push(grid.still(drawn, knobs, &mut rows, one.clone(), 1));
            }
            continue;
        };
        let together =
            Tile { queries: first.queries.clone(), keys: first.keys.start..last.keys.end };
        stills.push(grid.still(drawn, knobs, &mut rows, together, some.len()));
    }
    let cover = stills.len() / 2;
    Frame::FrameSequence(Box::new(FrameSequence { stills, cover }))
}

/// Which queries and keys the picture shows.
struct Grid {
    mask_of: AttentionMask,
    queries: Vec<usize>,
    /// The keys of each column.
    columns: Vec<Range<usize>>,
    /// Columns of a tile; 0 where a column has several tiles.
    group: usize,
    /// Keys of a column, but for the last of a tile.
    wide: usize,
}

/// What a query knows.
struct Row {
    query: usize,
    pass: Pass,
}

impl Row {
    fn new(query: usize) -> Self {
        Self { query, pass: Pass::NOTHING }
    }
}

impl Grid {
    fn new(setup: &Setup, knobs: &Knobs) -> Self {
        let tiling = knobs.tiling;
        let bands: Vec<Range<usize>> = tiling.bands(setup.sequence).collect();
        let each = (ROWS / bands.len().max(1)).max(1);
        let shown = bands.len().min(ROWS);
        // Evenly over the sequence, the last row of tiles among them.
        let of_band = (0..shown).map(|i| &bands[(i + 1) * bands.len() / shown - 1]);
        let queries = of_band.flat_map(|band| {
            let each = each.min(band.len());
            (0..each).map(move |k| band.start + (k + 1) * band.len() / each - 1)
        });
        let tiles = setup.sequence.div_ceil(tiling.columns);
        let (columns, group, wide) = if tiles <= COLUMNS {
            let each = (COLUMNS / tiles.max(1)).clamp(1, tiling.columns);
            let wide = tiling.columns.div_ceil(each);
            let mut columns = Vec::new();
            for start in (0..setup.sequence).step_by(tiling.columns) {
                let end = (start + tiling.columns).min(setup.sequence);
                let parts = (start..end).step_by(wide);
                columns.extend(parts.map(|from| from..(from + wide).min(end)));
            }
            (columns, tiling.columns.div_ceil(wide), wide)
        } else {
            let wide = tiling.columns * tiles.div_ceil(COLUMNS);
            let starts = (0..setup.sequence).step_by(wide);
            let columns = starts.map(|from| from..(from + wide).min(setup.sequence));
            (columns.collect(), 0, wide)
        };
        Self { mask_of: setup.mask_of(), queries: queries.collect(), columns, group, wide }
    }

    /// The tiles of which the picture shows a query, in the order in which they are computed.
    fn tiles(&self, setup: &Setup, knobs: &Knobs) -> Vec<Tile> {
        let bands = knobs.tiling.bands(setup.sequence);
        let shown = bands.filter(|band| self.queries.iter().any(|query| band.contains(query)));
        let tiles = shown.flat_map(|band| knobs.tiling.band(band, setup.sequence, self.mask_of));
        tiles.collect()
    }

    /// The picture after a tile, or after several of one row.
    fn still(
        &self,
        drawn: &Drawn,
        knobs: &Knobs,
        rows: &mut [Row],
        tile: Tile,
        count: usize,
    ) -> Pane {
        let (mut grew, mut knew, mut there) = (0, 0, 0);
        let mut drawn_rows = Vec::new();
        let last = rows.iter().rposition(|row| tile.queries.contains(&row.query));
        for row in rows {
            let mut new = None;
            let mut correction = None;
            if tile.queries.contains(&row.query) {
                there += 1;
                let keys = tile.keys.clone();
                let scale = knobs.logit_scale;
                let seen = scores(drawn, 0, row.query, keys.clone(), self.mask_of, scale);
                let before = row.pass;
                row.pass = before.after(&seen);
                knew += usize::from(before.sum > 0.0);
                if row.pass.most > before.most {
                    let of = keys.filter(|key| self.mask_of.sees(row.query, *key)).zip(seen);
                    new = of.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(key, _)| key);
                    if before.sum > 0.0 {
                        grew += 1;
                        correction = Some(row.pass.correction);
                    }
                }
            }
            drawn_rows.push(self.row(row, &tile, new, correction));
        }
        let tiles = match count {
            1 => String::new(),
            count => format!(", {count} tiles at once"),
        };
        let said = match (knew, there) {
            (0, _) => "the first scores of these rows".to_owned(),
            (_, there) => format!("the maximum grew in {grew} of {there} rows"),
        };
        let title = format!(
            "queries {} to {}, keys {} to {}{tiles}: {said}",
            tile.queries.start,
            tile.queries.end - 1,
            tile.keys.start,
            tile.keys.end - 1,
        );
        Pane {
            title,
            frame: Frame::Cells(Cells {
                across: match self.wide {
                    1 => "key".to_owned(),
                    wide => format!("{wide} keys"),
                },
                first: 0,
                group: self.group,
                kinds: kinds(),
                rows: drawn_rows,
                note: NOTE.to_owned(),
                focus: last.map(|row| (row, 0)),
            }),
        }
    }

    fn row(&self, row: &Row, tile: &Tile, new: Option<usize>, correction: Option<f64>) -> CellRow {
        let here = tile.queries.contains(&row.query);
        let kind = |keys: &Range<usize>| {
            let is_seen = keys.clone().any(|key| self.mask_of.sees(row.query, key));
            if !is_seen {
                HIDDEN
            } else if new.is_some_and(|key| keys.contains(&key)) {
                GREW
            } else if row.query < tile.queries.start || (here && keys.end <= tile.keys.start) {
                DONE
            } else if here && keys.start < tile.keys.end {
                HERE
            } else {
                AHEAD
            }
        };
        let Pass { most, sum, .. } = row.pass;
        let remark = match correction {
            _ if sum == 0.0 => String::new(),
            Some(by) => format!("m {most:.2} l {sum:.2} x{by:.2}"),
            None => format!("m {most:.2} l {sum:.2}"),
        };
        CellRow {
            label: row.query.to_string(),
            cells: self.columns.iter().map(|keys| Some(Cell::of(kind(keys)))).collect(),
            remark,
        }
    }
}

fn kinds() -> Vec<Kind> {
    [
        ("not to be seen", Tone::Empty),
        ("to come", Tone::Faint),
        ("summed, not kept", Tone::Second),
        ("this tile", Tone::First),
        ("new maximum", Tone::Warn),
    ]
    .map(|(name, tone)| Kind { name: name.to_owned(), tone })
    .to_vec()
}
