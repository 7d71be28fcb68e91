//! Cells of memory, buffer by buffer: what happened to each, its value, and which lane reaches it now.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use mlsys_kernel::{BlockState, CellState, Machine, Reach};
use mlsys_lab::frame::kernel::Kernel;
use mlsys_lab::frame::{Cell, CellRow, Cells, Kind, Tone};

use super::NOTHING_RUN;
use super::before::Before;
use super::buffers::{Buffer, buffers};
use super::cell_kinds::{
    KINDS, NOW, READ, UNTOUCHED, UNWRITTEN, WRITTEN, Written, behind, kind, kinds, lane_ranges,
    short, taken, verb,
};
use super::cells;
use super::debugger::{KernelDebugger, Thread};
use super::ghosts::{Ghost, Ghosts};
use super::state::{LaneAccess, lane_accesses};
use super::windows::{Line, Windows, shares};
use crate::panel::picture::RowNeed;
use crate::{canvas as pen, text};

/// Columns and rows of a page of a file.
pub(super) const PAGE: (usize, usize) = (140, 60);

/// Rows of each buffer that are seen at least.
const LEAST: usize = 2;

/// The cells of all buffers and of the block's shared memory, as much of each as there is room for, around what is reached;
/// and the row and column of the cell that the selected lane reaches. With the buffers stand the cells outside of them that
/// lanes reach for in vain, now or before, or did in an earlier launch.
pub(super) fn memory(
    debugger: &KernelDebugger,
    before: Option<&Before<'_>>,
    (columns, rows): (usize, usize),
) -> (Cells, Option<(usize, usize)>) {
    let note = |note: String| (Cells { note, ..Cells::default() }, None);
    let machine = match debugger.machine() {
        Ok(machine) => machine,
        Err(error) => return note(error.to_string()),
    };
    let width = pen::cells(columns);
    let buffers = buffers(machine, &debugger.recipe);
    if buffers.is_empty() {
        return note("The kernel has no buffer.".to_owned());
    }
    let windows = Windows::new(debugger, machine, &buffers, columns);
    // A page has the values of an image too.
    let written = if windows.has_values || (columns, rows) == PAGE {
        Written::Values
    } else {
        Written::States
    };
    let accesses = lane_accesses(debugger);
    let ghosts = buffers.iter().map(|of| Ghosts::new(machine, &accesses, before, of)).collect();
    let of = Launch { debugger, machine, buffers, windows, accesses, ghosts, written };
    let all = shown_kinds(&of.ghosts, before, written);
    let room = |kinds: &[Kind], note: &str| {
        let below = text::rows(note, width) + u16::from(!of.windows.is_whole);
        rows.saturating_sub((cells::legend_rows(kinds, width) + below).into())
    };
    // What the selected lane does gives way to the cells that are seen at least.
    let least: usize = of.buffers.iter().map(|buffer| of.windows.all(buffer).min(LEAST)).sum();
    let unwritten = unwritten(debugger, machine);
    let full = [unwritten.as_str(), &of.selected_lane()].concat();
    let note = if room(&all, &full) < least && room(&all, "") > 0 { unwritten } else { full };
    let mut kinds = all.clone();
    let (mut cell_rows, mut mark) = of.rows(room(&kinds, &note));
    if all.len() > KINDS.len() {
        // Next to the kinds that only some steps have, those that no cell has now would have no room. Rows that this gives
        // may have kinds that no other row has.
        let mut seen = kinds_of(&cell_rows);
        loop {
            let shown = |(at, kind): (usize, &Kind)| match seen.contains(&at) {
                true => kind.clone(),
                false => Kind { tone: Tone::Text, ..kind.clone() },
            };
            kinds = all.iter().enumerate().map(shown).collect();
            (cell_rows, mark) = of.rows(room(&kinds, &note));
            let before = seen.len();
            seen.extend(kinds_of(&cell_rows));
            if seen.len() == before {
                break;
            }
        }
    }
    (Cells { group: of.windows.group, kinds, rows: cell_rows, note, ..Cells::default() }, mark)
}

fn kinds_of(rows: &[CellRow]) -> BTreeSet<usize> {
    rows.iter().flat_map(|row| row.cells.iter().flatten()).map(|cell| cell.kind).collect()
}

/// A position in a launch, and what of its memory is drawn.
struct Launch<'a> {
    debugger: &'a KernelDebugger,
    machine: &'a Machine,
    buffers: Vec<Buffer>,
    windows: Windows,
    accesses: Vec<Option<LaneAccess>>,
    /// By buffer.
    ghosts: Vec<Ghosts>,
    written: Written,
}

