//! The tables: the entries they show, and the meaning of their columns.

use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Tables, Value};

/// The description of the tables, `tables.toml`.
const TEXT: &str = include_str!("tables.toml");

/// A table that can be looked at.
pub(super) struct Subject {
    /// Its name as a case of the parameter `table`.
    pub(super) name: String,
    file: File,
    /// What its entries are called there.
    pub(super) entries: String,
    /// Its columns; the first names a row.
    pub(super) columns: Vec<Column>,
    /// The titles of the columns plotted by default: x, y.
    pub(super) plotted: [String; 2],
    /// The title of the column that distinguishes points by default.
    pub(super) grouped: Option<String>,
}

#[derive(Clone, Copy)]
enum File {
    /// What slides and lists say.
    Landscape,
    /// What labs compute with.
    Constants,
}

/// A column.
pub(super) struct Column {
    /// Its title, with the unit in brackets.
    pub(super) title: String,
    /// The field it shows, as a dotted path.
    pub(super) field: String,
    /// The field it is divided by, where it is a quotient without a printed source.
    pub(super) over: Option<String>,
    /// What the field's number is multiplied by.
    pub(super) factor: Option<f64>,
    /// The number that stands for none.
    pub(super) unknown: Option<f64>,
    /// Whether what a text says in brackets at its end goes into the note.
    pub(super) short: bool,
    /// Whether the value stands with who says it and of when.
    pub(super) dated: bool,
    /// What it means.
    pub(super) about: String,
}

impl Subject {
    /// All tables, in the order in which they are written.
    ///
    /// # Errors
    /// `tables.toml` does not parse: a bug in this crate.
    pub(super) fn all() -> Result<Vec<Self>, SchemaError> {
        let complaint = |message: String| SchemaError { kind: "landscape".to_owned(), message };
        let read = Tables::parse(TEXT).map_err(|error| complaint(error.to_string()))?;
        let subjects = read.all("table").into_iter().map(|entry| {
            let name = text(&entry, "name").unwrap_or_default();
            Self::read(&entry).ok_or_else(|| complaint(format!("the table '{name}' does not read")))
        });
        subjects.collect()
    }

    fn read(entry: &Value) -> Option<Self> {
        let plotted = list(entry.at("plotted")?);
        let mut plotted = plotted.iter().filter_map(Value::as_str).map(str::to_owned);
        Some(Self {
            name: text(entry, "name")?,
            file: match entry.at("file")?.as_str()? {
                "landscape" => File::Landscape,
                "constants" => File::Constants,
                _ => return None,
            },
            entries: text(entry, "entries")?,
            columns: list(entry.at("columns")?).iter().map(Column::read).collect::<Option<_>>()?,
            plotted: [plotted.next()?, plotted.next()?],
            grouped: text(entry, "grouped"),
        })
    }

    /// The file its entries stand in.
    pub(super) fn tables(&self) -> &'static Tables {
        match self.file {
            File::Landscape => Tables::landscape(),
            File::Constants => Tables::builtin(),
        }
    }
}

impl Column {
    fn read(entry: &Value) -> Option<Self> {
        let number = |name: &str| entry.at(name).and_then(Value::as_f64);
        Some(Self {
            title: text(entry, "title")?,
            field: text(entry, "field")?,
            over: text(entry, "over"),
            factor: number("factor"),
            unknown: number("unknown"),
            short: entry.at("short") == Some(&Value::Bool(true)),
            dated: entry.at("dated") == Some(&Value::Bool(true)),
            about: text(entry, "about")?,
        })
    }
}

/// A text of an entry.
pub(super) fn text(entry: &Value, path: &str) -> Option<String> {
    entry.at(path)?.as_str().map(str::to_owned)
}

/// What is in a list; nothing in what is none.
pub(super) fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Table(_) => &[],
    }
}
