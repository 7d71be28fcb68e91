//! The lanes of one warp over its instructions: which of them were active, and in which line.

use mlsys_kernel::LANES;
use mlsys_lab::frame::kernel::{Issue, Kernel};
use mlsys_lab::frame::{Cell, CellRow, Cells, Kind, Tone};

use super::debugger::{KernelDebugger, Thread};
use super::memory::lane_ranges;

const ACTIVE: usize = 0;
const INACTIVE: usize = 1;
const LINE: usize = 2;

/// Columns of the longest name of lanes that go together in order, `lanes 16, 17 .. 31`, and a gap.
const LABEL: usize = 20;

/// One column for each stretch of instructions on one line with the same active lanes, as many as there is room for around
/// the position; lanes that go together share a row where there are not rows for all. The mark is the newest stretch.
pub(super) fn raster(
    kernel: &Kernel,
    debugger: &KernelDebugger,
    (columns, rows): (usize, usize),
) -> (Cells, Option<(usize, usize)>) {
    let Thread { block, warp, lane } = debugger.here();
    let all: Vec<&Issue> =
        kernel.whole.issues.iter().filter(|i| (i.block, i.warp) == (block, warp)).collect();
    let name = format!("block {block} warp {warp}");
    if all.is_empty() {
        let note = format!("{name} has no instruction among the first that are recorded.");
        return (Cells { note, ..Cells::default() }, None);
    }
    let clock = debugger.clock();
    // Before the first step the whole run is shown.
    let done = if clock == 0 { 0 } else { all.partition_point(|issue| issue.step < clock) };
    // A column is as wide as its longest number, with a glyph's place and a gap; names of lanes stand before them.
    let numbers = all.iter().map(|issue| issue.line.max(issue.instructions));
    let column = numbers.max().unwrap_or(0).to_string().len() + 2;
    let room = (columns.saturating_sub(LABEL) / column).max(1);
    let first = (done + room / 4).saturating_sub(room).min(all.len().saturating_sub(room));
    let shown = &all[first..all.len().min(first + room)];
    let groups = groups(shown, rows.saturating_sub(8) < LANES);
    let mut cell_rows = vec![
        row("line", shown.iter().map(|issue| text(issue.line.to_string()))),
        row("instructions", shown.iter().map(|issue| text(issue.instructions.to_string()))),
    ];
    let mut mark = None;
    for lanes in &groups {
        if done > first && lanes.contains(&(lane as usize)) {
            mark = Some((cell_rows.len(), done - 1 - first));
        }
        let is_active = |issue: &&&Issue| lanes.first().is_some_and(|l| issue.mask >> l & 1 != 0);
        let cell = |issue: &&Issue| Cell::new(if is_active(&issue) { ACTIVE } else { INACTIVE });
        cell_rows.push(row(&label(lanes), shown.iter().map(cell)));
    }
    let kind = |name: &str, tone| Kind { name: name.to_owned(), tone };
    let issued: u64 = all.iter().map(|issue| u64::from(issue.instructions)).sum();
    let active: u64 = all.iter().map(|i| u64::from(i.instructions * i.mask.count_ones())).sum();
    let share = 100.0 * active as f64 / (LANES as u64 * issued.max(1)) as f64;
    let cells = Cells {
        kinds: vec![
            kind("active", Tone::First),
            kind("inactive", Tone::Faint),
            kind("", Tone::Text),
        ],
        rows: cell_rows,
        note: format!(
            "{name}: {issued} instructions, {share:.0} % of their lanes active. A column is a stretch on one line with \
             the same lanes, {} to {} of {}.",
            first + 1,
            first + shown.len(),
            all.len()
        ),
        ..Cells::default()
    };
    (cells, mark)
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
