//! Rows of cells, and one cell, in words.

use mlsys_lab::frame::{CellRow, Cells};

use crate::text;

/// Stretches of one row that are told one by one; of more the kinds are counted.
const MOST_STRETCHES: usize = 9;

/// A row: `taken 0 to 15, not taken 16 to 31`, or with what stands in the cells `0 read 3.5, 1 read 4`.
pub(super) fn stretches(cells: &Cells, row: &CellRow) -> String {
    let present = || row.cells.iter().enumerate();
    if present().any(|(_, cell)| cell.as_ref().is_some_and(|cell| !cell.text.is_empty())) {
        let text = present().filter_map(|(column, cell)| {
            let cell = cell.as_ref()?;
            let column = cells.first.saturating_add(column);
            let text = format!("{column} {} {}", cells.name(cell), cell.text);
            Some(text.trim_end().to_owned())
        });
        return text.collect::<Vec<_>>().join(", ");
    }
    let name = |kind: usize| cells.kinds.get(kind).map_or("", |kind| kind.name.as_str());
    let found = row.alike();
    let found: Vec<_> = found.iter().filter_map(|a| Some((a.kind?, a))).collect();
    if found.len() <= MOST_STRETCHES {
        let text = found.iter().map(|(kind, alike)| {
            let number = |column: usize| cells.first.saturating_add(column);
            let (first, last) = (number(alike.first), number(alike.last));
            if first == last {
                format!("{} {first}", name(*kind))
            } else {
                format!("{} {first} to {last}", name(*kind))
            }
        });
        return text.collect::<Vec<_>>().join(", ");
    }
    let counted = cells.kinds.iter().enumerate().filter_map(|(place, kind)| {
        let count = row.cells.iter().flatten().filter(|cell| cell.kind == place).count();
        (count > 0).then(|| format!("{count} {}", kind.name))
    });
    counted.collect::<Vec<_>>().join(", ")
}

pub(super) fn cell_words(cells: &Cells, row: usize, column: usize) -> Option<String> {
    let of = cells.rows.get(row)?;
    let (across, number) = (text::or(&cells.across, "column"), cells.first.saturating_add(column));
    let place = format!("{}, {across} {number}", of.label);
    let place = place.trim_start_matches(", ");
    let mut text = match cells.at(row, column) {
        None => format!("{place}: nothing"),
        Some(cell) => format!("{place}: {} {}", cells.name(cell), cell.text),
    };
    text.truncate(text.trim_end().len());
    if !of.remark.is_empty() {
        text.push_str(&format!("; {}", of.remark));
    }
    Some(text)
}
