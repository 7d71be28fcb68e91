//! The keys of one TOML table, taken one by one; what is left over is a mistake.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a key names the kind of TOML value that it takes; all others are errors"
)]

use std::ops::Range;

use mlsys_expr::nearest::nearest;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::super::Mistake;
use super::super::model::{Formula, Template};
use super::formula::{self, Names};
use super::problems::{Problems, Text, slice};

/// Longest text of a file, in bytes.
const MAX_TEXT: usize = 4096;

pub(super) struct Fields<'p, 's, 'i> {
    pub(super) problems: &'p mut Problems<'s>,
    place: Range<usize>,
    what: String,
    table: DeTable<'i>,
    known: Vec<&'static str>,
}

impl<'p, 's, 'i> Fields<'p, 's, 'i> {
    pub(super) fn new(
        table: Spanned<DeTable<'i>>,
        what: &str,
        problems: &'p mut Problems<'s>,
    ) -> Self {
        let place = table.span();
        // A table of several lines is pointed at by its first.
        let first = problems.source.get(place.clone()).and_then(|text| text.find('\n'));
        let place = place.start..first.map_or(place.end, |line| place.start + line);
        let (what, table) = (what.to_owned(), table.into_inner());
        Self { problems, place, what, table, known: Vec::new() }
    }

    pub(super) fn place(&self) -> Range<usize> {
        self.place.clone()
    }

    /// The table's `name`, left in it, whether or not the rest reads; without one a name that nothing refers to.
    pub(super) fn name(&self) -> String {
        let name = self.table.get("name").and_then(|name| name.get_ref().as_str());
        name.map_or_else(|| format!("unnamed_{}", self.place.start), str::to_owned)
    }

    pub(super) fn has(&mut self, key: &'static str) -> bool {
        self.known.push(key);
        self.table.contains_key(key)
    }

    pub(super) fn take(&mut self, key: &'static str) -> Option<Spanned<DeValue<'i>>> {
        self.known.push(key);
        self.table.remove(key)
    }

    pub(super) fn missing(&mut self, key: &str, example: &str) {
        let message = format!("{} has no `{key}`", self.what);
        self.problems.add(Mistake::MissingKey, self.place(), message, format!("add {example}"));
    }

    pub(super) fn wrong_type(
        &mut self,
        place: Range<usize>,
        what: &str,
        needed: &str,
        found: &str,
    ) {
        let message = format!("{what} is {needed}, but this is {}", kind(found));
        self.problems.add(Mistake::WrongType, place, message, "");
    }

    pub(super) fn as_text(&mut self, value: Spanned<DeValue<'i>>, what: &str) -> Option<Text> {
        let place = value.span();
        let DeValue::String(text) = value.get_ref() else {
            self.wrong_type(place, what, "a text", value.get_ref().type_str());
            return None;
        };
        let text = text.to_string();
        if text.len() > MAX_TEXT {
            let message = format!("{what} has {} bytes; a text has at most {MAX_TEXT}", text.len());
            self.problems.add(Mistake::TooLarge, place, message, "shorten it");
            return None;
        }
        if text.chars().any(harmful) {
            let message = format!("{what} has a control character");
            self.problems.add(Mistake::ControlCharacter, place, message, "leave it out");
            return None;
        }
        let raw = slice(self.problems.source, place.clone());
        let start = raw.find(text.as_str()).filter(|at| raw.len() == text.len() + 2 * at);
        Some(Text { value: text, start: start.map(|at| place.start + at), place })
    }

    pub(super) fn text(&mut self, key: &'static str) -> Option<Text> {
        let value = self.take(key)?;
        self.as_text(value, &format!("`{key}`"))
    }

    fn require(&mut self, key: &'static str, example: &str) -> Option<()> {
        if !self.has(key) {
            self.missing(key, example);
            return None;
        }
        Some(())
    }

    pub(super) fn required_text(&mut self, key: &'static str, example: &str) -> Option<Text> {
        self.require(key, example)?;
        self.text(key)
    }

    pub(super) fn formula(&mut self, key: &'static str, names: &mut Names<'_>) -> Option<Formula> {
        let value = self.take(key)?;
        let text = self.as_source(value, &format!("`{key}`"))?;
        formula::formula(&text, names, self.problems)
    }

    pub(super) fn required_formula(
        &mut self,
        key: &'static str,
        example: &str,
        names: &mut Names<'_>,
    ) -> Option<Formula> {
        self.require(key, example)?;
        self.formula(key, names)
    }

    pub(super) fn as_source(&mut self, value: Spanned<DeValue<'i>>, what: &str) -> Option<Text> {
        let place = value.span();
        match value.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => {
                let text = slice(self.problems.source, place.clone()).to_owned();
                Some(Text { value: text, start: Some(place.start), place })
            }
            _ => self.as_text(value, what),
        }
    }

