//! Ranks along a ring or a line.

use mlsys_lab::frame::MessageTrace;
use mlsys_lab::frame::message_trace::{Layout, Message, Round};
use ratatui::layout::Rect;

use super::boxes::{Form, HIGH, Shape};
use super::lines::{Line, Named, Place};
use super::{Boxed, Picture};

/// Ranks that are drawn as boxes.
const MOST: usize = 12;
/// Columns of the shortest link: a stroke, a chunk's name, a stroke and the head of an arrow.
const LINK: u16 = 7;
/// Columns of the longest.
const LONGEST: u16 = 14;

/// The way round.
pub(super) struct Ring {
    /// The upper left corner of each rank's box.
    corners: Vec<Place>,
    shape: Shape,
    /// Whether the last is linked to the first.
    is_closed: bool,
}

impl Ring {
    /// The boxes of an exchange in an area; nothing where it is no ring or line, or has no room.
    pub(super) fn of(exchange: &MessageTrace, area: Rect) -> Option<(Picture, Self)> {
        let ranks = exchange.ranks;
        let is_closed = match exchange.layout {
            Layout::Ring => true,
            Layout::Line => false,
            Layout::Tree | Layout::Star | Layout::Mesh => return None,
        };
        if !(2..=MOST).contains(&ranks) {
            return None;
        }
        let shape = Shape::of(exchange, exchange.chunks.len(), Form::Full);
        let across = if is_closed { ranks.div_ceil(2) } else { ranks };
        let across = u16::try_from(across).ok()?;
        let links = across - 1;
        let room = area.width.checked_sub(shape.wide.checked_mul(across)?)?;
        if links > 0 && room / links < LINK {
            return None;
        }
        let link = room.checked_div(links).map_or(0, |each| each.min(LONGEST));
        let x = |column: u16| area.x + column * (shape.wide + link);
        let corner = |rank: usize| {
            let rank = u16::try_from(rank).unwrap_or(u16::MAX);
            match rank < across {
                true => (x(rank), area.y),
                // The lower row runs back, so that the ring closes.
                false => (x(2 * across - 1 - rank), area.y + HIGH + 2),
            }
        };
        let corners: Vec<Place> = (0..ranks).map(corner).collect();
        let boxed = |(rank, corner): (usize, &Place)| Boxed {
            rank,
            corner: *corner,
            chunks: (0..exchange.chunks.len()).collect(),
        };
        let picture = Picture {
            boxes: corners.iter().enumerate().map(boxed).collect(),
            shape,
            rows: if is_closed { 2 * HIGH + 2 } else { HIGH },
        };
        let ring = Self { corners, shape, is_closed };
        Some((picture, ring))
    }

    /// The links, each both ways; the one link of two ranks is there once.
    pub(super) fn lines<'a>(&self, round: Option<&'a Round>) -> Vec<Line<'a>> {
        let ranks = self.corners.len();
        let links = match self.is_closed && ranks > 2 {
            true => ranks,
            false => ranks.saturating_sub(1),
        };
        let links = (0..links).map(|rank| self.link(round, rank, (rank + 1) % ranks));
        links.flatten().collect()
    }

    /// The link from a rank to the next on the ring or line.
    fn link<'a>(&self, round: Option<&'a Round>, from: usize, to: usize) -> Vec<Line<'a>> {
        let (Some(&a), Some(&b)) = (self.corners.get(from), self.corners.get(to)) else {
            return Vec::new();
        };
        let find = |from: usize, to: usize| -> Option<&'a Message> {
            let mut messages = round?.messages.iter();
            messages.find(|m| (m.from, m.to) == (from, to))
        };
        let (there, back) = (find(from, to), find(to, from));
        let wide = self.shape.wide;
        // A way of its own for what comes back, where there is something.
        let both = |way: &dyn Fn(u16) -> Vec<Place>| {
            let one_way = |path: Vec<Place>, end: Option<&'a Message>| Line {
                path,
                start: None,
                end,
                named: Named::Within,
            };
            let mut lines = vec![one_way(way(0), there)];
            if back.is_some() {
                let mut path = way(1);
                path.reverse();
                lines.push(one_way(path, back));
            }
            lines
        };
        if a.1 == b.1 {
            return both(&|lower| {
                let y = a.1 + 1 + lower;
                match a.0 < b.0 {
                    true => vec![(a.0 + wide - 1, y), (b.0, y)],
                    false => vec![(a.0, y), (b.0 + wide - 1, y)],
                }
            });
        }
        if a.0 != b.0 {
            // The last rank of an odd ring has no rank above it: its link turns the corner to the first.
            return both(&|lower| {
                let (x, y) = (self.shape.middle(b.0) - 2 * lower, a.1 + 1 + lower);
                vec![(a.0, y), (x, y), (x, b.1 + HIGH - 1)]
            });
        }
        let x = self.shape.middle(a.0);
        let (start, end) = match a.1 < b.1 {
            true => (back, there),
            false => (there, back),
        };
        vec![Line {
            path: vec![(x, a.1.min(b.1) + HIGH - 1), (x, a.1.max(b.1))],
            start,
            end,
            named: Named::Beside(wide / 2 - 1),
        }]
    }
}
