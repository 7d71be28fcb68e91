//! The kinds of pictures: what each can do, and the registry of them.
//!
//! A kind is one module: its drawing, its words, its values as rows of a CSV, how a mark and steps go through it,
//! and what a page has of it. To add one, write its data in `mlsys_lab::frame`, its module here, and its line in [`of`].

pub(crate) mod bars;
pub(crate) mod box_plot;
pub(crate) mod cells;
pub mod graph;
pub(crate) mod heat;
pub(crate) mod histogram;
pub(crate) mod images;
pub mod kernel;
pub(crate) mod matrix;
pub(crate) mod message_trace;
pub(crate) mod panes;
pub(crate) mod scatter;
pub(crate) mod stacks;
pub mod table;
pub(crate) mod text;
pub(crate) mod timeline;

use std::borrow::Cow;

use mlsys_lab::frame::Frame;
use ratatui::layout::Rect;

use crate::canvas::{self as pen, Canvas};
use crate::csv::Lines;
use crate::glyphs::Glyphs;
use crate::panel::Focus;
use crate::panel::picture::kernel::KernelDebugger;
use crate::panel::view::{AxisRange, FrameView, Inspect, Mark, Way};
use crate::theme::Look;

/// The columns and rows without which a picture cannot be read, if its kind needs no others.
pub(crate) const LEAST: (u16, u16) = (18, 8);
/// The rows of a picture on a page, if its kind needs no others.
pub(crate) const PAGE_ROWS: u16 = 30;
/// Rows of a table that are read out; a longer table is said to be longer.
pub(crate) const READ_ROWS: usize = 12;
/// Lines of other pictures that are read out.
pub(crate) const READ_LINES: usize = 40;

/// The picture of a frame: one line a kind.
pub(crate) fn drawn(frame: &Frame) -> &dyn Picture {
    match frame {
        Frame::HeatMap(of) => of,
        Frame::Bars(of) => of,
        Frame::Stacks(of) => of,
        Frame::Histogram(of) => of,
        Frame::BoxPlot(of) => of,
        Frame::Scatter(of) => of,
        Frame::Table(of) => of,
        Frame::Cells(of) => of,
        Frame::Images(of) => of,
        Frame::Graph(of) => of,
        Frame::Timeline(of) => of,
        Frame::MessageTrace(of) => of.as_ref(),
        Frame::FrameSequence(of) => of.as_ref(),
        Frame::Kernel(of) => of.as_ref(),
        Frame::Panes(of) => of,
        Frame::StyledText(of) => of,
        Frame::Text(of) => of,
    }
}

#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) view: &'a FrameView,
    pub(crate) focus: Focus,
    /// Where the lab's kernel has been stepped to.
    pub(crate) walk: Option<&'a KernelDebugger>,
    pub(crate) past: Option<Past<'a>>,
}

/// A picture of an earlier run that the present one is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Past<'a> {
    /// Which run it was.
    pub(crate) label: &'a str,
    pub(crate) frame: &'a Frame,
}

/// The rows of a picture: with fewer something is left out, more stay empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowNeed {
    pub least: u16,
    pub most: u16,
}

impl RowNeed {
    /// Entries below each other, with a row of air between two where there is room, and rows around them.
    pub(crate) fn listed(entries: usize, around: u16) -> Self {
        let entries = pen::cells(entries);
        let rows = |entries: u16| entries.saturating_add(around);
        Self { least: rows(entries), most: rows(entries.saturating_mul(2)) }
    }

    pub(crate) fn exactly(rows: u16) -> Self {
        Self { least: rows, most: rows }
    }

    pub(crate) fn and(self, rows: u16) -> Self {
        Self { least: self.least.saturating_add(rows), most: self.most.saturating_add(rows) }
    }
}

