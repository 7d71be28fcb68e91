//! Blocks and their warps, and the threads of the selected block.

use mlsys_kernel::{BlockState, LANES, WarpState};
use mlsys_lab::Value;
use mlsys_lab::frame::Table;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::debugger::{KernelDebugger, Thread};
use super::state::{LaneState, threads};
use super::{draw_error, state_legend, write_lines};
use crate::canvas::{self as pen, Canvas, Pen};
use crate::panel::picture::RowNeed;
use crate::panel::plane::split;
use crate::theme::Look;

/// Columns before the threads, for the number of the first of a row.
const MARGIN: u16 = 6;

/// Rows of the map of blocks and of the threads that are seen at least.
const LEAST_MAP: u16 = 2;
const LEAST_THREADS: u16 = 4;

struct Block {
    number: u32,
    id: [u32; 3],
    state: BlockState,
    /// Its warps, while it is in flight, each with the line it runs next.
    warps: Vec<(WarpState, u32)>,
}

impl Block {
    /// The letter and the word of its state.
    fn name(&self) -> (&'static str, &'static str) {
        let has = |state: WarpState| self.warps.iter().any(|(warp, _)| *warp == state);
        match self.state {
            BlockState::Waiting => (".", "waiting"),
            BlockState::Ended => ("d", "done"),
            BlockState::Resident if has(WarpState::Waiting) && !has(WarpState::Ready) => {
                warp_name(WarpState::Waiting)
            }
            BlockState::Resident => warp_name(WarpState::Ready),
        }
    }
}

fn warp_name(state: WarpState) -> (&'static str, &'static str) {
    match state {
        WarpState::Ready => ("r", "running"),
        WarpState::Waiting => ("b", "at a barrier"),
        WarpState::Done => ("d", "done"),
    }
}

fn letter_style(letter: &str, look: &Look) -> Style {
    match letter {
        "r" => look.theme.good,
        "b" => look.theme.warn,
        _ => look.theme.dim,
    }
}

fn blocks(debugger: &KernelDebugger, first: u64, count: u64) -> Vec<Block> {
    let Ok(machine) = debugger.machine() else { return Vec::new() };
    let in_flight = machine.blocks();
    let end = first.saturating_add(count).min(debugger.blocks());
    let block = |number: u64| {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let view = in_flight.iter().find(|view| view.block == number);
        let warps = view.map_or(&[][..], |view| &view.warps);
        Block {
            number,
            id: machine.block_id(number),
            state: machine.block_state(number),
            warps: warps.iter().map(|(state, place)| (*state, place.line)).collect(),
        }
    };
    (first..end).map(block).collect()
}

pub(super) fn table(debugger: &KernelDebugger) -> Table {
    /// Blocks of a file.
    const MOST: u64 = 1024;
    let none = || Value::from("");
    let mut rows = Vec::new();
    for block in blocks(debugger, 0, MOST) {
        let mut row = |warp: Value, state: &str, line: Value| {
            let numbers = [block.number].into_iter().chain(block.id);
            let numbers = numbers.map(|number| Value::Int(i64::from(number)));
            let rest = [Value::from(block.name().1), warp, Value::from(state), line];
            rows.push(numbers.chain(rest).collect());
        };
        if block.warps.is_empty() {
            row(none(), "", none());
        }
        for (warp, (state, line)) in block.warps.iter().enumerate() {
            row(Value::Int(warp as i64), warp_name(*state).1, Value::Int(i64::from(*line)));
        }
    }
    let titles = ["block", "x", "y", "z", "state", "warp", "warp state", "next line"];
    Table::new(titles.map(str::to_owned).to_vec(), rows)
}

pub(super) fn draw(area: Rect, canvas: &mut Canvas, debugger: &KernelDebugger, look: &Look) {
    if draw_error(area, canvas, debugger, look) {
        return;
    }
    let dim = look.theme.dim;
    let states = threads(debugger);
    let [above, below, foot] = parts(area, debugger);
    draw_blocks(above, canvas, debugger, look);
    draw_threads(below, canvas, debugger, &states, look);
    // In a narrow picture the letters alone, which fit a row.
    let blocks = [
        "blocks and warps: . waiting, r running, b at a barrier, d done",
        "blocks: . waits, r runs, b barrier, d done",
        ". waits, r runs, b barrier, d done",
    ];
    let fits = |text: &&str| pen::width(text) <= area.width;
    let blocks = blocks.into_iter().find(fits).unwrap_or_default().to_owned();
    write_lines(foot, canvas, &[(state_legend(&states), dim), (blocks, dim)], look);
}

