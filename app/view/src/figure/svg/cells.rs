//! Tables and texts.

use mlsys_lab::frame::Table;

use super::page::{Anchor, LINE, MARGIN, Page, WIDTH, cut, width};
use crate::figure::ink;

/// Rows of one figure; the file of values has them all.
const MOST_ROWS: usize = 200;
/// Columns of one figure.
const MOST_COLUMNS: usize = 24;
/// Letters in a cell.
const LONGEST: usize = 40;

/// Draws titles, a rule and rows; numbers stand at the right of their column.
pub(super) fn table(page: &mut Page, table: &Table) {
    let (table, notes) = &table.numbered();
    let columns = table.columns.len().min(MOST_COLUMNS);
    let rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .take(MOST_ROWS)
        .map(|row| row.iter().take(columns).map(|v| cut(&v.to_string(), LONGEST)).collect())
        .collect();
    let numeric = |column: usize| {
        table.rows.iter().any(|row| row.get(column).is_some_and(|v| v.as_f64().is_some()))
    };
    let title =
        |column: usize| table.columns.get(column).map_or(String::new(), |t| cut(t, LONGEST));
    let wide = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell));
        cells.fold(width(&title(column)) * 1.1, f64::max)
    };
    let widths: Vec<f64> = (0..columns).map(wide).collect();
    let total: f64 = widths.iter().map(|w| w + 20.0).sum();
    // What is too wide for the page is squeezed rather than cut: a reader can enlarge it.
    let squeeze = ((WIDTH - 2.0 * MARGIN) / total.max(1.0)).min(1.0);
    let starts: Vec<f64> = widths
        .iter()
        .scan(MARGIN, |x, w| {
            let start = *x;
            *x += (w + 20.0) * squeeze;
            Some(start)
        })
        .collect();
    let put = |page: &mut Page, column: usize, text: &str, class: &str| {
        let (Some(x), Some(w)) = (starts.get(column), widths.get(column)) else {
            return;
        };
        if numeric(column) {
            page.styled((x + w * squeeze, page.y), Anchor::End, text, class, ink::INK);
        } else {
            page.styled((*x, page.y), Anchor::Start, text, class, ink::INK);
        }
    };
    page.y += 8.0;
    for column in 0..columns {
        put(page, column, &title(column), "b");
    }
    let end = (MARGIN + total * squeeze).min(WIDTH - MARGIN);
    page.line((MARGIN, page.y + 6.0), (end, page.y + 6.0), ink::INK, "none");
    page.y += LINE + 4.0;
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            put(page, column, cell, "");
        }
        page.y += LINE;
    }
    if table.rows.len() > MOST_ROWS {
        let more = format!("and {} more rows", table.rows.len() - MOST_ROWS);
        page.text((MARGIN, page.y), Anchor::Start, &more, ink::DIM);
        page.y += LINE;
    }
    for note in notes {
        page.told(note);
    }
}

/// Draws lines of text in letters of one width.
pub(super) fn text(page: &mut Page, text: &str) {
    const LETTERS: usize = 110;
    page.y += 8.0;
    let lines: Vec<Vec<char>> =
        text.lines().take(2 * MOST_ROWS).map(|l| l.chars().collect()).collect();
    let mut drawn = 0;
    for line in &lines {
        let parts: Vec<&[char]> =
            if line.is_empty() { vec![&[]] } else { line.chunks(LETTERS).collect() };
        for part in parts {
            if drawn == MOST_ROWS {
                page.text((MARGIN, page.y), Anchor::Start, "…", ink::DIM);
                page.y += LINE;
                return;
            }
            let part: String = part.iter().collect();
            page.styled((MARGIN, page.y), Anchor::Start, &part, "m", ink::INK);
            page.y += LINE;
            drawn += 1;
        }
    }
}
