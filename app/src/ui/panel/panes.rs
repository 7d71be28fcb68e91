//! Several small pictures with their titles: as many as there is room for, from one on.

use mlsys_lab::frame::{Frame, Pane};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};

use super::pen::Pen;
use super::view::{FrameView, Mark};
use super::{Focus, cells, draw_frame};
use crate::ui::theme::Look;

/// What a picture needs to be worth looking at.
const COLUMNS: u16 = 18;
/// The same down.
const ROWS: u16 = 8;

/// Draws a grid of pictures; the marked one is among them.
pub(super) fn draw(
    area: Rect,
    buf: &mut Buffer,
    panes: &[Pane],
    mark: Option<Mark>,
    focus: Focus,
    look: &Look,
) {
    if panes.is_empty() || area.is_empty() {
        return;
    }
    let (across, down) = grid(area, panes.len(), needed(panes));
    let page = across * down;
    // Where not all fit, a row says which these are.
    let whole = area;
    let area = Rect {
        height: area.height - u16::from(page < panes.len() && area.height > 1),
        ..area
    };
    let marked = mark.map(|mark| mark.column.min(panes.len() - 1));
    // Whole pages, so that the pictures stand still while the mark moves among them.
    let first = marked.unwrap_or(0) / page * page;
    let bands = Layout::vertical(vec![Constraint::Fill(1); down]).split(area);
    let shown = panes.iter().enumerate().skip(first).take(page);
    let mut cells = bands.iter().flat_map(|band| {
        let cells = Layout::horizontal(vec![Constraint::Fill(1); across]);
        cells.spacing(1).split(*band).to_vec()
    });
    for (index, pane) in shown {
        let Some(cell) = cells.next() else {
            break;
        };
        // The title of the marked one is set off by a glyph as well.
        let (before, style) = if marked == Some(index) {
            (look.glyphs.forward, look.theme.accent)
        } else {
            ("", look.theme.title)
        };
        let title = format!("{before}{}", pane.title);
        Pen::new(cell, buf, &look.glyphs).text(cell.x, cell.y, &title, style);
        let below = super::below_title(cell);
        draw_frame(below, buf, &pane.frame, &FrameView::default(), focus, look);
    }
    let last = (first + page).min(panes.len());
    if last - first < panes.len() {
        let said = format!("{} to {last} of {}", first + 1, panes.len());
        let mut pen = Pen::new(whole, buf, &look.glyphs);
        pen.ending(whole.right(), area.bottom(), &said, look.theme.dim);
    }
}

/// The columns and rows without which the most demanding picture cannot be read.
fn needed(panes: &[Pane]) -> (u16, u16) {
    let of = |pane: &Pane| match &pane.frame {
        Frame::Cells(cells) => {
            let (wide, high) = cells::least(cells);
            (wide.max(COLUMNS), high.saturating_add(1).max(ROWS))
        }
        Frame::Bars(bars) if !bars.bars.is_empty() => (2 * COLUMNS, ROWS),
        Frame::Stacks(_) => (2 * COLUMNS, ROWS),
        Frame::HeatMap(_)
        | Frame::Bars(_)
        | Frame::Histogram(_)
        | Frame::Scatter(_)
        | Frame::Table(_)
        | Frame::Images(_)
        | Frame::Graph(_)
        | Frame::Timeline(_)
        | Frame::Exchange(_)
        | Frame::Film(_)
        | Frame::Kernel(_)
        | Frame::Panes(_)
        | Frame::Passage(_)
        | Frame::Text(_) => (COLUMNS, ROWS),
    };
    let sizes = panes.iter().map(of);
    sizes.fold((COLUMNS, ROWS), |(wide, high), size| {
        (wide.max(size.0), high.max(size.1))
    })
}

/// How many pictures of a size stand side by side, and how many below each other: all if they fit, in a grid as square
/// as can be.
fn grid(area: Rect, count: usize, (wide, high): (u16, u16)) -> (usize, usize) {
    let most_across = usize::from((area.width / wide).max(1));
    let most_down = usize::from((area.height / high).max(1));
    let fits = (1..=most_across.min(count)).find(|across| {
        let down = count.div_ceil(*across);
        // A cell is about twice as high as it is wide.
        let wide = usize::from(area.width) / across;
        down <= most_down && wide <= usize::from(area.height) / down * 4
    });
    let across = fits.unwrap_or(most_across.min(count));
    (across, count.div_ceil(across).min(most_down))
}