/// Blocks, threads, and the legend. The threads have what they need, as long as some blocks are seen above them.
fn parts(area: Rect, debugger: &KernelDebugger) -> [Rect; 3] {
    let threads = pen::cells(debugger.threads().div_ceil(across(debugger)) as usize);
    let blocks = |rows: u16| {
        let map = block_rows(area.width, rows.saturating_sub(LEAST_THREADS + 1), debugger);
        (map, map.saturating_add(in_flight(debugger)).saturating_add(1))
    };
    // The legend gives way to blocks and threads, except where there are rows enough for a part of them.
    let left = area.height.saturating_sub(blocks(area.height).1).saturating_sub(threads + 1);
    let kept = u16::from(area.height > 8) + u16::from(area.height > 12);
    let [above, foot] = split(area, left.clamp(kept, 2));
    let rows = above.height;
    let (map, blocks) = blocks(rows);
    let below = threads.saturating_add(1).min(rows * 2 / 3).max(rows.saturating_sub(blocks));
    let [above, below] = split(above, below.min(rows.saturating_sub(map + 1)));
    [above, below, foot]
}

/// Blocks that are in flight at once, as long as there are as many.
fn in_flight(debugger: &KernelDebugger) -> u16 {
    let most = u64::try_from(debugger.recipe.concurrent_blocks).unwrap_or(u64::MAX);
    pen::cells(most.clamp(1, debugger.blocks().max(1)) as usize)
}

/// The rows of the map of blocks, of those in flight, of the threads and of the legend.
pub(super) fn row_need(width: u16, debugger: &KernelDebugger) -> RowNeed {
    /// A row between blocks and threads, the title of the threads, and the legend.
    const AROUND: u16 = 4;
    let map = block_rows(width, u16::MAX, debugger);
    let in_flight = in_flight(debugger);
    let rows = pen::cells(debugger.threads().div_ceil(across(debugger)) as usize);
    let around = map.min(LEAST_MAP).saturating_add(AROUND);
    RowNeed {
        least: around.saturating_add(rows.min(LEAST_THREADS)).saturating_add(in_flight.min(2)),
        most: map.saturating_add(AROUND).saturating_add(rows).saturating_add(in_flight),
    }
}

/// Rows of the picture of all blocks: those of the grid in y, where they fit.
fn block_rows(columns: u16, rows: u16, debugger: &KernelDebugger) -> u16 {
    let [wide, high, _] = debugger.recipe.grid_dim;
    // A row is left for the selected block.
    let fits = wide <= u32::from(columns) && high < u32::from(rows);
    if fits { high as u16 } else { 1 }
}

/// Threads in a row: at most a warp.
fn across(debugger: &KernelDebugger) -> u32 {
    debugger.recipe.block_dim[0].clamp(1, LANES as u32)
}

pub(super) fn thread_at(area: Rect, debugger: &KernelDebugger, at: Position) -> Option<Thread> {
    let [_, below, _] = parts(area, debugger);
    let field = Field::new(below, debugger);
    let holds = |thread: &u32| field.cell(*thread) == Some((at.x, at.y));
    let number = (0..debugger.threads()).find(holds)?;
    let lanes = LANES as u32;
    Some(Thread { block: debugger.here().block, warp: number / lanes, lane: number % lanes })
}

struct Field {
    body: Rect,
    across: u32,
    /// The first row that is shown, and the number of rows.
    first: u32,
    count: u32,
    wide: u16,
}

impl Field {
    fn new(area: Rect, debugger: &KernelDebugger) -> Self {
        let [_, body] = split(area, area.height.saturating_sub(1));
        let across = across(debugger);
        let count = debugger.threads().div_ceil(across);
        let rows = u32::from(body.height);
        let row = debugger.here().number() as u32 / across;
        // Whole pages of rows, so that they stand still.
        let page = row.checked_div(rows).unwrap_or(0);
        Self {
            body,
            across,
            // The last page ends with the last row.
            first: (page * rows).min(count.saturating_sub(rows)),
            count,
            wide: 1 + u16::from(u32::from(body.width) >= 2 * across + u32::from(MARGIN)),
        }
    }

    /// The cell of a thread; absent if it is not shown.
    fn cell(&self, thread: u32) -> Option<(u16, u16)> {
        let row = (thread / self.across).checked_sub(self.first)?;
        let row = u16::try_from(row).ok().filter(|row| *row < self.body.height)?;
        let x = self.body.x + MARGIN + (thread % self.across) as u16 * self.wide;
        Some((x, self.body.y + row))
    }
}

