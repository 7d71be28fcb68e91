//! Rows and columns of values, the order of rows, and what is known of a cell besides its value.

mod filter;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::named_enum;
use crate::value::Value;
use filter::{column, number};

pub use filter::{Filter, FilterError};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Column titles, with units where there are any.
    pub columns: Vec<String>,
    /// Rows, as long as there are columns.
    pub rows: Vec<Vec<Value>>,
    /// Notes on single cells, such as where a value comes from; empty for most tables.
    #[serde(default, skip_serializing_if = "Notes::is_empty")]
    pub notes: Notes,
}

/// By which column rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    pub column: usize,
    pub order: SortOrder,
}

named_enum! {
    /// The order of sorted rows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SortOrder {
        Ascending = "smallest first",
        Descending = "largest first",
    }
}

impl Sort {
    /// By a column upwards; if it is already, downwards; if it is already, not at all.
    pub fn next(now: Option<Self>, column: usize) -> Option<Self> {
        let order = match now.filter(|sort| sort.column == column).map(|sort| sort.order) {
            None => SortOrder::Ascending,
            Some(SortOrder::Ascending) => SortOrder::Descending,
            Some(SortOrder::Descending) => return None,
        };
        Some(Self { column, order })
    }
}

impl Table {
    pub fn new(columns: Vec<String>, rows: Vec<Vec<Value>>) -> Self {
        Self { columns, rows, notes: Notes::default() }
    }

    /// The rows that are shown, in their order, as places in the table.
    pub fn shown(&self, sort: Option<Sort>, filter: Option<&Filter>) -> Vec<usize> {
        let holds = |row: &Vec<Value>| filter.is_none_or(|filter| filter.holds(row));
        let shown = self.rows.iter().enumerate().filter(|(_, row)| holds(row));
        let mut shown: Vec<usize> = shown.map(|(index, _)| index).collect();
        if let Some(sort) = sort {
            let cell = |index: &usize| self.cell(*index, sort.column);
            shown.sort_by(|a, b| {
                let (a, b) = (cell(a), cell(b));
                let order = compare(a, b);
                match sort.order {
                    SortOrder::Ascending => order,
                    // What has no value stays at the end.
                    SortOrder::Descending if a.is_some() && b.is_some() => order.reverse(),
                    SortOrder::Descending => order,
                }
            });
        }
        shown
    }

    /// The column that is meant: by its whole title, its title without the unit, or the one title that begins so.
    ///
    /// # Errors
    /// There is none, or there are several; the message lists all.
    pub fn column(&self, name: &str) -> Result<usize, FilterError> {
        column(name, &self.columns)
    }

    /// The table with one more column, in which the notes of each row stand by number, and those notes with their
    /// numbers from 1; the table as it is where there are none.
    pub fn numbered(&self) -> (Self, Vec<String>) {
        let number = |place: usize, _: &str| (place + 1).to_string();
        let notes = self.notes.all().iter().enumerate();
        let notes = notes.map(|(place, note)| format!("{}  {note}", place + 1));
        (self.with_notes(number), notes.collect())
    }

    /// The table with one more column, in which the notes of each row stand in words.
    pub fn annotated(&self) -> Self {
        self.with_notes(|_, note| note.to_owned())
    }

    fn with_notes(&self, say: impl Fn(usize, &str) -> String) -> Self {
        let mut table = Self::new(self.columns.clone(), self.rows.clone());
        if self.notes.is_empty() {
            return table;
        }
        // A table of which a column is called so already keeps that name for it.
        let is_taken = self.columns.iter().any(|title| title == "source");
        let title = if is_taken { "source of each" } else { "source" };
        table.columns.push(title.to_owned());
        for (index, row) in table.rows.iter_mut().enumerate() {
            row.resize(self.columns.len(), Value::from(""));
            row.push(self.notes.row_text(index, &self.columns, &say).into());
        }
        table
    }

