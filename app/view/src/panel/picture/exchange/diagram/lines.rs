//! Lines from box to box, with what passes along them: its way, a head where it arrives, and its name.

use mlsys_lab::frame::MessageTrace;
use mlsys_lab::frame::message_trace::Message;

use super::boxes::carried;
use super::wires::Wires;
use crate::canvas::{self as pen, Pen};
use crate::theme::Look;

/// A place on the screen.
pub(super) type Place = (u16, u16);

/// A line in a round.
pub(super) struct Line<'a> {
    /// Its corners, the first and the last within its boxes.
    pub(super) path: Vec<Place>,
    /// What arrives at its beginning.
    pub(super) start: Option<&'a Message>,
    /// What arrives at its end.
    pub(super) end: Option<&'a Message>,
    /// Where names stand.
    pub(super) named: Named,
}

/// Where what passes along a line is named.
#[derive(Clone, Copy)]
pub(super) enum Named {
    /// In the middle of its longest row.
    Within,
    /// In its longest row, each near where it arrives.
    AtEnds,
    /// Next to its last place, in a number of columns: what arrives at the end on the right; with it, what arrives at the beginning
    /// on the left.
    Beside(u16),
}

/// Draws lines, those over which nothing passes as dots.
pub(super) fn draw(pen: &mut Pen<'_>, exchange: &MessageTrace, lines: &[Line<'_>], look: &Look) {
    let mut wires = Wires::default();
    for line in lines {
        match line.start.or(line.end) {
            Some(_) => wires.pass(&line.path),
            None => wires.rest(&line.path),
        }
    }
    wires.draw(pen, look);
    for line in lines {
        let (first, last) = (line.path.first_chunk::<2>(), line.path.last_chunk::<2>());
        if let (Some(_), Some(&[to, from])) = (line.start, first) {
            head(pen, from, to, look);
        }
        if let (Some(_), Some(&[from, to])) = (line.end, last) {
            head(pen, from, to, look);
        }
        names(pen, exchange, line, look);
    }
}

/// The arrow head of what arrives at a place from its neighbour, before the place itself.
fn head(pen: &mut Pen<'_>, from: Place, (x, y): Place, look: &Look) {
    let glyphs = &look.glyphs;
    let ((x, y), glyph) = match from {
        (_, above) if above < y => ((x, y - 1), glyphs.descending),
        (_, below) if below > y => ((x, y + 1), glyphs.ascending),
        (left, _) if left < x => ((x - 1, y), glyphs.forward),
        _ => ((x + 1, y), glyphs.back),
    };
    pen.glyph(x, y, glyph, look.theme.accent);
}

fn names(pen: &mut Pen<'_>, exchange: &MessageTrace, line: &Line<'_>, look: &Look) {
    let style = look.theme.selection;
    let name = |message: &Message, room: u16| fitting(&carried(exchange, message), room);
    let (left, right, y) = longest_row(&line.path);
    let inside = right.saturating_sub(left + 1);
    match line.named {
        Named::Within => {
            if let Some(message) = line.start.or(line.end) {
                let name = name(message, inside.saturating_sub(2));
                let margin = inside.saturating_sub(pen::width(&name)) / 2;
                pen.text(left + 1 + margin, y, &name, style);
            }
        }
        Named::AtEnds => {
            let room = inside.saturating_sub(1) / 2;
            if let Some(message) = line.start {
                pen.text(left + 1, y, &name(message, room), style);
            }
            if let Some(message) = line.end {
                let name = name(message, room);
                pen.text(right.saturating_sub(pen::width(&name)), y, &name, style);
            }
        }
        Named::Beside(room) => {
            let Some((x, y)) = line.path.last().map(|(x, y)| (*x, y.saturating_sub(1))) else {
                return;
            };
            if let (Some(message), Some(_)) = (line.start, line.end) {
                let name = name(message, room);
                pen.text(x.saturating_sub(1 + pen::width(&name)), y, &name, style);
            }
            if let Some(message) = line.end.or(line.start) {
                pen.text(x + 2, y, &name(message, room), style);
            }
        }
    }
}

/// From where to where the longest stretch from left to right goes, and its row.
fn longest_row(path: &[Place]) -> (u16, u16, u16) {
    let rows = path.windows(2).filter(|ends| ends[0].1 == ends[1].1);
    let rows = rows.map(|ends| {
        let (a, b) = (ends[0].0, ends[1].0);
        (a.min(b), a.max(b), ends[0].1)
    });
    rows.max_by_key(|(left, right, _)| right - left).unwrap_or_default()
}

/// A name without its margins where it needs their room.
fn fitting(name: &str, room: u16) -> String {
    let name = match pen::width(name) <= room {
        true => name,
        false => name.trim(),
    };
    name.chars().take(usize::from(room)).collect()
}
