//! Kind `waves`: an output cut into tiles, dealt to the multiprocessors in waves, and what the last wave wastes.

#[cfg(test)]
mod tests;

use mlsys_lab::frame::{Cells, Tone};
use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::{Frame, Lab, LabError, Params, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, percent};
use mlsys_sim::integer::{div_up, too_large};

/// Waves before a long run is cut in the middle.
const SHOWN_WAVES: i64 = 12;

/// Tiles drawn in each direction.
const DRAWN_TILES: i64 = 64;

/// Multiprocessors drawn of a chip.
const DRAWN_SMS: i64 = 256;

/// Multiprocessors, and blocks without a matrix, in a row.
const ACROSS: i64 = 16;

/// The lab `waves`.
pub struct Waves {
    schema: Schema,
}

impl Waves {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/waves.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for Waves {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let work = Work::read(&run.params)?;
        let waves = Dealt::of(work.tiles()?, work.slots()?);
        run.scalar("tiles", waves.tiles);
        run.scalar("slots", waves.slots);
        run.scalar("waves", waves.waves);
        run.scalar("tail_blocks", waves.tail());
        run.scalar("wave_efficiency", waves.efficiency());
        if let Some(output) = &work.output {
            run.scalar("tile_efficiency", output.efficiency());
        }
        picture::offer(run, "multiprocessors", || work.dealt(&waves));
        picture::offer(run, "waves", || waves.bars());
        picture::offer(run, "sizes", || work.sizes(&waves));
        picture::offer(run, "tiles", || work.picture(&waves));
        picture::offer(run, "steps", || work.steps(&waves));
        Ok(())
    }
}

/// What is to be computed, and where.
struct Work {
    /// None if the number of blocks was given.
    output: Option<Output>,
    blocks: i64,
    sms: i64,
    blocks_per_sm: i64,
}

/// A matrix in tiles, one block each.
#[derive(Clone, Copy)]
struct Output {
    rows: i64,
    columns: i64,
    tile_rows: i64,
    tile_columns: i64,
}

impl Output {
    fn down(&self) -> i64 {
        div_up(self.rows, self.tile_rows)
    }

    fn across(&self) -> i64 {
        div_up(self.columns, self.tile_columns)
    }

    /// tiles = div_up(rows, tile_rows)*div_up(columns, tile_columns)
    fn tiles(&self) -> Option<i64> {
        self.down().checked_mul(self.across())
    }

    /// rows*columns/(tiles*tile_rows*tile_columns), direction by direction so that nothing overflows.
    fn efficiency(&self) -> f64 {
        let part = |size: i64, tiles: i64, tile: i64| size as f64 / (tiles as f64 * tile as f64);
        part(self.rows, self.down(), self.tile_rows)
            * part(self.columns, self.across(), self.tile_columns)
    }
}

/// Blocks dealt to slots, a wave at a time.
struct Dealt {
    tiles: i64,
    slots: i64,
    waves: i64,
}

impl Dealt {
    fn of(tiles: i64, slots: i64) -> Self {
        Self {
            tiles,
            slots,
            // waves = div_up(tiles, slots)
            waves: div_up(tiles, slots),
        }
    }

    /// tail_blocks = tiles - (waves-1)*slots
    fn tail(&self) -> i64 {
        self.tiles - (self.waves - 1) * self.slots
    }

    /// wave_efficiency = tiles/(waves*slots)
    fn efficiency(&self) -> f64 {
        self.tiles as f64 / (self.waves as f64 * self.slots as f64)
    }

    fn bars(&self) -> Frame {
        let full = |label: String| picture::bar(label, self.slots as f64, "every slot busy");
        let last = self.waves;
        let mut bars = Vec::new();
        if last <= SHOWN_WAVES {
            bars.extend((1..last).map(|wave| full(format!("wave {wave}"))));
        } else {
            let listed = SHOWN_WAVES - 2;
            bars.extend((1..=listed).map(|wave| full(format!("wave {wave}"))));
            bars.push(full(format!("waves {} to {} each", listed + 1, last - 1)));
        }
        let remark = match self.slots - self.tail() {
            0 => "every slot busy".to_owned(),
            idle => format!("{idle} of {} slots idle", self.slots),
        };
        bars.push(picture::bar(format!("wave {last}"), self.tail() as f64, remark));
        picture::bars("blocks", bars)
    }
}