    /// The value of a cell; nothing where there is none, which an empty text says, too.
    pub fn cell(&self, row: usize, column: usize) -> Option<&Value> {
        let value = self.rows.get(row)?.get(column)?;
        (value.as_str() != Some("")).then_some(value)
    }
}

/// Numbers by size before texts by letter, then what there is none of.
fn compare(a: Option<&Value>, b: Option<&Value>) -> Ordering {
    match (a, b) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(a), Some(b)) => match (number(a), number(b)) {
            (Some(x), Some(y)) => x.total_cmp(&y),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => a.to_string().cmp(&b.to_string()),
        },
    }
}

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
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Notes something on a cell, in place of its note before.
    pub fn put(&mut self, row: usize, column: usize, note: &str) {
        let known = self.all.iter().position(|other| other == note);
        let place = known.unwrap_or_else(|| {
            self.all.push(note.to_owned());
            self.all.len() - 1
        });
        match self.find(row, column) {
            Ok(at) => self.cells[at].2 = place,
            Err(at) => self.cells.insert(at, (row, column, place)),
        }
    }

    pub fn at(&self, row: usize, column: usize) -> Option<&str> {
        let (_, _, place) = self.cells.get(self.find(row, column).ok()?)?;
        self.all.get(*place).map(String::as_str)
    }

    /// Every sentence once, in the order in which they were noted.
    pub fn all(&self) -> &[String] {
        &self.all
    }

    /// The notes on a row's cells, each sentence as `say` gives it from its place and its text: first what most cells
    /// share, then the others with their column. Empty without notes.
    fn row_text(
        &self,
        row: usize,
        columns: &[String],
        say: impl Fn(usize, &str) -> String,
    ) -> String {
        let from = self.cells.partition_point(|(other, ..)| *other < row);
        let notes = self.cells[from..].iter().take_while(|(other, ..)| *other == row);
        let notes: Vec<(usize, usize)> =
            notes.map(|(_, column, place)| (*column, *place)).collect();
        let uses = |place: usize| notes.iter().filter(|(_, other)| *other == place).count();
        // Of equally frequent ones the first.
        let most = notes.iter().map(|(_, place)| *place).rev();
        let Some(most) = most.max_by_key(|place| uses(*place)) else { return String::new() };
        let note = |place: usize| say(place, self.all.get(place).map_or("", String::as_str));
        let mut parts = vec![note(most)];
        for (column, place) in notes.iter().filter(|(_, place)| *place != most) {
            let title = columns.get(*column).map_or("", String::as_str);
            parts.push(format!("{title}: {}", note(*place)));
        }
        parts.join("; ")
    }

    fn find(&self, row: usize, column: usize) -> Result<usize, usize> {
        self.cells.binary_search_by_key(&(row, column), |(row, column, _)| (*row, *column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row = |name: &str, memory: i64, rate: Value| vec![name.into(), memory.into(), rate];
        Table::new(
            ["device", "memory (GB)", "rate"].map(str::to_owned).to_vec(),
            vec![
                row("A100", 80, 2039.0.into()),
                row("H200", 141, "not finite".into()),
                row("T4", 16, 320.0.into()),
                row("a10", 24, "600 GB/s".into()),
            ],
        )
    }

    fn names(sort: Option<Sort>, filter: Option<&Filter>) -> String {
        let table = table();
        let shown = table.shown(sort, filter);
        let names = shown.iter().map(|row| table.rows[*row][0].to_string());
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_column_sorts_up_then_down_then_not() {
        let mut sort = None;
        let mut seen = Vec::new();
        for _ in 0..3 {
            sort = Sort::next(sort, 2);
            seen.push(names(sort, None));
        }
        assert_eq!(seen, ["T4 a10 A100 H200", "H200 A100 a10 T4", "A100 H200 T4 a10"]);
        let other = Sort::next(Sort::next(None, 1), 0);
        assert_eq!(names(other, None), "A100 H200 T4 a10");
        assert_eq!(names(Sort::next(None, 99), None), "A100 H200 T4 a10");
    }

    #[test]
    fn missing_values_sort_last_both_ways() {
        let row = |name: &str, value: Value| vec![name.into(), value];
        let rows =
            vec![row("none", "".into()), row("large", 3_i64.into()), row("small", 1_i64.into())];
        let table = Table::new(["name", "value"].map(str::to_owned).to_vec(), rows);
        let upwards = Sort::next(None, 1);
        assert_eq!(table.shown(upwards, None), [2, 1, 0]);
        assert_eq!(table.shown(Sort::next(upwards, 1), None), [1, 2, 0]);
    }

    #[test]
    fn notes_belong_to_cells_and_equal_ones_are_kept_once() {
        let mut table = table();
        assert_eq!(table.notes.at(0, 0), None);
        table.notes.put(0, 1, "datasheet");
        table.notes.put(2, 1, "datasheet");
        table.notes.put(2, 2, "measured here");
        assert_eq!(table.notes.at(2, 1), Some("datasheet"));
        assert_eq!(table.notes.at(2, 0), None);
        assert_eq!(table.notes.at(9, 9), None);
        assert_eq!(table.notes.all(), ["datasheet", "measured here"]);
        let written = serde_json::to_string(&table).unwrap();
        assert_eq!(serde_json::from_str::<Table>(&written).unwrap(), table);
        let plain = serde_json::to_string(&self::table()).unwrap();
        assert!(!plain.contains("notes"), "{plain}");
        assert_eq!(serde_json::from_str::<Table>(&plain).unwrap(), self::table());
    }

    #[test]
    fn filters_compare_or_search_and_report_errors() {
        let table = table();
        for (text, expected) in [
            ("", "A100 H200 T4 a10"),
            ("a1", "A100 a10"),
            ("memory > 20", "A100 H200 a10"),
            ("memory (GB) <= 24", "T4 a10"),
            ("mem>=1_41", "H200"),
            ("rate != 320", "A100 H200 a10"),
            ("rate >= 600", "A100 a10"),
            ("device = t4", "T4"),
            ("device != t4", "A100 H200 a10"),
            ("rate > 1e9", ""),
        ] {
            let filter = Filter::read(text, &table.columns).unwrap();
            assert_eq!(names(None, filter.as_ref()), expected, "{text}");
        }
        for (text, reason) in [
            ("memry > 3", "there is no column 'memry'; there are: device, memory (GB), rate"),
            ("> 3", "a column stands before the comparison: device, memory (GB), rate"),
            ("rate >", "a number stands behind >, such as > 3"),
            ("rate < fast", "'fast' is not a number, and < compares numbers"),
            ("rate < nan", "'nan' is not a number, and < compares numbers"),
            ("=", "a column stands before the comparison: device, memory (GB), rate"),
        ] {
            let error = Filter::read(text, &table.columns).unwrap_err();
            assert_eq!(error.to_string(), reason);
        }
        let columns = ["rate a", "rate b"].map(str::to_owned);
        let error = Filter::read("ra > 1", &columns).unwrap_err();
        assert_eq!(error.to_string(), "several columns begin with 'ra': rate a, rate b");
    }

    #[test]
    fn notes_become_a_column_by_number_or_in_words() {
        let mut table = table();
        assert_eq!(table.numbered().0, table);
        for column in 0..3 {
            table.notes.put(0, column, "datasheet");
            table.notes.put(1, column, "slides");
        }
        table.notes.put(1, 2, "measured");
        let (numbered, notes) = table.numbered();
        assert_eq!(notes, ["1  datasheet", "2  slides", "3  measured"]);
        assert_eq!(numbered.columns.last().unwrap(), "source");
        let last = |table: &Table, row: usize| table.rows[row].last().unwrap().to_string();
        assert_eq!(last(&numbered, 0), "1");
        assert_eq!(last(&numbered, 1), "2; rate: 3");
        assert_eq!(last(&numbered, 2), "");
        assert_eq!(last(&table.annotated(), 1), "slides; rate: measured");
    }
}
