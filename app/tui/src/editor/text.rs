//! A text with a cursor: what a small editor does to it, every change undoable.
//!
//! It stays ours: the drafts, the complaints and the bounded history of the workbench are built on it, and a widget such
//! as ratatui-textarea would have to be kept in step with all three.

mod edit;

use std::ops::Range;

use mlsys_run::storage::clean;
use unicode_width::UnicodeWidthChar;

const TAB: usize = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    text: String,
    /// Byte offset of the cursor, on a character's edge.
    cursor: usize,
    /// The other end of the selection, if there is one.
    anchor: Option<usize>,
    /// The column that moving up and down keeps to.
    goal: Option<usize>,
    history: History,
}

/// There is no room for so much text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextFull;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorMove {
    Left,
    Right,
    Up(usize),
    Down(usize),
    Home,
    End,
}

/// What becomes of the selection when the cursor moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Select {
    Drop,
    Extend,
}

impl Text {
    pub fn new(text: &str) -> Self {
        Self { text: clean(text), ..Self::default() }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Its lines; a text that ends with a line's end has an empty one after it.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.split('\n')
    }

    /// Line of the cursor, from 0, and its column on the screen.
    pub fn cursor(&self) -> (usize, usize) {
        self.place(self.cursor)
    }

    pub fn selection(&self) -> Option<Range<usize>> {
        let anchor = self.anchor?;
        let range = anchor.min(self.cursor)..anchor.max(self.cursor);
        (!range.is_empty()).then_some(range)
    }

    pub fn is_selecting(&self) -> bool {
        self.anchor.is_some()
    }

    pub fn toggle_selection(&mut self) {
        self.anchor = self.anchor.is_none().then_some(self.cursor);
    }

    /// Line and screen column of a byte.
    fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..at];
        let line = before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        (line, width(&before[start..]))
    }

    /// The bytes of the line that a byte is in, without its end.
    fn line_of(&self, at: usize) -> Range<usize> {
        let (before, after) = self.text.split_at(at);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        start..after.find('\n').map_or(self.text.len(), |end| at + end)
    }

    /// Goes to a line and a column, both from 0; a selection ends, for who jumps did not mean all that lies between.
    pub fn jump(&mut self, line: usize, column: usize) {
        self.anchor = None;
        self.put_cursor(line, column);
    }

    /// Puts the cursor at a line and a column, both from 0, or as near as there is a place.
    fn put_cursor(&mut self, line: usize, column: usize) {
        let starts = self.text.match_indices('\n').map(|(end, _)| end + 1);
        let start = std::iter::once(0).chain(starts).nth(line);
        let start = start.unwrap_or_else(|| self.line_of(self.text.len()).start);
        self.cursor = self.at_column(start, column);
        self.goal = None;
        self.history.part();
    }

    /// The byte of the line beginning at `start` that stands at a column or before it.
    fn at_column(&self, start: usize, column: usize) -> usize {
        let line = self.line_of(start);
        let mut at = 0;
        for (offset, c) in self.text[line.clone()].char_indices() {
            let next = advance(at, c);
            if next > column {
                return start + offset;
            }
            at = next;
        }
        line.end
    }

    pub fn go(&mut self, go: CursorMove, select: Select) {
        self.anchor = match select {
            Select::Drop => None,
            Select::Extend => self.anchor.or(Some(self.cursor)),
        };
        let goal = self.goal.take();
        match go {
            CursorMove::Left => self.cursor = self.before(self.cursor),
            CursorMove::Right => self.cursor = self.after(self.cursor),
            CursorMove::Home => {
                let line = self.line_of(self.cursor);
                let text = &self.text[line.clone()];
                let indent = line.start + (text.len() - text.trim_start().len());
                self.cursor = if self.cursor == indent { line.start } else { indent };
            }
            CursorMove::End => self.cursor = self.line_of(self.cursor).end,
            CursorMove::Up(lines) => {
                let (line, column) = self.cursor();
                self.go_to_line((line > 0).then(|| line.saturating_sub(lines)), goal, column, 0);
            }
            CursorMove::Down(lines) => {
                let ((line, column), last) = (self.cursor(), self.text.matches('\n').count());
                let below = (line < last).then(|| (line + lines).min(last));
                self.go_to_line(below, goal, column, self.text.len());
            }
        }
        self.history.part();
    }

    /// Goes to a line at the column that is kept to, or where there is no such line to an end of the text.
    fn go_to_line(&mut self, line: Option<usize>, goal: Option<usize>, column: usize, end: usize) {
        let goal = goal.unwrap_or(column);
        match line {
            Some(line) => {
                self.put_cursor(line, goal);
                self.goal = Some(goal);
            }
            None => self.cursor = end,
        }
    }

    fn before(&self, at: usize) -> usize {
        let before = &self.text[..at];
        before.char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self, at: usize) -> usize {
        let after = &self.text[at..];
        at + after.chars().next().map_or(0, char::len_utf8)
    }
}

