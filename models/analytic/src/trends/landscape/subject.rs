//! The tables: the entries they show, and the meaning of their columns.

use std::sync::LazyLock;

use mlsys_lab::{LabError, Tables, Value};
use serde::Deserialize;

static SUBJECTS: LazyLock<Result<File, toml::de::Error>> =
    LazyLock::new(|| toml::from_str(include_str!("tables.toml")));

#[derive(Deserialize)]
struct File {
    table: Vec<Subject>,
}

#[derive(Deserialize)]
pub(super) struct Subject {
    /// Its name as a case of the parameter `table`.
    pub(super) name: String,
    file: Source,
    /// The table of the file that its entries stand in.
    pub(super) entries: String,
    /// Its columns; the first names a row.
    pub(super) columns: Vec<Column>,
    /// The titles of the columns plotted by default: x, y.
    pub(super) plotted: [String; 2],
    /// The title of the column that distinguishes points by default.
    pub(super) grouped: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Source {
    /// What slides and lists say.
    Landscape,
    /// What labs compute with.
    Constants,
}

#[derive(Deserialize)]
pub(super) struct Column {
    pub(super) title: String,
    pub(super) field: String,
    /// The field it is divided by, where it is a quotient without a printed source.
    pub(super) over: Option<String>,
    pub(super) factor: Option<f64>,
    /// The number that means "not known".
    pub(super) unknown: Option<f64>,
    /// Whether a text's brackets at its end go into the note.
    #[serde(default)]
    pub(super) short: bool,
    /// Whether the value is shown with its source and date.
    #[serde(default)]
    pub(super) dated: bool,
    pub(super) about: String,
}

impl Subject {
    /// All tables, in the order of `tables.toml`.
    ///
    /// # Errors
    /// `tables.toml` does not parse: a bug in this crate.
    pub(super) fn all() -> Result<&'static [Self], LabError> {
        match &*SUBJECTS {
            Ok(file) => Ok(&file.table),
            Err(error) => Err(LabError::Data(error.to_string())),
        }
    }

    pub(super) fn find(name: &str) -> Result<&'static Self, LabError> {
        let found = Self::all()?.iter().find(|subject| subject.name == name);
        found.ok_or_else(|| {
            LabError::contradiction(["table"], format!("there is no table '{name}'"))
        })
    }

    pub(super) fn tables(&self) -> &'static Tables {
        match self.file {
            Source::Landscape => Tables::landscape(),
            Source::Constants => Tables::builtin(),
        }
    }
}

pub(super) fn text(entry: &Value, path: &str) -> Option<String> {
    entry.at(path)?.as_str().map(str::to_owned)
}

/// The items of a list; none of any other value.
pub(super) fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Table(_) => &[],
    }
}
