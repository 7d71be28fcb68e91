//! TOML with the place of every key and value in the lesson file.

use mlsys_expr::Dialect;
use mlsys_lab::value::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Code, Located, Place, shortened};
use crate::model::Formula;
use crate::parse::characters;
use crate::parse::fields::Fields;

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
    Date,
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
            Self::Date => "a date",
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
        DeValue::Datetime(_) => Item::Date,
        DeValue::Array(items) => Item::List(items.iter().map(|item| node(item, base)).collect()),
        DeValue::Table(table) => Item::Table(entries(table, base)),
    };
    Node { item, place: place(value, base) }
}

fn place<T>(spanned: &Spanned<T>, base: usize) -> Place {
    let span = spanned.span();
    Place::new(base + span.start, base + span.end)
}

impl Fields<'_, '_> {
    pub(super) fn as_text(&mut self, key: &str, node: &Node) -> Option<Located<String>> {
        let Item::Text(text) = &node.item else {
            return self.wrong_type(key, node, "a text in double quotes");
        };
        if text.trim().is_empty() {
            return self.unusable(key, node, "is empty", "write it, or leave the key out");
        }
        Some(Located { value: self.harmless(key, text, node)?, place: node.place })
    }

    pub(super) fn as_formula(&mut self, key: &str, node: &Node) -> Option<Formula> {
        let (source, place) = match &node.item {
            Item::Text(_) => {
                let text = self.as_text(key, node)?.value;
                // Without escapes in it the text stands in the file as it is, and each of its bytes has a place.
                let raw = self.problems.source().slice(node.place);
                let place = raw.find(&text).map_or(node.place, |at| {
                    let start = node.place.start + at;
                    Place::new(start, start + text.len())
                });
                (text, place)
            }
            Item::Int(Some(i)) => (i.to_string(), node.place),
            Item::Float(Some(x)) => (format!("{x:?}"), node.place),
            Item::Int(None)
            | Item::Float(None)
            | Item::Bool(_)
            | Item::Date
            | Item::List(_)
            | Item::Table(_) => {
                return self.wrong_type(key, node, "a number, or an expression in double quotes");
            }
        };
        match mlsys_expr::parse(&source, Dialect::Lesson) {
            Ok(expr) => Some(Formula { expr, source, place }),
            Err(error) => {
                let at = place.within(&source, error.span);
                self.problems.error_maybe(Code::Expression, at, error.message, error.help);
                None
            }
        }
    }

    /// Any value; only dates and numbers that are not finite have no counterpart in a lab.
    pub(super) fn as_value(&mut self, key: &str, node: &Node) -> Option<Value> {
        const HELP: &str = "write another value";
        match &node.item {
            Item::Text(text) => Some(Value::Text(self.harmless(key, text, node)?)),
            Item::Bool(b) => Some(Value::Bool(*b)),
            Item::Int(Some(i)) => Some(Value::Int(*i)),
            Item::Float(Some(x)) => Some(Value::Float(*x)),
            Item::Int(None) => self.unusable(key, node, "is beyond 64 bits", HELP),
            Item::Float(None) => self.unusable(key, node, "is not a finite number", HELP),
            Item::Date => self.unusable(key, node, "is a date, and no lab takes one", HELP),
            Item::List(items) => {
                let items: Vec<_> = items.iter().map(|item| self.as_value(key, item)).collect();
                Some(Value::Array(items.into_iter().collect::<Option<_>>()?))
            }
            Item::Table(entries) => {
                let entries: Vec<_> = entries
                    .iter()
                    .map(|entry| {
                        let value = self.as_value(&entry.key.value, &entry.node)?;
                        Some((entry.key.value.clone(), value))
                    })
                    .collect();
                Some(Value::Table(entries.into_iter().collect::<Option<_>>()?))
            }
        }
    }

    /// TOML spells control characters as `\u001b`, past the check of the file's own characters.
    fn harmless(&mut self, key: &str, text: &str, node: &Node) -> Option<String> {
        match text.chars().find(|&c| characters::harmful(c)) {
            Some(c) => {
                let message = format!("`{}` contains U+{:04X}", shortened(key), c as u32);
                let help = "remove it: it would act on the terminal instead of being shown";
                self.error(Code::ControlCharacter, node.place, message, help);
                None
            }
            None => Some(text.replace('\r', "")),
        }
    }

    fn unusable<T>(&mut self, key: &str, node: &Node, why: &str, help: &str) -> Option<T> {
        let message = format!("`{}` {why}", shortened(key));
        self.error(Code::BadValue, node.place, message, help);
        None
    }

    pub(super) fn wrong_type<T>(&mut self, key: &str, node: &Node, wanted: &str) -> Option<T> {
        let message = format!("`{}` is {}", shortened(key), node.item.name());
        self.error(Code::WrongType, node.place, message, format!("it takes {wanted}"));
        None
    }
}
