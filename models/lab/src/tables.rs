//! Named constants of machines and models, read from `assets/tables.toml`.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use crate::value::Value;

/// The built-in tables, as text; `mlsys` prints their sources from it.
pub const TEXT: &str = include_str!("../../../assets/tables.toml");

/// What slides and lists say about machines, their makers and their prices, as text: for looking at, not to compute with.
pub const LANDSCAPE: &str = include_str!("../../../assets/landscape.toml");

/// Tables of named entries, such as `gpu`, each entry with its fields.
#[derive(Debug)]
pub struct Tables(toml::Table);

static BUILTIN: OnceLock<Tables> = OnceLock::new();

static LANDSCAPE_READ: LazyLock<Result<Tables, toml::de::Error>> =
    LazyLock::new(|| Tables::parse(LANDSCAPE));

impl Tables {
    /// Reads tables from TOML: arrays of tables, each with a `name`.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        text.parse().map(Self)
    }

    /// The tables that ship with mlsys, and the entry that [`Tables::install`] added to them.
    pub fn builtin() -> &'static Self {
        BUILTIN.get_or_init(Self::shipped)
    }

    #[expect(clippy::expect_used, reason = "the text is compiled in and read by a test")]
    fn shipped() -> Self {
        Self::parse(TEXT).expect("the built-in tables read")
    }

    /// The tables that ship with mlsys, and one more entry.
    pub fn with(table: &str, entry: &BTreeMap<String, Value>) -> Result<Self, EntryError> {
        let mut tables = Self::shipped();
        let name = entry.get("name").and_then(Value::as_str).ok_or(EntryError::Unnamed)?;
        if tables.names(table).contains(&name) {
            return Err(EntryError::Taken { table: table.to_owned(), name: name.to_owned() });
        }
        let row = toml::Table::try_from(entry).map_err(EntryError::NotToml)?;
        if let Some(entries) = tables.0.get_mut(table).and_then(toml::Value::as_array_mut) {
            entries.push(toml::Value::Table(row));
        }
        Ok(tables)
    }

    /// Makes these the tables of this process; only before they were used, so that no lab sees two versions of them.
    pub fn install(self) -> Result<(), EntryError> {
        BUILTIN.set(self).map_err(|_| EntryError::InUse)
    }

    /// What slides and lists say, as it ships with mlsys: [`LANDSCAPE`].
    #[expect(clippy::expect_used, reason = "the text is compiled in and read by a test")]
    pub fn landscape() -> &'static Self {
        LANDSCAPE_READ.as_ref().expect("the tables of the landscape read")
    }

    /// The names of all tables, in the order of the alphabet.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The entries of a table, each a [`Value::Table`], in file order; empty if there is no such table.
    pub fn all(&self, table: &str) -> Vec<Value> {
        let entries = self.entries(table).cloned();
        entries.filter_map(|entry| toml::Value::Table(entry).try_into().ok()).collect()
    }

    /// The entries' names of a table, in file order; empty if there is no such table.
    pub fn names(&self, table: &str) -> Vec<&str> {
        self.entries(table).filter_map(|entry| entry.get("name")?.as_str()).collect()
    }

    /// A field of an entry, its path dotted, such as `path.fp32.clock_hertz`.
    pub fn field(&self, table: &str, entry: &str, path: &str) -> Option<Value> {
        let entry = self
            .entries(table)
            .find(|e| e.get("name").and_then(toml::Value::as_str) == Some(entry))?;
        let mut at = entry;
        let mut parts = path.split('.').peekable();
        while let Some(part) = parts.next() {
            let found = at.get(part)?;
            if parts.peek().is_none() {
                return found.clone().try_into().ok();
            }
            at = found.as_table()?;
        }
        None
    }

    fn entries(&self, table: &str) -> impl Iterator<Item = &toml::Table> {
        self.0
            .get(table)
            .and_then(toml::Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(toml::Value::as_table)
    }
}

/// An entry that cannot be added to the tables.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    #[error("the entry has no name")]
    Unnamed,
    #[error("table {table} has an entry '{name}' already")]
    Taken { table: String, name: String },
    #[error("the entry is not TOML: {0}")]
    NotToml(toml::ser::Error),
    #[error("the tables are in use already")]
    InUse,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_tables_read_and_name_their_entries() {
        let tables = Tables::builtin();
        assert_eq!(
            tables.field("gpu", "v100-sxm2-16gb", "compute_capability"),
            Some(Value::from("7.0"))
        );
        assert_eq!(
            tables.field("gpu", "v100-sxm2-16gb", "path.fp32.units_per_sm"),
            Some(Value::Int(64))
        );
        assert_eq!(tables.field("gpu", "v100-sxm2-16gb", "path.fp8"), None);
        assert!(tables.names("compute_capability").contains(&"8.0"));
    }

    #[test]
    fn the_landscape_reads_whole() {
        let tables = Tables::landscape();
        let names: Vec<&str> = tables.tables().collect();
        assert!(names.contains(&"generation"), "{names:?}");
        for name in names {
            assert!(!tables.all(name).is_empty(), "{name}");
        }
        let first = &tables.all("generation")[0];
        assert_eq!(first.at("year"), Some(&Value::Int(2004)));
        assert_eq!(first.at("year.month"), None);
    }
}
