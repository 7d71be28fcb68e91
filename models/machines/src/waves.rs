//! Kind `waves`: an output cut into tiles, dealt to the multiprocessors in waves, and what the last wave wastes.

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::{Frame, Lab, LabError, Params, Run};

use crate::integer::{div_up, too_large};
use crate::picture;
use crate::steps::Steps;

/// Waves before a long run is cut in the middle.
const SHOWN_WAVES: i64 = 12;

/// Tiles drawn in each direction.
const DRAWN_TILES: i64 = 64;

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
        let schema = Schema::parse(include_str!("waves.toml"))?;
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
        bars.push(picture::bar(
            format!("wave {last}"),
            self.tail() as f64,
            remark,
        ));
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
            Some(output) => output
                .tiles()
                .ok_or_else(|| too_large(["rows", "columns"], "tiles")),
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
                let rows = output
                    .tile_rows
                    .checked_mul(step)?
                    .checked_add(output.rows)?;
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

    /// The tiles in the order in which blocks are numbered, each by its wave; blocks without a matrix lie in one row.
    fn picture(&self, dealt: &Dealt) -> Frame {
        let (down, across) = match &self.output {
            Some(output) => (output.down(), output.across()),
            None => (1, self.blocks),
        };
        let (drawn_down, drawn_across) = (down.min(DRAWN_TILES), across.min(DRAWN_TILES));
        let wave = |index: i64| {
            let (row, column) = (index / drawn_across, index % drawn_across);
            // A product too large for an integer lies in a wave that is not drawn to scale anyway.
            let tile = row.saturating_mul(across).saturating_add(column);
            (tile / dealt.slots + 1) as f32
        };
        let cells = (0..drawn_down * drawn_across).map(wave).collect();
        let labels = (0..drawn_down)
            .map(|row| format!("tile row {row}"))
            .collect();
        picture::cells(
            drawn_across as usize,
            cells,
            labels,
            dealt.waves as f32,
            "tiles of the output, each by the wave in which it is computed",
        )
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
        steps.add(
            "wave_efficiency",
            "tiles/(waves*slots)",
            numbers,
            efficiency,
        );
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
