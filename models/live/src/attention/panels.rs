//! The lab's panels.

use std::ops::Range;

use mlsys_lab::Frame;
use mlsys_lab::frame::{Bar, Bars, CellRow, Cells, FrameSequence, Pane, Scale, ScatterPoint, Tone};
use mlsys_lab::picture::{
    self, axis, bar, bars, kinds, line, log_axis, pane, point, reference, scatter,
};
use mlsys_lab::value::significant;
use mlsys_sim::inference::RunningSoftmax;

use super::exact::{RandomInputs, scores};
use super::tiles::{AttentionMask, Tile, pieces};
use super::variants::{Comparison, TIMED, TimedLength, VARIANTS};
use super::{Knobs, Session, Setup};

type Picture = fn(&Session) -> Option<Frame>;

pub(super) const ALL: [(&str, Picture); 4] = [
    ("scores", |session| Some(tile_sequence(&session.setup, &session.knobs, &session.drawn))),
    ("traffic", |session| Some(traffic(&session.setup, &session.knobs))),
    ("growth", growth),
    ("output", |session| Some(output(&session.compared))),
];

fn traffic(setup: &Setup, knobs: &Knobs) -> Frame {
    let accesses = setup.accesses(knobs);
    let [naive, ..] = accesses.map(|elements| elements as f64);
    // A window over the whole sequence leaves nothing out.
    let window = if knobs.window >= setup.sequence { "same function" } else { "another one" };
    let functions = ["", "same function", window, "another one"];
    let all = VARIANTS.into_iter().zip(accesses).zip(functions);
    let all = all.map(|((label, elements), function)| {
        let remark = match function {
            "" => String::new(),
            function => format!("{:.2}, {function}", elements as f64 / naive),
        };
        bar(label, elements as f64, remark)
    });
    bars("elements", all.collect())
}

pub(super) fn growth(session: &Session) -> Option<Frame> {
    let Session { setup, knobs, swept, .. } = session;
    if swept.is_empty() {
        return None;
    }
    let plot = |name: &str, unit: &str, values: [Curve; 3], more: Vec<(&str, Curve)>| {
        // A logarithmic axis has no place for nothing.
        let values = values.map(|curve| curve.into_iter().filter(|(_, y)| *y > 0.0));
        let points: Vec<ScatterPoint> = values
            .iter()
            .enumerate()
            .flat_map(|(series, curve)| curve.clone().map(move |(x, y)| point(x, y, "", series)))
            .collect();
        let joined = TIMED.into_iter().zip(values).map(|(name, curve)| line(name, curve));
        let more = more.into_iter().map(|(name, curve)| reference(name, curve));
        let axes = [log_axis("tokens", ""), log_axis(name, unit)];
        scatter(axes, &TIMED, points, joined.chain(more).collect())
    };
    let curve = |value: &dyn Fn(&TimedLength) -> Option<f64>| -> Curve {
        swept.iter().filter_map(|timed| Some((timed.sequence as f64, value(timed)?))).collect()
    };
    let seconds = [0, 1, 2].map(|variant| curve(&|timed| timed.seconds[variant]));
    let bytes = [0, 1, 2].map(|variant| curve(&|timed| timed.bytes[variant].map(|x| x as f64)));
    let kept =
        |way: usize| curve(&|timed| Some(setup.kept_bytes(knobs, timed.sequence)[way] as f64));
    let formulas =
        vec![("all scores, slope 2", kept(0)), ("a tile", kept(1)), ("linear sums", kept(2))];
    Some(Frame::Panes(vec![
        pane("time", plot("time", "seconds", seconds, slopes(swept))),
        pane("most memory at once", plot("memory", "bytes", bytes, formulas)),
    ]))
}

type Curve = Vec<(f64, f64)>;

/// Lines of slope 2 and 1 through the last points of the naive and the linear variant.
fn slopes(swept: &[TimedLength]) -> Vec<(&'static str, Curve)> {
    let (Some(first), Some(last)) = (swept.first(), swept.last()) else { return Vec::new() };
    let [from, to] = [first, last].map(|timed| timed.sequence as f64);
    let through = |(name, variant, slope): (&'static str, usize, i32)| {
        let end = last.seconds[variant]?;
        Some((name, vec![(from, end * (from / to).powi(slope)), (to, end)]))
    };
    [("slope 2", 0, 2), ("slope 1", 2, 1)].into_iter().filter_map(through).collect()
}

/// What the last query of the first head finds by each variant, number by number, and how far off all are.
fn output(compared: &Comparison) -> Frame {
    let found = compared.last.iter().enumerate().flat_map(|(series, found)| {
        found.iter().enumerate().map(move |(at, y)| point(at as f64, f64::from(*y), "", series))
    });
    let exact = compared.exact.iter().enumerate().map(|(at, y)| (at as f64, *y));
    let found = scatter(
        [axis("output", ""), axis("value", "")],
        &VARIANTS,
        found.collect(),
        vec![line("double precision", exact)],
    );
    let bars = VARIANTS.iter().zip(compared.differences).map(|(variant, off)| Bar {
        label: (*variant).to_owned(),
        value: Some(significant(off, 3)).filter(|off| *off > 0.0 && *off < f64::MAX),
        remark: match off {
            off if off <= 1e-4 => "same".to_owned(),
            off if off == f64::MAX => "no numbers".to_owned(),
            _ => "another".to_owned(),
        },
    });
    let off_by = match compared.non_finite {
        0 => "off by, over the largest".to_owned(),
        count => format!("off by; without subtracting m: {count} NaN"),
    };
    let off = Bars {
        quantity: "off by".to_owned(),
        unit: String::new(),
        scale: Scale::Log,
        bars: bars.collect(),
    };
    Frame::Panes(vec![pane("what the last query finds", found), pane(off_by, Frame::Bars(off))])
}

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

