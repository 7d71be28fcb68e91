//! What changes a text.

use std::ops::Range;

use mlsys_run::storage::{MAX_DRAFT_BYTES, clean};

use super::{Change, Kind, Text, TextFull};

/// Columns of one level of indentation where the text shows none, and the most that are taken for one.
const INDENT: usize = 2;
const WIDEST: usize = 8;

impl Text {
    /// Columns of one level: those of the first line that is indented by blanks.
    fn level(&self) -> usize {
        let blanks = |line: &str| line.chars().take_while(|c| *c == ' ').count();
        let mut lines = self.lines().filter(|line| !line.trim().is_empty());
        let first = lines.find_map(|line| Some(blanks(line)).filter(|blanks| *blanks > 0));
        first.map_or(INDENT, |blanks| blanks.min(WIDEST))
    }

    /// Puts a text in the place of a range: the one way in which anything changes.
    fn replace(&mut self, range: Range<usize>, with: &str, kind: Kind) -> Result<(), TextFull> {
        if self.text.len() - range.len() + with.len() > MAX_DRAFT_BYTES {
            return Err(TextFull);
        }
        let removed = self.text[range.clone()].to_owned();
        if removed.is_empty() && with.is_empty() {
            return Ok(());
        }
        let (at, inserted, cursor) = (range.start, with.to_owned(), self.cursor);
        self.exchange(at, &removed, with);
        self.history.record(Change { at, removed, inserted, cursor, kind });
        Ok(())
    }

    /// What typing replaces: the selection, or nothing at the cursor.
    fn aim(&self) -> Range<usize> {
        self.selection().unwrap_or(self.cursor..self.cursor)
    }

    /// Types a character; a closing brace that is the first of its line moves back a level.
    pub fn type_char(&mut self, c: char) -> Result<(), TextFull> {
        let aim = self.aim();
        if c == '}' && aim.is_empty() {
            let start = self.line_of(aim.start).start;
            let blank = &self.text[start..aim.start];
            if blank.ends_with(&" ".repeat(self.level())) && blank.chars().all(|c| c == ' ') {
                return self.replace(aim.start - self.level()..aim.start, "}", Kind::Other);
            }
        }
        let kind = if aim.is_empty() { Kind::Typed } else { Kind::Other };
        self.replace(aim, c.encode_utf8(&mut [0; 4]), kind)
    }

    /// Begins a new line as far in as this one, a level further behind an open brace.
    pub fn new_line(&mut self) -> Result<(), TextFull> {
        let aim = self.aim();
        let line = self.line_of(aim.start);
        let before = &self.text[line.start..aim.start];
        let indent: String = before.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        let opens = before.trim_end().ends_with('{');
        let closes = opens && self.text[aim.end..].starts_with('}');
        let level = " ".repeat(if opens { self.level() } else { 0 });
        let behind = if closes { format!("\n{indent}") } else { String::new() };
        self.replace(aim, &format!("\n{indent}{level}{behind}"), Kind::Other)?;
        self.cursor -= behind.len();
        Ok(())
    }

    /// Goes in a level: the selected lines, or blanks up to the next stop at the cursor.
    pub fn indent(&mut self) -> Result<(), TextFull> {
        let level = self.level();
        if let Some(range) = self.selection() {
            let blanks = " ".repeat(level);
            let indented =
                |line: &str| if line.is_empty() { String::new() } else { blanks.clone() + line };
            return self.shift(range, indented);
        }
        let (_, column) = self.cursor();
        let blanks = " ".repeat(level - column % level);
        self.replace(self.cursor..self.cursor, &blanks, Kind::Other)
    }

    /// Comes out a level: the selected lines, or the cursor's.
    pub fn outdent(&mut self) -> Result<(), TextFull> {
        let level = self.level();
        let range = self.selection().unwrap_or(self.cursor..self.cursor);
        self.shift(range, |line| {
            let blanks = line.chars().take_while(|c| *c == ' ').count();
            let tab = usize::from(line.starts_with('\t'));
            let out = blanks.min(level).max(tab);
            line[out..].to_owned()
        })
    }

