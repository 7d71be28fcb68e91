//! What a picture is drawn on: the cells of a terminal, or a vector graphic over the same grid of columns and rows.
//!
//! The layout of a picture is computed once, in columns and rows. On a terminal every primitive becomes glyphs. A vector
//! graphic gets text as text, and glyphs as lines, rectangles and marks; lengths, curves and fields are drawn there at
//! full resolution. Its canvas keeps the cells as well, so that "is this place free?" has the same answer on both targets.

mod dots;
mod pen;
mod shape;
mod vector;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Style};

pub(crate) use crate::canvas::dots::{DotGrid, Ink, Stroke, is_dots};
pub(crate) use crate::canvas::pen::{Pen, cells, cut, cut_name, widest, width};
pub(crate) use crate::canvas::shape::Shape;
pub(crate) use crate::canvas::vector::{CELL, Vector, hex};
use crate::theme::Look;

pub struct Canvas {
    /// The cells of the terminal; of a vector graphic, what occupies its grid.
    pub(crate) cells: Buffer,
    vector: Option<Vector>,
    /// What is written, where that is looked for.
    noted: Option<Noted>,
}

/// What a drawing writes.
#[derive(Default)]
pub(crate) struct Noted {
    /// All texts, whole where they are cut.
    pub(crate) written: Vec<Written>,
    /// Texts that were written over other texts or over lines: a mistake of the layout, which no ellipsis shows.
    pub(crate) overwritten: Vec<String>,
}

/// A text and where it begins.
pub(crate) struct Written {
    pub(crate) at: Position,
    pub(crate) text: String,
}

impl Canvas {
    pub fn over<T>(buf: &mut Buffer, draw: impl FnOnce(&mut Self) -> T) -> T {
        let mut canvas = Self { cells: std::mem::take(buf), vector: None, noted: None };
        let result = draw(&mut canvas);
        *buf = canvas.cells;
        result
    }

    pub(crate) fn vector((columns, rows): (u16, u16), vector: Vector) -> Self {
        let cells = Buffer::empty(Rect::new(0, 0, columns, rows));
        Self { cells, vector: Some(vector), noted: None }
    }

    /// What a drawing writes into an area.
    pub(crate) fn noted(area: Rect, draw: impl FnOnce(&mut Self)) -> Noted {
        let cells = Buffer::empty(area);
        let mut canvas = Self { cells, vector: None, noted: Some(Noted::default()) };
        draw(&mut canvas);
        canvas.noted.unwrap_or_default()
    }

    pub(crate) fn into_elements(self) -> String {
        self.vector.map_or_else(String::new, |vector| vector.body)
    }

    pub(crate) fn used_rows(&self) -> u16 {
        let wide = usize::from(self.cells.area.width).max(1);
        let empty = |cell: &Cell| cell.symbol() == " " && cell.bg == Color::Reset;
        let used = self.cells.content.chunks(wide).rposition(|row| !row.iter().all(empty));
        used.map_or(0, |last| cells(last + 1))
    }

    pub(crate) fn is_page(&self) -> bool {
        self.vector.is_some()
    }

    /// Draws with letters of one width, where the target has others.
    pub(crate) fn fixed<T>(&mut self, draw: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.vector.as_mut().map(|vector| std::mem::replace(&mut vector.fixed, true));
        let result = draw(self);
        if let (Some(vector), Some(before)) = (&mut self.vector, before) {
            vector.fixed = before;
        }
        result
    }

    /// Filled rectangles between two corners each, in columns and rows, as dense as a glyph; nothing on a terminal.
    pub(crate) fn blocks(&mut self, blocks: &[[(f64, f64); 2]], fill: &str, style: Style) {
        if let Some(vector) = &mut self.vector {
            vector.blocks(blocks, fill, style);
        }
    }

    /// Says why there is no picture.
    pub(crate) fn say(&mut self, area: Rect, text: &str, look: &Look) {
        Pen::new(area, self, &look.glyphs).text(area.x, area.y, text, look.theme.dim);
    }

    /// A straight line between two places in columns and rows; nothing on a terminal.
    pub(crate) fn rule(&mut self, from: (f64, f64), to: (f64, f64), style: Style, dash: &str) {
        if let Some(vector) = &mut self.vector {
            vector.polylines(&[vec![from, to]], style, 1.0, dash);
        }
    }

    /// Fills a rectangle with a grid of colours, each cell of the grid exactly; whether the target can.
    pub(crate) fn mosaic(
        &mut self,
        area: Rect,
        grid: (usize, usize),
        color: impl Fn(usize, usize) -> Option<Color>,
    ) -> bool {
        let Some(vector) = &mut self.vector else { return false };
        vector.mosaic(area, grid, color);
        for position in area.intersection(self.cells.area).positions() {
            self.cells[position].set_symbol("█");
        }
        true
    }
}
