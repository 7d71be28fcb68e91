//! What is said of single cells of a table.

use serde::{Deserialize, Serialize};

/// Sentences about cells: where a value comes from, since when it holds, what was wrong with it.
///
/// Many cells share a sentence, which is kept once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes {
    all: Vec<String>,
    /// Row, column, and the place of the sentence; in the order of rows and columns.
    cells: Vec<(usize, usize, usize)>,
}

impl Notes {
    /// Whether nothing is said of any cell.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Says something of a cell, in place of what was said of it before.
    pub fn put(&mut self, row: usize, column: usize, said: &str) {
        let known = self.all.iter().position(|other| other == said);
        let place = known.unwrap_or_else(|| {
            self.all.push(said.to_owned());
            self.all.len() - 1
        });
        match self.find(row, column) {
            Ok(at) => self.cells[at].2 = place,
            Err(at) => self.cells.insert(at, (row, column, place)),
        }
    }

    /// What is said of a cell.
    pub fn of(&self, row: usize, column: usize) -> Option<&str> {
        let (_, _, place) = self.cells.get(self.find(row, column).ok()?)?;
        self.all.get(*place).map(String::as_str)
    }

    /// Every sentence once, in the order in which they were said.
    pub fn all(&self) -> &[String] {
        &self.all
    }

    /// What is said of a row's cells, each sentence as `say` gives it from its place and its text: first what most cells
    /// share, then the others with their column. Empty if nothing is said.
    pub fn of_row(
        &self,
        row: usize,
        columns: &[String],
        say: impl Fn(usize, &str) -> String,
    ) -> String {
        let from = self.cells.partition_point(|(other, ..)| *other < row);
        let of_row = self.cells.iter().skip(from);
        let of_row: Vec<(usize, usize)> = of_row
            .take_while(|(other, ..)| *other == row)
            .map(|(_, column, place)| (*column, *place))
            .collect();
        let uses = |place: usize| of_row.iter().filter(|(_, other)| *other == place).count();
        // Of equally frequent ones the first.
        let most = of_row.iter().map(|(_, place)| *place).rev();
        let Some(most) = most.max_by_key(|place| uses(*place)) else {
            return String::new();
        };
        let said = |place: usize| say(place, self.all.get(place).map_or("", String::as_str));
        let mut parts = vec![said(most)];
        for (column, place) in of_row.iter().filter(|(_, place)| *place != most) {
            let title = columns.get(*column).map_or("", String::as_str);
            parts.push(format!("{title}: {}", said(*place)));
        }
        parts.join("; ")
    }

    fn find(&self, row: usize, column: usize) -> Result<usize, usize> {
        self.cells.binary_search_by_key(&(row, column), |(row, column, _)| (*row, *column))
    }
}
