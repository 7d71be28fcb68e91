//! A field and, below it, the list that typing narrows: what the palette and the glossary are made of.

use mlsys_view::theme::Look;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::command::Motion;
use crate::key::Key;
use crate::text_field::{FieldEvent, FieldPurpose, TextField};

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
    /// Which of them is marked.
    pub chosen: usize,
}

impl FilteredList {
    pub fn new(purpose: FieldPurpose) -> Self {
        Self { entry: TextField::new(purpose, ""), found: Vec::new(), chosen: 0 }
    }

    /// Lists other entries, the first of them marked.
    pub fn show(&mut self, found: Vec<usize>) {
        self.found = found;
        self.chosen = 0;
    }

    /// Takes a key that is no command here; says whether the text may have changed.
    pub fn key(&mut self, key: Key) -> bool {
        self.entry.key(key) == FieldEvent::Typed
    }

    pub fn move_by(&mut self, motion: Motion, half: usize) {
        self.chosen = motion.from(self.chosen, half, self.found.len().saturating_sub(1));
    }

    /// The marked entry.
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
        Line::from(vec![sign, text]).render(area, buffer);
        Position::new(area.x + (column as u16).min(area.width.saturating_sub(1)), area.y)
    }
}

/// Where it lies.
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
