//! A field of dots finer than the terminal's cells: eight Braille dots a cell, or one marker a cell.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::glyphs::{GlyphSet, Glyphs};

/// What a cell is drawn in. A later layer of higher rank takes the cell over, one of equal rank joins it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ink {
    /// How much it matters.
    pub(super) rank: u8,
    /// Its colour.
    pub(super) style: Style,
    /// What stands for it where there are no dots.
    pub(super) marker: &'static str,
    /// Whether its lines are broken.
    pub(super) stroke: Stroke,
}

/// How a line goes, where cells hold dots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    /// Without a break.
    Solid,
    /// So many dots drawn, so many left out.
    Dashed(usize, usize),
}

impl Stroke {
    fn draws(self, x: usize) -> bool {
        match self {
            Self::Solid => true,
            Self::Dashed(drawn, left_out) => x % (drawn + left_out).max(1) < drawn,
        }
    }
}

/// Dots over a rectangle, from its top left.
pub(super) struct Canvas {
    area: Rect,
    set: GlyphSet,
    cells: Vec<Option<(Ink, u8)>>,
}

impl Canvas {
    /// An empty field.
    pub(super) fn new(area: Rect, glyphs: &Glyphs) -> Self {
        Self {
            area,
            set: glyphs.set,
            cells: vec![None; usize::from(area.width) * usize::from(area.height)],
        }
    }

    /// Dots in a row and in a column.
    pub(super) fn size(&self) -> (usize, usize) {
        let (across, down) = self.dots();
        (usize::from(self.area.width) * across, usize::from(self.area.height) * down)
    }

    fn dots(&self) -> (usize, usize) {
        match self.set {
            GlyphSet::Unicode => (2, 4),
            GlyphSet::Ascii => (1, 1),
        }
    }

    /// Sets one dot; outside the field nothing happens.
    pub(super) fn dot(&mut self, x: usize, y: usize, ink: Ink) {
        /// The bit of each dot of a Braille cell, by column and row.
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        if self.set == GlyphSet::Unicode && !ink.stroke.draws(x) {
            return;
        }
        let (across, down) = self.dots();
        let (column, row) = (x / across, y / down);
        let width = usize::from(self.area.width);
        if column >= width {
            return;
        }
        let Some(cell) = self.cells.get_mut(row * width + column) else {
            return;
        };
        let bit = BITS[x % across][y % down];
        *cell = Some(match *cell {
            Some((under, bits)) if under.rank == ink.rank => (ink, bits | bit),
            Some((under, bits)) if under.rank > ink.rank => (under, bits),
            Some(_) | None => (ink, bit),
        });
    }

    /// Draws a straight line between two dots, ends included.
    pub(super) fn line(&mut self, from: (usize, usize), to: (usize, usize), ink: Ink) {
        let (across, down) = (to.0.abs_diff(from.0), to.1.abs_diff(from.1));
        let steps = across.max(down);
        // Each coordinate goes on by one when its remainder is full: no division for the thousands of dots of a frame.
        let (mut x, mut y) = from;
        let (mut rest_x, mut rest_y) = (steps / 2, steps / 2);
        let on = |at: usize, to: usize| if to >= at { at + 1 } else { at - 1 };
        self.dot(x, y, ink);
        for _ in 0..steps {
            (rest_x, rest_y) = (rest_x + across, rest_y + down);
            if rest_x >= steps {
                (rest_x, x) = (rest_x - steps, on(x, to.0));
            }
            if rest_y >= steps {
                (rest_y, y) = (rest_y - steps, on(y, to.1));
            }
            self.dot(x, y, ink);
        }
    }

    /// Puts the dots on the screen.
    pub(super) fn draw(&self, buf: &mut Buffer) {
        let positions = self.area.intersection(buf.area).positions();
        for (position, cell) in positions.zip(&self.cells) {
            let Some((ink, bits)) = cell else { continue };
            let target = &mut buf[position];
            target.set_style(ink.style);
            match self.set {
                GlyphSet::Unicode => {
                    let dots = char::from_u32(0x2800 + u32::from(*bits)).unwrap_or(' ');
                    target.set_char(dots);
                }
                GlyphSet::Ascii => {
                    target.set_symbol(ink.marker);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: Ink = Ink { rank: 1, style: Style::new(), marker: "*", stroke: Stroke::Solid };

    fn drawn(set: GlyphSet, from: (usize, usize), to: (usize, usize)) -> Vec<String> {
        let area = Rect::new(0, 0, 4, 2);
        let mut canvas = Canvas::new(area, &Glyphs::new(set));
        canvas.line(from, to, INK);
        let mut buf = Buffer::empty(area);
        canvas.draw(&mut buf);
        let cells: Vec<&str> = buf.content.iter().map(|cell| cell.symbol()).collect();
        cells.chunks(4).map(|row| row.concat()).collect()
    }

    #[test]
    fn lines_join_their_ends() {
        assert_eq!(drawn(GlyphSet::Unicode, (0, 7), (7, 0)), ["  ⡠⠊", "⡠⠊  "]);
        assert_eq!(drawn(GlyphSet::Unicode, (7, 0), (0, 7)), ["  ⡠⠊", "⡠⠊  "]);
        assert_eq!(drawn(GlyphSet::Ascii, (0, 0), (3, 1)), ["**  ", "  **"]);
        assert_eq!(drawn(GlyphSet::Ascii, (3, 1), (900, 1)), ["    ", "   *"]);
    }

    #[test]
    fn a_higher_rank_takes_the_cell() {
        let area = Rect::new(0, 0, 1, 1);
        let mut canvas = Canvas::new(area, &Glyphs::new(GlyphSet::Unicode));
        canvas.dot(0, 0, INK);
        canvas.dot(1, 0, Ink { rank: 2, ..INK });
        canvas.dot(0, 3, INK);
        let mut buf = Buffer::empty(area);
        canvas.draw(&mut buf);
        assert_eq!(buf[(0, 0)].symbol(), "⠈");
    }
}
