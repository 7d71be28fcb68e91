//! Kind `launch-geometry`: how many blocks cover n elements, and what then idles.

use mlsys_lab::frame::{Bar, Cells, Tone};
use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::{Frame, Lab, LabError, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::Steps;
use mlsys_sim::integer::{div_up, too_large};

const WARP: i64 = 32;

/// Bars of blocks before a long grid is cut in the middle.
const SHOWN_BLOCKS: i64 = 12;

/// The lab `launch-geometry`.
pub struct LaunchGeometry {
    schema: Schema,
}

impl LaunchGeometry {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/launch-geometry.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for LaunchGeometry {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let elements = run.params.int("elements")?;
        let threads_per_block = run.params.int("threads_per_block")?;
        let launch = Launch::covering(elements, threads_per_block)?;
        run.scalar("blocks", launch.blocks);
        run.scalar("threads", launch.threads);
        run.scalar("idle_threads", launch.idle_threads);
        run.scalar("last_block_active", launch.last_block_active);
        run.scalar("warps_per_block", launch.warps_per_block);
        run.scalar("idle_lanes_per_block", launch.idle_lanes_per_block);
        picture::offer(run, "grid", || launch.grid());
        picture::offer(run, "last-block", || launch.last_block());
        picture::offer(run, "steps", || launch.steps(elements));
        Ok(())
    }
}

/// A one-dimensional launch with one thread per element.
struct Launch {
    threads_per_block: i64,
    blocks: i64,
    threads: i64,
    idle_threads: i64,
    last_block_active: i64,
    warps_per_block: i64,
    idle_lanes_per_block: i64,
}

impl Launch {
    /// The fewest blocks that cover `elements`, both arguments at least 1.
    fn covering(elements: i64, threads_per_block: i64) -> Result<Self, LabError> {
        // blocks = div_up(elements, threads_per_block); threads = blocks*threads_per_block
        let blocks = div_up(elements, threads_per_block);
        let threads = blocks
            .checked_mul(threads_per_block)
            .ok_or_else(|| too_large(["elements", "threads_per_block"], "threads"))?;
        // warps_per_block = div_up(threads_per_block, 32)
        let warps_per_block = div_up(threads_per_block, WARP);
        Ok(Self {
            threads_per_block,
            blocks,
            threads,
            // idle_threads = threads - elements
            idle_threads: threads - elements,
            // last_block_active = elements - (blocks-1)*threads_per_block
            last_block_active: elements - (blocks - 1) * threads_per_block,
            warps_per_block,
            // idle_lanes_per_block = 32*warps_per_block - threads_per_block
            idle_lanes_per_block: WARP * warps_per_block - threads_per_block,
        })
    }

    /// Active threads by block; the full blocks in the middle of a long grid share one bar.
    fn grid(&self) -> Frame {
        let full = |label: String| self.block_bar(label, self.threads_per_block);
        let last = self.blocks - 1;
        let mut bars: Vec<Bar> = Vec::new();
        if self.blocks <= SHOWN_BLOCKS {
            bars.extend((0..last).map(|block| full(format!("block {block}"))));
        } else {
            let listed = SHOWN_BLOCKS - 2;
            bars.extend((0..listed).map(|block| full(format!("block {block}"))));
            bars.push(full(format!("blocks {listed} to {} each", last - 1)));
        }
        bars.push(self.block_bar(format!("block {last}"), self.last_block_active));
        picture::bars("threads", bars)
    }

    fn block_bar(&self, label: String, active: i64) -> Bar {
        let remark = match self.threads_per_block - active {
            0 => "all active".to_owned(),
            idle => format!("{idle} of {} idle", self.threads_per_block),
        };
        picture::bar(label, active as f64, remark)
    }

    /// What each lane of the last block holds, one row per warp.
    fn last_block(&self) -> Frame {
        let lane = |thread: i64| {
            if thread < self.last_block_active {
                Some(0)
            } else if thread < self.threads_per_block {
                Some(1)
            } else {
                Some(2)
            }
        };
        let row = |warp: i64| {
            let first = warp * WARP;
            let busy = (self.last_block_active - first).clamp(0, WARP);
            let remark = format!("{busy} of {WARP} at work");
            picture::row(format!("warp {warp}"), (first..first + WARP).map(lane), remark)
        };
        let offset = (self.blocks - 1).saturating_mul(self.threads_per_block);
        Frame::Cells(Cells {
            across: "lane".to_owned(),
            group: 8,
            first: 0,
            kinds: picture::kinds([
                ("thread with an element", Tone::First),
                ("thread without one: the guard stops it", Tone::Warn),
                ("no thread", Tone::Faint),
            ]),
            rows: (0..self.warps_per_block).map(row).collect(),
            note: format!(
                "Block {} begins at element {offset} and has {} left for {} threads.",
                self.blocks - 1,
                self.last_block_active,
                self.threads_per_block
            ),
            ..Cells::default()
        })
    }

    fn steps(&self, elements: i64) -> Frame {
        let mut steps = Steps::default();
        let (t, blocks) = (self.threads_per_block, self.blocks);
        let numbers = format!("div_up({elements}, {t})");
        let formula = "div_up(elements, threads_per_block)";
        steps.add("blocks", formula, numbers, blocks);
        let formula = "blocks*threads_per_block";
        steps.add("threads", formula, format!("{blocks}*{t}"), self.threads);
        let numbers = format!("{} - {elements}", self.threads);
        steps.add("idle_threads", "threads - elements", numbers, self.idle_threads);
        steps.add(
            "last_block_active",
            "elements - (blocks-1)*threads_per_block",
            format!("{elements} - {}*{t}", blocks - 1),
            self.last_block_active,
        );
        let (warps, idle) = (self.warps_per_block, self.idle_lanes_per_block);
        let numbers = format!("div_up({t}, 32)");
        steps.add("warps_per_block", "div_up(threads_per_block, 32)", numbers, warps);
        steps.add(
            "idle_lanes_per_block",
            "32*warps_per_block - threads_per_block",
            format!("32*{warps} - {t}"),
            idle,
        );
        steps.table()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_of_any_length_fits_in_a_few_bars() -> Result<(), LabError> {
        for (elements, bars, last) in
            [(8, 2, "block 1"), (48, 12, "block 11"), (1 << 40, 12, "block 274877906943")]
        {
            let Frame::Bars(grid) = Launch::covering(elements, 4)?.grid() else {
                panic!("the grid is drawn as bars");
            };
            assert_eq!(grid.bars.len(), bars);
            assert_eq!(grid.bars[bars - 1].label, last);
        }
        Ok(())
    }

    #[test]
    fn the_last_block_shows_every_thread_and_lane() -> Result<(), LabError> {
        let Frame::Cells(block) = Launch::covering(130, 100)?.last_block() else {
            panic!("the last block is drawn as cells");
        };
        let cells = || block.rows.iter().flat_map(|row| row.cells.iter().flatten());
        let count = |kind: usize| cells().filter(|cell| cell.kind == kind).count();
        assert_eq!((block.columns(), block.rows.len()), (32, 4));
        assert_eq!((count(0), count(1), count(2)), (30, 70, 28));
        Ok(())
    }
}