/// The column behind a character that begins at a column.
pub fn advance(column: usize, c: char) -> usize {
    match c {
        '\t' => (column / TAB + 1) * TAB,
        c => column + c.width().unwrap_or(0),
    }
}

/// Columns of a piece of a line that begins at its first column.
pub fn width(text: &str) -> usize {
    text.chars().fold(0, advance)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub at: usize,
    pub removed: String,
    pub inserted: String,
    pub cursor: usize,
    pub kind: Kind,
}

/// How a change came about: letters typed one after the other are taken back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Typed,
    Removed,
    Other,
}

/// Bytes that changes keep at most: far more than a learner undoes, far less than memory has.
const MOST: usize = 4 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    past: Vec<Change>,
    future: Vec<Change>,
    bytes: usize,
    /// Whether the next change begins anew, whatever it is like.
    parted: bool,
}

impl History {
    /// Takes a change in; one like the last goes on with it.
    pub fn record(&mut self, change: Change) {
        self.future.clear();
        let parted = std::mem::take(&mut self.parted);
        self.bytes += change.removed.len() + change.inserted.len();
        match self.past.last_mut() {
            Some(last) if !parted && last.takes(&change) => last.take(change),
            Some(_) | None => self.past.push(change),
        }
        while self.bytes > MOST && self.past.len() > 1 {
            let oldest = self.past.remove(0);
            self.bytes -= oldest.removed.len() + oldest.inserted.len();
        }
    }

    /// The cursor was moved: what is typed now is another change.
    pub fn part(&mut self) {
        self.parted = true;
    }

    pub fn undo(&mut self) -> Option<Change> {
        let change = self.past.pop()?;
        self.bytes -= change.removed.len() + change.inserted.len();
        self.future.push(change.clone());
        self.parted = true;
        Some(change)
    }

    pub fn redo(&mut self) -> Option<Change> {
        let change = self.future.pop()?;
        self.bytes += change.removed.len() + change.inserted.len();
        self.past.push(change.clone());
        self.parted = true;
        Some(change)
    }
}

impl Change {
    /// Whether another change goes on where this one ended; a blank ends a word.
    fn takes(&self, next: &Self) -> bool {
        match (self.kind, next.kind) {
            (Kind::Typed, Kind::Typed) => {
                let ends_word = self.inserted.ends_with(' ') && next.inserted != " ";
                next.at == self.at + self.inserted.len() && !ends_word
            }
            (Kind::Removed, Kind::Removed) => {
                next.at + next.removed.len() == self.at && next.inserted.is_empty()
            }
            (Kind::Typed | Kind::Removed | Kind::Other, _) => false,
        }
    }

    fn take(&mut self, next: Self) {
        match self.kind {
            Kind::Typed => self.inserted.push_str(&next.inserted),
            Kind::Removed | Kind::Other => {
                self.removed.insert_str(0, &next.removed);
                self.at = next.at;
            }
        }
    }
}
