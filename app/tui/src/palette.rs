//! The palette: everything that can be done or opened, found by some letters of its name.

use super::command::{Command, Motion};
use super::fuzzy::{self, Haystack, Query};
use super::key::Key;
use super::text_field::{FieldEvent, FieldPurpose, TextField};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Command(Command),
    /// Opens a lesson of the course, by its id.
    Lesson(String),
    /// Opens a lab on a page of its own, by its kind.
    Lab(String),
    /// Opens a recorded run, by its name.
    Run(String),
}

impl Target {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Command(_) => "command",
            Self::Lesson(_) => "lesson",
            Self::Lab(_) => "lab",
            Self::Run(_) => "run",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub target: Target,
    /// How many letters of the text are its name; the rest says more.
    pub name: usize,
    /// Name and description, as they are searched and shown.
    pub text: Haystack,
    /// The keys that do it without the palette.
    pub keys: String,
    pub refused: Option<String>,
}

impl Item {
    /// An entry that can be chosen.
    pub fn new(target: Target, name: &str, about: &str) -> Self {
        Self {
            target,
            name: name.chars().count(),
            text: Haystack::new(&format!("{name}  {about}")),
            keys: String::new(),
            refused: None,
        }
    }
}

/// What is taken off an entry that cannot be chosen: less than half a letter.
const REFUSED: i32 = 6;

/// The open palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette {
    pub entry: TextField,
    /// Everything there is, what was used last first.
    pub items: Vec<Item>,
    /// The items that match, best first.
    pub found: Vec<usize>,
    pub chosen: usize,
}

impl Palette {
    /// Opens it; `recent` is what was chosen before, the newest first.
    pub fn new(mut items: Vec<Item>, recent: &[Target]) -> Self {
        let place = |item: &Item| recent.iter().position(|target| *target == item.target);
        items.sort_by_key(|item| place(item).unwrap_or(usize::MAX));
        Self {
            entry: TextField::new(FieldPurpose::Palette, ""),
            found: (0..items.len()).collect(),
            items,
            chosen: 0,
        }
    }

    /// What is looked for.
    pub fn query(&self) -> Query {
        Query::new(self.entry.text())
    }

    pub fn item(&self) -> Option<&Item> {
        self.items.get(*self.found.get(self.chosen)?)
    }

    /// Takes a key that is no command here: it edits what is typed.
    pub fn key(&mut self, key: Key) {
        match self.entry.key(key) {
            FieldEvent::Typed => self.search(),
            FieldEvent::Done | FieldEvent::Dropped | FieldEvent::Unused => {}
        }
    }

    pub fn paste(&mut self, text: &str) {
        self.entry.paste(text);
        self.search();
    }

    pub fn move_by(&mut self, motion: Motion, half: usize) {
        let last = self.found.len().saturating_sub(1);
        self.chosen = motion.from(self.chosen, half, last);
    }

    fn search(&mut self) {
        let query = self.query();
        self.chosen = 0;
        self.found = if query.is_empty() {
            (0..self.items.len()).collect()
        } else {
            let handicap = |item: &Item| if item.refused.is_some() { REFUSED } else { 0 };
            let texts = self.items.iter().map(|item| (&item.text, handicap(item)));
            fuzzy::rank(&query, texts)
        };
    }
}
