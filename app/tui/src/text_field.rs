//! A line of text being typed: an answer, a prediction or a knob's value.

use unicode_width::UnicodeWidthStr;

use super::command::{Surface, TextAction, text_action};
use super::key::{Direction, Key};

/// What the text is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldPurpose {
    Block(usize),
    Knob,
    Steps,
    File,
    /// A search, a filter, or the glossary.
    Search,
    Palette,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextField {
    pub purpose: FieldPurpose,
    text: String,
    /// Byte offset of the cursor, on a character's edge.
    cursor: usize,
    /// Why the last Enter was not taken.
    pub complaint: Option<String>,
}

/// What a key did to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldEvent {
    /// The text changed, or could have.
    Typed,
    Done,
    Dropped,
    /// A key that entries leave to others.
    Unused,
}

/// Longest text of a field: far above any answer.
const LONGEST: usize = 2000;

impl TextField {
    pub fn new(purpose: FieldPurpose, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { purpose, cursor: text.len(), text, complaint: None }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn cursor_column(&self) -> usize {
        self.text.get(..self.cursor).unwrap_or_default().width()
    }

    pub fn key(&mut self, key: Key) -> FieldEvent {
        let Some(action) = text_action(key, Surface::Field) else { return FieldEvent::Unused };
        match action {
            TextAction::Accept => return FieldEvent::Done,
            TextAction::Cancel => return FieldEvent::Dropped,
            TextAction::Insert(c) => self.insert(c),
            TextAction::DeleteBack => {
                if let Some((at, _)) = self.before() {
                    self.text.remove(at);
                    self.cursor = at;
                }
            }
            TextAction::Delete => {
                if self.cursor < self.text.len() {
                    self.text.remove(self.cursor);
                }
            }
            TextAction::DeleteToStart => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
            }
            TextAction::Move(Direction::Left) => {
                self.cursor = self.before().map_or(0, |(at, _)| at);
            }
            TextAction::Move(Direction::Right) => {
                let next = self.text.get(self.cursor..).and_then(|rest| rest.chars().next());
                self.cursor += next.map_or(0, char::len_utf8);
            }
            TextAction::Move(Direction::Home) => self.cursor = 0,
            TextAction::Move(Direction::End) => self.cursor = self.text.len(),
            // A field has one line and no selection.
            TextAction::Move(Direction::Up | Direction::Down)
            | TextAction::Select(_)
            | TextAction::PageUp
            | TextAction::PageDown
            | TextAction::NewLine
            | TextAction::Indent
            | TextAction::Outdent => return FieldEvent::Unused,
        }
        self.complaint = None;
        FieldEvent::Typed
    }

    /// Takes pasted text; line ends become spaces and control characters are dropped.
    pub fn paste(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '\n' | '\t' => self.insert(' '),
                c if c.is_control() => {}
                c => self.insert(c),
            }
        }
    }

    fn insert(&mut self, c: char) {
        if self.text.len() < LONGEST {
            self.text.insert(self.cursor, c);
            self.cursor += c.len_utf8();
        }
    }

    fn before(&self) -> Option<(usize, char)> {
        self.text.get(..self.cursor)?.char_indices().next_back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_at_the_cursor_and_survives_wide_letters() {
        let mut entry = TextField::new(FieldPurpose::Knob, "0.ü1");
        for key in [
            Key::Left,
            Key::Backspace,
            Key::Home,
            Key::Delete,
            Key::Char('1'),
            Key::End,
            Key::Char('5'),
        ] {
            assert_eq!(entry.key(key), FieldEvent::Typed);
        }
        assert_eq!(entry.text(), "1.15");
        assert_eq!(entry.key(Key::Enter), FieldEvent::Done);
        assert_eq!(entry.key(Key::Esc), FieldEvent::Dropped);
    }

    #[test]
    fn pasted_text_is_cleaned_and_bounded() {
        let mut entry = TextField::new(FieldPurpose::Knob, "");
        entry.paste("a\u{1b}[31m\nb");
        assert_eq!(entry.text(), "a[31m b");
        entry.paste(&"x".repeat(10_000));
        assert!(entry.text().len() <= LONGEST);
    }
}
