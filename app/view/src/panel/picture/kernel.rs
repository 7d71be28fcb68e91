//! A kernel's launch in the debugger: its source, its blocks, the lanes of a warp, its memory. All pictures share one position.

mod accesses;
mod before;
mod buffers;
mod cell_kinds;
mod debugger;
mod divergence;
mod ghosts;
mod grid;
mod indices;
mod lanes;
mod memory;
mod need;
mod rows;
mod source;
mod state;
mod thread;
mod windows;

use std::borrow::Cow;

use mlsys_lab::Value;
use mlsys_lab::frame::kernel::{Kernel, Problem, View};
use mlsys_lab::frame::{Frame, Milestone, Table, Timeline};
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::{At, Past, Picture, RowNeed, Sheet, cells};
use crate::canvas::{Canvas, Pen};
use crate::csv::Lines;
use crate::glyphs::{GlyphSet, Glyphs};
use crate::panel::plane::split;
use crate::panel::view::{FrameView, Mark, Stretch, Way};
use crate::panel::{Focus, draw_frame};
use crate::text;
use crate::theme::Look;
use before::Before;
pub use debugger::{KernelDebugger, Play, Thread};
use state::LaneState;
pub use thread::{status, thread_details};

const NOTHING_RUN: &str =
    "Nothing has run yet. The key . goes forward by one instruction, the key , goes back.";

/// Rows in which the chosen problem is told in full.
const TOLD: u16 = 3;

/// The debugger of a launch; without one, as before the first step.
fn debugger_of<'a>(
    kernel: &Kernel,
    debugger: Option<&'a KernelDebugger>,
) -> Cow<'a, KernelDebugger> {
    let own = debugger.filter(|debugger| debugger.is_of(kernel));
    own.map_or_else(|| Cow::Owned(KernelDebugger::new(kernel)), Cow::Borrowed)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    Line(u32),
    Thread(Thread),
}

pub(crate) fn spot_at(
    area: Rect,
    kernel: &Kernel,
    debugger: &KernelDebugger,
    at: Position,
) -> Option<Spot> {
    let debugger = Some(debugger).filter(|it| it.is_of(kernel) && area.contains(at))?;
    match kernel.view {
        View::Source => source::line_at(area, debugger, at.y).map(Spot::Line),
        View::Grid => grid::thread_at(area, debugger, at).map(Spot::Thread),
        View::Lanes => {
            let lane = lanes::lane_at(area, debugger, at)?;
            Some(Spot::Thread(Thread { lane, ..debugger.here() }))
        }
        View::Memory
        | View::Sectors
        | View::Banks
        | View::Timeline
        | View::Divergence
        | View::Problems => None,
    }
}

/// The position and the rows of a picture, in words.
pub(crate) fn words(
    kernel: &Kernel,
    debugger: Option<&KernelDebugger>,
    past: Option<Past<'_>>,
) -> String {
    const MOST: usize = 64;
    let mut lines: Vec<String> = debugger.map_or(Vec::new(), status);
    if let (View::Lanes, Some(debugger)) = (kernel.view, debugger) {
        lines.extend(thread_details(debugger).into_iter().map(|(_, text)| text));
    }
    let before = Before::of(past, kernel);
    lines.extend(before.iter().flat_map(|before| before.sentences(kernel.view)));
    let frame = picture(kernel, debugger, before.as_ref());
    let Frame::Table(table) = &frame else {
        let glyphs = Glyphs::new(GlyphSet::Ascii);
        lines.push(super::drawn(&frame).words(&FrameView::default(), &glyphs));
        return lines.join("\n");
    };
    let count = table.rows.len();
    for row in table.rows.iter().take(MOST) {
        let cells = table.columns.iter().zip(row).map(|(title, value)| (title, value.to_string()));
        let cells = cells.filter(|(_, value)| !value.is_empty());
        let cells: Vec<String> = cells.map(|(title, value)| format!("{title} {value}")).collect();
        lines.push(cells.join(", "));
    }
    if count > MOST {
        lines.push(format!("and {} more", count - MOST));
    }
    lines.extend(unlisted(kernel).filter(|_| kernel.view == View::Problems));
    lines.join("\n")
}

