//! Rows and columns of values, which rows are shown and in which order, and what is known of a cell besides its value.

mod filter;
mod notes;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::value::Value;

pub use filter::Filter;
pub use notes::Notes;

/// Rows and columns of values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Column titles, with units where there are any.
    pub columns: Vec<String>,
    /// Rows, as long as there are columns.
    pub rows: Vec<Vec<Value>>,
    /// What is said of single cells, such as where a value comes from; empty for most tables.
    #[serde(default, skip_serializing_if = "Notes::is_empty")]
    pub notes: Notes,
}

/// By which column rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// The column.
    pub column: usize,
    /// The order.
    pub order: Order,
}

/// The order of sorted rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The smallest first.
    Ascending,
    /// The largest first.
    Descending,
}

impl Order {
    /// The order in words.
    pub fn said(self) -> &'static str {
        match self {
            Self::Ascending => "smallest first",
            Self::Descending => "largest first",
        }
    }
}

impl Sort {
    /// By a column upwards; if it is already, downwards; if it is already, not at all.
    pub fn next(now: Option<Self>, column: usize) -> Option<Self> {
        let order = match now.filter(|sort| sort.column == column).map(|sort| sort.order) {
            None => Order::Ascending,
            Some(Order::Ascending) => Order::Descending,
            Some(Order::Descending) => return None,
        };
        Some(Self { column, order })
    }
}

impl Table {
    /// A table of which nothing is said but its values.
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
                    Order::Ascending => order,
                    // What has no value stays at the end.
                    Order::Descending if a.is_some() && b.is_some() => order.reverse(),
                    Order::Descending => order,
                }
            });
        }
        shown
    }

    /// The column that is meant: by its whole title, its title without the unit, or the one title that begins so.
    ///
    /// # Errors
    /// There is none, or there are several; the message lists all.
    pub fn column(&self, name: &str) -> Result<usize, String> {
        column(name, &self.columns)
    }

    /// The table with one more column, in which the notes of each row stand by number, and those notes with their
    /// numbers from 1; the table as it is where there are none.
    pub fn numbered(&self) -> (Self, Vec<String>) {
        let number = |place: usize, _: &str| (place + 1).to_string();
        let notes = self.notes.all().iter().enumerate();
        let notes = notes.map(|(place, said)| format!("{}  {said}", place + 1));
        (self.with_notes(number), notes.collect())
    }

    /// The table with one more column, in which the notes of each row stand in words.
    pub fn annotated(&self) -> Self {
        self.with_notes(|_, said| said.to_owned())
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
            row.push(self.notes.of_row(index, &self.columns, &say).into());
        }
        table
    }

    /// The value of a cell; nothing where there is none, which an empty text says, too.
    pub fn cell(&self, row: usize, column: usize) -> Option<&Value> {
        let value = self.rows.get(row)?.get(column)?;
        (value.as_str() != Some("")).then_some(value)
    }
}

/// The column that is meant: by its whole title, its title without the unit, or the one title that begins so.
fn column(name: &str, columns: &[String]) -> Result<usize, String> {
    let all = || columns.join(", ");
    if name.is_empty() {
        return Err(format!("a column stands before the comparison: {}", all()));
    }
    let name = name.to_lowercase();
    let titles: Vec<String> = columns.iter().map(|title| title.to_lowercase()).collect();
    let bare = |title: &String| title.split(" (").next().unwrap_or_default() == name;
    let whole = titles.iter().position(|title| *title == name);
    if let Some(found) = whole.or_else(|| titles.iter().position(bare)) {
        return Ok(found);
    }
    let mut begin = titles.iter().enumerate().filter(|(_, t)| t.starts_with(&name));
    match (begin.next(), begin.next()) {
        (Some((found, _)), None) => Ok(found),
        (Some(_), Some(_)) => Err(format!("several columns begin with '{name}': {}", all())),
        (None, _) => Err(format!("there is no column '{name}'; there are: {}", all())),
    }
}

/// A cell as a number; of a text such as `0.06 nats`, the number that it begins with.
fn number(cell: &Value) -> Option<f64> {
    let said = |text: &str| text.split_whitespace().next()?.parse::<f64>().ok();
    cell.as_f64().or_else(|| said(cell.as_str()?))
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

#[cfg(test)]
mod tests;