    pub(super) fn template(&mut self, key: &'static str, names: &mut Names<'_>) -> Template {
        match self.text(key) {
            Some(text) => formula::template(&text, names, self.problems),
            None => Template::default(),
        }
    }

    pub(super) fn required_template(
        &mut self,
        key: &'static str,
        example: &str,
        names: &mut Names<'_>,
    ) -> Option<Template> {
        self.require(key, example)?;
        let text = self.text(key)?;
        Some(formula::template(&text, names, self.problems))
    }

    pub(super) fn list(&mut self, key: &'static str) -> Option<Vec<Spanned<DeValue<'i>>>> {
        let value = self.take(key)?;
        let (place, value) = (value.span(), value.into_inner());
        match value {
            DeValue::Array(items) => Some(items.into_iter().collect()),
            other => {
                self.wrong_type(place, &format!("`{key}`"), "a list", other.type_str());
                None
            }
        }
    }

    /// A list of texts; empty if the key is missing.
    pub(super) fn texts(&mut self, key: &'static str) -> Vec<String> {
        let what = format!("an entry of `{key}`");
        let items = self.list(key).into_iter().flatten();
        items.filter_map(|item| self.as_text(item, &what)).map(|text| text.value).collect()
    }

    /// A text; empty if the key is missing.
    pub(super) fn string(&mut self, key: &'static str) -> String {
        self.text(key).map_or_else(String::new, |text| text.value)
    }

    pub(super) fn whole(&mut self, key: &'static str, most: usize) -> Option<usize> {
        let value = self.take(key)?;
        let place = value.span();
        let read = match value.get_ref() {
            DeValue::Integer(x) => usize::from_str_radix(x.as_str(), x.radix()).ok(),
            _ => None,
        };
        if read.is_none_or(|read| read > most) {
            let message = format!("`{key}` is a whole number from 0 to {most}");
            self.problems.add(Mistake::BadValue, place, message, "");
            return None;
        }
        read
    }

    /// The entries of a table in the order of the file; none if the key is missing.
    pub(super) fn table(&mut self, key: &'static str) -> Vec<Entry<'i>> {
        let table = self.take(key).and_then(|value| self.as_table(value, &format!("`{key}`")));
        table.map_or_else(Vec::new, |table| in_order(table.into_inner()))
    }

    pub(super) fn as_table(
        &mut self,
        value: Spanned<DeValue<'i>>,
        what: &str,
    ) -> Option<Spanned<DeTable<'i>>> {
        let place = value.span();
        match value.into_inner() {
            DeValue::Table(table) => Some(Spanned::new(place, table)),
            other => {
                self.wrong_type(place, what, "a table", other.type_str());
                None
            }
        }
    }

    /// A list of tables; empty if the key is missing.
    pub(super) fn tables(&mut self, key: &'static str) -> Vec<Spanned<DeTable<'i>>> {
        let what = format!("an entry of `{key}`");
        let items = self.list(key).into_iter().flatten();
        items.filter_map(|item| self.as_table(item, &what)).collect()
    }

    /// A value of one of the program's own types.
    pub(super) fn deserialize<T: DeserializeOwned>(
        &mut self,
        value: Spanned<DeValue<'i>>,
        what: &str,
    ) -> Option<T> {
        let whole = value.span();
        self.refuse_harmful(&value);
        match T::deserialize(ValueDeserializer::from(value)) {
            Ok(read) => Some(read),
            Err(error) => {
                let place = error.span().unwrap_or(whole);
                let (mistake, message, help) = in_words(error.message(), what);
                self.problems.add(mistake, place, message, help);
                None
            }
        }
    }

    /// All keys that are left, as one of the program's own types, and where the table begins.
    pub(super) fn rest<T: DeserializeOwned>(&mut self) -> Option<(T, Range<usize>)> {
        let table = std::mem::take(&mut self.table);
        let what = self.what.clone();
        let value = Spanned::new(self.place(), DeValue::Table(table));
        self.deserialize(value, &what).map(|read| (read, self.place()))
    }

    /// Refuses keys that a table of this type has elsewhere.
    pub(super) fn refuse(&mut self, keys: &[&'static str], why: &str) {
        for key in keys {
            if let Some(value) = self.take(key) {
                let message = format!("{} cannot have `{key}`", self.what);
                self.problems.add(Mistake::UnknownKey, value.span(), message, why);
            }
        }
    }

    /// Tells of every key that was not taken.
    pub(super) fn finish(&mut self) {
        // A required key was looked for before it was taken.
        self.known.dedup();
        for (key, place, _) in in_order(std::mem::take(&mut self.table)) {
            let help = match nearest(&key, self.known.iter().copied()) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("the keys are {}", self.known.join(", ")),
            };
            let message = format!("{} has no key `{}`", self.what, key.escape_debug());
            self.problems.add(Mistake::UnknownKey, place, message, help);
        }
    }

    fn refuse_harmful(&mut self, value: &Spanned<DeValue<'i>>) {
        match value.get_ref() {
            DeValue::String(text) if text.chars().any(harmful) => {
                let message = "a text has a control character";
                self.problems.add(Mistake::ControlCharacter, value.span(), message, "leave it out");
            }
            DeValue::Array(items) => items.iter().for_each(|item| self.refuse_harmful(item)),
            DeValue::Table(table) => {
                for (key, value) in table.iter() {
                    if key.get_ref().chars().any(harmful) {
                        let message = "a key has a control character";
                        let mistake = Mistake::ControlCharacter;
                        self.problems.add(mistake, key.span(), message, "leave it out");
                    }
                    self.refuse_harmful(value);
                }
            }
            _ => {}
        }
    }
}

/// A key, its place, and its value.
pub(super) type Entry<'i> = (String, Range<usize>, Spanned<DeValue<'i>>);

/// Entries of a TOML table in the order of the file.
fn in_order(table: DeTable<'_>) -> Vec<Entry<'_>> {
    let entries = table.into_iter();
    let mut all: Vec<_> =
        entries.map(|(key, value)| (key.get_ref().to_string(), key.span(), value)).collect();
    all.sort_by_key(|(_, place, _)| place.start);
    all
}

/// What would move, recolour or reorder what a terminal shows.
fn harmful(c: char) -> bool {
    mlsys_expr::steers_terminal(c) && !matches!(c, '\n' | '\t')
}

/// A type of TOML in the words of messages.
fn kind(toml: &str) -> &str {
    match toml {
        "string" => "a text",
        "integer" => "a whole number",
        "float" => "a number",
        "boolean" => "true or false",
        "datetime" => "a date",
        "array" => "a list",
        _ => "a table",
    }
}

/// What a deserializer says, in our words.
fn in_words(message: &str, what: &str) -> (Mistake, String, String) {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match quoted.as_slice() {
        [key, known @ ..] if message.starts_with("unknown field") => {
            let help = match nearest(key, known.iter().copied()) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("the keys are {}", known.join(", ")),
            };
            let message = format!("{what} has no key `{}`", key.escape_debug());
            (Mistake::UnknownKey, message, help)
        }
        [key, known @ ..] if message.starts_with("unknown variant") => {
            let help = format!("choose one of {}", known.join(", "));
            (Mistake::BadValue, format!("{what} knows no `{}`", key.escape_debug()), help)
        }
        [key] if message.starts_with("missing field") => {
            (Mistake::MissingKey, format!("{what} has no `{key}`"), format!("add {key} = ..."))
        }
        _ => {
            let line: String =
                message.lines().take(1).map(|line| line.escape_debug().to_string()).collect();
            (Mistake::WrongType, format!("{what}: {line}"), String::new())
        }
    }
}