impl Work {
    fn read(params: &Params) -> Result<Self, LabError> {
        let blocks = params.optional_int("blocks");
        let output = match blocks {
            Some(_) => None,
            None => Some(Output {
                rows: params.int("rows")?,
                columns: params.int("columns")?,
                tile_rows: params.int("tile_rows")?,
                tile_columns: params.int("tile_columns")?,
            }),
        };
        Ok(Self {
            output,
            blocks: blocks.unwrap_or(0),
            sms: params.int("sms")?,
            blocks_per_sm: params.int("blocks_per_sm")?,
        })
    }

    fn tiles(&self) -> Result<i64, LabError> {
        match &self.output {
            Some(output) => output.tiles().ok_or_else(|| too_large(["rows", "columns"], "tiles")),
            None => Ok(self.blocks),
        }
    }

    /// slots = sms*blocks_per_sm
    fn slots(&self) -> Result<i64, LabError> {
        let slots = self.sms.checked_mul(self.blocks_per_sm);
        slots.ok_or_else(|| too_large(["sms", "blocks_per_sm"], "slots"))
    }

    /// The share of slots used at numbers of rows, or of blocks, around this one.
    fn sizes(&self, dealt: &Dealt) -> Frame {
        let steps = -6_i64..=6;
        let bar = |(label, tiles, own): (String, i64, bool)| {
            let remark = if own { "this one" } else { "" };
            picture::bar(label, Dealt::of(tiles, dealt.slots).efficiency(), remark)
        };
        let other = |step: i64| match &self.output {
            Some(output) => {
                let rows = output.tile_rows.checked_mul(step)?.checked_add(output.rows)?;
                let tiles = Output { rows, ..*output }.tiles()?;
                (rows > 0).then(|| (format!("{rows} rows"), tiles, step == 0))
            }
            None => {
                let apart = (dealt.slots / 4).max(1);
                let blocks = apart.checked_mul(step)?.checked_add(self.blocks)?;
                (blocks > 0).then(|| (format!("{blocks} blocks"), blocks, step == 0))
            }
        };
        let bars = steps.filter_map(other).map(bar).collect();
        picture::bars("slots used", bars)
    }

    /// The tiles in the order in which blocks are numbered, each by its wave; blocks without a matrix fold into rows.
    fn picture(&self, dealt: &Dealt) -> Frame {
        let (down, across) = match &self.output {
            Some(output) => (output.down(), output.across()),
            None => (div_up(self.blocks, ACROSS), ACROSS.min(self.blocks)),
        };
        let (rows, columns) = (down.min(DRAWN_TILES), across.min(DRAWN_TILES));
        let kind = |row: i64, column: i64| {
            let tile = row.checked_mul(across)?.checked_add(column)?;
            let wave = tile / dealt.slots;
            match wave {
                _ if tile >= dealt.tiles => None,
                wave if wave == dealt.waves - 1 => Some(2),
                wave => Some((wave % 2) as usize),
            }
        };
        let row = |row: i64| {
            let cells = (0..columns).map(|column| kind(row, column));
            let (first, last) = (row.saturating_mul(across), (row + 1).saturating_mul(across));
            let remark = match (first / dealt.slots, (last.min(dealt.tiles) - 1) / dealt.slots) {
                (one, other) if one == other => format!("wave {}", one + 1),
                (one, other) => format!("waves {} to {}", one + 1, other + 1),
            };
            picture::row(format!("row {row}"), cells, remark)
        };
        let note = match &self.output {
            Some(o) => format!(
                "{} x {} outputs in tiles of {} x {}: {} of the tiles' area lies inside the matrix.",
                o.rows,
                o.columns,
                o.tile_rows,
                o.tile_columns,
                percent(o.efficiency())
            ),
            None => format!("{} blocks in the order of their numbers.", self.blocks),
        };
        // In a drawn row that is not whole, the tiles drawn end with the last tile there is.
        let last = (dealt.tiles - (rows - 1) * across).min(columns);
        let cut = match dealt.tiles - ((rows - 1) * columns + last) {
            0 => String::new(),
            1 => " 1 tile is not drawn.".to_owned(),
            more => format!(" {more} tiles are not drawn."),
        };
        Frame::Cells(Cells {
            across: "tile".to_owned(),
            group: 0,
            first: 0,
            kinds: picture::kinds([
                ("a full wave", Tone::First),
                ("the full wave after it", Tone::Second),
                ("the last wave", Tone::Warn),
            ]),
            rows: (0..rows).map(row).collect(),
            note: note + &cut,
            ..Cells::default()
        })
    }

