//! Puts text into a rectangle and never outside it.

use std::borrow::Cow;
use std::ops::Range;

use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::canvas::vector::{Anchor, TextPlace};
use crate::canvas::{Canvas, Noted, Written, is_dots};
use crate::glyphs::Glyphs;

pub(crate) struct Pen<'a> {
    area: Rect,
    canvas: &'a mut Canvas,
    glyphs: &'a Glyphs,
}

impl<'a> Pen<'a> {
    pub(crate) fn new(area: Rect, canvas: &'a mut Canvas, glyphs: &'a Glyphs) -> Self {
        Self { area: area.intersection(canvas.cells.area), canvas, glyphs }
    }

    pub(crate) fn ellipsis(&self) -> &'static str {
        self.glyphs.ellipsis
    }

    /// Writes to the right edge, with an ellipsis where the text is cut; returns the column after it.
    pub(crate) fn text(&mut self, x: u16, y: u16, text: &str, style: Style) -> u16 {
        let room = self.area.right().saturating_sub(x);
        self.within(x, y, room, text, style)
    }

    /// Writes into `room` columns, with an ellipsis where the text is cut; returns the column after it.
    pub(crate) fn within(&mut self, x: u16, y: u16, room: u16, text: &str, style: Style) -> u16 {
        self.put((x, y), room, None, text, style)
    }

    /// Writes so that the text ends before column `right`.
    pub(crate) fn ending(&mut self, right: u16, y: u16, text: &str, style: Style) {
        let room = right.saturating_sub(self.area.x);
        let wide = width(text);
        let x = right.saturating_sub(wide.min(room));
        let held = TextPlace { x: right.into(), y: None, anchor: Anchor::End };
        let held = (wide <= room).then_some(held);
        self.put((x, y), right.saturating_sub(x), held, text, style);
    }

    /// Writes from a column on; in a vector graphic about an exact place.
    pub(crate) fn about(&mut self, exact: f64, from: u16, y: u16, text: &str, style: Style) -> u16 {
        let room = self.area.right().saturating_sub(from);
        let held = TextPlace { x: exact, y: None, anchor: Anchor::Middle };
        self.put((from, y), room, Some(held), text, style)
    }

    /// Writes so that the text ends before a column; in a vector graphic about an exact height.
    pub(crate) fn ending_at(&mut self, right: u16, y: u16, exact: f64, text: &str, style: Style) {
        let room = right.saturating_sub(self.area.x);
        let x = right.saturating_sub(width(text).min(room));
        let held = TextPlace { x: right.into(), y: Some(exact), anchor: Anchor::End };
        self.put((x, y), right.saturating_sub(x), Some(held), text, style);
    }

    fn put(
        &mut self,
        (x, y): (u16, u16),
        room: u16,
        held: Option<TextPlace>,
        text: &str,
        style: Style,
    ) -> u16 {
        let room = room.min(self.area.right().saturating_sub(x));
        if room == 0 || !self.holds(x, y) {
            return x;
        }
        let cut = cut(text, room, self.glyphs.ellipsis);
        let Canvas { cells, vector, noted } = self.canvas;
        if let Some(Noted { written, overwritten }) = noted {
            written.push(Written { at: (x, y).into(), text: text.to_owned() });
            let end = x.saturating_add(width(&cut));
            let under: String =
                (x..end).filter_map(|x| Some(cells.cell((x, y))?.symbol())).collect();
            // A mark of a letter or two belongs on the line that it names; a name on a line hides it.
            let hides_line = width(&cut) > 2 && under.contains(is_dots);
            if under.contains(char::is_alphanumeric) && under != *cut || hides_line {
                overwritten.push(format!("`{cut}` over `{under}`"));
            }
        }
        if let Some(vector) = vector {
            let over = x..x.saturating_add(width(&cut));
            let crosses = over.filter_map(|x| cells.cell((x, y))).any(|cell| cell.symbol() != " ");
            vector.text((x, y), held, &cut, style, crosses);
        }
        cells.set_stringn(x, y, cut, usize::from(room), style).0
    }

    pub(crate) fn glyph(&mut self, x: u16, y: u16, glyph: &str, style: Style) {
        self.repeat((x, y), (1, 1), glyph, style);
    }

    pub(crate) fn run(&mut self, x: u16, y: u16, count: u16, glyph: &str, style: Style) {
        self.repeat((x, y), (count, 1), glyph, style);
    }

    pub(crate) fn column(&mut self, x: u16, rows: Range<u16>, glyph: &str, style: Style) {
        self.repeat((x, rows.start), (1, rows.end.saturating_sub(rows.start)), glyph, style);
    }

    pub(crate) fn frame(&mut self, area: Rect, style: Style) {
        let (right, bottom) = (area.right() - 1, area.bottom() - 1);
        let [top_left, top_right, bottom_left, bottom_right] = self.glyphs.corners;
        let (horizontal, vertical) = (self.glyphs.horizontal, self.glyphs.vertical);
        for (y, left, end) in [(area.y, top_left, top_right), (bottom, bottom_left, bottom_right)] {
            self.run(area.x, y, area.width, horizontal, style);
            self.glyph(area.x, y, left, style);
            self.glyph(right, y, end, style);
        }
        for x in [area.x, right] {
            self.column(x, area.y + 1..bottom, vertical, style);
        }
    }

    /// Repeats one glyph over a rectangle, as far as that is inside.
    fn repeat(&mut self, (x, y): (u16, u16), (wide, high): (u16, u16), glyph: &str, style: Style) {
        let seen = Rect::new(x, y, wide, high).intersection(self.area);
        for position in seen.positions() {
            self.canvas.cells[position].set_symbol(glyph).set_style(style);
        }
        if let Some(vector) = &mut self.canvas.vector {
            vector.glyph((seen.x, seen.y), (seen.width, seen.height), glyph, style);
        }
    }

    /// A bar along a row: these columns of the terminal, and its exact ends in a vector graphic.
    pub(crate) fn bar(
        &mut self,
        y: u16,
        columns: Range<u16>,
        exact: (f64, f64),
        fill: &str,
        style: Style,
    ) {
        let vector = self.canvas.vector.take();
        self.run(columns.start, y, columns.end.saturating_sub(columns.start), fill, style);
        self.canvas.vector = vector;
        let inside = |x: f64| x.clamp(self.area.left().into(), self.area.right().into());
        let ((from, to), y) = ((inside(exact.0), inside(exact.1)), f64::from(y));
        self.canvas.blocks(&[[(from, y + 0.1), (to, y + 0.9)]], fill, style);
    }

    /// A glyph on the terminal alone, where a vector graphic has exact bars.
    pub(crate) fn cell(&mut self, x: u16, y: u16, glyph: &str, style: Style) {
        let vector = self.canvas.vector.take();
        self.glyph(x, y, glyph, style);
        self.canvas.vector = vector;
    }

    /// A line down the rows of a column of the terminal; in a vector graphic at an exact place.
    pub(crate) fn upright(
        &mut self,
        x: u16,
        rows: Range<u16>,
        exact: f64,
        glyph: &str,
        style: Style,
    ) {
        let vector = self.canvas.vector.take();
        self.column(x, rows.clone(), glyph, style);
        self.canvas.vector = vector;
        let dash = if glyph == self.glyphs.change { "3 3" } else { "" };
        let ends = (f64::from(rows.start), f64::from(rows.end.min(self.area.bottom())));
        if self.holds(x, rows.start) && ends.0 < ends.1 {
            self.canvas.rule((exact, ends.0), (exact, ends.1), style, dash);
        }
    }

    /// A faint line across a field at an exact height, with a tick left of it; nothing on a terminal.
    pub(crate) fn level(&mut self, columns: Range<u16>, exact: f64, style: Style) {
        let (left, right) = (f64::from(columns.start), f64::from(columns.end));
        self.canvas.rule((left - 0.5, exact), (left, exact), style, "");
        self.canvas.rule((left, exact), (right, exact), style, "1 4");
    }

    /// A tick below the line along a row, at an exact place; nothing on a terminal.
    pub(crate) fn notch(&mut self, exact: f64, y: u16, style: Style) {
        let y = f64::from(y);
        self.canvas.rule((exact, y + 0.5), (exact, y + 0.85), style, "");
    }

    /// A mark in a cell of the terminal; in a vector graphic about an exact place.
    pub(crate) fn point(
        &mut self,
        (x, y): (u16, u16),
        exact: (f64, f64),
        glyph: &str,
        style: Style,
    ) {
        if !self.holds(x, y) {
            return;
        }
        self.canvas.cells[(x, y)].set_symbol(glyph).set_style(style);
        if let Some(vector) = &mut self.canvas.vector {
            vector.point(exact, glyph, style);
        }
    }

    /// Puts one glyph into the cells alone: a part of a bar that a vector graphic has exactly.
    pub(crate) fn end_of_bar(&mut self, x: u16, y: u16, glyph: &str, style: Style) {
        let vector = self.canvas.vector.take();
        self.glyph(x, y, glyph, style);
        self.canvas.vector = vector;
    }

    /// Keeps the colour of a cell that is full behind what is drawn over it next.
    pub(crate) fn fill_behind(&mut self, x: u16, y: u16, full: &str) {
        if self.holds(x, y)
            && let Some(cell) = self.canvas.cells.cell_mut((x, y))
            && cell.symbol() == full
        {
            cell.bg = cell.fg;
        }
    }

    /// Whether `columns` cells show dots in a style's colour and nothing else.
    pub(crate) fn shows_dots(&self, x: u16, y: u16, columns: u16, style: Style) -> bool {
        (x..x.saturating_add(columns)).all(|x| {
            self.holds(x, y) && {
                let cell = &self.canvas.cells[(x, y)];
                style.fg.is_none_or(|color| cell.fg == color) && !cell.symbol().is_ascii()
            }
        })
    }

    fn holds(&self, x: u16, y: u16) -> bool {
        self.area.contains((x, y).into())
    }
}