pub(crate) trait Picture {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look);

    fn words(&self, view: &FrameView, glyphs: &Glyphs) -> String;

    fn values(&self, lines: &mut Lines);

    /// The marked part with its label and value.
    fn marked(&self, _view: &FrameView, _glyphs: &Glyphs) -> Option<String> {
        None
    }

    fn rows_of_mark(&self, _height: u16) -> u16 {
        1
    }

    /// Lines below the picture that say more of the marked part, as many whatever is marked, so that it stands still.
    fn notes_below(&self, _view: &FrameView, _width: u16, _most: u16) -> Vec<String> {
        Vec::new()
    }

    fn source(&self, _view: &FrameView) -> Option<&str> {
        None
    }

    /// The columns and rows of places that can be marked.
    fn places(&self, _view: &FrameView) -> (usize, usize) {
        (0, 0)
    }

    /// Where a mark begins among the columns and rows of places.
    fn first(&self, _places: (usize, usize)) -> Mark {
        Mark::default()
    }

    /// Moves the mark; the first move shows it. Left, right, first and last of a picture with steps never come here.
    fn go(&self, view: &mut FrameView, way: Way) {
        let places = self.places(view);
        if places.0 == 0 || places.1 == 0 {
            view.mark = None;
            return;
        }
        view.mark = Some(match view.mark {
            Some(mark) => mark.within(places.0, places.1).moved(places, way),
            None => match way {
                Way::Last | Way::Down(2..) => self.first(places).moved(places, way),
                Way::Left | Way::Right | Way::First | Way::Up(_) | Way::Down(_) => {
                    self.first(places)
                }
            },
        });
    }

    /// Looks closer, from further away, or at another part. Steps never come here.
    fn inspect(&self, _view: &mut FrameView, _inspect: Inspect) {}

    fn step_count(&self) -> usize {
        0
    }

    fn steps_done(&self, view: &FrameView) -> usize {
        view.round.min(self.step_count())
    }

    fn step(&self, view: &mut FrameView, by: isize) {
        view.round = self.steps_done(view).saturating_add_signed(by).min(self.step_count());
    }

    fn step_text(&self, _view: &FrameView, _glyphs: &Glyphs) -> Option<String> {
        None
    }

    fn least(&self) -> (u16, u16) {
        LEAST
    }

    /// The rows it takes at a width, whatever is marked or stepped to; nothing where it fills what it gets.
    fn row_need(&self, _at: At<'_>, _width: u16, _look: &Look) -> Option<RowNeed> {
        None
    }

    /// What its axes have to hold, where a view keeps them from one run to the next.
    fn ranges(&self) -> Vec<AxisRange<'_>> {
        Vec::new()
    }

    /// What a page has of it, where another picture or lines belong there.
    fn page<'a>(&'a self, _sheet: &mut Sheet<'a>) {}

    /// The columns and rows it takes on a page of a width.
    fn page_size(&self, columns: u16) -> (u16, u16) {
        (columns, PAGE_ROWS)
    }
}

/// A picture on a page, where no keys are pressed.
pub(crate) struct Sheet<'a> {
    pub(crate) above: Vec<String>,
    pub(crate) frame: Cow<'a, Frame>,
    pub(crate) view: FrameView,
    pub(crate) below: Vec<String>,
    /// Where the lab's kernel has been stepped to.
    pub(crate) walk: Option<&'a KernelDebugger>,
}

/// Moves the mark to the left and right in a picture with steps, where the arrows go along the steps.
pub(crate) fn inspect_marked(
    view: &mut FrameView,
    inspect: Inspect,
    go: impl FnOnce(&mut FrameView, Way),
) {
    if inspect == Inspect::Earlier {
        go(view, Way::Left);
    } else if inspect == Inspect::Later {
        go(view, Way::Right);
    } else if inspect == Inspect::Fit {
        view.mark = None;
    }
}

/// The area with an empty row on top, if it is high enough to spare one.
pub(crate) fn spaced(area: Rect) -> Rect {
    let spared = u16::from(area.height >= 10);
    Rect { y: area.y + spared, height: area.height - spared, ..area }
}

/// The height of an area that has a number of rows once [`spaced`].
pub(crate) fn unspaced(rows: u16) -> u16 {
    if rows >= 10 { rows.saturating_add(1) } else { rows }
}

/// Rows for a number of entries on a page: two each, if they are few.
pub(crate) fn page_rows(entries: usize) -> u16 {
    let rows = pen::cells(entries);
    if rows <= 24 { 2 * rows } else { rows }
}