    /// Changes every line that a range touches; the lines stay selected if some were.
    fn shift(&mut self, range: Range<usize>, by: impl Fn(&str) -> String) -> Result<(), TextFull> {
        let was_selected = self.selection().is_some();
        let start = self.line_of(range.start).start;
        // A selection that ends before the first letter of a line does not mean that line.
        let ends_line = self.text[..range.end].ends_with('\n') && range.len() > 1;
        let end = self.line_of(range.end - usize::from(ends_line)).end;
        let lines: Vec<String> = self.text[start..end].split('\n').map(by).collect();
        let shifted = lines.join("\n");
        let from_end = self.text.len() - self.cursor;
        self.replace(start..end, &shifted, Kind::Other)?;
        if was_selected {
            self.anchor = Some(start);
        } else {
            let line = self.line_of(start);
            self.cursor = (self.text.len().saturating_sub(from_end)).clamp(start, line.end);
            while !self.text.is_char_boundary(self.cursor) {
                self.cursor -= 1;
            }
        }
        Ok(())
    }

    /// Removes the selection, or the character before the cursor; among the blanks of an indentation a whole level.
    pub fn backspace(&mut self) {
        let range = self.selection().unwrap_or_else(|| {
            let line = self.line_of(self.cursor).start;
            let before = &self.text[line..self.cursor];
            let is_blank = !before.is_empty() && before.chars().all(|c| c == ' ');
            let level = self.level();
            let back = match before.len() % level {
                0 => level,
                rest => rest,
            };
            let from = if is_blank { self.cursor - back } else { self.before(self.cursor) };
            from..self.cursor
        });
        self.remove(range, Kind::Removed);
    }

    pub fn delete(&mut self) {
        let range = self.selection();
        let range = range.unwrap_or(self.cursor..self.after(self.cursor));
        self.remove(range, Kind::Other);
    }

    fn remove(&mut self, range: Range<usize>, kind: Kind) {
        // What shortens a text has room.
        let _ = self.replace(range, "", kind);
    }

    /// The selection, or the cursor's line with its end.
    fn taken(&self) -> Range<usize> {
        self.selection().unwrap_or_else(|| {
            let line = self.line_of(self.cursor);
            line.start..(line.end + 1).min(self.text.len())
        })
    }

    pub fn copied(&self) -> String {
        self.text[self.taken()].to_owned()
    }

    pub fn cut(&mut self) -> String {
        let taken = self.taken();
        let text = self.text[taken.clone()].to_owned();
        self.remove(taken, Kind::Other);
        text
    }

    /// Puts a text in the place of the selection or at the cursor; a whole line goes before the cursor's.
    pub fn paste(&mut self, text: &str) -> Result<(), TextFull> {
        let text = clean(text);
        let whole_line = text.ends_with('\n') && !text.trim_end_matches('\n').contains('\n');
        match (self.selection(), whole_line) {
            (None, true) => {
                let start = self.line_of(self.cursor).start;
                let (offset, end) = (self.cursor - start, start + text.len());
                self.replace(start..start, &text, Kind::Other)?;
                self.cursor = end + offset;
                Ok(())
            }
            (Some(_), _) | (None, false) => self.replace(self.aim(), &text, Kind::Other),
        }
    }

    /// Makes the text another one by one change that touches as little of it as it can.
    pub fn become_text(&mut self, other: &str) -> Result<(), TextFull> {
        let other = clean(other);
        let pairs = self.text.chars().zip(other.chars());
        let before: usize = pairs.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
        let new = &other[before..];
        let pairs = self.text[before..].chars().rev().zip(new.chars().rev());
        let after: usize = pairs.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
        let (end, with) = (self.text.len() - after, new[..new.len() - after].to_owned());
        let (line, column) = self.cursor();
        self.replace(before..end, &with, Kind::Other)?;
        self.put_cursor(line, column);
        Ok(())
    }

    pub fn undo(&mut self) -> bool {
        let Some(change) = self.history.undo() else { return false };
        self.exchange(change.at, &change.inserted, &change.removed);
        self.cursor = change.cursor.min(self.text.len());
        true
    }

    /// Puts one text in the place of another, the cursor behind it.
    fn exchange(&mut self, at: usize, old: &str, new: &str) {
        self.text.replace_range(at..at + old.len(), new);
        self.cursor = at + new.len();
        (self.anchor, self.goal) = (None, None);
    }

    pub fn redo(&mut self) -> bool {
        let Some(change) = self.history.redo() else { return false };
        self.exchange(change.at, &change.removed, &change.inserted);
        true
    }
}