/// A picture of a launch at the position, as files and words have it.
pub(crate) fn picture(
    kernel: &Kernel,
    debugger: Option<&KernelDebugger>,
    before: Option<&Before<'_>>,
) -> Frame {
    let debugger = &debugger_of(kernel, debugger);
    match kernel.view {
        View::Source => Frame::Table(source::table(kernel, debugger)),
        View::Grid => Frame::Table(grid::table(debugger)),
        View::Lanes => Frame::Table(lanes::table(debugger)),
        View::Memory => Frame::Cells(memory::memory(debugger, before, memory::PAGE).0),
        View::Sectors => accesses::sectors(debugger, before),
        View::Banks => accesses::banks(debugger, before),
        View::Timeline => Frame::Timeline(order(kernel, debugger, before)),
        View::Divergence => {
            Frame::Cells(divergence::raster(kernel, debugger, before, memory::PAGE).0)
        }
        View::Problems => Frame::Table(problems(kernel)),
    }
}

/// The instructions in their order by warp, with a line at the position.
fn order(kernel: &Kernel, debugger: &KernelDebugger, before: Option<&Before<'_>>) -> Timeline {
    let mut timeline = kernel.whole.order.clone();
    let clock = debugger.clock();
    let label = debugger.last().map(|step| {
        let (block, warp, line) = (step.block, step.warp, step.place.line);
        format!("step {clock}: block {block} warp {warp}, line {line}")
    });
    timeline.marks.push(Milestone {
        at: clock as f64,
        label: label.unwrap_or_else(|| "before the first step".to_owned()),
    });
    timeline.marks.extend(before.map(|before| Milestone {
        at: before.then.whole.steps as f64,
        label: format!("end of {}", before.label),
    }));
    timeline
}

fn current_span(timeline: &Timeline, debugger: &KernelDebugger) -> Option<usize> {
    let step = debugger.last()?;
    let lane = format!("block {} warp {}", step.block, step.warp);
    let lane = timeline.lanes.iter().position(|name| *name == lane)?;
    let at = debugger.clock() as f64 - 0.5;
    timeline.spans.iter().position(|span| span.lane == lane && span.start <= at && at <= span.end)
}

fn problems(kernel: &Kernel) -> Table {
    let place = |[x, y, z]: [u32; 3]| Value::from(format!("({x},{y},{z})"));
    let row = |problem: &Problem| {
        vec![
            Value::from(problem.fault.as_str()),
            // Counted as the walk counts, from 1.
            Value::Int(problem.step as i64 + 1),
            Value::Int(i64::from(problem.line)),
            place(problem.block),
            place(problem.thread),
            Value::from(problem.sentence.as_str()),
        ]
    };
    let mut rows: Vec<Vec<Value>> = kernel.whole.problems.iter().map(row).collect();
    if rows.is_empty() {
        rows.push(["none", "", "", "", "", "nothing went wrong"].map(Value::from).to_vec());
    }
    let titles = ["problem", "step", "line", "block", "thread", "what happened"];
    Table::new(titles.map(str::to_owned).to_vec(), rows)
}

/// Rows below the table of problems.
fn told_rows(kernel: &Kernel) -> u16 {
    TOLD + u16::from(kernel.whole.unlisted > 0)
}

/// How many problems the table does not list.
fn unlisted(kernel: &Kernel) -> Option<String> {
    let whole = &kernel.whole;
    let (listed, found) = (whole.problems.len(), whole.problems_found());
    (whole.unlisted > 0).then(|| format!("The first {listed} of {found} problems are listed."))
}

