//! The line below a chart that says what its marks mean.

use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::canvas::{self as pen, Canvas, Pen};
use crate::panel::plane::split;
use crate::theme::Look;

#[derive(Clone, Debug)]
pub(super) struct Item {
    mark: String,
    style: Style,
    text: String,
    text_style: Style,
}

const GAP: u16 = 3;

impl Item {
    pub(super) fn new(
        mark: impl Into<String>,
        style: Style,
        text: impl Into<String>,
        text_style: Style,
    ) -> Self {
        Self { mark: mark.into(), style, text: text.into(), text_style }
    }

    fn width(&self) -> u16 {
        let mark = pen::width(&self.mark);
        pen::width(&self.text).saturating_add(mark + u16::from(mark > 0))
    }
}

/// Items by row, as many as fit into `rows` rows of `width` columns.
fn arrange(items: &[Item], width: u16, rows: u16) -> Vec<Vec<&Item>> {
    let mut arranged: Vec<Vec<&Item>> = Vec::new();
    let mut used = 0;
    for item in items {
        let wide = item.width();
        let full = arranged.len() >= usize::from(rows);
        match arranged.last_mut() {
            Some(row) if wide.saturating_add(used + GAP) <= width => {
                row.push(item);
                used += GAP + wide;
            }
            Some(_) | None if !full => {
                arranged.push(vec![item]);
                used = wide.min(width);
            }
            Some(_) | None => break,
        }
    }
    arranged
}

/// The rows that a legend needs, at most `most`.
pub(super) fn rows(items: &[Item], width: u16, most: u16) -> u16 {
    u16::try_from(arrange(items, width, most).len()).unwrap_or(most)
}

/// How many of the items are shown in a number of rows.
pub(super) fn count(items: &[Item], width: u16, rows: u16) -> usize {
    shown(items, width, rows).0.iter().map(Vec::len).sum()
}

/// The most rows that a legend takes of a picture; a picture of few rows goes without.
fn most_rows(area: Rect) -> u16 {
    if area.height >= 8 { (area.height / 5).max(2) } else { 0 }
}

/// An area above the items, and theirs; a picture of few rows goes without.
pub(super) fn below(area: Rect, items: &[Item]) -> [Rect; 2] {
    holding(area, items, 0)
}

/// As [`below`], with one more row where the first `needed` items would not be shown else; the lowest fields keep their rows.
pub(super) fn holding(area: Rect, items: &[Item], needed: usize) -> [Rect; 2] {
    /// Rows of a picture with four for its field.
    const LOW: u16 = 7;
    let most = most_rows(area);
    let more = u16::from(area.height >= LOW && count(items, area.width, most) < needed);
    split(area, rows(items, area.width, most + more))
}

/// The columns of a row of items.
fn taken(row: &[&Item]) -> u16 {
    let add = |sum: u16, item: &&Item| sum.saturating_add(item.width()).saturating_add(GAP);
    row.iter().fold(0, add).saturating_sub(GAP)
}

/// The items that are shown in a number of rows, by row, and what counts the others at the end, where no item is.
fn shown(items: &[Item], width: u16, height: u16) -> (Vec<Vec<&Item>>, Option<String>) {
    let mut rows = arrange(items, width, height);
    let left_out = |rows: &[Vec<&Item>]| items.len() - rows.iter().map(Vec::len).sum::<usize>();
    let mut more = format!(" +{} more", left_out(&rows));
    while left_out(&rows) > 0 && rows.len() == usize::from(height) {
        let Some(last) = rows.last_mut() else { break };
        if taken(last).saturating_add(pen::width(&more)) <= width {
            break;
        }
        if height == 1 && last.len() == 1 {
            more = format!(" +{}", left_out(&rows));
            break;
        }
        last.pop();
        if last.is_empty() {
            // Its row holds the count.
            rows.pop();
        }
        more = format!(" +{} more", left_out(&rows));
    }
    let is_told = left_out(&rows) > 0 && !rows.is_empty();
    (rows, is_told.then_some(more))
}

/// Draws the items; those that do not fit are counted.
pub(super) fn draw(area: Rect, canvas: &mut Canvas, items: &[Item], look: &Look) {
    let (rows, more) = shown(items, area.width, area.height);
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    for (y, row) in (area.y..).zip(&rows) {
        let mut x = area.x;
        for item in row {
            if !item.mark.is_empty() {
                x = pen.text(x, y, &item.mark, item.style) + 1;
            }
            x = pen.text(x, y, &item.text, item.text_style).saturating_add(GAP);
        }
    }
    if let Some(more) = more {
        pen.ending(area.right(), area.bottom() - 1, &more, look.theme.dim);
    }
}
