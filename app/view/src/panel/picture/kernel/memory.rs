//! Cells of memory, buffer by buffer: what happened to each, its value, and which lane reaches it now.

use std::collections::BTreeMap;
use std::ops::Range;

use mlsys_kernel::{AccessKind, CellState, Machine, Reach};
use mlsys_lab::Value;
use mlsys_lab::frame::{Cell, CellRow, Cells, Kind, Tone};
use mlsys_lab::picture::index_ranges;
use mlsys_lab::value::number;

use super::NOTHING_RUN;
use super::before::Before;
use super::buffers::{Buffer, buffers};
use super::debugger::{KernelDebugger, Thread};
use super::state::{LaneAccess, lane_accesses};

/// Columns and rows of a page of a file.
pub(super) const PAGE: (usize, usize) = (140, 60);

/// What happened to a cell, in the order of the legend.
const KINDS: [(&str, Tone); 7] = [
    ("untouched", Tone::Faint),
    ("read", Tone::First),
    ("written", Tone::Second),
    ("written more than once", Tone::Warn),
    ("poison: never written", Tone::Empty),
    ("racing", Tone::Bad),
    ("outside the buffer", Tone::Third),
];

/// The kind of a cell that no buffer has, and of one that lanes of an earlier launch reached for.
const OUTSIDE: usize = 6;
const EARLIER: usize = 7;

/// The cells of all buffers and of the block's shared memory, as much of each as there is room for in columns and rows, around
/// what is reached; and the row and column of the cell that the selected lane reaches. Behind the buffers stand the cells that
/// lanes reach for in vain now, or did in an earlier launch.
pub(super) fn memory(
    debugger: &KernelDebugger,
    before: Option<&Before<'_>>,
    (columns, rows): (usize, usize),
) -> (Cells, Option<(usize, usize)>) {
    /// Bytes of a sector of global memory.
    const SECTOR: usize = 32;
    /// Rows that each buffer gets at least.
    const LEAST: usize = 2;
    let note = |note: String| (Cells { note, ..Cells::default() }, None);
    let machine = match debugger.machine() {
        Ok(machine) => machine,
        Err(error) => return note(error.to_string()),
    };
    let here = debugger.here();
    let buffers = buffers(machine, &debugger.recipe);
    if buffers.is_empty() {
        return note("The kernel has no buffer.".to_owned());
    }
    let accesses = lane_accesses(debugger);
    // Numbers, legend, sentence, and the name of the mark need rows.
    let each = (rows.saturating_sub(7) / buffers.len()).max(LEAST);
    let line = match buffers.iter().filter_map(|buffer| buffer.columns).max() {
        // Next to the rows of a matrix, whole sectors of about the same length.
        Some(longest) => [32, 16].into_iter().find(|count| *count <= longest).unwrap_or(8),
        None => across(machine, &buffers, here, columns),
    };
    let mut cell_rows = Vec::new();
    let mut mark = None;
    // A buffer that is not reached shows what lies at the same place as in the one that is.
    let own = accesses.get(here.lane as usize).and_then(Option::as_ref);
    let reached = own.or(accesses.iter().flatten().next());
    let verb = |lanes: usize| verb(reached.map(|access| access.kind), lanes);
    for buffer in &buffers {
        let lanes = lanes_by_element(&accesses, buffer);
        let about = buffer.element(reached).or_else(|| lanes.keys().next().copied());
        let watched = buffer.watched(debugger);
        let about = about.or(watched).or_else(|| reached.and_then(global_element)).unwrap_or(0);
        let across = buffer.columns.unwrap_or(line);
        let first = window(about, buffer.elements, across, each);
        let last = (first + across * each).min(buffer.elements);
        let own = own.and_then(|own| buffer.element(Some(own))).or(watched);
        let ghosts = ghosts(&accesses, before, buffer);
        for start in (first..last).step_by(across) {
            let row = start..(start + across).min(last);
            if let Some(at) = own.filter(|at| row.contains(at)) {
                mark = Some((cell_rows.len(), at - start));
            }
            let here_now: Vec<usize> =
                lanes.range(row.clone()).flat_map(|(_, lanes)| lanes.iter().copied()).collect();
            let cell = |element: usize| Some(cell(buffer, machine, here, element, &lanes));
            let mut cells: Vec<_> = row.map(cell).collect();
            // What lies behind the last element, as far as the row goes, is drawn where it would be.
            let behind = start as i64 + cells.len() as i64..start as i64 + across as i64;
            if last == buffer.elements {
                cells.extend(ghost_cells(&ghosts, behind));
            }
            cell_rows.push(CellRow {
                label: buffer.label(start),
                cells,
                remark: match here_now.len() {
                    0 => String::new(),
                    count => format!("{} {}", lane_ranges(&here_now), verb(count)),
                },
            });
        }
        let in_row = (last.saturating_sub(1) / across * across + across) as i64;
        let is_far = |at: &i64| *at < 0 || last == buffer.elements && *at >= in_row;
        let mut far = ghosts.iter().filter(|(at, _)| is_far(at));
        let nearest = far.clone().find(|(_, lanes)| !lanes.is_empty()).or_else(|| far.next());
        if let Some((start, _)) = nearest {
            let row = *start..*start + across as i64;
            let lanes: Vec<usize> =
                ghosts.range(row.clone()).flat_map(|(_, l)| l.clone()).collect();
            cell_rows.push(CellRow {
                label: format!("{}[{start}]", buffer.name),
                cells: ghost_cells(&ghosts, row),
                remark: match lanes.len() {
                    0 => String::new(),
                    count => format!("{} {}", lane_ranges(&lanes), verb(count)),
                },
            });
        }
    }
    let has = |kind: usize| {
        let mut cells = cell_rows.iter().flat_map(|row: &CellRow| row.cells.iter().flatten());
        cells.any(|cell| cell.kind == kind)
    };
    let mut kinds = kinds_until(if has(OUTSIDE) || has(EARLIER) { KINDS.len() } else { OUTSIDE });
    if let Some(before) = before.filter(|_| has(EARLIER)) {
        let name = format!("outside the buffer in {}", before.label);
        kinds.push(Kind { name, tone: Tone::Ghost });
    }
    let cells = Cells {
        group: buffers
            .iter()
            .find_map(|b| b.columns)
            .map_or(SECTOR / 4, |_| debugger.recipe.block_dim[0] as usize),
        kinds,
        rows: cell_rows,
        note: [unwritten(debugger, machine), selected_lane(debugger, &accesses)].concat(),
        ..Cells::default()
    };
    (cells, mark)
}

