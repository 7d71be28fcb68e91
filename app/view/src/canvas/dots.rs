//! A field of dots finer than the terminal's cells: eight Braille dots a cell, or one marker a cell.

use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::canvas::Canvas;
use crate::glyphs::{GlyphSet, Glyphs};

/// How a line is drawn. A later layer of higher rank takes a cell over, one of equal rank joins it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ink {
    pub(crate) rank: u8,
    pub(crate) style: Style,
    /// What stands for it where there are no dots.
    pub(crate) marker: &'static str,
    pub(crate) stroke: Stroke,
    /// How wide it is in a vector graphic, in pixels.
    pub(crate) wide: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    Solid,
    Dashed(usize, usize),
}

impl Stroke {
    fn draws(self, x: usize) -> bool {
        match self {
            Self::Solid => true,
            Self::Dashed(drawn, left_out) => x % (drawn + left_out).max(1) < drawn,
        }
    }

    /// A piece of the line, for a legend.
    pub(crate) fn sample(self, glyphs: &Glyphs) -> String {
        /// Columns of the piece, of two dots each.
        const COLUMNS: usize = 4;
        let dots = |column: usize| [0, 1].map(|dot| self.draws(2 * column + dot));
        let cells = (0..COLUMNS).map(|column| match (glyphs.set, dots(column)) {
            (_, [false, false]) => " ",
            (GlyphSet::Ascii, _) => glyphs.faint_point,
            (GlyphSet::Unicode, [true, true]) => "⠤",
            (GlyphSet::Unicode, [true, false]) => "⠄",
            (GlyphSet::Unicode, [false, true]) => "⠠",
        });
        cells.collect::<String>().trim_end().to_owned()
    }

    fn dash(self) -> String {
        match self {
            Self::Solid => String::new(),
            Self::Dashed(drawn, left_out) => format!("{} {}", 3 * drawn, 3 * left_out),
        }
    }
}

/// Lines over a rectangle, in dots from its top left: finer than the terminal's cells by eight Braille dots a cell, in
/// a vector graphic by a multiple of that.
pub(crate) struct DotGrid {
    area: Rect,
    set: GlyphSet,
    /// Points per terminal dot in each direction.
    fine: usize,
    cells: Vec<Option<(Ink, u8)>>,
    lines: Vec<(Ink, Vec<(usize, usize)>)>,
}

impl DotGrid {
    pub(crate) fn new(area: Rect, canvas: &Canvas, glyphs: &Glyphs) -> Self {
        Self {
            area,
            set: glyphs.set,
            fine: if canvas.is_page() { 8 } else { 1 },
            cells: vec![None; usize::from(area.width) * usize::from(area.height)],
            lines: Vec::new(),
        }
    }

    pub(crate) fn size(&self) -> (usize, usize) {
        let (across, down) = self.dots();
        let (wide, high) = (usize::from(self.area.width), usize::from(self.area.height));
        (wide * across * self.fine, high * down * self.fine)
    }

    fn dots(&self) -> (usize, usize) {
        match self.set {
            GlyphSet::Unicode => (2, 4),
            GlyphSet::Ascii => (1, 1),
        }
    }

    /// Sets one dot of a terminal; outside the field nothing happens.
    fn dot(&mut self, x: usize, y: usize, ink: Ink) {
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
        let Some(cell) = self.cells.get_mut(row * width + column) else { return };
        let bit = BITS[x % across][y % down];
        *cell = Some(match *cell {
            Some((under, bits)) if under.rank == ink.rank => (ink, bits | bit),
            Some((under, bits)) if under.rank > ink.rank => (under, bits),
            Some(_) | None => (ink, bit),
        });
    }

    pub(crate) fn line(&mut self, from: (usize, usize), to: (usize, usize), ink: Ink) {
        if self.fine > 1 {
            match self.lines.last_mut() {
                Some((last, places)) if *last == ink && places.last() == Some(&from) => {
                    if from != to {
                        places.push(to);
                    }
                }
                Some(_) | None if from == to => self.lines.push((ink, vec![from])),
                Some(_) | None => self.lines.push((ink, vec![from, to])),
            }
        }
        let coarse = |(x, y): (usize, usize)| (x / self.fine, y / self.fine);
        let (from, to) = (coarse(from), coarse(to));
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

    pub(crate) fn level(&mut self, y: usize, ink: Ink) {
        let width = self.size().0;
        if self.fine > 1 {
            let dashed = Ink { stroke: Stroke::Dashed(2, 2), ..ink };
            self.lines.push((dashed, vec![(0, y), (width, y)]));
        }
        for x in (0..width / self.fine).filter(|x| x % 4 < 2) {
            self.dot(x, y / self.fine, ink);
        }
    }

    pub(crate) fn draw(self, canvas: &mut Canvas) {
        let positions = self.area.intersection(canvas.cells.area).positions();
        for (position, cell) in positions.zip(&self.cells) {
            let Some((ink, bits)) = cell else { continue };
            let target = &mut canvas.cells[position];
            target.set_style(ink.style);
            match self.set {
                GlyphSet::Unicode => {
                    let dots = char::from_u32(u32::from(DOTS) + u32::from(*bits)).unwrap_or(' ');
                    target.set_char(dots);
                }
                GlyphSet::Ascii => {
                    target.set_symbol(ink.marker);
                }
            }
        }
        let Some(vector) = &mut canvas.vector else { return };
        let (across, down) = self.dots();
        let unit = ((across * self.fine) as f64, (down * self.fine) as f64);
        let place = |(x, y): &(usize, usize)| {
            let (left, top) = (f64::from(self.area.x), f64::from(self.area.y));
            (left + (*x as f64 + 0.5) / unit.0, top + (*y as f64 + 0.5) / unit.1)
        };
        let mut lines = self.lines;
        // What matters more lies on top.
        lines.sort_by_key(|(ink, _)| ink.rank);
        for group in lines.chunk_by(|a, b| a.0 == b.0) {
            let Some((ink, _)) = group.first() else { continue };
            let places: Vec<Vec<(f64, f64)>> =
                group.iter().map(|(_, places)| places.iter().map(place).collect()).collect();
            vector.polylines(&places, ink.style, ink.wide, &ink.stroke.dash());
        }
    }
}

/// The glyph of a cell without dots; those with dots follow it.
const DOTS: char = '\u{2800}';

/// Whether a glyph is the part of a line that goes through a cell.
pub(crate) fn is_dots(glyph: char) -> bool {
    (DOTS..='\u{28ff}').contains(&glyph)
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;

    use super::*;

    const INK: Ink =
        Ink { rank: 1, style: Style::new(), marker: "*", stroke: Stroke::Solid, wide: 1.0 };

    fn drawn(set: GlyphSet, from: (usize, usize), to: (usize, usize)) -> Vec<String> {
        let area = Rect::new(0, 0, 4, 2);
        let mut buf = Buffer::empty(area);
        Canvas::over(&mut buf, |canvas| {
            let mut dots = DotGrid::new(area, canvas, &Glyphs::new(set));
            dots.line(from, to, INK);
            dots.draw(canvas);
        });
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
        let mut buf = Buffer::empty(area);
        Canvas::over(&mut buf, |canvas| {
            let mut dots = DotGrid::new(area, canvas, &Glyphs::new(GlyphSet::Unicode));
            dots.dot(0, 0, INK);
            dots.dot(1, 0, Ink { rank: 2, ..INK });
            dots.dot(0, 3, INK);
            dots.draw(canvas);
        });
        assert_eq!(buf[(0, 0)].symbol(), "⠈");
    }
}
