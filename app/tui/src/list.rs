//! A line of text being typed, and the list that typing narrows: what the palette and the glossary are made of.

use mlsys_view::theme::Look;
use ratatui::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::command::{Surface, TextAction, text_action};
use crate::command::Motion;
use crate::key::{Direction, Key};
use crate::lines::put;

/// Most columns and rows it takes.
const LARGEST: (u16, u16) = (96, 22);
/// From this width on it leaves the page visible around it, in a box.
pub const BOXED: u16 = 60;

/// A field, and the indices of the entries that it lets through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilteredList {
    pub entry: TextField,
    /// The entries that match, best first.
    pub found: Vec<usize>,
    pub chosen: usize,
}

impl FilteredList {
    pub fn empty() -> Self {
        Self { entry: TextField::over_the_page(""), found: Vec::new(), chosen: 0 }
    }

    /// Lists other entries, the first of them marked.
    pub fn show(&mut self, found: Vec<usize>) {
        self.found = found;
        self.chosen = 0;
    }

    pub fn move_by(&mut self, motion: Motion, half: usize) {
        self.chosen = motion.from(self.chosen, half, self.found.len().saturating_sub(1));
    }

    pub fn marked(&self) -> Option<usize> {
        self.found.get(self.chosen).copied()
    }

    /// How many entries at the top are scrolled away.
    pub fn skipped(&self, rows: u16) -> usize {
        (self.chosen + 1).saturating_sub(usize::from(rows))
    }

    /// The entries that there is room for, each with its place in the list and its row.
    pub fn shown(&self, area: Rect) -> impl Iterator<Item = (usize, usize, Rect)> {
        let places = self.found.iter().copied().enumerate().skip(self.skipped(area.height));
        places.zip(area.rows()).map(|((place, index), row)| (place, index, row))
    }

    /// Draws the field with its sign, or a hint while it is empty; returns where the cursor stands.
    pub fn draw_field(
        &self,
        look: &Look,
        sign: &'static str,
        hint: String,
        area: Rect,
        buffer: &mut Buffer,
    ) -> Position {
        let sign = Span::styled(sign, look.theme.key);
        let column = sign.width() + self.entry.cursor_column();
        let text = match self.entry.text() {
            "" => Span::styled(hint, look.theme.dim),
            typed => Span::styled(typed.to_owned(), look.theme.text),
        };
        put(look, Line::from(vec![sign, text]), area, buffer);
        Position::new(area.x + (column as u16).min(area.width.saturating_sub(1)), area.y)
    }
}

pub fn area(body: Rect) -> Rect {
    let width = if body.width < BOXED { body.width } else { (body.width - 4).min(LARGEST.0) };
    let height = body.height.min(LARGEST.1);
    Rect::new(body.x + (body.width - width) / 2, body.y, width, height)
}

/// The rows of its entries, where a click or the wheel finds them.
pub fn rows(area: Rect) -> Rect {
    let boxed = u16::from(area.width >= BOXED);
    Rect::new(
        area.x + boxed,
        area.y + 1 + boxed,
        area.width.saturating_sub(2 * boxed),
        area.height.saturating_sub(1 + 2 * boxed),
    )
}

