//! One TOML value as a text, an expression, or a value of a lab; an error if it is something else.

use mlsys_expr::Dialect;
use mlsys_lab::value::Value;

use crate::diagnostic::{Code, Located, Place, shortened};
use crate::model::{Formula, Timestamp};
use crate::parse::characters;
use crate::parse::fields::Fields;
use crate::parse::tree::{Entry, Item, Node};

impl Fields<'_, '_> {
    /// Takes a date with time and offset, bare or as a text.
    pub(in crate::parse) fn time(&mut self, key: &'static str) -> Option<Located<Timestamp>> {
        let node = self.take(key)?.node;
        self.as_time(key, &node)
    }

    /// Takes a table of dates with any keys, in file order.
    pub(in crate::parse) fn times_by_name(
        &mut self,
        key: &'static str,
        example: &str,
    ) -> Vec<(Located<String>, Located<Timestamp>)> {
        let mut times = Vec::new();
        for Entry { key: name, node } in self.free(key, &format!("a table, such as {example}")) {
            let time = self.as_time(&name.value, &node);
            times.extend(time.map(|time| (name, time)));
        }
        times
    }

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
        let mut place = node.place;
        let source = if let Item::Int(Some(i)) = node.item {
            i.to_string()
        } else if let Item::Float(Some(x)) = node.item {
            format!("{x:?}")
        } else if let Item::Text(_) = node.item {
            let text = self.as_text(key, node)?.value;
            // Without escapes in it the text stands in the file as it is, and each of its bytes has a place.
            if let Some(at) = self.problems.source().slice(place).find(&text) {
                place = Place::new(place.start + at, place.start + at + text.len());
            }
            text
        } else {
            return self.wrong_type(key, node, "a number, or an expression in double quotes");
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

    pub(super) fn as_time(&mut self, key: &str, node: &Node) -> Option<Located<Timestamp>> {
        let time = match &node.item {
            Item::Date(date) => Timestamp::try_from(date),
            Item::Text(text) => text.parse(),
            Item::Int(_) | Item::Float(_) | Item::Bool(_) | Item::List(_) | Item::Table(_) => {
                return self.wrong_type(key, node, "a date with time and offset from UTC");
            }
        };
        match time {
            Ok(value) => Some(Located { value, place: node.place }),
            Err(error) => {
                self.unusable(key, node, "is no complete point in time", &error.to_string())
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
            Item::Date(_) => self.unusable(key, node, "is a date, and no lab takes one", HELP),
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
