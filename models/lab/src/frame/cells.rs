//! Cells in rows, each of one of a few kinds: lanes of a warp, bytes of a sector, units of a chip.

use serde::{Deserialize, Serialize};

/// Cells in rows, each of one of a few kinds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cells {
    /// What is counted from the left, such as "lane"; empty if the columns have no numbers.
    pub across: String,
    /// The number of the first column, where not all are drawn.
    pub first: usize,
    /// Columns between two lines down, such as the 8 floats of a sector; 0 for none.
    pub group: usize,
    /// What a cell can be, for the legend.
    pub kinds: Vec<Kind>,
    pub rows: Vec<CellRow>,
    /// A sentence on what is seen; may be empty.
    pub note: String,
    /// The row and the column that stay in sight where not all cells fit, such as where something happens right now.
    pub focus: Option<(usize, usize)>,
}

/// What a cell can be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// Its name, such as "used".
    pub name: String,
    /// How it stands out.
    pub tone: Tone,
}

/// How a kind of cell stands out from the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// Lit: what the picture is about.
    #[default]
    First,
    /// Lit otherwise.
    Second,
    /// Lit in a third way.
    Third,
    /// Not lit: there, but at rest or for nothing.
    Faint,
    /// Hollow: there is nothing in it.
    Empty,
    /// Its text alone, without a glyph and not in the legend.
    Text,
    /// To be looked at.
    Warn,
    /// Wrong.
    Bad,
    /// Of an earlier run, and not there now.
    Ghost,
    /// What the step that was done last acts on.
    Now,
}

/// One row of cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellRow {
    /// What the row is, such as "warp 3". One without name, cells and remark is a line across.
    pub label: String,
    /// The cells; absent where there is none.
    pub cells: Vec<Option<Cell>>,
    /// What stands behind the row, such as "2 passes".
    #[serde(default)]
    pub remark: String,
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// What it is, as a place in [`Cells::kinds`].
    pub kind: usize,
    /// What stands in it, such as its value; may be empty.
    #[serde(default)]
    pub text: String,
}

/// Neighbouring cells of a row that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alike {
    /// The first column.
    pub first: usize,
    /// The last column.
    pub last: usize,
    /// Their kind; absent where there are no cells.
    pub kind: Option<usize>,
}

impl Cells {
    /// Columns of the longest row.
    pub fn columns(&self) -> usize {
        let rows = self.rows.iter();
        rows.map(|row| row.cells.len()).max().unwrap_or(0)
    }

    /// Whether a line down stands before a column, counted from the first that is seen.
    pub fn is_group(&self, column: usize) -> bool {
        self.group > 0 && column.is_multiple_of(self.group)
    }

    /// A cell, if there is one.
    pub fn at(&self, row: usize, column: usize) -> Option<&Cell> {
        self.rows.get(row)?.cells.get(column)?.as_ref()
    }

    /// The name of a cell's kind; empty if it has none.
    pub fn name(&self, cell: &Cell) -> &str {
        self.kinds.get(cell.kind).map_or("", |kind| &kind.name)
    }
}

impl CellRow {
    /// Whether it is a line across.
    pub fn is_rule(&self) -> bool {
        self.label.is_empty() && self.cells.is_empty() && self.remark.is_empty()
    }

    /// The row as stretches of cells of one kind, from the left.
    pub fn alike(&self) -> Vec<Alike> {
        let mut found: Vec<Alike> = Vec::new();
        for (column, cell) in self.cells.iter().enumerate() {
            let kind = cell.as_ref().map(|cell| cell.kind);
            match found.last_mut() {
                Some(alike) if alike.kind == kind => alike.last = column,
                Some(_) | None => found.push(Alike { first: column, last: column, kind }),
            }
        }
        found
    }
}

impl Cell {
    /// A cell of a kind with nothing in it.
    pub fn new(kind: usize) -> Self {
        Self { kind, text: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_falls_into_stretches_of_one_kind() {
        let kinds = [Some(1), Some(1), None, Some(0), Some(1)];
        let row =
            CellRow { cells: kinds.map(|kind| kind.map(Cell::new)).to_vec(), ..CellRow::default() };
        let found: Vec<(usize, usize, Option<usize>)> =
            row.alike().iter().map(|a| (a.first, a.last, a.kind)).collect();
        assert_eq!(found, [(0, 1, Some(1)), (2, 2, None), (3, 3, Some(0)), (4, 4, Some(1))]);
        assert!(CellRow::default().alike().is_empty());
    }

    #[test]
    fn the_longest_row_counts() {
        let row = |length: usize| CellRow {
            cells: vec![Some(Cell::new(0)); length],
            ..CellRow::default()
        };
        let cells = Cells { rows: vec![row(2), row(5), row(0)], ..Cells::default() };
        assert_eq!(cells.columns(), 5);
        assert!(cells.at(0, 2).is_none() && cells.at(9, 0).is_none());
        assert_eq!(cells.name(&Cell::new(3)), "");
    }
}
