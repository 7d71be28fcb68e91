//! Puts text into a rectangle and never outside it.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::glyphs::Glyphs;

/// A rectangle of a buffer and the glyphs to use in it.
pub(super) struct Pen<'a> {
    area: Rect,
    buf: &'a mut Buffer,
    glyphs: &'a Glyphs,
}

impl<'a> Pen<'a> {
    /// A pen for the part of `area` that lies in the buffer.
    pub(super) fn new(area: Rect, buf: &'a mut Buffer, glyphs: &'a Glyphs) -> Self {
        Self { area: area.intersection(buf.area), buf, glyphs }
    }

    /// What stands for text that was cut off.
    pub(super) fn ellipsis(&self) -> &'static str {
        self.glyphs.ellipsis
    }

    /// Writes to the right edge, with an ellipsis where the text is cut; returns the column after it.
    pub(super) fn text(&mut self, x: u16, y: u16, text: &str, style: Style) -> u16 {
        let room = self.area.right().saturating_sub(x);
        self.within(x, y, room, text, style)
    }

    /// Writes into `room` columns, with an ellipsis where the text is cut; returns the column after it.
    pub(super) fn within(&mut self, x: u16, y: u16, room: u16, text: &str, style: Style) -> u16 {
        let room = room.min(self.area.right().saturating_sub(x));
        if room == 0 || !self.holds(x, y) {
            return x;
        }
        let cut = cut(text, room, self.glyphs.ellipsis);
        self.buf.set_stringn(x, y, cut, usize::from(room), style).0
    }

    /// Writes so that the text ends before column `right`.
    pub(super) fn ending(&mut self, right: u16, y: u16, text: &str, style: Style) {
        let room = right.saturating_sub(self.area.x);
        let x = right.saturating_sub(width(text).min(room));
        self.within(x, y, right.saturating_sub(x), text, style);
    }

    /// Puts one glyph, if the place is inside.
    pub(super) fn glyph(&mut self, x: u16, y: u16, glyph: &str, style: Style) {
        if self.holds(x, y) {
            self.buf[(x, y)].set_symbol(glyph).set_style(style);
        }
    }

    /// Repeats one glyph over `count` columns.
    pub(super) fn run(&mut self, x: u16, y: u16, count: u16, glyph: &str, style: Style) {
        for x in x..x.saturating_add(count).min(self.area.right()) {
            self.glyph(x, y, glyph, style);
        }
    }

    /// Repeats one glyph down the rows.
    pub(super) fn column(&mut self, x: u16, rows: Range<u16>, glyph: &str, style: Style) {
        for y in rows {
            self.glyph(x, y, glyph, style);
        }
    }

    /// Whether so many columns show dots in a style's colour and nothing else.
    pub(super) fn shows_dots(&self, x: u16, y: u16, columns: u16, style: Style) -> bool {
        (x..x.saturating_add(columns)).all(|x| {
            self.holds(x, y) && {
                let cell = &self.buf[(x, y)];
                style.fg.is_none_or(|color| cell.fg == color) && !cell.symbol().is_ascii()
            }
        })
    }

    fn holds(&self, x: u16, y: u16) -> bool {
        self.area.contains((x, y).into())
    }
}

/// The columns a text takes.
pub(super) fn width(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// The text, cut to `room` columns with an ellipsis if it is longer.
pub(super) fn cut(text: &str, room: u16, ellipsis: &str) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let room = usize::from(room.saturating_sub(width(ellipsis)));
    let mut used = 0;
    let kept = text.chars().take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= room
    });
    let mut kept: String = kept.collect();
    kept.push_str(ellipsis);
    kept
}

/// A name cut in its middle where it has parts: `block1.attention` and `block1.mlp` differ at their ends.
pub(super) fn cut_name(name: &str, room: u16, ellipsis: &str) -> String {
    let whole = width(name) <= room;
    let spared = room.saturating_sub(width(ellipsis));
    if whole || spared < 4 || !name.contains(['.', '_', '/']) {
        return cut(name, room, ellipsis);
    }
    let (before, after) = (usize::from(spared / 2), usize::from(spared.div_ceil(2)));
    let take = |letters: &mut dyn Iterator<Item = char>, room: usize| {
        let mut used = 0;
        let kept = letters.take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= room
        });
        kept.collect::<String>()
    };
    let start = take(&mut name.chars(), before);
    let end = take(&mut name.chars().rev(), after);
    let end: String = end.chars().rev().collect();
    format!("{start}{ellipsis}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts_are_cut_in_their_middle_and_words_at_their_end() {
        for (name, room, expected) in [
            ("block1.attention", 16, "block1.attention"),
            ("block1.attention", 11, "block~ntion"),
            ("block1.attention_norm", 9, "bloc~norm"),
            ("block1.attention", 4, "blo~"),
            ("matmul [64, 16]", 8, "matmul ~"),
            ("漢字.漢字", 7, "漢~字"),
        ] {
            let found = cut_name(name, room, "~");
            assert_eq!(found, expected, "{name} in {room}");
            assert!(width(&found) <= room);
        }
    }
}
