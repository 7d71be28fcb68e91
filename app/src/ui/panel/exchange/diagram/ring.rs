//! Ranks along a ring or a line, with the messages of a round on the links between them.

use mlsys_lab::frame::Exchange;
use mlsys_lab::frame::exchange::{After, Layout, Message, Round};
use ratatui::layout::Rect;

use super::boxes::{Form, HIGH, Shape, carried};
use crate::ui::panel::pen::{self, Pen};
use crate::ui::theme::Look;

/// Ranks that are drawn as boxes.
const MOST: usize = 12;
/// Columns of the shortest link: a stroke, a chunk's name, a stroke and the head of an arrow.
const LINK: u16 = 7;
/// Where the boxes are.
pub(in crate::ui::panel::exchange) struct Ring {
    /// The upper left corner of each rank's box.
    boxes: Vec<(u16, u16)>,
    shape: Shape,
    /// Columns of a box.
    wide: u16,
    /// Rows of all.
    pub(super) rows: u16,
}

/// A way from one box to the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Toward {
    Right,
    Left,
    Down,
    Up,
}

impl Toward {
    fn back(self) -> Self {
        match self {
            Self::Right => Self::Left,
            Self::Left => Self::Right,
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }
}

/// On which side of an upright link its name stands.
#[derive(Clone, Copy)]
enum Beside {
    Left,
    Right,
}

impl Ring {
    /// The boxes of an exchange in so many columns; nothing where it is no ring or line, or has no room.
    pub(super) fn of(exchange: &Exchange, area: Rect) -> Option<Self> {
        let ranks = exchange.ranks;
        let is_ring = match exchange.layout {
            Layout::Ring => true,
            Layout::Line => false,
            Layout::Tree | Layout::Star | Layout::Mesh => return None,
        };
        if !(2..=MOST).contains(&ranks) {
            return None;
        }
        let shape = Shape::of(exchange, exchange.chunks.len(), Form::Full);
        let wide = shape.wide;
        let across = u16::try_from(if is_ring { ranks.div_ceil(2) } else { ranks }).ok()?;
        let links = across - 1;
        let boxes = wide.checked_mul(across)?;
        let room = area.width.checked_sub(boxes)?;
        if links > 0 && room / links < LINK {
            return None;
        }
        let link = room.checked_div(links).map_or(0, |each| each.min(14));
        let x = |column: u16| area.x + column * (wide + link);
        let place = |rank: usize| {
            let rank = u16::try_from(rank).unwrap_or(u16::MAX);
            match rank < across {
                true => (x(rank), area.y),
                // The lower row runs back, so that the ring closes.
                false => (x(2 * across - 1 - rank), area.y + HIGH + 2),
            }
        };
        Some(Self {
            boxes: (0..ranks).map(place).collect(),
            shape,
            wide,
            rows: if is_ring && ranks > 1 {
                2 * HIGH + 2
            } else {
                HIGH
            },
        })
    }

    /// Draws boxes and links.
    pub(super) fn draw(
        &self,
        pen: &mut Pen<'_>,
        exchange: &Exchange,
        after: &After,
        round: Option<&Round>,
        look: &Look,
    ) {
        for rank in 0..self.boxes.len() {
            self.link(
                pen,
                exchange,
                round,
                (rank, (rank + 1) % self.boxes.len()),
                look,
            );
        }
        let chunks: Vec<usize> = (0..exchange.chunks.len()).collect();
        for (rank, corner) in self.boxes.iter().enumerate() {
            self.shape
                .draw(pen, exchange, after, (rank, *corner), &chunks, look);
        }
    }

    /// The link from a rank to the next on the ring or line, both ways.
    fn link(
        &self,
        pen: &mut Pen<'_>,
        exchange: &Exchange,
        round: Option<&Round>,
        (from, to): (usize, usize),
        look: &Look,
    ) {
        if exchange.layout == Layout::Line && to == 0 {
            return;
        }
        let (Some(&a), Some(&b)) = (self.boxes.get(from), self.boxes.get(to)) else {
            return;
        };
        let toward = match (a, b) {
            (a, b) if a.1 == b.1 && a.0 < b.0 => Toward::Right,
            (a, b) if a.1 == b.1 => Toward::Left,
            (a, b) if a.1 < b.1 => Toward::Down,
            _ => Toward::Up,
        };
        let find = |from: usize, to: usize| {
            let messages = round
                .map(|round| round.messages.iter())
                .into_iter()
                .flatten();
            messages.copied().find(|m| m.from == from && m.to == to)
        };
        // With two ranks the way back is the link of the other.
        let is_pair = self.boxes.len() == 2 && exchange.layout == Layout::Ring;
        let back = if is_pair { None } else { find(to, from) };
        let other = toward.back();
        match toward {
            Toward::Right | Toward::Left => {
                let (left, right) = if toward == Toward::Right {
                    (a, b)
                } else {
                    (b, a)
                };
                let ends = (left.0 + self.wide, right.0);
                self.across(pen, exchange, ends, a.1 + 1, find(from, to), toward, look);
                if let Some(back) = back {
                    self.across(pen, exchange, ends, a.1 + 2, Some(back), other, look);
                }
            }
            // The last rank of an odd ring has nobody above it: its link turns the corner to the first.
            Toward::Up if a.0 != b.0 => {
                let x = b.0 + self.wide / 2;
                let (top, row) = (b.1 + HIGH, a.1 + 1);
                self.elbow(
                    pen,
                    exchange,
                    (x, top),
                    (a.0, row),
                    find(from, to),
                    toward,
                    look,
                );
                if let Some(back) = back {
                    let ends = ((x - 2, top), (a.0, row + 1));
                    self.elbow(pen, exchange, ends.0, ends.1, Some(back), other, look);
                }
            }
            Toward::Down | Toward::Up => {
                let x = a.0 + self.wide / 2;
                let top = a.1.min(b.1) + HIGH;
                let (x, named) = match (is_pair, toward, back) {
                    (true, Toward::Up, _) => (x + 2, Beside::Right),
                    (true, _, _) | (false, _, Some(_)) => (x, Beside::Left),
                    (false, _, None) => (x, Beside::Right),
                };
                self.down(pen, exchange, (x, top), named, find(from, to), toward, look);
                if let Some(back) = back {
                    let place = (x + 2, top);
                    self.down(pen, exchange, place, Beside::Right, Some(back), other, look);
                }
            }
        }
    }