fn state_legend(states: &[LaneState]) -> String {
    let present = LaneState::ALL.into_iter().filter(|state| states.contains(state));
    let names = present.map(|state| {
        let (letter, word) = state.name();
        format!("{letter} {word}")
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Writes why there is no machine; whether there is none.
fn draw_error(area: Rect, canvas: &mut Canvas, debugger: &KernelDebugger, look: &Look) -> bool {
    let error = debugger.machine().err().map(|error| (error.to_string(), look.theme.dim));
    write_lines(area, canvas, error.as_slice(), look);
    error.is_some()
}

/// Writes sentences below each other, wrapped, as far as there are rows; returns the rows used.
fn write_lines(area: Rect, canvas: &mut Canvas, lines: &[(String, Style)], look: &Look) -> u16 {
    let rows = lines.iter().flat_map(|(line, style)| {
        let parts = text::wrap(line, area.width);
        parts.into_iter().map(move |part| (part, *style))
    });
    let mut used = 0;
    for ((part, style), y) in rows.zip(area.y..area.bottom()) {
        Pen::new(area, canvas, &look.glyphs).text(area.x, y, part.trim_end(), style);
        used += 1;
    }
    used
}

/// Writes the first sentences as far as there are rows, and of the others those that are whole in the rows left.
fn write_sentences(
    area: Rect,
    canvas: &mut Canvas,
    (all, first): (&[(String, Style)], usize),
    look: &Look,
) {
    let mut left = area.height;
    let mut shown = Vec::new();
    for (at, sentence) in all.iter().enumerate() {
        let rows = text::rows(&sentence.0, area.width);
        if at < first || rows <= left {
            shown.push(sentence.clone());
            left = left.saturating_sub(rows);
        }
    }
    write_lines(area, canvas, &shown, look);
}

impl Picture for Kernel {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        let debugger = &debugger_of(self, at.walk);
        let before = Before::of(at.past, self);
        let before = before.as_ref();
        let mut view = FrameView::default();
        let frame = match self.view {
            View::Source => return source::draw(area, canvas, (self, before), debugger, look),
            View::Grid => return grid::draw(area, canvas, debugger, look),
            View::Lanes => return lanes::draw(area, canvas, debugger, look),
            View::Memory | View::Divergence => {
                let room = (usize::from(area.width), usize::from(area.height));
                let (memory, mark) = if self.view == View::Divergence {
                    divergence::raster(self, debugger, before, room)
                } else {
                    let (mut cells, mark) = memory::memory(debugger, before, room);
                    let problems = before.and_then(Before::problems);
                    cells.note.extend(problems.map(|problems| format!(" {problems}")));
                    (cells, mark)
                };
                let mark = mark.map(|(row, column)| Mark { column, row });
                // The sentence below names the marked cell.
                return cells::draw(area, canvas, &memory, mark, cells::Legend::Own, look);
            }
            View::Sectors => accesses::sectors(debugger, before),
            View::Banks => accesses::banks(debugger, before),
            View::Timeline => {
                // Around the position, a column or more each; names of warps take about a fifth.
                let order = order(self, debugger, before);
                view.mark = current_span(&order, debugger).map(|column| Mark { column, row: 0 });
                let wide = f64::from(area.width.saturating_sub(area.width / 5).max(20));
                let from = (debugger.clock() as f64 - 0.75 * wide).max(0.0);
                view.stretch = Stretch::between(from, from + wide);
                Frame::Timeline(order)
            }
            View::Problems => {
                let at = debugger.problem_at(&self.whole.problems);
                view.mark = at.map(|row| Mark { column: 0, row });
                // The table cuts what has no room in it; the chosen problem is told in full.
                let chosen = self.whole.problems.get(at.unwrap_or(0));
                let rows = told_rows(self);
                let [table, foot] = split(area, if area.height > 8 { rows } else { 0 });
                let told = chosen.map(|problem| {
                    let text = format!("Line {}: {}.", problem.line, problem.sentence);
                    (text, look.theme.text)
                });
                let then = before.and_then(Before::problems).map(|text| (text, look.theme.dim));
                let unlisted = unlisted(self).map(|text| (text, look.theme.dim));
                let told: Vec<_> = told.into_iter().chain(unlisted).chain(then).collect();
                write_lines(foot, canvas, &told, look);
                let at = At { view: &view, focus: Focus::Aside, walk: None, past: None };
                return draw_frame(table, canvas, &Frame::Table(problems(self)), at, look);
            }
        };
        let at = At { view: &view, focus: Focus::Aside, walk: None, past: None };
        draw_frame(area, canvas, &frame, at, look);
    }

    fn words(&self, _: &FrameView, _: &Glyphs) -> String {
        words(self, None, None)
    }

    fn row_need(&self, at: At<'_>, width: u16, look: &Look) -> Option<RowNeed> {
        need::row_need(self, at, width, look)
    }

    fn values(&self, lines: &mut Lines) {
        super::drawn(&picture(self, None, None)).values(lines);
    }

    /// All pictures of a lab share the position in the debugger.
    fn go(&self, _: &mut FrameView, _: Way) {}

    /// A page has no next step: it has the rows at the position.
    fn page<'a>(&'a self, sheet: &mut Sheet<'a>) {
        sheet.frame = Cow::Owned(picture(self, sheet.walk, None));
    }
}