/// A letter a block: of the selected one's plane in rows along x, or of those near it; then a row a block that is in flight.
fn draw_blocks(area: Rect, canvas: &mut Canvas, debugger: &KernelDebugger, look: &Look) {
    let theme = &look.theme;
    let here = debugger.here();
    let (all, high) = (debugger.blocks(), block_rows(area.width, area.height, debugger));
    let wide = if high > 1 { debugger.recipe.grid_dim[0] as u16 } else { area.width.max(1) };
    let room = u64::from(wide) * u64::from(high);
    let mut rows = area.y..area.bottom();
    let first = u64::from(here.block) / room * room;
    let shown = blocks(debugger, first, room);
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    if let Some(y) = rows.next() {
        rows.start += high - 1;
        for (block, place) in shown.iter().zip(0..) {
            let (x, y) = (area.x + place % wide, y + place / wide);
            let letter = block.name().0;
            let is_selected = block.number == here.block;
            let style = if is_selected { theme.selection } else { letter_style(letter, look) };
            pen.glyph(x, y, letter, style);
        }
        let text = match all > room {
            false if all == 1 => "  1 block".to_owned(),
            true => format!(" blocks {first} to {} of {all} ", first + shown.len() as u64 - 1),
            false => format!("  {all} blocks"),
        };
        if shown.len().min(wide.into()) + text.len() <= area.width.into() || all > room {
            pen.ending(area.right(), y, &text, theme.dim);
        }
    }
    let Ok(machine) = debugger.machine() else { return };
    // The selected one comes first, in flight or not.
    let others = machine.blocks().into_iter().map(|view| view.block);
    let others = others.filter(|number| *number != here.block);
    let shown = [here.block].into_iter().chain(others);
    let shown: Vec<Block> =
        shown.flat_map(|number| blocks(debugger, u64::from(number), 1)).collect();
    for (place, (block, y)) in shown.iter().zip(rows.clone()).enumerate() {
        let more = shown.len() - place;
        if y + 1 == rows.end && more > 1 {
            pen.text(area.x, y, &format!("and {more} more blocks in flight"), theme.dim);
            break;
        }
        let is_selected = block.number == here.block;
        let style = if is_selected { theme.accent } else { theme.text };
        let [x, y_axis, z] = block.id;
        let name = format!("block {} ({x},{y_axis},{z}) {}", block.number, block.name().1);
        let mut at = pen.text(area.x, y, &name, style) + 2;
        for (warp, (state, line)) in block.warps.iter().enumerate() {
            let (letter, _) = warp_name(*state);
            let text = match state {
                WarpState::Done => format!("w{warp} d"),
                WarpState::Ready | WarpState::Waiting => format!("w{warp} {letter}:{line}"),
            };
            if at + text.len() as u16 > area.right() {
                pen.ending(area.right(), y, look.glyphs.more, theme.dim);
                break;
            }
            let is_selected = is_selected && warp == here.warp as usize;
            let style = if is_selected { theme.selection } else { letter_style(letter, look) };
            at = pen.text(at, y, &text, style) + 2;
        }
    }
}

/// The threads of the block, a letter each, in rows along x.
fn draw_threads(
    area: Rect,
    canvas: &mut Canvas,
    debugger: &KernelDebugger,
    states: &[LaneState],
    look: &Look,
) {
    let theme = &look.theme;
    let here = debugger.here();
    let field = Field::new(area, debugger);
    let [dx, dy, dz] = debugger.recipe.block_dim;
    let title = format!("threads of block {}: {dx} x {dy} x {dz}", here.block);
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    pen.text(area.x, area.y, &title, theme.title);
    for (state, thread) in states.iter().zip(0_u32..) {
        let Some((x, y)) = field.cell(thread) else { continue };
        if thread % field.across == 0 {
            pen.ending(area.x + MARGIN - 1, y, &thread.to_string(), theme.dim);
        }
        let is_selected = thread as usize == here.number();
        let style = if is_selected { theme.selection } else { state.style(theme) };
        pen.glyph(x, y, state.name().0, style);
    }
    let shown = u32::from(field.body.height);
    if field.count > shown {
        let last = (field.first + shown).min(field.count) * field.across;
        let text = format!("to {} of {}", last.min(debugger.threads()), debugger.threads());
        pen.ending(area.right(), area.y, &text, theme.dim);
    }
}
