//! The keys of one TOML table, taken one by one.
//!
//! serde stops at the first error; here all errors of a file are reported at once, each at its place.

mod value;

use std::ops::RangeInclusive;

use mlsys_lab::nearest::nearest;
use mlsys_lab::value::Value;
use toml::de::DeTable;

use crate::diagnostic::{Code, Located, Place, Problems, shortened};
use crate::model::Formula;
use crate::parse::characters;
use crate::parse::tree::{self, Entry, Item, Node};

/// The version of the format that this program reads.
pub const FORMAT: u32 = 1;

/// As many complaints of the TOML parser as are looked at; placing each costs a walk through the file.
const MOST_ERRORS: usize = 100;

/// Longest list in a directive, so that comparing its entries with each other takes no time.
const MOST_ITEMS: usize = 200;

/// The entries of a table: its reader takes them by key and then calls [`Fields::finish`].
pub(super) struct Fields<'p, 's> {
    problems: &'p mut Problems<'s>,
    /// Where to point for what is missing.
    owner: Place,
    /// What the table is, for messages.
    what: String,
    entries: Vec<Entry>,
    known: Vec<&'static str>,
}

impl<'p, 's> Fields<'p, 's> {
    /// Reads a part of the file as TOML; `None`, with an error for each mistake, if it is none.
    pub(super) fn read(
        body: Place,
        owner: Place,
        what: &str,
        problems: &'p mut Problems<'s>,
    ) -> Option<Self> {
        characters::report(body, problems, characters::Where::Directive);
        let text = characters::blanked(problems.source().slice(body));
        let (table, errors) = DeTable::parse_recoverable(&text);
        let mut lines_told = Vec::new();
        for error in errors.iter().take(MOST_ERRORS) {
            let place = error.span().map_or(Place::new(body.start, body.start), |span| {
                Place::new(body.start + span.start, body.start + span.end)
            });
            // The parser's second complaint about a line is mostly an echo of its first.
            let line = problems.source().line(place.start);
            if !lines_told.contains(&line) {
                lines_told.push(line);
                let help = "TOML has lines of key = value, with texts in double quotes";
                problems.error(Code::Toml, place, error.message().to_owned(), help);
            }
        }
        problems.count_only(errors.len().saturating_sub(MOST_ERRORS));
        errors.is_empty().then(|| Self {
            entries: tree::entries(table.get_ref(), body.start),
            problems,
            owner,
            what: what.to_owned(),
            known: Vec::new(),
        })
    }