    /// The multiprocessors at each wave, lit where they have a block.
    fn dealt(&self, dealt: &Dealt) -> Frame {
        let last = dealt.waves;
        let listed = if last <= SHOWN_WAVES { last } else { 3 };
        let shown = (1..listed).chain([last]);
        let pane = |wave: i64| {
            let blocks = if wave == last { dealt.tail() } else { dealt.slots };
            let sms = self.sms.min(DRAWN_SMS);
            // A block goes where the most room is: every multiprocessor gets one before any gets a second.
            let (each, more) = (blocks / self.sms, blocks % self.sms);
            let kinds = (0..sms).map(|sm| match each + i64::from(sm < more) {
                0 => 2,
                has if has == self.blocks_per_sm => 0,
                _ => 1,
            });
            let kinds: Vec<usize> = kinds.collect();
            let idle = (self.sms - blocks).max(0);
            let title = match (wave, last) {
                (1, 1) => format!("the only wave: {blocks} of {} slots", dealt.slots),
                (wave, last) if wave == last => {
                    format!("wave {wave}, the last: {blocks} of {} slots", dealt.slots)
                }
                (wave, _) => format!("wave {wave}: {blocks} of {} slots", dealt.slots),
            };
            let cut = match self.sms - sms {
                0 => String::new(),
                more => format!(" {more} multiprocessors are not drawn."),
            };
            let note = match idle {
                0 => format!("Every multiprocessor has a block.{cut}"),
                idle => format!(
                    "{idle} of {} multiprocessors have nothing to do and wait as long as in a full wave.{cut}",
                    self.sms
                ),
            };
            let frame = Frame::Cells(Cells {
                across: "SM".to_owned(),
                group: 0,
                first: 0,
                kinds: picture::kinds([
                    ("full", Tone::First),
                    ("has room", Tone::Second),
                    ("idle", Tone::Faint),
                ]),
                rows: picture::folded(&kinds, ACROSS as usize),
                note,
                ..Cells::default()
            });
            picture::pane(title, frame)
        };
        Frame::Panes(shown.map(pane).collect())
    }

    fn steps(&self, dealt: &Dealt) -> Frame {
        let mut steps = Steps::default();
        match &self.output {
            Some(o) => steps.add(
                "tiles",
                "div_up(rows, tile_rows)*div_up(columns, tile_columns)",
                format!(
                    "div_up({}, {})*div_up({}, {})",
                    o.rows, o.tile_rows, o.columns, o.tile_columns
                ),
                dealt.tiles,
            ),
            None => steps.add("tiles", "blocks", self.blocks.to_string(), dealt.tiles),
        }
        let numbers = format!("{}*{}", self.sms, self.blocks_per_sm);
        steps.add("slots", "sms*blocks_per_sm", numbers, dealt.slots);
        let numbers = format!("div_up({}, {})", dealt.tiles, dealt.slots);
        steps.add("waves", "div_up(tiles, slots)", numbers, dealt.waves);
        steps.add(
            "tail_blocks",
            "tiles - (waves-1)*slots",
            format!("{} - {}*{}", dealt.tiles, dealt.waves - 1, dealt.slots),
            dealt.tail(),
        );
        let numbers = format!("{}/({}*{})", dealt.tiles, dealt.waves, dealt.slots);
        let efficiency = dealt.efficiency();
        steps.add("wave_efficiency", "tiles/(waves*slots)", numbers, efficiency);
        if let Some(o) = &self.output {
            steps.add(
                "tile_efficiency",
                "rows*columns/(tiles*tile_rows*tile_columns)",
                format!(
                    "{}*{}/({}*{}*{})",
                    o.rows, o.columns, dealt.tiles, o.tile_rows, o.tile_columns
                ),
                o.efficiency(),
            );
        }
        steps.table()
    }
}