fn tile_sequence(setup: &Setup, knobs: &Knobs, drawn: &RandomInputs) -> Frame {
    let grid = Grid::new(setup, knobs);
    let new = |query: &usize| Row { query: *query, pass: RunningSoftmax::NOTHING };
    let mut rows: Vec<Row> = grid.queries.iter().map(new).collect();
    let mut stills = Vec::new();
    let tiles = grid.tiles(setup, knobs);
    // Several tiles at once if there are many, but never of two rows of tiles.
    let at_once = tiles.len().div_ceil(STILLS).max(1);
    let bands = tiles.chunk_by(|a, b| a.queries == b.queries);
    for some in bands.flat_map(|band| band.chunks(at_once)) {
        let (Some(first), Some(last)) = (some.first(), some.last()) else { continue };
        let keys = first.keys.start..last.keys.end;
        let together = Tile { queries: first.queries.clone(), keys };
        stills.push(grid.still(drawn, knobs, &mut rows, together, some.len()));
    }
    let cover = stills.len() / 2;
    Frame::FrameSequence(Box::new(FrameSequence { stills, cover }))
}

struct Grid {
    mask: AttentionMask,
    queries: Vec<usize>,
    columns: Vec<Range<usize>>,
    /// Columns of a tile; 0 where a column has several tiles.
    group: usize,
    /// Keys of a column, but for the last of a tile.
    wide: usize,
}

struct Row {
    query: usize,
    pass: RunningSoftmax,
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
        let (whole, wide, group) = if tiles <= COLUMNS {
            let each = (COLUMNS / tiles.max(1)).clamp(1, tiling.columns);
            let wide = tiling.columns.div_ceil(each);
            (tiling.columns, wide, tiling.columns.div_ceil(wide))
        } else {
            let wide = tiling.columns * tiles.div_ceil(COLUMNS);
            (wide, wide, 0)
        };
        let parts = |tile: Range<usize>| {
            tile.clone().step_by(wide).map(move |from| from..(from + wide).min(tile.end))
        };
        let columns = pieces(setup.sequence, whole).flat_map(parts).collect();
        Self { mask: setup.mask(None), queries: queries.collect(), columns, group, wide }
    }

    /// The tiles of which the picture shows a query, in the order in which they are computed.
    fn tiles(&self, setup: &Setup, knobs: &Knobs) -> Vec<Tile> {
        let bands = knobs.tiling.bands(setup.sequence);
        let shown = bands.filter(|band| self.queries.iter().any(|query| band.contains(query)));
        shown.flat_map(|band| knobs.tiling.band(band, setup.sequence, self.mask)).collect()
    }

    fn still(
        &self,
        drawn: &RandomInputs,
        knobs: &Knobs,
        rows: &mut [Row],
        tile: Tile,
        count: usize,
    ) -> Pane {
        let (mut grew, mut knew, mut there) = (0, 0, 0);
        let last = rows.iter().rposition(|row| tile.queries.contains(&row.query));
        let drawn_rows = rows.iter_mut().map(|row| {
            let (mut new, mut correction) = (None, None);
            if tile.queries.contains(&row.query) {
                there += 1;
                let (keys, scale) = (tile.keys.clone(), knobs.logit_scale);
                let seen = scores(drawn, 0, row.query, keys.clone(), self.mask, scale);
                let before = row.pass;
                row.pass = before.after(&seen);
                knew += usize::from(before.sum > 0.0);
                if row.pass.most > before.most {
                    let of = keys.filter(|key| self.mask.sees(row.query, *key)).zip(seen);
                    new = of.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(key, _)| key);
                    correction = (before.sum > 0.0).then_some(row.pass.correction);
                    grew += usize::from(correction.is_some());
                }
            }
            self.row(row, &tile, new, correction)
        });
        let drawn_rows = drawn_rows.collect();
        let tiles = match count {
            1 => String::new(),
            count => format!(", {count} tiles at once"),
        };
        let found = match knew {
            0 => "the first scores of these rows".to_owned(),
            _ => format!("the maximum grew in {grew} of {there} rows"),
        };
        let [queries, keys] =
            [&tile.queries, &tile.keys].map(|of| format!("{} to {}", of.start, of.end - 1));
        let title = format!("queries {queries}, keys {keys}{tiles}: {found}");
        let cells = Cells {
            across: match self.wide {
                1 => "key".to_owned(),
                wide => format!("key / {wide}"),
            },
            first: 0,
            group: self.group,
            kinds: kinds([
                ("masked", Tone::Empty),
                ("to come", Tone::Faint),
                ("summed, not kept", Tone::Second),
                ("this tile", Tone::First),
                ("new maximum", Tone::Warn),
            ]),
            rows: drawn_rows,
            note: NOTE.to_owned(),
            focus: last.map(|row| (row, 0)),
        };
        pane(title, Frame::Cells(cells))
    }

    fn row(&self, row: &Row, tile: &Tile, new: Option<usize>, correction: Option<f64>) -> CellRow {
        let here = tile.queries.contains(&row.query);
        let kind = |keys: &Range<usize>| {
            let is_seen = keys.clone().any(|key| self.mask.sees(row.query, key));
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
        let RunningSoftmax { most, sum, .. } = row.pass;
        let remark = match correction {
            _ if sum == 0.0 => String::new(),
            Some(by) => format!("m {most:.2} l {sum:.2} x{by:.2}"),
            None => format!("m {most:.2} l {sum:.2}"),
        };
        let kinds = self.columns.iter().map(|keys| Some(kind(keys)));
        picture::row(row.query.to_string(), kinds, remark)
    }
}
