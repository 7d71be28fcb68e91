//! A kernel's launch as it is stepped through: its text, its blocks, the lanes of a warp. All show one walk.

mod grid;
mod lanes;
mod source;

use crate::canvas::Canvas;
use crate::figure::csv::Lines;
use crate::panel::picture::{self, At, Picture, Sheet};
use crate::panel::view::Way;
use mlsys_lab::frame::Frame;
use mlsys_lab::frame::kernel::{Kernel, View};
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use std::borrow::Cow;

use crate::canvas::Pen;
use crate::figure::kernel::{
    self as figure, KernelDebugger, LaneState, Room, Thread, about_thread, said,
};
use crate::glyphs::{GlyphSet, Glyphs};
use crate::panel::picture::cells;
use crate::panel::view::{FrameView, Mark, Stretch};
use crate::panel::{Focus, text};
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
            let memory = figure::memory(walk, room);
            let mark = memory.mark.map(|(row, column)| Mark { column, row });
            // The sentence below names the marked cell.
            cells::draw(area, canvas, &memory.cells, mark, look);
        }
        View::Sectors => shown(area, canvas, figure::sectors(walk), None, look),
        View::Banks => shown(area, canvas, figure::banks(walk), None, look),
        View::Timeline => timeline(area, canvas, kernel, walk, look),
        View::Problems => {
            let mark = walk.problem().map(|row| Mark { column: 0, row });
            shown(area, canvas, Frame::Table(figure::problems(kernel)), mark, look);
        }
    }
}

/// A part of a picture of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// A line of the text, from 1.
    Line(u32),
    /// A thread.
    Thread(Thread),
}

/// What lies at a place of the picture.
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
    let order = figure::order(kernel, walk);
    let mark = figure::current(&order, walk).map(|column| Mark { column, row: 0 });
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
    let shown = figure::picture(kernel, walk);
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

/// The style of what a thread does.
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
        picture::of(&figure::picture(self, None)).values(lines);
    }

    /// Its place is the walk's, which all pictures of a lab share.
    fn go(&self, _: &mut FrameView, _: Way) {}

    /// A page has no next step: it has the rows of the place that the steps have reached.
    fn page<'a>(&'a self, sheet: &mut Sheet<'a>) {
        sheet.frame = Cow::Owned(figure::picture(self, sheet.walk));
    }
}