/// Of cells that exist.
pub(super) fn kinds() -> Vec<Kind> {
    kinds_until(OUTSIDE)
}

fn kinds_until(end: usize) -> Vec<Kind> {
    let kinds = KINDS.into_iter().take(end);
    kinds.map(|(name, tone)| Kind { name: name.to_owned(), tone }).collect()
}

pub(super) fn kind(state: CellState) -> usize {
    match state {
        CellState { raced: true, .. } => 5,
        CellState { rewritten: true, .. } => 3,
        CellState { written: true, .. } => 2,
        CellState { defined: false, .. } => 4,
        CellState { read: true, .. } => 1,
        CellState { .. } => 0,
    }
}

fn cell(
    buffer: &Buffer,
    machine: &Machine,
    here: Thread,
    element: usize,
    lanes: &BTreeMap<usize, Vec<usize>>,
) -> Cell {
    let Some((state, value)) = buffer.value(machine, here, element) else { return Cell::new(4) };
    let mut text = if state.defined { short(&value) } else { "?".to_owned() };
    text.push_str(&lanes.get(&element).map_or_else(String::new, |lanes| behind(lanes)));
    Cell { kind: kind(state), text }
}

fn short(value: &Value) -> String {
    match value {
        Value::Float(x) if x.is_finite() => {
            let whole = number(*x);
            let rounded = number((x * 100.0).round() / 100.0);
            match (whole.len(), rounded.len()) {
                (..=5, _) => whole,
                (_, ..=6) if x.abs() >= 0.01 => rounded,
                _ => format!("{x:.0e}"),
            }
        }
        Value::Bool(yes) => u8::from(*yes).to_string(),
        Value::Float(_) | Value::Int(_) | Value::Text(_) | Value::Array(_) | Value::Table(_) => {
            value.to_string()
        }
    }
}

/// Elements in a row: whole sectors of four bytes each, as many as fit with their values.
fn across(machine: &Machine, buffers: &[Buffer], here: Thread, columns: usize) -> usize {
    let longest = |buffer: &Buffer| {
        let values = (0..buffer.elements.min(256)).filter_map(|at| buffer.value(machine, here, at));
        values.map(|(_, value)| short(&value).len()).max().unwrap_or(1)
    };
    // A glyph, the value, an arrow with a lane, a gap.
    let cell = buffers.iter().map(longest).max().unwrap_or(1) + 5;
    let label = buffers.iter().map(|buffer| buffer.label(buffer.elements.saturating_sub(1)).len());
    let label = label.max().unwrap_or(0);
    let room = columns.saturating_sub(label + 2);
    [32, 16, 8, 4].into_iter().find(|count| count * cell + count / 8 <= room).unwrap_or(8)
}

/// The first element in sight: whole rows, a given element among them.
fn window(about: usize, elements: usize, across: usize, rows: usize) -> usize {
    let row = about.min(elements.saturating_sub(1)) / across;
    let first = (row + 1 + rows / 4).saturating_sub(rows);
    first.min(elements.div_ceil(across).saturating_sub(rows)) * across
}