    /// Says that these keys, each with an example, must be there.
    pub(super) fn require(&mut self, keys: &[(&'static str, &str)]) {
        for (key, example) in keys {
            if !self.has(key) {
                let message = format!("{} has no `{key}`", self.what);
                self.error(Code::MissingKey, self.owner, message, format!("add {example}"));
            }
        }
    }

    /// Whether a key is there and was not taken yet.
    pub(super) fn has(&self, key: &str) -> bool {
        self.place_of(key).is_some()
    }

    /// Where a key stands, if it is there and was not taken yet.
    pub(super) fn place_of(&self, key: &str) -> Option<Place> {
        let entry = self.entries.iter().find(|entry| entry.key.value == key)?;
        Some(entry.key.place)
    }

    /// Where a text stands within a part of the file, if it stands there as it is.
    pub(super) fn find(&self, text: &str, within: Place) -> Option<Place> {
        let at = within.start + self.problems.source().slice(within).find(text)?;
        Some(Place::new(at, at + text.len()))
    }

    /// Names this table otherwise in messages from here on.
    pub(super) fn rename(&mut self, what: &str) {
        what.clone_into(&mut self.what);
    }

    pub(super) fn owner(&self) -> Place {
        self.owner
    }

    pub(super) fn error(
        &mut self,
        code: Code,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.error(code, place, message, help);
    }

    pub(super) fn problem_count(&self) -> usize {
        self.problems.count()
    }

    pub(super) fn text(&mut self, key: &'static str) -> Option<Located<String>> {
        let entry = self.take(key)?;
        self.as_text(key, &entry.node)
    }

    /// Takes a text of one line.
    pub(super) fn line(&mut self, key: &'static str) -> Option<Located<String>> {
        let text = self.text(key)?;
        if text.value.contains('\n') {
            let message = format!("`{key}` has several lines");
            self.error(Code::BadValue, text.place, message, "write it on one line");
            return None;
        }
        Some(text)
    }

    /// Takes a list of texts without their places; none where the key is missing or wrong.
    pub(super) fn strings(&mut self, key: &'static str) -> Vec<String> {
        let texts = self.texts(key).into_iter().flatten();
        texts.map(|text| text.value).collect()
    }

    pub(super) fn texts(&mut self, key: &'static str) -> Option<Vec<Located<String>>> {
        let items = self.items(key, "texts, such as [\"a\", \"b\"]")?;
        // All items are read before any is missed, so that all errors are reported.
        let texts: Vec<_> = items.iter().map(|item| self.as_text(key, item)).collect();
        texts.into_iter().collect()
    }

    /// Takes an expression, or a number that stands for itself.
    pub(super) fn formula(&mut self, key: &'static str) -> Option<Formula> {
        let entry = self.take(key)?;
        self.as_formula(key, &entry.node)
    }

    pub(super) fn formulas(&mut self, key: &'static str) -> Option<Vec<Formula>> {
        let items = self.items(key, "numbers or expressions, such as [1, \"2^3\"]")?;
        let formulas: Vec<_> = items.iter().map(|item| self.as_formula(key, item)).collect();
        formulas.into_iter().collect()
    }

    /// Takes a table of expressions with any keys, in file order.
    pub(super) fn formulas_by_name(
        &mut self,
        key: &'static str,
        example: &str,
    ) -> Vec<(Located<String>, Formula)> {
        let mut formulas = Vec::new();
        for Entry { key: name, node } in self.free(key, &format!("a table, such as {example}")) {
            let value = self.as_formula(&name.value, &node);
            formulas.extend(value.map(|value| (name, value)));
        }
        formulas
    }

    /// Takes the version of the format, and says so if it is not the one read here.
    pub(super) fn format(&mut self, what: &str) {
        let format = self.integer("format", 0..=u32::MAX.into());
        if let Some(format) = &format
            && format.value != u64::from(FORMAT)
        {
            self.error(
                Code::UnknownFormat,
                format.place,
                format!("the {what} is written in format {}", format.value),
                format!("this version of mlsys reads format {FORMAT}"),
            );
        }
    }

    /// Takes a whole number within a range.
    pub(super) fn integer(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<Located<u64>> {
        let node = self.take(key)?.node;
        let Item::Int(_) = node.item else { return self.wrong_type(key, &node, "a whole number") };
        let Value::Int(i) = self.as_value(key, &node)? else { return None };
        match u64::try_from(i) {
            Ok(value) if range.contains(&value) => Some(Located { value, place: node.place }),
            Ok(_) | Err(_) => {
                let help = format!("write a number from {} to {}", range.start(), range.end());
                self.error(Code::BadValue, node.place, format!("`{key}` is {i}"), help);
                None
            }
        }
    }

    /// Takes true or false; false where it is something else, which is an error.
    pub(super) fn flag(&mut self, key: &'static str) -> bool {
        let Some(Entry { node, .. }) = self.take(key) else { return false };
        if let Item::Bool(flag) = node.item {
            return flag;
        }
        self.wrong_type::<()>(key, &node, "true or false");
        false
    }

    pub(super) fn number(&mut self, key: &'static str) -> Option<Located<f64>> {
        let node = self.take(key)?.node;
        match self.as_value(key, &node)?.as_f64() {
            Some(value) => Some(Located { value, place: node.place }),
            None => self.wrong_type(key, &node, "a number"),
        }
    }

    pub(super) fn value(&mut self, key: &'static str) -> Option<Located<Value>> {
        let node = self.take(key)?.node;
        Some(Located { value: self.as_value(key, &node)?, place: node.place })
    }

    pub(super) fn values(&mut self, key: &'static str) -> Option<Vec<Value>> {
        let items = self.items(key, "values, such as [16, 64]")?;
        let values: Vec<_> = items.iter().map(|item| self.as_value(key, item)).collect();
        values.into_iter().collect()
    }

    /// Takes a table with any keys: each key with its value, in file order.
    pub(super) fn map(&mut self, key: &'static str) -> Vec<(Located<String>, Located<Value>)> {
        let mut map = Vec::new();
        for Entry { key, node } in self.free(key, "a table, such as { width = 16 }") {
            if let Some(value) = self.as_value(&key.value, &node) {
                let place = node.place;
                map.push((key, Located { value, place }));
            }
        }
        map
    }

    /// Takes all keys that are left: each with its value, in file order.
    pub(super) fn rest(&mut self) -> Vec<(Located<String>, Located<Value>)> {
        let mut rest = Vec::new();
        for Entry { key, node } in std::mem::take(&mut self.entries) {
            if let Some(value) = self.as_value(&key.value, &node) {
                rest.push((key, Located { value, place: node.place }));
            }
        }
        rest
    }

    /// Takes a table of tables, such as `[knob.width]`, and reads each with its key, in file order.
    pub(super) fn named<T>(
        &mut self,
        key: &'static str,
        mut read: impl FnMut(&Located<String>, &mut Fields<'_, 's>) -> Option<T>,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for entry in self.free(key, &format!("tables, such as [{key}.width]")) {
            let name = entry.key;
            let what = format!("`{key}.{}`", shortened(&name.value));
            if let Some(mut fields) = self.inner(&name.value, entry.node, what) {
                fields.owner = name.place;
                found.extend(read(&name, &mut fields));
                fields.finish();
            }
        }
        found
    }

    /// Takes a list of tables, such as `[[wrong]]`, and reads each.
    pub(super) fn tables<T>(
        &mut self,
        key: &'static str,
        mut read: impl FnMut(&mut Fields<'_, 's>) -> Option<T>,
    ) -> Vec<T> {
        let example = format!("tables, each beginning with [[{key}]]");
        let mut found = Vec::new();
        let Some(items) = self.items(key, &example) else { return found };
        for item in items {
            if let Some(mut fields) = self.inner(key, item, format!("this `{key}`")) {
                found.extend(read(&mut fields));
                fields.finish();
            }
        }
        found
    }

    /// Takes one table and reads it.
    pub(super) fn table<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Fields<'_, 's>) -> Option<T>,
    ) -> Option<T> {
        let node = self.take(key)?.node;
        let mut fields = self.inner(key, node, format!("`{key}`"))?;
        let found = read(&mut fields);
        fields.finish();
        found
    }

    pub(super) fn warning(
        &mut self,
        code: Code,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.warning(code, place, message, help);
    }

    /// Refuses a key that a translation takes from the original.
    pub(super) fn inherited(&mut self, key: &'static str) {
        if let Some(place) = self.place_of(key) {
            let message = format!("`{key}` is the original's: a translation has texts alone");
            self.error(Code::InheritedKey, place, message, "remove it");
            self.ignore(key);
        }
    }

    /// Passes over a key that cannot be judged because of another mistake.
    pub(super) fn ignore(&mut self, key: &'static str) {
        self.entries.retain(|entry| entry.key.value != key);
    }

    /// Says of every key that was not taken that it means nothing here.
    pub(super) fn finish(&mut self) {
        for entry in std::mem::take(&mut self.entries) {
            let key = entry.key.value;
            let message = format!("`{}` means nothing in {}", shortened(&key), self.what);
            let help = match nearest(&key, self.known.iter().copied()) {
                Some(known) => format!("did you mean `{known}`?"),
                None if self.known.is_empty() => "remove it".to_owned(),
                None => format!("its keys are: {}", self.known.join(", ")),
            };
            self.error(Code::UnknownKey, entry.key.place, message, help);
        }
    }

    fn inner(&mut self, key: &str, node: Node, what: String) -> Option<Fields<'_, 's>> {
        let Item::Table(entries) = node.item else { return self.wrong_type(key, &node, "a table") };
        Some(Fields {
            problems: self.problems,
            owner: node.place,
            what,
            entries,
            known: Vec::new(),
        })
    }

    fn take(&mut self, key: &'static str) -> Option<Entry> {
        self.known.push(key);
        let at = self.entries.iter().position(|entry| entry.key.value == key)?;
        Some(self.entries.remove(at))
    }

    fn items(&mut self, key: &'static str, example: &str) -> Option<Vec<Node>> {
        let node = self.take(key)?.node;
        let Item::List(items) = node.item else {
            return self.wrong_type(key, &node, &format!("a list of {example}"));
        };
        if items.len() <= MOST_ITEMS {
            return Some(items);
        }
        let message = format!("`{key}` has {} entries", items.len());
        self.error(Code::TooLarge, node.place, message, format!("write {MOST_ITEMS} at most"));
        None
    }

    fn free(&mut self, key: &'static str, example: &str) -> Vec<Entry> {
        let Some(Entry { node, .. }) = self.take(key) else { return Vec::new() };
        if let Item::Table(entries) = node.item {
            entries
        } else {
            self.wrong_type::<()>(key, &node, example);
            Vec::new()
        }
    }
}
