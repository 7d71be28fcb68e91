//! Rows of cells, and one cell, in words.

use mlsys_lab::frame::{CellRow, Cells};

use crate::text;

/// Stretches of one row that are told one by one; of more the kinds are counted.
const MOST_STRETCHES: usize = 9;

/// A row: `taken 0 to 15, not taken 16 to 31`, or with what stands in the cells `0 read 3.5, 1 read 4`.
fn stretches(cells: &Cells, row: &CellRow) -> String {
    let present = || row.cells.iter().enumerate();
    if present().any(|(_, cell)| cell.as_ref().is_some_and(|cell| !cell.text.is_empty())) {
        let text = present().filter_map(|(column, cell)| {
            let cell = cell.as_ref()?;
            let column = cells.first.saturating_add(column).to_string();
            // The columns of rows without names are told by their order.
            let column = if row.label.is_empty() { "" } else { &column };
            let name = cells.name(cell);
            let text = if name == cell.text { "" } else { &cell.text };
            Some(format!("{column} {name} {text}").trim().to_owned())
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

/// Rows that are told, a line each; those without names that are alike and follow each other in one.
pub(super) fn told_rows<'c>(cells: &Cells, rows: impl Iterator<Item = &'c CellRow>) -> Vec<String> {
    let mut told: Vec<(usize, String)> = Vec::new();
    for row in rows {
        let text = stretches(cells, row);
        let text = match (row.label.as_str(), row.remark.as_str()) {
            ("", "") => text,
            ("", remark) => format!("{text}; {remark}"),
            (label, "") => format!("{label}: {text}"),
            (label, remark) => format!("{label}: {text}; {remark}"),
        };
        match told.last_mut() {
            Some((count, before)) if row.label.is_empty() && *before == text => *count += 1,
            Some(_) | None => told.push((1, text)),
        }
    }
    let line = |(count, text)| if count == 1 { text } else { format!("{count} rows: {text}") };
    told.into_iter().map(line).collect()
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

#[cfg(test)]
mod tests {
    use mlsys_lab::frame::{Cell, Kind, Tone};

    use super::*;

    #[test]
    fn rows_without_names_are_told_once_and_cells_without_repetition() {
        let kind = |name: &str| Kind { name: name.to_owned(), tone: Tone::First };
        let cell = |kind: usize, text: &str| Some(Cell { kind, text: text.to_owned() });
        let row = |label: &str, cells: Vec<Option<Cell>>| CellRow {
            label: label.to_owned(),
            cells,
            remark: String::new(),
        };
        let halves = || vec![cell(0, "A"), cell(1, "B")];
        let sum = vec![cell(2, "+")];
        let cells = Cells {
            kinds: vec![kind("A"), kind("B"), kind("part of a sum")],
            rows: vec![row("", halves()), row("", halves()), row("", sum.clone()), row("out", sum)],
            ..Cells::default()
        };
        let told = told_rows(&cells, cells.rows.iter()).join("; ");
        assert_eq!(told, "2 rows: A, B; part of a sum +; out: 0 part of a sum +");
    }
}