impl Launch<'_> {
    /// As many rows of cells as there is room for, and the row and column of the one that the selected lane reaches.
    fn rows(&self, room: usize) -> (Vec<CellRow>, Option<(usize, usize)>) {
        let here = self.debugger.here();
        // A buffer that is not reached shows what lies at the same place as in the one that is.
        let own = self.accesses.get(here.lane as usize).and_then(Option::as_ref);
        let reached = own.or(self.accesses.iter().flatten().next());
        let verb = |lanes: usize| verb(reached.map(|access| access.kind), lanes);
        // At most a third of a buffer's rows are for what lies outside of it.
        let most_far = room / self.buffers.len().max(1) / 3;
        let far = self.ghosts.iter().zip(&self.buffers);
        let far = far.map(|(ghosts, of)| ghosts.far(of, self.windows.across(of), most_far));
        let far: Vec<Vec<Range<i64>>> = far.collect();
        let room = room.saturating_sub(far.iter().map(Vec::len).sum());
        let wanted: Vec<usize> = self.buffers.iter().map(|of| self.windows.all(of)).collect();
        let shares = shares(room, &wanted);
        let by_buffer = self.buffers.iter().map(|buffer| lanes_by_element(&self.accesses, buffer));
        let by_buffer: Vec<BTreeMap<usize, Vec<usize>>> = by_buffer.collect();
        let range = |lanes: &BTreeMap<usize, Vec<usize>>| {
            Some(*lanes.keys().next()?..lanes.keys().next_back()? + 1)
        };
        let mut ranges = self.buffers.iter().zip(&by_buffer);
        let touched_now = ranges.find_map(|(of, lanes)| Some((of, range(lanes)?)));
        let mut cell_rows: Vec<CellRow> = Vec::new();
        let mut mark = None;
        for (place, buffer) in self.buffers.iter().enumerate() {
            let lanes = &by_buffer[place];
            let watched = buffer.watched(self.debugger);
            let about = buffer.element(reached).or_else(|| lanes.keys().next().copied());
            let about = about.or(watched).or_else(|| reached.and_then(global_element)).unwrap_or(0);
            // A matrix of the same rows shows those that are touched in the other.
            let alike = touched_now.as_ref().filter(|(of, _)| of.is_like(buffer));
            let alike = alike.map(|(_, touched)| touched.clone());
            let touched = range(lanes).or(alike).unwrap_or(about..about + 1);
            let own = own.and_then(|own| buffer.element(Some(own))).or(watched);
            let across = self.windows.across(buffer);
            let ghosts = &self.ghosts[place];
            let seen = self.windows.seen(buffer, about, &touched, shares[place]);
            let last = seen.last().map_or(0, Line::end);
            for line in seen {
                let Line::Elements(row) = line else {
                    cell_rows.push(CellRow::default());
                    continue;
                };
                if self.is_taken(buffer) {
                    cell_rows.push(CellRow {
                        label: buffer.label(row.start as i64),
                        cells: row.map(|_| None).collect(),
                        remark: taken(here.block),
                    });
                    continue;
                }
                if let Some(at) = own.filter(|at| row.contains(at)) {
                    mark = Some((cell_rows.len(), at - row.start));
                }
                let here_now: Vec<usize> =
                    lanes.range(row.clone()).flat_map(|(_, lanes)| lanes.iter().copied()).collect();
                let mut cells: Vec<_> =
                    row.clone().map(|at| Some(self.cell(buffer, at, lanes.get(&at)))).collect();
                // What lies behind the last element, as far as the row goes, is drawn where it would be.
                if row.end == buffer.elements {
                    let behind = row.end as i64..(row.start + across) as i64;
                    cells.extend(ghosts.cells(behind, self.written));
                }
                let rest = (row.end == last).then(|| buffer.rest(last)).flatten();
                let remarks = [Some(lanes_remark(&here_now, verb)), rest];
                let remarks = remarks.into_iter().flatten().filter(|remark| !remark.is_empty());
                cell_rows.push(CellRow {
                    label: buffer.label(row.start as i64),
                    cells,
                    remark: remarks.collect::<Vec<_>>().join(", "),
                });
            }
            cell_rows.extend(far[place].iter().map(|row| CellRow {
                label: buffer.label(row.start),
                cells: ghosts.cells(row.clone(), self.written),
                remark: lanes_remark(&ghosts.lanes(row.clone()), verb),
            }));
        }
        (cell_rows, mark)
    }

    /// Whether another block has this shared memory by now.
    fn is_taken(&self, buffer: &Buffer) -> bool {
        let here = self.debugger.here();
        buffer.shared.is_some()
            && self.machine.block_state(here.block) == BlockState::Ended
            && buffer.value(self.machine, here, 0).is_none()
    }

    fn cell(&self, buffer: &Buffer, element: usize, lanes: Option<&Vec<usize>>) -> Cell {
        let here = self.debugger.here();
        let Some((state, value)) = buffer.value(self.machine, here, element) else {
            return Cell::new(UNWRITTEN);
        };
        match (self.written, kind(state)) {
            (Written::States, UNTOUCHED | READ | WRITTEN) if lanes.is_some() => Cell::new(NOW),
            (Written::States, kind) => Cell::new(kind),
            (Written::Values, kind) => {
                let mut text = if state.defined { short(&value) } else { "?".to_owned() };
                text.push_str(&lanes.map_or_else(String::new, |lanes| behind(lanes)));
                Cell { kind, text }
            }
        }
    }

    fn selected_lane(&self) -> String {
        let debugger = self.debugger;
        let Thread { block, warp, lane } = debugger.here();
        let name = format!("Lane {lane} of warp {warp} of block {block}");
        match self.accesses.get(lane as usize).and_then(Option::as_ref) {
            Some(access) if access.is_now => {
                let text = access.describe(debugger);
                let key = match self.written {
                    Written::Values => " Behind a < stands the lane that touches the cell now.",
                    Written::States => "",
                };
                format!("{name} {text}.{key}")
            }
            Some(access) => {
                let text = access.describe(debugger);
                format!("{name}: last access in line {}: {text}.", access.line)
            }
            None if debugger.last().is_none() => NOTHING_RUN.to_owned(),
            None if debugger.has_ended() => {
                format!("{name}: its block has ended; , and < go back to what it touched.")
            }
            None => format!("{name} has touched nothing."),
        }
    }
}

