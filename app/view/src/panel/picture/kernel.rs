//! A kernel's launch as it is stepped through: its text, its blocks, the lanes of a warp. All show one walk.

mod accesses;
mod debugger;
mod grid;
mod lanes;
mod memory;
mod source;
mod thread;

use std::borrow::Cow;

use mlsys_lab::Value;
use mlsys_lab::frame::kernel::{Kernel, View};
use mlsys_lab::frame::{Frame, Milestone, Table, Timeline};
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::canvas::{Canvas, Pen};
use crate::export::csv::Lines;
use crate::glyphs::{GlyphSet, Glyphs};
pub use crate::panel::picture::kernel::accesses::{banks, sectors};
pub use crate::panel::picture::kernel::debugger::{KernelDebugger, Play, Thread, Whence};
pub use crate::panel::picture::kernel::grid::threads;
pub use crate::panel::picture::kernel::lanes::{LaneState, Touch, touches, variables};
pub use crate::panel::picture::kernel::memory::{Room, memory};
pub use crate::panel::picture::kernel::thread::{about_thread, said};
use crate::panel::picture::{At, Picture, Sheet, cells};
use crate::panel::view::{FrameView, Mark, Stretch, Way};
use crate::panel::{Focus, picture, text};
use crate::theme::{Look, Theme};

/// Draws a view of a launch; without a walk, as before the first step.
pub(crate) fn draw(
    area: Rect,
    canvas: &mut Canvas,
    kernel: &Kernel,
    walk: Option<&KernelDebugger>,
    look: &Look,
) {
    let fresh;
    let walk = match walk.filter(|walk| walk.is_of(kernel)) {
        Some(walk) => walk,
        None => {
            fresh = KernelDebugger::of(kernel);
            &fresh
        }
    };
    match kernel.view {
        View::Source => source::draw(area, canvas, kernel, walk, look),
        View::Grid => grid::draw(area, canvas, walk, look),
        View::Lanes => lanes::draw(area, canvas, walk, look),
        View::Memory => {
            let room = Room { columns: usize::from(area.width), rows: usize::from(area.height) };
            let memory = memory(walk, room);
            let mark = memory.mark.map(|(row, column)| Mark { column, row });
            // The sentence below names the marked cell.
            cells::draw(area, canvas, &memory.cells, mark, look);
        }
        View::Sectors => shown(area, canvas, sectors(walk), None, look),
        View::Banks => shown(area, canvas, banks(walk), None, look),
        View::Timeline => timeline(area, canvas, kernel, walk, look),
        View::Problems => {
            let mark = walk.problem().map(|row| Mark { column: 0, row });
            shown(area, canvas, Frame::Table(problems(kernel)), mark, look);
        }
    }
}

/// A part of a picture of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    Line(u32),
    Thread(Thread),
}

pub(crate) fn spot_at(
    area: Rect,
    kernel: &Kernel,
    walk: &KernelDebugger,
    at: Position,
) -> Option<Spot> {
    let walk = Some(walk).filter(|walk| walk.is_of(kernel) && area.contains(at))?;
    match kernel.view {
        View::Source => source::line_at(area, walk, at.y).map(Spot::Line),
        View::Grid => grid::thread_at(area, walk, at).map(Spot::Thread),
        View::Lanes => lanes::lane_at(area, walk, at).map(|lane| {
            let here = walk.here();
            Spot::Thread(Thread { lane, ..here })
        }),
        View::Memory | View::Sectors | View::Banks | View::Timeline | View::Problems => None,
    }
}

/// Draws a picture that is like those of other labs, with a place in it marked.
fn shown(area: Rect, canvas: &mut Canvas, frame: Frame, mark: Option<Mark>, look: &Look) {
    let view = FrameView { mark, ..FrameView::default() };
    let at = At { view: &view, focus: Focus::Aside, walk: None };
    crate::panel::draw_frame(area, canvas, &frame, at, look);
}

/// Draws the order of instructions around where the walk stands, a column or more each.
fn timeline(area: Rect, canvas: &mut Canvas, kernel: &Kernel, walk: &KernelDebugger, look: &Look) {
    let order = order(kernel, walk);
    let mark = current(&order, walk).map(|column| Mark { column, row: 0 });
    // Names of warps take about a fifth.
    let wide = f64::from(area.width.saturating_sub(area.width / 5).max(20));
    let at = walk.clock() as f64;
    let from = (at - 0.75 * wide).max(0.0);
    let view =
        FrameView { mark, stretch: Stretch::between(from, from + wide), ..FrameView::default() };
    let at = At { view: &view, focus: Focus::Aside, walk: None };
    crate::panel::draw_frame(area, canvas, &Frame::Timeline(order), at, look);
}

