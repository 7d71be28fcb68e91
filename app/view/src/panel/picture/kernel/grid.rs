//! Blocks, their warps and the threads of one block.

use mlsys_kernel::{BlockState, LANES, ThreadState, WarpState};
use mlsys_lab::frame::Table;
use mlsys_lab::value::Value;
use ratatui::layout::{Position, Rect};

use crate::canvas::{Canvas, Pen};
use crate::panel::picture::kernel::{KernelDebugger, LaneState, Thread, legend, say, split, style};
use crate::theme::Look;

/// Blocks that a file lists.
const LISTED: u64 = 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub number: u32,
    /// The same in x, y and z.
    pub id: [u32; 3],
    pub state: BlockState,
    /// Its warps, while it is in flight: what each does and the line it comes to.
    pub warps: Vec<(WarpState, u32)>,
}

impl Block {
    pub fn word(&self) -> (char, &'static str) {
        let waits = |(state, _): &(WarpState, u32)| *state == WarpState::Waiting;
        let goes = |(state, _): &(WarpState, u32)| *state == WarpState::Ready;
        match self.state {
            BlockState::Waiting => ('.', "waiting"),
            BlockState::Ended => ('d', "done"),
            BlockState::Resident
                if self.warps.iter().any(waits) && !self.warps.iter().any(goes) =>
            {
                ('b', "at a barrier")
            }
            BlockState::Resident => ('r', "running"),
        }
    }
}

pub fn warp_word(state: WarpState) -> (char, &'static str) {
    match state {
        WarpState::Ready => ('r', "running"),
        WarpState::Waiting => ('b', "at a barrier"),
        WarpState::Done => ('d', "done"),
    }
}