/// A count of columns or rows; no screen has more than the largest.
pub(crate) fn cells(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

pub(crate) fn width(text: &str) -> u16 {
    cells(text.width())
}

/// The columns of the widest of these texts.
pub(crate) fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> u16 {
    texts.into_iter().map(|text| width(text.as_ref())).max().unwrap_or(0)
}

/// The text, cut to `room` columns with an ellipsis if it is longer.
pub(crate) fn cut<'a>(text: &'a str, room: u16, ellipsis: &str) -> Cow<'a, str> {
    if width(text) <= room {
        return Cow::Borrowed(text);
    }
    let room = usize::from(room.saturating_sub(width(ellipsis)));
    Cow::Owned(fitting(text.chars(), room) + ellipsis)
}

/// The letters that fit into these columns.
fn fitting(letters: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= room
    };
    letters.take_while(fits).collect()
}

/// A name cut in its middle where it has parts: `block1.attention` and `block1.mlp` differ at their ends. Words are cut at
/// their end, and not inside a number.
pub(crate) fn cut_name(name: &str, room: u16, ellipsis: &str) -> String {
    let whole = width(name) <= room;
    let spared = room.saturating_sub(width(ellipsis));
    if whole {
        return name.to_owned();
    }
    // A point inside a number makes no parts.
    let first = name.split(' ').next().unwrap_or_default();
    let has_parts = first.contains(['.', '_', '/']) && first.starts_with(char::is_alphabetic);
    if spared < 4 || !has_parts {
        let start = fitting(name.chars(), usize::from(spared));
        let in_number = |c: char| c.is_ascii_digit() || c == '.';
        let is_split = start.ends_with(in_number) && name[start.len()..].starts_with(in_number);
        let kept = if is_split { start.trim_end_matches(in_number) } else { start.as_str() };
        return format!("{}{ellipsis}", if kept.is_empty() { start.as_str() } else { kept });
    }
    let (before, after) = (usize::from(spared / 2), usize::from(spared.div_ceil(2)));
    let start = fitting(name.chars(), before);
    let end: String = fitting(name.chars().rev(), after).chars().rev().collect();
    format!("{start}{ellipsis}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_in_the_middle() {
        for (name, room, expected) in [
            ("block1.attention", 16, "block1.attention"),
            ("block1.attention", 11, "block~ntion"),
            ("block1.attention_norm", 9, "bloc~norm"),
            ("block1.attention", 4, "blo~"),
            ("matmul [64, 16]", 8, "matmul ~"),
            ("block1.attention matmul", 18, "block1.a~on matmul"),
            ("prefill 7.68 flop/B", 16, "prefill 7.68 fl~"),
            ("prefill 7.68 flop/B", 11, "prefill ~"),
            ("漢字.漢字", 7, "漢~字"),
        ] {
            let found = cut_name(name, room, "~");
            assert_eq!(found, expected, "{name} in {room}");
            assert!(width(&found) <= room);
        }
    }
}