/// Where a walk stands and the rows of a picture, in words.
pub(crate) fn words(kernel: &Kernel, walk: Option<&KernelDebugger>) -> String {
    /// Rows that are read out.
    const MOST: usize = 64;
    let mut lines: Vec<String> = walk.map_or(Vec::new(), said);
    if let (View::Lanes, Some(walk)) = (kernel.view, walk) {
        lines.extend(about_thread(walk).into_iter().map(|(_, text)| text));
    }
    let shown = picture(kernel, walk);
    let Frame::Table(table) = &shown else {
        let (glyphs, view) = (Glyphs::new(GlyphSet::Ascii), FrameView::default());
        lines.push(picture::of(&shown).words(&view, &glyphs));
        return lines.join("\n");
    };
    let count = table.rows.len();
    for row in table.rows.iter().take(MOST) {
        let cells = table.columns.iter().zip(row);
        let cells: Vec<String> = cells
            .map(|(title, value)| (title, value.to_string()))
            .filter(|(_, value)| !value.is_empty())
            .map(|(title, value)| format!("{title} {value}"))
            .collect();
        lines.push(cells.join(", "));
    }
    if count > MOST {
        lines.push(format!("and {} more", count - MOST));
    }
    lines.join("\n")
}

fn style(state: LaneState, theme: &Theme) -> Style {
    match state {
        LaneState::Active => theme.good,
        LaneState::Masked => theme.text,
        LaneState::Waiting => theme.warn,
        LaneState::Done | LaneState::NotBegun | LaneState::Beyond => theme.dim,
        LaneState::Faulted => theme.bad,
    }
}

/// What the letters mean, of those that are there.
fn legend(states: &[LaneState]) -> String {
    let there = LaneState::ALL.into_iter().filter(|state| states.contains(state));
    let words = there.map(|state| format!("{} {}", state.letter(), state.word()));
    words.collect::<Vec<_>>().join(", ")
}

/// Says sentences below each other, wrapped, as far as there are rows; returns the rows used.
fn say(area: Rect, canvas: &mut Canvas, lines: &[(String, Style)], look: &Look) -> u16 {
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

/// An area split into rows above and `below` rows.
fn split(area: Rect, below: u16) -> [Rect; 2] {
    let below = below.min(area.height);
    [
        Rect { height: area.height - below, ..area },
        Rect { y: area.bottom() - below, height: below, ..area },
    ]
}

impl Picture for Kernel {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        draw(area, canvas, self, at.walk, look);
    }

    fn words(&self, _: &FrameView, _: &Glyphs) -> String {
        words(self, None)
    }

    fn values(&self, lines: &mut Lines) {
        picture::of(&picture(self, None)).values(lines);
    }

    /// Its place is the walk's, which all pictures of a lab share.
    fn go(&self, _: &mut FrameView, _: Way) {}

    /// A page has no next step: it has the rows of the place that the steps have reached.
    fn page<'a>(&'a self, sheet: &mut Sheet<'a>) {
        sheet.frame = Cow::Owned(picture(self, sheet.walk));
    }
}

/// A picture of a launch where the walk stands, as files and words have it.
pub fn picture(kernel: &Kernel, walk: Option<&KernelDebugger>) -> Frame {
    // Without a walk, it is as before the first step.
    let fresh;
    let walk = match walk.filter(|walk| walk.is_of(kernel)) {
        Some(walk) => walk,
        None => {
            fresh = KernelDebugger::of(kernel);
            &fresh
        }
    };
    match kernel.view {
        View::Source => Frame::Table(source::table(kernel, walk)),
        View::Grid => Frame::Table(grid::table(walk)),
        View::Lanes => Frame::Table(lanes::table(walk)),
        View::Memory => Frame::Cells(memory(walk, Room::PAGE).cells),
        View::Sectors => sectors(walk),
        View::Banks => banks(walk),
        View::Timeline => Frame::Timeline(order(kernel, walk)),
        View::Problems => Frame::Table(problems(kernel)),
    }
}

/// The order by warp, with a line where the walk stands.
pub fn order(kernel: &Kernel, walk: &KernelDebugger) -> Timeline {
    let mut timeline = kernel.whole.order.clone();
    timeline.marks.push(Milestone {
        at: walk.clock() as f64,
        label: match walk.last() {
            Some(step) => format!(
                "step {}: block {} warp {}, line {}",
                walk.clock(),
                step.block,
                step.warp,
                step.place.line
            ),
            None => "before the first step".to_owned(),
        },
    });
    timeline
}

/// The bar that the last step belongs to.
pub fn current(timeline: &Timeline, walk: &KernelDebugger) -> Option<usize> {
    let step = walk.last()?;
    let lane = format!("block {} warp {}", step.block, step.warp);
    let lane = timeline.lanes.iter().position(|name| *name == lane)?;
    let at = walk.clock() as f64 - 0.5;
    timeline.spans.iter().position(|span| span.lane == lane && span.start <= at && at <= span.end)
}

/// What went wrong in the whole run.
pub fn problems(kernel: &Kernel) -> Table {
    let place = |[x, y, z]: [u32; 3]| Value::from(format!("({x},{y},{z})"));
    let row = |problem: &mlsys_lab::frame::kernel::Problem| {
        vec![
            Value::from(problem.fault.as_str()),
            Value::Int(problem.step as i64),
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
    Table { columns: titles.map(str::to_owned).to_vec(), rows, ..Table::default() }
}