/// The rows of all cells, of the legend and of the sentence.
pub(super) fn row_need(kernel: &Kernel, debugger: &KernelDebugger, width: u16) -> RowNeed {
    /// Columns of the longest sentences about a lane.
    const SENTENCE: u16 = 115;
    let Ok(machine) = debugger.machine() else { return RowNeed::exactly(3) };
    let buffers = buffers(machine, &debugger.recipe);
    let windows = Windows::new(debugger, machine, &buffers, usize::from(width));
    let outside = |buffer: &Buffer| {
        let problems = kernel.whole.problems.iter().filter_map(|it| it.outside.as_ref());
        let across = windows.across(buffer);
        let behind = (buffer.elements.div_ceil(across) * across) as i64;
        let reached = problems.filter(|outside| outside.buffer == buffer.name);
        reached.map(|outside| !(0..behind).contains(&outside.at)).collect::<Vec<_>>()
    };
    let outside: Vec<Vec<bool>> = buffers.iter().map(outside).collect();
    // One of them may lie in a row of its own.
    let far = outside.iter().filter(|of| of.contains(&true)).count();
    let names = if outside.concat().is_empty() { KINDS.len() } else { KINDS.len() + 2 };
    let legend = if names * 22 > usize::from(width) { 2 } else { 1 };
    let around = legend + SENTENCE.div_ceil(width.max(1)).min(2) + u16::from(!windows.is_whole);
    let rows = |of: fn(usize) -> usize| {
        let rows = buffers.iter().map(|buffer| of(windows.all(buffer))).sum::<usize>();
        pen::cells(rows + far).saturating_add(around)
    };
    let is_image = buffers.iter().any(|buffer| buffer.columns.is_some());
    RowNeed {
        least: rows(|all| all.min(LEAST)),
        most: if is_image { rows(|all| all) } else { rows(|all| 2 * all) },
    }
}

fn lanes_remark(lanes: &[usize], verb: impl Fn(usize) -> &'static str) -> String {
    match lanes.len() {
        0 => String::new(),
        // Behind a comma stands what can be left out.
        count => format!("{} {}", lane_ranges(lanes).replace(", ", " and "), verb(count)),
    }
}

/// The kinds that the legend names: those of cells outside of buffers only where there are any.
fn shown_kinds(ghosts: &[Ghosts], before: Option<&Before<'_>>, written: Written) -> Vec<Kind> {
    let has = |kind: Ghost| ghosts.iter().any(|ghosts| ghosts.has(kind));
    let named = |name: String, tone: Tone| Kind { name, tone };
    let mut kinds = kinds();
    kinds.push(named("outside the buffer".to_owned(), Tone::Third));
    let earlier = match before.filter(|_| !has(Ghost::Before)) {
        Some(before) => format!("outside the buffer in {}", before.label),
        None => "outside the buffer, earlier".to_owned(),
    };
    kinds.push(named(earlier, Tone::Ghost));
    kinds.push(named("reached now".to_owned(), Tone::Now));
    let is_seen =
        [has(Ghost::Now), has(Ghost::Before) || has(Ghost::Earlier), written == Written::States];
    if is_seen == [false; 3] {
        kinds.truncate(KINDS.len());
    }
    // Cells know their kind by its place: what is not seen loses its name, not its place.
    for (kind, _) in kinds[..].iter_mut().skip(KINDS.len()).zip(is_seen).filter(|(_, seen)| !seen) {
        kind.tone = Tone::Text;
    }
    kinds
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

fn unwritten(debugger: &KernelDebugger, machine: &Machine) -> String {
    let Some(watched) = &debugger.watched else { return String::new() };
    match machine.cell(&watched.buffer, watched.at) {
        Some(CellState { written: false, .. }) => format!("{watched} has not been written. "),
        Some(_) | None => String::new(),
    }
}