/// A range of consecutive blocks.
pub fn blocks(walk: &KernelDebugger, first: u64, count: u64) -> Vec<Block> {
    let Ok(machine) = walk.machine() else {
        return Vec::new();
    };
    let flying = machine.blocks();
    let end = first.saturating_add(count).min(walk.blocks());
    let block = |number: u64| {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let view = flying.iter().find(|view| view.block == number);
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

/// What the threads of the block that is looked at do; a block that is not in flight has them all alike.
pub fn threads(walk: &KernelDebugger) -> Vec<LaneState> {
    let Ok(machine) = walk.machine() else {
        return Vec::new();
    };
    let block = walk.here().block;
    let state = |state: &ThreadState| match state {
        ThreadState::Active => LaneState::Active,
        ThreadState::Masked => LaneState::Masked,
        ThreadState::Waiting => LaneState::Waiting,
        ThreadState::Done => LaneState::Done,
        ThreadState::Faulted => LaneState::Faulted,
    };
    let all = |state: LaneState| vec![state; walk.threads() as usize];
    match machine.block_state(block) {
        BlockState::Waiting => all(LaneState::NotBegun),
        BlockState::Ended => all(LaneState::Done),
        BlockState::Resident => machine.threads(block).iter().map(state).collect(),
    }
}

pub(super) fn table(walk: &KernelDebugger) -> Table {
    let mut rows = Vec::new();
    for block in blocks(walk, 0, LISTED) {
        let id = block.id.map(|axis| Value::Int(i64::from(axis)));
        let mut row = |warp: Value, state: &str, line: Value| {
            let mut cells = vec![Value::Int(i64::from(block.number))];
            cells.extend(id.iter().cloned());
            cells.extend([Value::from(block.word().1), warp, Value::from(state), line]);
            rows.push(cells);
        };
        if block.warps.is_empty() {
            row(Value::from(""), "", Value::from(""));
        }
        for (warp, (state, line)) in block.warps.iter().enumerate() {
            let (warp, line) = (Value::Int(warp as i64), Value::Int(i64::from(*line)));
            row(warp, warp_word(*state).1, line);
        }
    }
    Table {
        columns: ["block", "x", "y", "z", "state", "warp", "warp state", "next line"]
            .map(str::to_owned)
            .to_vec(),
        rows,
        ..Table::default()
    }
}

/// Threads in a row where the block has more along x: a warp.
const ACROSS: u32 = 32;
/// Columns before them, for the number of the first of a row.
const MARGIN: u16 = 6;

pub(super) fn draw(area: Rect, canvas: &mut Canvas, walk: &KernelDebugger, look: &Look) {
    let theme = &look.theme;
    if let Err(reason) = walk.machine() {
        say(area, canvas, &[(reason.to_owned(), theme.dim)], look);
        return;
    }
    let states = threads(walk);
    let [above, below, foot] = parts(area, walk);
    draw_blocks(above, canvas, walk, look);
    draw_threads(below, canvas, walk, &states, look);
    let mut told = vec![(legend(&states), theme.dim)];
    let blocks = ". waiting, r running, b at a barrier, d done";
    told.push((format!("blocks and warps: {blocks}"), theme.dim));
    say(foot, canvas, &told, look);
}

/// Blocks, threads, and what the letters mean. The threads have what they need, as long as some blocks are seen above them.
fn parts(area: Rect, walk: &KernelDebugger) -> [Rect; 3] {
    let foot = u16::from(area.height > 8) + u16::from(area.height > 12);
    let [above, foot] = split(area, foot);
    let flying = walk.machine().map_or(0, |machine| machine.blocks().len());
    let flying = u16::try_from(flying).unwrap_or(u16::MAX).saturating_add(4);
    let rows = walk.threads().div_ceil(across(walk));
    let rows = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(1);
    let below = rows.min(above.height * 2 / 3);
    let below = below.max(above.height.saturating_sub(flying));
    let [above, below] = split(above, below);
    [above, below, foot]
}

fn across(walk: &KernelDebugger) -> u32 {
    walk.recipe().block_dim[0].clamp(1, ACROSS)
}

pub(super) fn thread_at(area: Rect, walk: &KernelDebugger, at: Position) -> Option<Thread> {
    let [_, below, _] = parts(area, walk);
    let field = Field::of(below, walk);
    let holds = |thread: &u32| field.cell(*thread) == Some((at.x, at.y));
    let number = (0..walk.threads()).find(holds)?;
    let lanes = LANES as u32;
    Some(Thread { block: walk.here().block, warp: number / lanes, lane: number % lanes })
}

/// Where the threads of a block stand.
struct Field {
    body: Rect,
    across: u32,
    /// The first row that is shown, and how many there are.
    first: u32,
    count: u32,
    /// Columns a thread.
    wide: u16,
}

impl Field {
    fn of(area: Rect, walk: &KernelDebugger) -> Self {
        let body = Rect {
            y: area.y + u16::from(area.height > 0),
            height: area.height.saturating_sub(1),
            ..area
        };
        let across = across(walk);
        let count = walk.threads().div_ceil(across);
        let rows = u32::from(body.height);
        let row = walk.here().number() as u32 / across;
        // Whole pages of rows, so that they stand still.
        let page = row.checked_div(rows).unwrap_or_default();
        Self {
            body,
            across,
            first: if count <= rows { 0 } else { page * rows },
            count,
            wide: 1 + u16::from(u32::from(body.width) >= 2 * across + MARGIN as u32),
        }
    }

    /// Where a thread stands; none if it is not shown.
    fn cell(&self, thread: u32) -> Option<(u16, u16)> {
        let row = (thread / self.across).checked_sub(self.first)?;
        let row = u16::try_from(row).ok().filter(|row| *row < self.body.height)?;
        let x = self.body.x + MARGIN + (thread % self.across) as u16 * self.wide;
        Some((x, self.body.y + row))
    }
}

/// A row a block that is in flight; the others are counted, those near the one that is looked at shown by their letters.
fn draw_blocks(area: Rect, canvas: &mut Canvas, walk: &KernelDebugger, look: &Look) {
    let theme = &look.theme;
    let here = walk.here();
    let room = u64::from(area.width.max(1));
    let all = walk.blocks();
    let mut rows = area.y..area.bottom();
    let first = u64::from(here.block) / room * room;
    let line = blocks(walk, first, room);
    if let Some(y) = rows.next() {
        let mut pen = Pen::new(area, canvas, &look.glyphs);
        for (block, x) in line.iter().zip(area.x..) {
            let style = if block.number == here.block {
                theme.selection
            } else {
                letter_style(block.word().0, look)
            };
            pen.glyph(x, y, &block.word().0.to_string(), style);
        }
        let said = if all > room {
            format!(" blocks {first} to {} of {all} ", first + line.len() as u64 - 1)
        } else {
            format!("  {all} blocks")
        };
        if line.len() + said.len() <= usize::from(area.width) || all > room {
            pen.ending(area.right(), y, &said, theme.dim);
        }
    }
    let Ok(machine) = walk.machine() else {
        return;
    };
    let mut flying: Vec<Block> =
        machine.blocks().iter().flat_map(|view| blocks(walk, u64::from(view.block), 1)).collect();
    // The one that is looked at comes first, in flight or not.
    flying.retain(|block| block.number != here.block);
    let looked_at = blocks(walk, u64::from(here.block), 1);
    let count = flying.len() + looked_at.len();
    for (place, (block, y)) in looked_at.iter().chain(&flying).zip(rows.clone()).enumerate() {
        let more = count - place;
        let is_last = y + 1 == rows.end;
        let mut pen = Pen::new(area, canvas, &look.glyphs);
        if is_last && more > 1 {
            pen.text(area.x, y, &format!("and {more} more blocks in flight"), theme.dim);
            break;
        }
        let style = if block.number == here.block { theme.accent } else { theme.text };
        let [x, y_axis, z] = block.id;
        let name = format!("block {} ({x},{y_axis},{z}) {}", block.number, block.word().1);
        let mut at = pen.text(area.x, y, &name, style) + 2;
        for (warp, (state, line)) in block.warps.iter().enumerate() {
            let (letter, _) = warp_word(*state);
            let chosen = block.number == here.block && warp == here.warp as usize;
            let text = if letter == 'd' {
                format!("w{warp} d")
            } else {
                format!("w{warp} {letter}:{line}")
            };
            if at + text.len() as u16 > area.right() {
                pen.ending(area.right(), y, look.glyphs.ellipsis, theme.dim);
                break;
            }
            let style = if chosen { theme.selection } else { letter_style(letter, look) };
            at = pen.text(at, y, &text, style) + 2;
        }
    }
}

fn letter_style(letter: char, look: &Look) -> ratatui::style::Style {
    match letter {
        'r' => look.theme.good,
        'b' => look.theme.warn,
        _ => look.theme.dim,
    }
}

/// The threads of the block, a letter each, in rows along x.
fn draw_threads(
    area: Rect,
    canvas: &mut Canvas,
    walk: &KernelDebugger,
    states: &[LaneState],
    look: &Look,
) {
    let theme = &look.theme;
    let here = walk.here();
    let field = Field::of(area, walk);
    let [dx, dy, dz] = walk.recipe().block_dim;
    let title = format!("threads of block {}: {dx} x {dy} x {dz}", here.block);
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    pen.text(area.x, area.y, &title, theme.title);
    for (state, thread) in states.iter().zip(0_u32..) {
        let Some((x, y)) = field.cell(thread) else {
            continue;
        };
        if thread % field.across == 0 {
            pen.ending(area.x + MARGIN - 1, y, &thread.to_string(), theme.dim);
        }
        let style =
            if thread as usize == here.number() { theme.selection } else { style(*state, theme) };
        pen.glyph(x, y, &state.letter().to_string(), style);
    }
    let shown = field.first + u32::from(field.body.height);
    if field.count > u32::from(field.body.height) {
        let last = shown.min(field.count) * field.across;
        let said = format!("to {} of {}", last.min(walk.threads()), walk.threads());
        pen.ending(area.right(), area.y, &said, theme.dim);
    }
}
