//! Several small pictures with their titles: as many as there is room for, from one on.

use std::ops::Range;

use crate::canvas::Canvas;
use mlsys_lab::frame::{Frame, Pane};
use ratatui::layout::{Constraint, Layout, Rect};

use super::view::{FrameView, Mark};
use super::{Focus, bars, cells, draw_frame};
use crate::canvas::Pen;
use crate::theme::Look;

/// What a picture needs to be worth looking at.
const COLUMNS: u16 = 18;
/// The same down.
const ROWS: u16 = 8;

/// Draws a grid of pictures; the marked one is among them.
pub(super) fn draw(
    area: Rect,
    canvas: &mut Canvas,
    panes: &[Pane],
    mark: Option<Mark>,
    focus: Focus,
    look: &Look,
) {
    if panes.is_empty() || area.is_empty() {
        return;
    }
    let needs: Vec<(u16, u16)> = panes.iter().map(needed).collect();
    let (across, down) = grid(area, panes.len(), most(&needs));
    let page = across * down;
    let marked = mark.map(|mark| mark.column.min(panes.len() - 1));
    // Whole pages, so that the pictures stand still while the mark moves among them.
    let first = marked.unwrap_or(0) / page * page;
    let regular = first..(first + page).min(panes.len());
    // One row has room for more where each is only as broad as it needs.
    let rows = rows(&needs, area.width);
    let packed = (down == 1 && rows.len() < panes.len().div_ceil(page))
        .then(|| rows.into_iter().find(|row| row.contains(&marked.unwrap_or(0))))
        .flatten();
    let seen = packed.clone().unwrap_or(regular);
    // Where not all fit, a row says which these are.
    let whole = area;
    let area = Rect {
        height: area.height - u16::from(seen.len() < panes.len() && area.height > 1),
        ..area
    };
    let places: Vec<Rect> = match packed {
        Some(row) => {
            let wide = needs.get(row).unwrap_or_default().iter();
            let parts: Vec<Constraint> = wide.map(|(wide, _)| Constraint::Fill(*wide)).collect();
            Layout::horizontal(parts).spacing(1).split(area).to_vec()
        }
        None => {
            let bands = Layout::vertical(vec![Constraint::Fill(1); down]).split(area);
            let cells = bands.iter().flat_map(|band| {
                let cells = Layout::horizontal(vec![Constraint::Fill(1); across]);
                cells.spacing(1).split(*band).to_vec()
            });
            cells.collect()
        }
    };
    let mut cells = places.into_iter();
    let shown = panes.iter().enumerate();
    for (index, pane) in shown.skip(seen.start).take(seen.len()) {
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
        Pen::new(cell, canvas, &look.glyphs).text(cell.x, cell.y, &title, style);
        let below = super::below_title(cell);
        draw_frame(below, canvas, &pane.frame, &FrameView::default(), focus, look);
    }
    if seen.len() < panes.len() {
        let said = format!("{} to {} of {}", seen.start + 1, seen.end, panes.len());
        let mut pen = Pen::new(whole, canvas, &look.glyphs);
        pen.ending(whole.right(), area.bottom(), &said, look.theme.dim);
    }
}

/// The columns and rows without which a picture cannot be read.
fn needed(pane: &Pane) -> (u16, u16) {
    match &pane.frame {
        Frame::Cells(cells) => {
            let (wide, high) = cells::least(cells);
            (wide.max(COLUMNS), high.saturating_add(1).max(ROWS))
        }
        Frame::Bars(bars) if !bars.bars.is_empty() => bars::least(bars, (COLUMNS, ROWS)),
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
    }
}

/// What the most demanding of them needs.
fn most(needs: &[(u16, u16)]) -> (u16, u16) {
    let needs = needs.iter();
    needs.fold((COLUMNS, ROWS), |(wide, high), need| (wide.max(need.0), high.max(need.1)))
}

/// The pictures in rows, as many in each as have room side by side with a column between two.
fn rows(needs: &[(u16, u16)], width: u16) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let (mut first, mut used) = (0, 0_u16);
    for (place, (wide, _)) in needs.iter().enumerate() {
        let with = used.saturating_add(*wide).saturating_add(1);
        if place > first && with > width {
            rows.push(first..place);
            (first, used) = (place, *wide);
        } else {
            used = if place == first { *wide } else { with };
        }
    }
    rows.push(first..needs.len());
    rows
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_holds_as_many_as_have_room_side_by_side() {
        let needs = [(36, 8), (18, 8), (36, 8)];
        assert_eq!(rows(&needs, 54), [0..1, 1..2, 2..3]);
        assert_eq!(rows(&needs, 55), [0..2, 2..3]);
        assert_eq!(rows(&needs, 92).len(), 1);
        // What has no room at all has a row of its own.
        assert_eq!(rows(&needs, 0).len(), 3);
    }
}