/// The elements that the buffer does not have, with the lanes that reach for them now; without lanes those that an earlier
/// launch reached for.
fn ghosts(
    accesses: &[Option<LaneAccess>],
    before: Option<&Before<'_>>,
    buffer: &Buffer,
) -> BTreeMap<i64, Vec<usize>> {
    let is_outside = |element: &i64| !(0..buffer.elements as i64).contains(element);
    let earlier = before.into_iter().flat_map(|before| before.outside(&buffer.name));
    let mut found: BTreeMap<i64, Vec<usize>> =
        earlier.filter(is_outside).map(|element| (element, Vec::new())).collect();
    for (lane, access) in accesses.iter().enumerate() {
        if let Some(LaneAccess {
            is_now: true,
            reach: Reach::Global { buffer: of, element, .. },
            ..
        }) = access
            && *of == buffer.name
            && is_outside(element)
        {
            found.entry(*element).or_default().push(lane);
        }
    }
    found
}

/// A stretch of cells that the buffer does not have, up to the last that is reached for.
fn ghost_cells(ghosts: &BTreeMap<i64, Vec<usize>>, range: Range<i64>) -> Vec<Option<Cell>> {
    let last = |is: fn(&Vec<usize>) -> bool| {
        let mut of = ghosts.range(range.clone()).filter(|(_, lanes)| is(lanes));
        of.next_back().map_or(range.start, |(at, _)| at + 1)
    };
    let (now, any) = (last(|lanes| !lanes.is_empty()), last(|_| true));
    let cell = |at: i64| match ghosts.get(&at) {
        Some(lanes) if lanes.is_empty() => Some(Cell::new(EARLIER)),
        Some(lanes) => Some(Cell { kind: OUTSIDE, text: behind(lanes) }),
        None => (at < now).then(|| Cell::new(OUTSIDE)),
    };
    (range.start..any).map(cell).collect()
}

/// The lanes that reach a cell, behind its value.
fn behind(lanes: &[usize]) -> String {
    match lanes {
        [lane] => format!("<{lane}"),
        [lane, ..] => format!("<{lane}+"),
        [] => String::new(),
    }
}

fn lanes_by_element(
    accesses: &[Option<LaneAccess>],
    buffer: &Buffer,
) -> BTreeMap<usize, Vec<usize>> {
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (lane, access) in accesses.iter().enumerate() {
        if let Some(element) = buffer.element(access.as_ref().filter(|access| access.is_now)) {
            found.entry(element).or_default().push(lane);
        }
    }
    found
}

fn global_element(access: &LaneAccess) -> Option<usize> {
    match &access.reach {
        Reach::Global { element, .. } => usize::try_from(*element).ok(),
        Reach::Shared { .. } | Reach::Local { .. } | Reach::Nowhere => None,
    }
}

pub(super) fn verb(kind: Option<AccessKind>, lanes: usize) -> &'static str {
    match (kind, lanes) {
        (Some(AccessKind::Store), 1) => "writes",
        (Some(AccessKind::Store), _) => "write",
        (Some(AccessKind::Atomic), 1) => "changes",
        (Some(AccessKind::Atomic), _) => "change",
        (Some(AccessKind::Load) | None, 1) => "reads",
        (Some(AccessKind::Load) | None, _) => "read",
    }
}

/// Lanes as ranges: `lanes 0 to 7, 16`.
pub(super) fn lane_ranges(lanes: &[usize]) -> String {
    let mut lanes = lanes.to_vec();
    lanes.sort_unstable();
    lanes.dedup();
    index_ranges("lane", &lanes)
}

fn unwritten(debugger: &KernelDebugger, machine: &Machine) -> String {
    let Some(watched) = &debugger.watched else { return String::new() };
    match machine.cell(&watched.buffer, watched.at) {
        Some(CellState { written: false, .. }) => format!("{watched} has not been written. "),
        Some(_) | None => String::new(),
    }
}

fn selected_lane(debugger: &KernelDebugger, accesses: &[Option<LaneAccess>]) -> String {
    let Thread { block, warp, lane } = debugger.here();
    let name = format!("Lane {lane} of warp {warp} of block {block}");
    match accesses.get(lane as usize).and_then(Option::as_ref) {
        Some(access) if access.is_now => {
            let text = access.describe(debugger);
            format!("{name} {text}. Behind a < stands the lane that touches the cell now.")
        }
        Some(access) => {
            format!("{name}: last access in line {}: {}.", access.line, access.describe(debugger))
        }
        None if debugger.last().is_none() => NOTHING_RUN.to_owned(),
        None if debugger.has_ended() => {
            format!("{name}: its block has ended; , and < go back to what it touched.")
        }
        None => format!("{name} has touched nothing."),
    }
}