    /// A link from below that turns the corner: up from a row to under the box above, the head where it arrives.
    #[expect(
        clippy::too_many_arguments,
        reason = "where, of what, and how it looks"
    )]
    fn elbow(
        &self,
        pen: &mut Pen<'_>,
        exchange: &Exchange,
        (x, top): (u16, u16),
        (right, row): (u16, u16),
        message: Option<Message>,
        toward: Toward,
        look: &Look,
    ) {
        let glyphs = &look.glyphs;
        let Some(message) = message else {
            pen.column(x, top..row, glyphs.faint_point, look.theme.dim);
            pen.run(x, row, right - x, glyphs.faint_point, look.theme.dim);
            return;
        };
        pen.column(x, top..row, glyphs.vertical, look.theme.accent);
        pen.run(
            x + 1,
            row,
            right - x - 1,
            glyphs.horizontal,
            look.theme.accent,
        );
        let [_, _, corner, _] = glyphs.corners;
        pen.glyph(x, row, corner, look.theme.accent);
        match toward {
            Toward::Up | Toward::Left => pen.glyph(x, top, glyphs.ascending, look.theme.accent),
            Toward::Down | Toward::Right => {
                pen.glyph(right - 1, row, glyphs.forward, look.theme.accent);
            }
        }
        let name = carried(exchange, &message);
        let wide = pen::width(&name).min((right - x).saturating_sub(3));
        let from = x + 1 + (right - x - 1 - wide) / 2;
        pen.within(from, row, wide, &name, look.theme.selection);
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "where, of what, and how it looks"
    )]
    fn across(
        &self,
        pen: &mut Pen<'_>,
        exchange: &Exchange,
        (from, to): (u16, u16),
        y: u16,
        message: Option<Message>,
        toward: Toward,
        look: &Look,
    ) {
        let glyphs = &look.glyphs;
        let Some(message) = message else {
            pen.run(from, y, to - from, glyphs.faint_point, look.theme.dim);
            return;
        };
        pen.run(from, y, to - from, glyphs.horizontal, look.theme.accent);
        match toward {
            Toward::Left => pen.glyph(from, y, glyphs.back, look.theme.accent),
            Toward::Right | Toward::Down | Toward::Up => {
                pen.glyph(to - 1, y, glyphs.forward, look.theme.accent);
            }
        }
        let name = carried(exchange, &message);
        let wide = pen::width(&name).min((to - from).saturating_sub(3));
        pen.within(
            from + (to - from - wide) / 2,
            y,
            wide,
            &name,
            look.theme.selection,
        );
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "where, of what, and how it looks"
    )]
    fn down(
        &self,
        pen: &mut Pen<'_>,
        exchange: &Exchange,
        (x, y): (u16, u16),
        named: Beside,
        message: Option<Message>,
        toward: Toward,
        look: &Look,
    ) {
        let glyphs = &look.glyphs;
        let Some(message) = message else {
            pen.column(x, y..y + 2, glyphs.faint_point, look.theme.dim);
            return;
        };
        pen.column(x, y..y + 2, glyphs.vertical, look.theme.accent);
        let (row, head) = match toward {
            Toward::Up => (y, glyphs.ascending),
            Toward::Down | Toward::Left | Toward::Right => (y + 1, glyphs.descending),
        };
        pen.glyph(x, row, head, look.theme.accent);
        let name = carried(exchange, &message);
        let y = y + u16::from(toward == Toward::Up);
        match named {
            Beside::Right => pen.text(x + 2, y, &name, look.theme.selection),
            Beside::Left => {
                // A box has room for a short name to the left of its middle; a long one does without its margins.
                let wide = self.wide / 2 - 1;
                let name = match pen::width(&name) <= wide {
                    true => name.as_str(),
                    false => name.trim(),
                };
                let wide = pen::width(name).min(wide);
                pen.within(x - 1 - wide, y, wide, name, look.theme.selection)
            }
        };
    }
}
