//! Entries as rows, and what is known of each cell: who says it, of when it is, and what was wrong with it.

use mlsys_lab::frame::Table;
use mlsys_lab::value::significant;
use mlsys_lab::{Tables, Value};

use super::subject::{Column, Subject, list, text};

/// A subject as a table in which every value has a note.
pub(super) struct Sourced {
    pub(super) table: Table,
    /// Cells that say something else than the source did.
    pub(super) corrected: usize,
}

impl Sourced {
    pub(super) fn new(subject: &Subject) -> Self {
        let titles = subject.columns.iter().map(|column| column.title.clone());
        let mut table = Table::new(titles.collect(), Vec::new());
        let mut corrected = 0;
        for (row, entry) in subject.tables().all(&subject.entries).iter().enumerate() {
            let mut cells = Vec::new();
            for (place, column) in subject.columns.iter().enumerate() {
                let found = cell(column, entry);
                if let Some((_, aside)) = &found {
                    let correction = correction(subject, column, entry);
                    corrected += usize::from(correction.is_some());
                    let note = note(column, entry, aside, correction);
                    table.notes.put(row, place, &note);
                }
                cells.push(found.map_or_else(|| "".into(), |(value, _)| value));
            }
            table.rows.push(cells);
        }
        Self { table, corrected }
    }

    pub(super) fn cells(&self) -> usize {
        self.places().count()
    }

    pub(super) fn noted(&self) -> usize {
        let notes = &self.table.notes;
        self.places()
            .filter(|(row, column)| notes.at(*row, *column).is_some_and(|note| !note.is_empty()))
            .count()
    }

    fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let columns = self.table.columns.len();
        let rows = 0..self.table.rows.len();
        let all = rows.flat_map(move |row| (0..columns).map(move |column| (row, column)));
        all.filter(|(row, column)| self.table.cell(*row, *column).is_some())
    }
}

/// A cell's value, and what of it goes into the note; nothing where the file has none.
fn cell(column: &Column, entry: &Value) -> Option<(Value, String)> {
    let found = entry.at(&column.field)?;
    if let Some(number) = found.as_f64() {
        if column.unknown == Some(number) {
            return None;
        }
        let over = match &column.over {
            Some(field) => Some(entry.at(field)?.as_f64()?),
            None => None,
        };
        let value = match (over, column.factor) {
            (None, None) => found.clone(),
            (over, factor) => rounded(number * factor.unwrap_or(1.0) / over.unwrap_or(1.0))?,
        };
        return Some((value, String::new()));
    }
    let said = match found {
        Value::Text(slides) if column.field == "slide" => shortly(slides),
        Value::Text(name) if column.dated => {
            let slides = text(entry, "slide").map(|slides| shortly(&slides));
            let told = [slides, text(entry, "date")];
            let told: Vec<String> = told.into_iter().flatten().collect();
            format!("{name} ({})", told.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            items.join(", ")
        }
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Table(_) => {
            found.to_string()
        }
    };
    match said.split_once(" (").filter(|_| column.short) {
        Some((name, aside)) => Some((name.into(), aside.trim_end_matches(')').to_owned())),
        None => Some((said.into(), String::new())),
    }
}

fn shortly(slides: &str) -> String {
    let named = slides.split("; ").map(|slide| source(slide, "short"));
    named.collect::<Vec<_>>().join(", ")
}

/// A number as a person reads it in a table; a whole one without a point.
fn rounded(x: f64) -> Option<Value> {
    let x = significant(x, 6);
    x.is_finite().then_some(Value::Float(x))
}

/// What must be said of this very cell instead of, or besides, what the source says.
fn correction(subject: &Subject, column: &Column, entry: &Value) -> Option<String> {
    let correct = text(entry, "correct")?;
    let concerned = match entry.at("concerns") {
        Some(fields) => {
            list(fields).iter().any(|field| field.as_str() == Some(column.field.as_str()))
        }
        None => subject.columns.first().is_some_and(|first| first.field == column.field),
    };
    concerned.then_some(correct)
}

/// Who says a cell's value, of when it is, how it was worked out if it was, and what was wrong with it.
fn note(column: &Column, entry: &Value, aside: &str, correction: Option<String>) -> String {
    let date = text(entry, "date");
    let slides = text(entry, "slide").map(|slides| {
        let named = slides.split("; ").map(|slide| spelled(slide, date.is_some()));
        named.collect::<Vec<_>>().join("; ")
    });
    let source = slides.or_else(|| text(entry, "source")).unwrap_or_default();
    let mut note = match date {
        Some(date) => format!("{source}, {date}"),
        None => source,
    };
    if column.over.is_some() {
        let how = column.about.split_once(':').map_or(column.about.as_str(), |(how, _)| how);
        note = format!("worked out here, {how}, from: {note}");
    }
    if !aside.is_empty() {
        note.push_str(&format!(". {aside}"));
    }
    if let Some(correction) = correction {
        note.push_str(&format!(". Corrected: {correction}"));
    }
    note
}

/// What a short name of a source stands for, with its date unless the entry has one of its own.
fn spelled(short: &str, is_dated: bool) -> String {
    let title = source(short, "title");
    match source_field(short, "date").filter(|_| !is_dated) {
        Some(date) => format!("{title}, {date}"),
        None => title,
    }
}

fn source(short: &str, field: &str) -> String {
    source_field(short, field).unwrap_or_else(|| short.to_owned())
}

fn source_field(short: &str, field: &str) -> Option<String> {
    let all = Tables::landscape().all("source");
    let found = all.iter().find(|source| text(source, "name").as_deref() == Some(short));
    text(found?, field)
}
