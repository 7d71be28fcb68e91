//! The lanes of one warp over its instructions: which of them were active, and in which line.

use mlsys_kernel::LANES;
use mlsys_lab::frame::kernel::{Issue, Kernel};
use mlsys_lab::frame::{Cell, CellRow, Cells, Kind, Tone};

use super::before::Before;
use super::cell_kinds::lane_ranges;
use super::debugger::{KernelDebugger, Thread};

const ACTIVE: usize = 0;
const INACTIVE: usize = 1;
const LINE: usize = 2;
const THEN: usize = 3;

/// Columns of the longest name of lanes that go together in order, `lanes 16, 17 .. 31`, and a gap.
const LABEL: usize = 20;

/// One column for each stretch of instructions on one line with the same active lanes, as many as there is room for around
/// the position; lanes that go together share a row where there are not rows for all. The mark is the newest stretch. Below
/// them stand as many stretches of the same warp in an earlier launch, where there are rows for them.
pub(super) fn raster(
    kernel: &Kernel,
    debugger: &KernelDebugger,
    before: Option<&Before<'_>>,
    (columns, rows): (usize, usize),
) -> (Cells, Option<(usize, usize)>) {
    let Thread { block, warp, lane } = debugger.here();
    let all = issues(kernel, (block, warp));
    let name = format!("block {block} warp {warp}");
    if all.is_empty() {
        let note = format!("{name} has no instruction among the first that are recorded.");
        return (Cells { note, ..Cells::default() }, None);
    }
    let clock = debugger.clock();
    // Before the first step the whole run is shown.
    let done = if clock == 0 { 0 } else { all.partition_point(|issue| issue.step < clock) };
    // A column is as wide as its longest number, with a glyph's place and a gap; names of lanes stand before them.
    let then = before.map_or(Vec::new(), |before| issues(before.then, (block, warp)));
    let numbers = all.iter().chain(&then).map(|issue| issue.line.max(issue.instructions));
    let column = numbers.max().unwrap_or(0).to_string().len() + 2;
    let room = (columns.saturating_sub(LABEL) / column).max(1);
    let first = (done + room / 4).saturating_sub(room).min(all.len().saturating_sub(room));
    let shown = &all[first..all.len().min(first + room)];
    let then_shown = &then[first.min(then.len())..then.len().min(first + room)];
    let then_groups = groups(then_shown, true);
    // A title and two numbers stand above the lanes.
    let then_rows = if then.is_empty() { 0 } else { then_groups.len() + 3 };
    let groups = groups(shown, rows.saturating_sub(8 + then_rows) < LANES);
    let mut cell_rows = heading(shown);
    let mut mark = None;
    for lanes in &groups {
        if done > first && lanes.contains(&(lane as usize)) {
            mark = Some((cell_rows.len(), done - 1 - first));
        }
        cell_rows.push(lanes_row(lanes, shown, ACTIVE));
    }
    let has_room = !then_shown.is_empty() && cell_rows.len() + then_rows + 8 <= rows;
    if has_room {
        cell_rows.push(CellRow { label: "earlier run".to_owned(), ..CellRow::default() });
        cell_rows.extend(heading(then_shown));
        cell_rows.extend(then_groups.iter().map(|lanes| lanes_row(lanes, then_shown, THEN)));
    }
    let kind = |name: &str, tone| Kind { name: name.to_owned(), tone };
    let [count, share] = activity(&all);
    let label = before.map_or("", |before| before.label);
    let earlier = if then.is_empty() {
        String::new()
    } else {
        let [count, share] = activity(&then);
        format!(" In {label} {count:.0} instructions, {share:.0} % active.")
    };
    let mut kinds =
        vec![kind("active", Tone::First), kind("inactive", Tone::Faint), kind("", Tone::Text)];
    kinds.extend(has_room.then(|| kind("active in the earlier run", Tone::Second)));
    let cells = Cells {
        kinds,
        rows: cell_rows,
        note: format!(
            "{name}: {count:.0} instructions, {share:.0} % of their lanes active. A column is a stretch on one line with \
             the same lanes, {} to {} of {}.{earlier}",
            first + 1,
            first + shown.len(),
            all.len()
        ),
        ..Cells::default()
    };
    (cells, mark)
}

/// The rows of the sentence, with numbers of a usual length.
pub(super) fn note_rows(width: u16) -> u16 {
    const LENGTH: u16 = 150;
    LENGTH.div_ceil(width.max(1)).min(3)
}

fn issues(kernel: &Kernel, warp: (u32, u32)) -> Vec<&Issue> {
    kernel.whole.issues.iter().filter(|issue| (issue.block, issue.warp) == warp).collect()
}

/// Instructions, and the active share of their lanes in percent.
fn activity(all: &[&Issue]) -> [f64; 2] {
    let issued: u64 = all.iter().map(|issue| u64::from(issue.instructions)).sum();
    let active: u64 = all.iter().map(|i| u64::from(i.instructions * i.mask.count_ones())).sum();
    [issued as f64, 100.0 * active as f64 / (LANES as u64 * issued.max(1)) as f64]
}

fn heading(shown: &[&Issue]) -> Vec<CellRow> {
    vec![
        row("line", shown.iter().map(|issue| text(issue.line.to_string()))),
        row("instructions", shown.iter().map(|issue| text(issue.instructions.to_string()))),
    ]
}

fn lanes_row(lanes: &[usize], shown: &[&Issue], active: usize) -> CellRow {
    let is_active = |issue: &Issue| lanes.first().is_some_and(|lane| issue.mask >> lane & 1 != 0);
    let cell = |issue: &&Issue| Cell::new(if is_active(issue) { active } else { INACTIVE });
    row(&label(lanes), shown.iter().map(cell))
}

/// Lanes at equal distances by the first two and the last: `lanes 0, 2 .. 30`.
fn label(lanes: &[usize]) -> String {
    let [first, second, .., last] = lanes else { return lane_ranges(lanes) };
    let stride = second - first;
    let is_even = lanes.windows(2).all(|pair| pair[1] - pair[0] == stride);
    if is_even && stride > 1 {
        return format!("lanes {first}, {second} .. {last}");
    }
    lane_ranges(lanes)
}

fn row(label: &str, cells: impl Iterator<Item = Cell>) -> CellRow {
    CellRow { label: label.to_owned(), cells: cells.map(Some).collect(), ..CellRow::default() }
}

fn text(text: String) -> Cell {
    Cell { kind: LINE, text }
}

/// Each lane by itself, or those together that are active in the same stretches.
fn groups(shown: &[&Issue], is_merged: bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let alike = |a: usize, b: usize| shown.iter().all(|i| i.mask >> a & 1 == i.mask >> b & 1);
    for lane in 0..LANES {
        let like = groups.iter_mut().find(|group| is_merged && alike(group[0], lane));
        match like {
            Some(group) => group.push(lane),
            None => groups.push(vec![lane]),
        }
    }
    groups
}
