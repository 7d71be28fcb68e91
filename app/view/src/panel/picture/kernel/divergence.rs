//! The lanes of one warp over its instructions: which of them were active, and in which line.

use mlsys_kernel::LANES;
use mlsys_lab::frame::kernel::{Issue, Kernel};
use mlsys_lab::frame::{Cell, CellRow, Cells, Kind, Tone};

use super::before::Before;
use super::cell_kinds::lane_ranges;
use super::debugger::{KernelDebugger, Thread};
use crate::quantity::percent;
use crate::text;

const ACTIVE: usize = 0;
const INACTIVE: usize = 1;
const LINE: usize = 2;
const NOW: usize = 3;
const THEN: usize = 4;

/// Columns of the longest name of lanes that go together in order, `lanes 16, 17 .. 31`, and a gap.
const LABEL: usize = 20;
/// The row of the legend.
const LEGEND: usize = 1;
/// Stretches in a round of a loop, at most.
const LONGEST: usize = 12;

/// A stretch of instructions on one line with the same active lanes; of a loop with the same lanes in each round, this
/// stretch of all rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stretch {
    line: u32,
    mask: u32,
    instructions: u32,
    rounds: usize,
}

/// The stretches of a warp, and the last one that began before each of its issues.
struct Stretches {
    all: Vec<Stretch>,
    of_issue: Vec<usize>,
}

impl Stretches {
    /// A column each where there is room, else the rounds of a loop in the columns of one.
    fn new(issues: &[&Issue], room: usize) -> Self {
        let mut found = Self { all: Vec::new(), of_issue: Vec::new() };
        let mut rest = issues;
        while !rest.is_empty() {
            let (length, rounds) = if issues.len() > room { loop_at(rest) } else { (1, 1) };
            let (now, after) = rest.split_at(length * rounds);
            let first = found.all.len();
            let stretch = |at: usize| Stretch {
                line: now[at].line,
                mask: now[at].mask,
                instructions: now.iter().skip(at).step_by(length).map(|it| it.instructions).sum(),
                rounds,
            };
            found.all.extend((0..length).map(stretch));
            found.of_issue.extend((0..now.len()).map(|at| first + at % length));
            rest = after;
        }
        found
    }

    fn has_loops(&self) -> bool {
        self.all.iter().any(|stretch| stretch.rounds > 1)
    }
}

/// The length of a round, and the number of rounds alike, of the loop that saves the most columns here; 1 and 1 without one.
fn loop_at(issues: &[&Issue]) -> (usize, usize) {
    let alike = |a: &Issue, b: &Issue| (a.line, a.mask) == (b.line, b.mask);
    let rounds = |length: usize| {
        let pairs = issues.iter().zip(&issues[length..]);
        1 + pairs.take_while(|(a, b)| alike(a, b)).count() / length
    };
    let loops = (1..=LONGEST.min(issues.len())).map(|length| (length, rounds(length)));
    let saved = |(length, rounds): &(usize, usize)| length * (rounds - 1);
    // Of equal ones the shortest round.
    let best = loops.rev().max_by_key(saved);
    best.filter(|(_, rounds)| *rounds > 1).unwrap_or((1, 1))
}

/// One column for each stretch of instructions on one line with the same active lanes, as many as there is room for around
/// the position; where there is no room for all, the rounds of a loop share columns. Lanes that go together share a row where
/// there are not rows for all. The mark is the newest stretch. Below them stand as many stretches of the same warp in an
/// earlier launch, where there are rows for them.
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
    let then = before.map_or(Vec::new(), |before| issues(before.then, (block, warp)));
    let numbers = all.iter().chain(&then).map(|issue| issue.line.max(issue.instructions));
    // A column is as wide as its longest number with a gap, and a glyph's place where all have room for it; names of
    // lanes stand before them.
    let digits = numbers.max().unwrap_or(0).to_string().len();
    let [wide, room] =
        [digits + 2, digits + 1].map(|column| (columns.saturating_sub(LABEL) / column).max(1));
    let room = if Stretches::new(&all, wide).all.len() <= wide { wide } else { room };
    let stretches = Stretches::new(&all, room);
    let then_stretches = Stretches::new(&then, room);
    // Before the first step the whole run is shown. Done are those up to the newest one.
    let issued = if clock == 0 { 0 } else { all.partition_point(|issue| issue.step < clock) };
    let done = issued.checked_sub(1).map_or(0, |newest| stretches.of_issue[newest] + 1);
    let count = stretches.all.len();
    let first = (done + room / 4).saturating_sub(room).min(count.saturating_sub(room));
    let shown = &stretches.all[first..count.min(first + room)];
    let then_count = then_stretches.all.len();
    let then_shown = &then_stretches.all[first.min(then_count)..then_count.min(first + room)];
    let then_groups = groups(then_shown, true);
    // A title and the numbers stand above the lanes.
    let then_heading = 2 + usize::from(then_stretches.has_loops());
    let then_rows = if then.is_empty() { 0 } else { then_groups.len() + 1 + then_heading };
    let groups = groups(shown, rows.saturating_sub(8 + then_rows) < LANES);
    let [issued, share] = activity(&all);
    let summary =
        format!("{name}: {issued:.0} instructions, {} of their lanes active.", percent(share));
    let mut cell_rows = heading(shown, stretches.has_loops());
    // The lanes are the picture: rounds and instructions are left out where not all rows fit.
    let around = LEGEND + usize::from(text::rows(&summary, columns as u16));
    cell_rows.truncate(rows.saturating_sub(around + groups.len()).max(1));
    let now = (done > first).then(|| done - 1 - first);
    let mut mark = None;
    for lanes in &groups {
        if lanes.contains(&(lane as usize)) {
            mark = now.map(|now| (cell_rows.len(), now));
        }
        let mut row = lanes_row(lanes, shown, ACTIVE);
        let cells = row.cells.iter_mut().enumerate();
        for (_, cell) in cells.filter(|(place, _)| Some(*place) == now) {
            if let Some(cell) = cell.as_mut().filter(|cell| cell.kind == ACTIVE) {
                cell.kind = NOW;
            }
        }
        cell_rows.push(row);
    }
    let has_room = !then_shown.is_empty() && cell_rows.len() + then_rows + 8 <= rows;
    if has_room {
        cell_rows.push(CellRow { label: "earlier run".to_owned(), ..CellRow::default() });
        cell_rows.extend(heading(then_shown, then_stretches.has_loops()));
        cell_rows.extend(then_groups.iter().map(|lanes| lanes_row(lanes, then_shown, THEN)));
    }
    let kind = |name: &str, tone| Kind { name: name.to_owned(), tone };
    let label = before.map_or("", |before| before.label);
    let earlier = if then.is_empty() {
        String::new()
    } else {
        let [issued, share] = activity(&then);
        format!(" In {label} {issued:.0} instructions, {} active.", percent(share))
    };
    let mut kinds =
        vec![kind("active", Tone::First), kind("inactive", Tone::Faint), kind("", Tone::Text)];
    kinds.push(match now {
        Some(_) => kind("active now", Tone::Now),
        None => kind("", Tone::Text),
    });
    kinds.extend(has_room.then(|| kind("active in the earlier run", Tone::Second)));
    let what = if stretches.has_loops() { ", the rounds of a loop together" } else { "" };
    let note = format!(
        "{summary} A column is a stretch on one line with the same lanes{what}, {} to {} of {count}.{earlier}",
        first + 1,
        first + shown.len(),
    );
    // The sentence on the columns gives way to the rows.
    let left = rows.saturating_sub(LEGEND + cell_rows.len());
    let is_whole = usize::from(text::rows(&note, columns as u16)) <= left;
    let note = if is_whole { note } else { format!("{summary}{earlier}") };
    let cells = Cells { kinds, rows: cell_rows, note, ..Cells::default() };
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

