//! The arrows left of the ranks: each message leaves a rank below its name and arrives at its name.

use std::collections::BTreeMap;
use std::ops::Range;

use mlsys_lab::frame::MessageTrace;
use mlsys_lab::frame::message_trace::Round;

use crate::canvas::Pen;
use crate::theme::Look;

/// Arrows side by side; more could not be told apart.
const MOST: usize = 12;
/// Rounds for which room is kept, so that names stand still from round to round.
const AHEAD: usize = 64;

/// Messages that share a line: all to one rank, or all from one.
struct Line {
    /// Rows at which a message leaves.
    from: Vec<u16>,
    /// Rows at which one arrives.
    to: Vec<u16>,
    /// Its first and its last row.
    span: (u16, u16),
}

/// Columns that the arrows of this round and those around it need; 0 if there are too many to draw.
pub(super) fn width(exchange: &MessageTrace, at: usize, ranks: &Range<usize>) -> u16 {
    let first = at.saturating_sub(AHEAD / 2);
    let rounds = exchange.rounds.iter().skip(first).take(AHEAD);
    let lanes = rounds.map(|round| lanes(&lines(round, ranks)).1);
    match lanes.max().unwrap_or(0) {
        0 => 0,
        lanes if lanes > MOST => 0,
        // The lanes, a stroke and the head of the arrow, and a space.
        lanes => u16::try_from(lanes).unwrap_or(0) + 3,
    }
}

/// The lines of a round; what leads out of sight ends at the edge.
fn lines(round: &Round, ranks: &Range<usize>) -> Vec<Line> {
    let mut gathered: BTreeMap<usize, usize> = BTreeMap::new();
    let mut spread: BTreeMap<usize, usize> = BTreeMap::new();
    for message in &round.messages {
        *gathered.entry(message.to).or_default() += 1;
        *spread.entry(message.from).or_default() += 1;
    }
    let mut grouped: BTreeMap<(u8, usize, usize), Line> = BTreeMap::new();
    let rows = u16::try_from(2 * ranks.len()).unwrap_or(u16::MAX);
    for message in &round.messages {
        let seen = ranks.contains(&message.from) || ranks.contains(&message.to);
        if !seen || message.from == message.to {
            continue;
        }
        let key = match (gathered.get(&message.to), spread.get(&message.from)) {
            (Some(2..), Some(1)) => (0, message.to, 0),
            (Some(1), Some(2..)) => (1, message.from, 0),
            _ => (2, message.from, message.to),
        };
        let place = |rank: usize, below: u16| match rank.checked_sub(ranks.start) {
            None => Err(0),
            Some(place) if place >= ranks.len() => Err(rows.saturating_sub(1)),
            Some(place) => Ok(u16::try_from(2 * place).unwrap_or(u16::MAX).saturating_add(below)),
        };
        let (from, to) = (place(message.from, 1), place(message.to, 0));
        let ends = [from, to].map(|end| end.unwrap_or_else(|edge| edge));
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let line = grouped.entry(key).or_insert_with(|| Line {
            from: Vec::new(),
            to: Vec::new(),
            span: (low, high),
        });
        line.span = (line.span.0.min(low), line.span.1.max(high));
        line.from.extend(from.ok());
        line.to.extend(to.ok());
    }
    grouped.into_values().collect()
}

/// The lane of each line, 0 next to the names, and how many lanes there are: short lines inside.
fn lanes(lines: &[Line]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|index| {
        let (low, high) = lines[*index].span;
        (high - low, low)
    });
    let mut taken: Vec<Vec<(u16, u16)>> = Vec::new();
    let mut lane_of = vec![0; lines.len()];
    for index in order {
        let (low, high) = lines[index].span;
        let free = |lane: &Vec<(u16, u16)>| lane.iter().all(|(l, h)| high < *l || low > *h);
        let lane = taken.iter().position(free).unwrap_or(taken.len());
        if lane > MOST {
            return (lane_of, MOST + 1);
        }
        if lane == taken.len() {
            taken.push(Vec::new());
        }
        taken[lane].push((low, high));
        lane_of[index] = lane;
    }
    (lane_of, taken.len())
}

/// Draws the arrows of a round into `width` columns from a place on, two rows a rank.
pub(super) fn draw(
    pen: &mut Pen<'_>,
    (x, y): (u16, u16),
    width: u16,
    round: &Round,
    ranks: &Range<usize>,
    look: &Look,
) {
    const LEFT: usize = 1;
    const RIGHT: usize = 2;
    const UP: usize = 4;
    const DOWN: usize = 8;
    let lines = lines(round, ranks);
    let (lane_of, _) = lanes(&lines);
    // The column of the arrow's head, left of a space.
    let head = width.saturating_sub(2);
    let mut strokes: BTreeMap<(u16, u16), usize> = BTreeMap::new();
    let mut heads = Vec::new();
    for (line, lane) in lines.iter().zip(lane_of) {
        let lane = u16::try_from(lane).unwrap_or(u16::MAX);
        let Some(column) = head.checked_sub(lane + 1) else {
            continue;
        };
        let (low, high) = line.span;
        for row in low..=high {
            let bits = if row > low { UP } else { 0 } | if row < high { DOWN } else { 0 };
            *strokes.entry((column, row)).or_default() |= bits;
        }
        for row in line.from.iter().chain(&line.to) {
            *strokes.entry((column, *row)).or_default() |= RIGHT;
            for between in column + 1..head {
                *strokes.entry((between, *row)).or_default() |= LEFT | RIGHT;
            }
        }
        heads.extend(line.to.iter().map(|row| (*row, look.glyphs.arrival)));
        heads.extend(line.from.iter().map(|row| (*row, look.glyphs.horizontal)));
    }
    for ((column, row), bits) in strokes {
        let glyph = look.glyphs.strokes[0][bits & 15];
        pen.glyph(x + column, y + row, glyph, look.theme.accent);
    }
    for (row, glyph) in heads {
        pen.glyph(x + head, y + row, glyph, look.theme.accent);
    }
}
