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

/// How many of the items there is room for.
pub(super) fn count(items: &[Item], width: u16, rows: u16) -> usize {
    arrange(items, width, rows).iter().map(Vec::len).sum()
}

/// An area above the items, and theirs; a picture of few rows goes without.
pub(super) fn below(area: Rect, items: &[Item]) -> [Rect; 2] {
    let rows = if area.height >= 8 { rows(items, area.width, (area.height / 5).max(2)) } else { 0 };
    split(area, rows)
}

/// The columns of a row of items.
fn taken(row: &[&Item]) -> u16 {
    let add = |sum: u16, item: &&Item| sum.saturating_add(item.width()).saturating_add(GAP);
    row.iter().fold(0, add).saturating_sub(GAP)
}

/// Draws the items; those that do not fit are counted at the end, where no item is.
pub(super) fn draw(area: Rect, canvas: &mut Canvas, items: &[Item], look: &Look) {
    let mut rows = arrange(items, area.width, area.height);
    let left_out = |rows: &[Vec<&Item>]| items.len() - rows.iter().map(Vec::len).sum::<usize>();
    let mut more = format!(" +{} more", left_out(&rows));
    while left_out(&rows) > 0 && rows.len() == usize::from(area.height) {
        let Some(last) = rows.last_mut() else { break };
        if taken(last).saturating_add(pen::width(&more)) <= area.width {
            break;
        }
        if area.height == 1 && last.len() == 1 {
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
    if left_out(&rows) > 0 && !rows.is_empty() {
        pen.ending(area.right(), area.bottom() - 1, &more, look.theme.dim);
    }
}
