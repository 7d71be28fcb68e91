//! Rows and columns of values.

use mlsys_lab::frame::Table;
use mlsys_lab::value::Value;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::pen::{self, Pen};
use crate::ui::theme::Look;

/// Columns between two columns.
const GAP: u16 = 2;
/// No column is made narrower than this while a wider one is left.
const NARROW: u16 = 4;

/// Draws titles, a rule and as many rows as fit; numbers stand at the right of their column.
pub(super) fn draw(area: Rect, buf: &mut Buffer, table: &Table, look: &Look) {
    let theme = &look.theme;
    let widths = fit(natural_widths(table, area.height), area.width);
    let mut pen = Pen::new(area, buf, &look.glyphs);
    let ruled = area.height > 3;
    let numeric = |column: usize| table.rows.iter().any(|row| is_number(row.get(column)));
    let mut put = |y: u16, column: usize, x: u16, text: &str, style| {
        let width = widths[column];
        if numeric(column) {
            let text = pen::cut(text, width, look.glyphs.ellipsis);
            let indent = width.saturating_sub(pen::width(&text));
            pen.within(x + indent, y, width - indent, &text, style);
        } else {
            pen.within(x, y, width, text, style);
        }
    };
    let starts: Vec<u16> = widths
        .iter()
        .scan(area.x, |next, width| {
            let start = *next;
            *next = next.saturating_add(width + GAP);
            Some(start)
        })
        .collect();
    for (column, (x, title)) in starts.iter().zip(&table.columns).enumerate() {
        put(area.y, column, *x, title, theme.title);
    }
    let top = area.y + 1 + u16::from(ruled);
    let rows = usize::from(area.bottom().saturating_sub(top));
    let shown = if table.rows.len() <= rows {
        rows
    } else {
        rows.saturating_sub(1)
    };
    for (y, row) in (top..).zip(table.rows.iter().take(shown)) {
        for (column, (x, value)) in starts.iter().zip(row).enumerate() {
            put(y, column, *x, &value.to_string(), theme.text);
        }
    }
    if ruled {
        let total = widths
            .iter()
            .fold(0_u16, |sum, w| sum.saturating_add(w + GAP));
        let total = total.saturating_sub(GAP).min(area.width);
        pen.run(
            area.x,
            area.y + 1,
            total,
            look.glyphs.horizontal,
            theme.border,
        );
    }
    if shown < table.rows.len() && rows > 0 {
        let more = format!(
            "{} {} more rows",
            look.glyphs.ellipsis,
            table.rows.len() - shown
        );
        pen.text(area.x, area.bottom() - 1, &more, theme.dim);
    }
}

fn is_number(value: Option<&Value>) -> bool {
    value.is_some_and(|v| v.as_f64().is_some())
}

/// The width each column would like, by the rows that can be seen.
fn natural_widths(table: &Table, height: u16) -> Vec<u16> {
    let seen = &table.rows[..table.rows.len().min(usize::from(height))];
    let width = |(column, title): (usize, &String)| {
        let cells = seen.iter().filter_map(|row| row.get(column));
        let cells = cells.map(|value| pen::width(&value.to_string()));
        cells.chain([pen::width(title)]).max().unwrap_or(0)
    };
    table.columns.iter().enumerate().map(width).collect()
}

/// Takes from the widest column until all fit side by side.
fn fit(mut widths: Vec<u16>, room: u16) -> Vec<u16> {
    let gaps = usize::from(GAP) * widths.len().saturating_sub(1);
    let total = |widths: &[u16]| widths.iter().map(|w| usize::from(*w)).sum::<usize>() + gaps;
    while total(&widths) > usize::from(room) {
        let over = total(&widths) - usize::from(room);
        let Some(widest) = widths.iter_mut().max().filter(|w| **w > NARROW) else {
            break;
        };
        // In few steps, whatever the width, and never far below the others.
        let cut = u16::try_from(over)
            .unwrap_or(u16::MAX)
            .min((*widest - NARROW).div_ceil(2));
        *widest -= cut.max(1);
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn the_widest_columns_give_way() {
        assert_eq!(fit(vec![5, 9], 30), [5, 9]);
        let fitted = fit(vec![6, 60_000, 8], 40);
        assert_eq!((fitted[0], fitted[2]), (6, 8));
        assert!(fitted.iter().sum::<u16>() + 4 <= 40);
        assert_eq!(fit(vec![9, 9], 3), [4, 4]);
        assert!(fit(vec![], 3).is_empty());
    }
}
