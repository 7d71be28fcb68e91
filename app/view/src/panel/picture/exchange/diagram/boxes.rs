//! A rank as a box: its name, and how far each of its chunks has come.

use mlsys_lab::frame::MessageTrace;
use mlsys_lab::frame::TraceState;
use mlsys_lab::frame::message_trace::Message;

use crate::canvas::{self as pen, Pen};
use crate::figure::exchange as figure;
use crate::panel::picture::exchange::cell;
use crate::theme::Look;

/// Rows of a box with a frame.
pub(super) const HIGH: u16 = 3;

/// How much of a rank is written, by the room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A frame with letter and name.
    Full,
    /// A frame with the letter alone.
    Letter,
    /// One row without a frame.
    Row,
}

impl Form {
    /// All, the most telling first.
    pub(super) const ALL: [Self; 3] = [Self::Full, Self::Letter, Self::Row];
}

/// The size of all boxes of a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    form: Form,
    /// Columns.
    pub(super) wide: u16,
    /// Rows.
    pub(super) high: u16,
}

impl Shape {
    /// The size at which every rank's name and `chunks` chunks have room.
    pub(super) fn of(exchange: &MessageTrace, chunks: usize, form: Form) -> Self {
        let names = (0..exchange.ranks).map(|rank| pen::width(&name(exchange, rank, form)));
        let name = names.max().unwrap_or(0);
        let chunks = u16::try_from(chunks).unwrap_or(u16::MAX);
        let (wide, high) = match form {
            Form::Full => (name.max(chunks.saturating_mul(2)).saturating_add(4), HIGH),
            Form::Letter => (name.saturating_add(2).max(chunks).saturating_add(4), HIGH),
            Form::Row => (name.saturating_add(1).saturating_add(chunks.max(2)), 1),
        };
        Self { form, wide, high }
    }

    /// The column of a box's middle.
    pub(super) fn middle(&self, x: u16) -> u16 {
        x + self.wide / 2
    }

    /// Draws a rank with its upper left corner at a place, and of its chunks these.
    pub(super) fn draw(
        &self,
        pen: &mut Pen<'_>,
        exchange: &MessageTrace,
        after: &TraceState,
        (rank, (x, y)): (usize, (u16, u16)),
        chunks: &[usize],
        look: &Look,
    ) {
        let name = name(exchange, rank, self.form);
        let (from, row, inside) = match self.form {
            Form::Full | Form::Letter => {
                self.frame(pen, (x, y), look);
                let name = format!(" {name} ");
                pen.within(x + 1, y, self.wide - 2, &name, look.theme.text);
                (x + 2, y + 1, self.wide - 4)
            }
            Form::Row => {
                let wide = pen::width(&name);
                pen.text(x, y, &name, look.theme.text);
                (x + wide + 1, y, self.wide.saturating_sub(wide + 1))
            }
        };
        let count = u16::try_from(chunks.len()).unwrap_or(u16::MAX).max(1);
        // Bars as broad as there is room for, with a gap between them where each has more than one column.
        let broad = (inside / count).max(1);
        for (place, chunk) in chunks.iter().enumerate() {
            let Some(held) = after.held(rank, *chunk) else {
                continue;
            };
            let versions = after.versions(*chunk);
            let stage = figure::stage(versions, held);
            let glyph = cell::filled(versions, held, look);
            let place = u16::try_from(place).unwrap_or(u16::MAX);
            let offset = place.saturating_mul(broad);
            if offset < inside {
                let columns = (broad - u16::from(broad > 2)).min(inside - offset);
                let style = cell::style(stage, look);
                pen.run(from + offset, row, columns, glyph, style);
            }
        }
    }

    fn frame(&self, pen: &mut Pen<'_>, (x, y): (u16, u16), look: &Look) {
        let (glyphs, theme) = (&look.glyphs, &look.theme);
        let right = x + self.wide - 1;
        let [top_left, top_right, bottom_left, bottom_right] = glyphs.corners;
        for row in [y, y + 2] {
            pen.run(x, row, self.wide, glyphs.horizontal, theme.border);
        }
        for (x, y, glyph) in [
            (x, y, top_left),
            (right, y, top_right),
            (x, y + 2, bottom_left),
            (right, y + 2, bottom_right),
            (x, y + 1, glyphs.vertical),
            (right, y + 1, glyphs.vertical),
        ] {
            pen.glyph(x, y, glyph, theme.border);
        }
    }
}

fn name(exchange: &MessageTrace, rank: usize, form: Form) -> String {
    match form {
        Form::Full => figure::label(exchange, rank),
        Form::Letter | Form::Row => figure::letter(exchange, rank),
    }
}

/// What a message carries, as short as can be: " 3 ", " 0-3 ".
pub(super) fn carried(exchange: &MessageTrace, message: &Message) -> String {
    let chunks = message.chunks(exchange.chunks.len());
    let name = |chunk: usize| exchange.chunks.get(chunk).map_or("", |chunk| &chunk.name);
    match chunks.len() {
        0 => " ".to_owned(),
        1 => format!(" {} ", name(chunks.start)),
        _ => format!(" {}-{} ", name(chunks.start), name(chunks.end - 1)),
    }
}