/// Instructions, and the active share of their lanes.
fn activity(all: &[&Issue]) -> [f64; 2] {
    let issued: u64 = all.iter().map(|issue| u64::from(issue.instructions)).sum();
    let active: u64 = all.iter().map(|i| u64::from(i.instructions * i.mask.count_ones())).sum();
    [issued as f64, active as f64 / (LANES as u64 * issued.max(1)) as f64]
}

fn heading(shown: &[Stretch], has_loops: bool) -> Vec<CellRow> {
    let numbers = |label: &str, number: fn(&Stretch) -> String| {
        row(label, shown.iter().map(|stretch| written(number(stretch))))
    };
    let mut rows = vec![
        numbers("line", |stretch| stretch.line.to_string()),
        numbers("instructions", |stretch| stretch.instructions.to_string()),
    ];
    rows.extend(has_loops.then(|| {
        numbers("rounds", |stretch| match stretch.rounds {
            1 => String::new(),
            rounds => rounds.to_string(),
        })
    }));
    rows
}

fn lanes_row(lanes: &[usize], shown: &[Stretch], active: usize) -> CellRow {
    let is_active = |at: &Stretch| lanes.first().is_some_and(|lane| at.mask >> lane & 1 != 0);
    let cell = |at: &Stretch| Cell::new(if is_active(at) { active } else { INACTIVE });
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

fn written(text: String) -> Cell {
    Cell { kind: LINE, text }
}

/// Each lane by itself, or those together that are active in the same stretches.
fn groups(shown: &[Stretch], is_merged: bool) -> Vec<Vec<usize>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Stretches of one warp by line and mask, each of two instructions.
    fn issues(stretches: &[(u32, u32)]) -> Vec<Issue> {
        let issue = |(step, (line, mask)): (u64, &(u32, u32))| Issue {
            block: 0,
            warp: 0,
            line: *line,
            mask: *mask,
            instructions: 2,
            step: 2 * step,
        };
        (0..).zip(stretches).map(issue).collect()
    }

    #[test]
    fn rounds_of_a_loop_share_columns_where_there_is_no_room() {
        let all = [(1, 3), (2, 1), (3, 1), (2, 1), (3, 1), (2, 1), (3, 1), (2, 1), (4, 2)];
        let all = issues(&all);
        let all: Vec<&Issue> = all.iter().collect();
        assert_eq!(Stretches::new(&all, 9).all.len(), 9);
        let found = Stretches::new(&all, 8);
        let columns = found.all.iter().map(|it| (it.line, it.mask, it.instructions, it.rounds));
        let expected = [(1, 3, 2, 1), (2, 1, 6, 3), (3, 1, 6, 3), (2, 1, 2, 1), (4, 2, 2, 1)];
        assert_eq!(columns.collect::<Vec<_>>(), expected);
        assert_eq!(found.of_issue, [0, 1, 2, 1, 2, 1, 2, 3, 4]);
    }

    #[test]
    fn rounds_with_other_lanes_are_columns_of_their_own() {
        let all = issues(&[(2, 8), (3, 8), (2, 4), (3, 4), (2, 2), (3, 2)]);
        let all: Vec<&Issue> = all.iter().collect();
        assert_eq!(Stretches::new(&all, 1).all.len(), 6);
    }
}
