//! TOML with the place of every key and value in the lesson file.

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml::value::Datetime;

use crate::diagnostic::{Located, Place};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) item: Item,
    pub(super) place: Place,
}

/// A key, its value, and where both stand.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: Located<String>,
    pub(super) node: Node,
}

/// What TOML can say.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Text(String),
    /// `None` beyond 64 bits.
    Int(Option<i64>),
    /// `None` if it is not finite.
    Float(Option<f64>),
    Bool(bool),
    Date(Datetime),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

impl Item {
    /// What it is, for messages.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Int(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::Date(_) => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// The entries of a table in file order; `base` is where the TOML text begins in the file.
pub(super) fn entries(table: &DeTable<'_>, base: usize) -> Vec<Entry> {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, value)| Entry {
            key: Located { value: key.get_ref().to_string(), place: place(key, base) },
            node: node(value, base),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key.place.start);
    entries
}

fn node(value: &Spanned<DeValue<'_>>, base: usize) -> Node {
    let item = match value.get_ref() {
        DeValue::String(text) => Item::Text(text.to_string()),
        DeValue::Integer(i) => Item::Int(i64::from_str_radix(i.as_str(), i.radix()).ok()),
        DeValue::Float(x) => Item::Float(x.as_str().parse().ok().filter(|x: &f64| x.is_finite())),
        DeValue::Boolean(b) => Item::Bool(*b),
        DeValue::Datetime(date) => Item::Date(*date),
        DeValue::Array(items) => Item::List(items.iter().map(|item| node(item, base)).collect()),
        DeValue::Table(table) => Item::Table(entries(table, base)),
    };
    Node { item, place: place(value, base) }
}

fn place<T>(spanned: &Spanned<T>, base: usize) -> Place {
    let span = spanned.span();
    Place::new(base + span.start, base + span.end)
}