/// Draws the box around it, where there is room; returns the rows of the field and of the entries, if any are left.
pub fn draw_box(look: &Look, area: Rect, buffer: &mut Buffer) -> Option<(Rect, Rect)> {
    let rows = rows(area);
    if rows.height == 0 {
        return None;
    }
    if rows.x > area.x {
        let glyphs = &look.glyphs;
        let [top_left, top_right, bottom_left, bottom_right] = glyphs.corners;
        let inside = usize::from(area.width).saturating_sub(2);
        let (rule, blank) = (glyphs.horizontal.repeat(inside), " ".repeat(inside));
        let last = usize::from(area.height) - 1;
        for (row, cell) in area.rows().enumerate() {
            let text = match row {
                0 => format!("{top_left}{rule}{top_right}"),
                row if row == last => format!("{bottom_left}{rule}{bottom_right}"),
                _ => format!("{0}{blank}{0}", glyphs.vertical),
            };
            Line::styled(text, look.theme.focus).render(cell, buffer);
        }
    }
    Some((Rect::new(rows.x, rows.y - 1, rows.width, 1), rows))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldPurpose {
    Block(usize),
    Knob,
    Overlay,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextField {
    pub purpose: FieldPurpose,
    text: String,
    /// Byte offset of the cursor, on a character's edge.
    cursor: usize,
    /// Whether the whole text is selected, so that typing replaces it.
    is_selected: bool,
    /// Why the last Enter was not taken.
    pub complaint: Option<String>,
}

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
        Self { purpose, cursor: text.len(), text, is_selected: false, complaint: None }
    }

    /// A field with an old value, which the first thing typed replaces and a key that moves keeps.
    pub fn to_replace(purpose: FieldPurpose, text: impl Into<String>) -> Self {
        let field = Self::new(purpose, text);
        Self { is_selected: !field.text.is_empty(), ..field }
    }

    pub fn is_selected(&self) -> bool {
        self.is_selected
    }

    pub fn over_the_page(text: impl Into<String>) -> Self {
        Self::new(FieldPurpose::Overlay, text)
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn cursor_column(&self) -> usize {
        self.text[..self.cursor].width()
    }

    pub fn key(&mut self, key: Key) -> FieldEvent {
        let Some(action) = text_action(key, Surface::Field) else { return FieldEvent::Unused };
        let was_selected = std::mem::take(&mut self.is_selected);
        match action {
            TextAction::Accept => return FieldEvent::Done,
            TextAction::Cancel => return FieldEvent::Dropped,
            TextAction::Insert(c) => {
                if was_selected {
                    self.clear();
                }
                self.insert(c);
            }
            TextAction::DeleteBack | TextAction::Delete if was_selected => self.clear(),
            TextAction::DeleteBack => self.remove(self.before()),
            TextAction::Delete => drop(self.text.drain(self.cursor..self.after())),
            TextAction::DeleteToStart => self.remove(0),
            TextAction::Move(Direction::Left) => self.cursor = self.before(),
            TextAction::Move(Direction::Right) => self.cursor = self.after(),
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

    /// Takes pasted text; line ends become spaces and what would steer the terminal is dropped.
    pub fn paste(&mut self, text: &str) {
        if std::mem::take(&mut self.is_selected) {
            self.clear();
        }
        let blank = |c| if matches!(c, '\n' | '\t') { ' ' } else { c };
        text.chars()
            .map(blank)
            .filter(|c| !mlsys_expr::steers_terminal(*c))
            .for_each(|c| self.insert(c));
    }

    fn clear(&mut self) {
        self.text.clear();
        self.cursor = 0;
    }

    fn insert(&mut self, c: char) {
        if self.text.len() < LONGEST {
            self.text.insert(self.cursor, c);
            self.cursor += c.len_utf8();
        }
    }

    /// Removes what stands between a place and the cursor.
    fn remove(&mut self, from: usize) {
        self.text.drain(from..self.cursor);
        self.cursor = from;
    }

    fn before(&self) -> usize {
        self.text[..self.cursor].char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        self.cursor + self.text[self.cursor..].chars().next().map_or(0, char::len_utf8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_at_the_cursor_and_survives_wide_letters() {
        let mut entry = TextField::new(FieldPurpose::Knob, "0.ü1");
        let keys = [Key::Left, Key::Backspace, Key::Home, Key::Delete];
        for key in keys.into_iter().chain([Key::Char('1'), Key::End, Key::Char('5')]) {
            assert_eq!(entry.key(key), FieldEvent::Typed);
        }
        assert_eq!(entry.text(), "1.15");
        assert_eq!(entry.key(Key::Enter), FieldEvent::Done);
        assert_eq!(entry.key(Key::Esc), FieldEvent::Dropped);
    }

    #[test]
    fn an_old_value_is_replaced_by_what_is_typed_and_kept_by_a_key_that_moves() {
        for (keys, text) in [
            (&[Key::Char('7')][..], "7"),
            (&[Key::Backspace], ""),
            (&[Key::End, Key::Char('7')], "1047"),
            (&[Key::Left, Key::Backspace], "14"),
        ] {
            let mut entry = TextField::to_replace(FieldPurpose::Knob, "104");
            assert!(entry.is_selected());
            for key in keys {
                entry.key(*key);
            }
            assert_eq!((entry.text(), entry.is_selected()), (text, false), "{keys:?}");
        }
        let mut entry = TextField::to_replace(FieldPurpose::Knob, "104");
        entry.paste("8");
        assert_eq!(entry.text(), "8");
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
