//! Tables as lines of text.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::{joints, wrap, wrap_spans};
use crate::canvas::cells;

/// Rows as lines, each column as wide as its widest cell; no line ends in spaces.
pub fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    fitted(rows, usize::from(u16::MAX)).concat()
}

/// Columns between two cells.
pub(crate) const GAP: u16 = 2;

/// Takes from the widest columns above their floors until all fit next to each other, as far as the floors allow.
pub(crate) fn squeeze(widths: &mut [u16], floors: &[u16], room: u16) {
    while total(widths) > usize::from(room) {
        let over = total(widths) - usize::from(room);
        let above = widths.iter_mut().zip(floors).filter(|(w, floor)| **w > **floor);
        let Some((widest, floor)) = above.max_by_key(|(width, _)| **width) else { break };
        // In few steps, whatever the width, and never far below the others.
        *widest -= cells(over).min((*widest - floor).div_ceil(2)).max(1);
    }
}

/// The columns that all take with the gaps between them.
pub(crate) fn total(widths: &[u16]) -> usize {
    let gaps = usize::from(GAP) * widths.len().saturating_sub(1);
    widths.iter().map(|width| usize::from(*width)).sum::<usize>() + gaps
}

/// The width of the longest part that [`wrap`] leaves whole.
pub(crate) fn unbroken(text: &str) -> u16 {
    let pieces = text.split(' ').flat_map(joints);
    cells(pieces.map(UnicodeWidthStr::width).max().unwrap_or(0))
}

/// The lines of each row of a table, each cell after some of the spaces that its column has beyond it; cells are wrapped
/// where the table is wider than `width`.
pub(crate) fn wrapped_columns(
    rows: &[Vec<String>],
    width: usize,
    before: impl Fn(usize, usize) -> usize,
) -> Vec<Vec<String>> {
    let room = cells(width);
    let mut widths = widest(rows, &|cell| cells(cell.width()));
    // First at spaces and joints, then anywhere.
    squeeze(&mut widths, &widest(rows, &unbroken), room);
    let floors = vec![1; widths.len()];
    squeeze(&mut widths, &floors, room);
    laid_out(rows, &widths, before)
}

/// The most that a cell of each column takes.
fn widest(rows: &[Vec<String>], of: &dyn Fn(&str) -> u16) -> Vec<u16> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let column = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    (0..count).map(|at| column(at).map(|cell| of(cell)).max().unwrap_or(0)).collect()
}

/// The lines of each row of a table that is at most `width` wide: cells are wrapped at spaces. Where a column would get
/// too narrow to read, the cells of a row follow each other instead, and its later lines are indented.
pub fn fitted(rows: &[Vec<String>], width: usize) -> Vec<Vec<String>> {
    const READABLE: u16 = 24;
    const INDENT: usize = 4;
    const SEPARATOR: &str = " | ";
    let natural = widest(rows, &|cell| cells(cell.width()));
    let word = |cell: &str| cells(cell.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0));
    let mut floors = widest(rows, &word);
    for (floor, natural) in floors.iter_mut().zip(&natural) {
        *floor = (*floor).max(READABLE).min(*natural);
    }
    let mut widths = natural;
    squeeze(&mut widths, &floors, cells(width));
    let mut lines = if total(&widths) <= width {
        laid_out(rows, &widths, |_, _| 0)
    } else {
        let row = |row: &Vec<String>| {
            let cells: Vec<&str> =
                row.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).collect();
            let text = [(cells.join(SEPARATOR), Style::default())];
            let lines = wrap_spans(&text, width, Span::raw(""), Span::raw(" ".repeat(INDENT)));
            lines.iter().map(Line::to_string).collect()
        };
        rows.iter().map(row).collect::<Vec<Vec<String>>>()
    };
    for line in lines.iter_mut().flatten() {
        line.truncate(line.trim_end().len());
    }
    lines
}

/// The lines of each row as it is, one a row. A cell that is much longer than others shifts those of its own row alone.
pub fn unfitted(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    const LONG: u16 = 60;
    let widths =
        widest(rows, &|cell| Some(cells(cell.width())).filter(|wide| *wide <= LONG).unwrap_or(0));
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| {
            let spaces = usize::from(*width).saturating_sub(cell.width());
            format!("{cell}{}", " ".repeat(spaces))
        });
        let line = cells.collect::<Vec<_>>().join(&" ".repeat(usize::from(GAP)));
        vec![line.trim_end().to_owned()]
    };
    rows.iter().map(line).collect()
}

fn laid_out(
    rows: &[Vec<String>],
    widths: &[u16],
    before: impl Fn(usize, usize) -> usize,
) -> Vec<Vec<String>> {
    let lines = |row: &Vec<String>| {
        let wrapped: Vec<Vec<String>> =
            row.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        let line = |at: usize| {
            let cells = wrapped.iter().zip(widths).enumerate().map(|(column, (lines, width))| {
                let part = lines.get(at).map_or("", |line| line.trim_end());
                let spaces = usize::from(*width).saturating_sub(part.width());
                let left = before(column, spaces);
                format!("{}{part}{}", " ".repeat(left), " ".repeat(spaces - left))
            });
            cells.collect::<Vec<_>>().join(&" ".repeat(usize::from(GAP)))
        };
        (0..height).map(line).collect()
    };
    rows.iter().map(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_in_text() {
        let row = |cells: &[&str]| cells.iter().map(ToString::to_string).collect::<Vec<_>>();
        let rows = [row(&["µs", "1"]), row(&["seconds", ""]), row(&["a"])];
        assert_eq!(aligned(&rows), ["µs       1", "seconds", "a"]);
        let rows = [row(&["漢字", "1"]), row(&["abcdef", "2"])];
        assert_eq!(aligned(&rows), ["漢字    1", "abcdef  2"]);
        assert!(aligned(&[]).is_empty());
    }

    #[test]
    fn wide_tables_wrap_their_cells() {
        let row = |cells: &[&str]| cells.iter().map(ToString::to_string).collect::<Vec<_>>();
        let rows = [row(&["name", "bytes"]), row(&["a long name", "12345"])];
        let lines = wrapped_columns(&rows, 11, |column, spaces| spaces * column);
        assert_eq!(
            lines,
            [
                vec!["name  bytes".to_owned()],
                vec!["a     12345".to_owned(), "long       ".to_owned(), "name       ".to_owned()]
            ]
        );
        for width in 5..40 {
            let lines = wrapped_columns(&rows, width, |_, _| 0).concat();
            assert!(lines.iter().all(|line| line.width() <= width), "{width}: {lines:?}");
        }
    }

    #[test]
    fn a_table_fits_and_loses_no_letter() {
        let row = |cells: &[&str]| cells.iter().map(ToString::to_string).collect::<Vec<_>>();
        let rows = [
            row(&[
                "2026-11-24T00-01-00.445Z-train-8154",
                "systems/training-loop",
                "cpu",
                "finished",
            ]),
            row(&["b", "", "cpu", "loss 0.004, validation_loss 0.006, and a long remark about it"]),
        ];
        let all = rows.concat().concat().replace(' ', "");
        for width in 40..130 {
            let lines = fitted(&rows, width).concat();
            assert!(lines.iter().all(|line| line.width() <= width), "{width}: {lines:?}");
            let mut kept: Vec<char> = lines.concat().replace([' ', '|'], "").chars().collect();
            let mut wanted: Vec<char> = all.chars().collect();
            kept.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(kept, wanted, "{width}");
        }
        // Names are whole wherever they have room.
        assert!(fitted(&rows, 60)[0][0].starts_with("2026-11-24T00-01-00.445Z-train-8154"));
        let narrow = fitted(&rows, 60);
        assert_eq!(
            narrow[1],
            ["b | cpu | loss 0.004, validation_loss 0.006, and a long", "    remark about it"]
        );
    }

    #[test]
    fn a_line_a_row_has_every_value_whole() {
        let row = |cells: &[&str]| cells.iter().map(ToString::to_string).collect::<Vec<_>>();
        let long = "x".repeat(70);
        let lines = unfitted(&[row(&["a", "b", "c"]), row(&["aa", &long, "c"])]).concat();
        assert_eq!(lines, ["a   b  c".to_owned(), format!("aa  {long}  c")]);
    }
}
