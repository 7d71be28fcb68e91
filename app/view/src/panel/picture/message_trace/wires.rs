//! The lines of messages: strokes that turn, join and cross, lanes side by side, and the arrows left of the ranks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use mlsys_lab::frame::MessageTrace;
use mlsys_lab::frame::message_trace::Round;

use crate::canvas::{self as pen, Pen};
use crate::theme::Look;

pub(super) type Place = (u16, u16);

/// Arrows side by side in the gutter; more could not be told apart.
const MOST: usize = 12;

/// Lines of a picture, drawn together so that corners and crossings fit.
#[derive(Default)]
pub(super) struct Wires {
    /// The sides at which lines leave a cell: left 1, right 2, up 4, down 8.
    strokes: BTreeMap<Place, usize>,
    idle: BTreeSet<Place>,
}

impl Wires {
    /// Adds a line through corners that share a row or a column with their neighbours.
    pub(super) fn add(&mut self, corners: &[Place]) {
        for pair in cells(corners).windows(2) {
            let (from, to) = (pair[0], pair[1]);
            *self.strokes.entry(from).or_default() |= side(from, to);
            *self.strokes.entry(to).or_default() |= side(to, from);
        }
    }

    pub(super) fn add_idle(&mut self, corners: &[Place]) {
        self.idle.extend(cells(corners));
    }

    pub(super) fn draw(&self, pen: &mut Pen<'_>, except: &BTreeSet<Place>, look: &Look) {
        for place @ &(x, y) in self.idle.difference(except) {
            if !self.strokes.contains_key(place) {
                pen.glyph(x, y, look.glyphs.faint_point, look.theme.dim);
            }
        }
        for (place @ &(x, y), sides) in &self.strokes {
            if !except.contains(place) {
                pen.glyph(x, y, look.glyphs.strokes[0][sides & 15], look.theme.accent);
            }
        }
    }
}

/// Every cell along a line, corners included; a line that is not straight turns where it has come across.
fn cells(corners: &[Place]) -> Vec<Place> {
    let mut cells: Vec<Place> = corners.first().copied().into_iter().collect();
    for pair in corners.windows(2) {
        let ((mut x, mut y), to) = (pair[0], pair[1]);
        while (x, y) != to {
            match x.cmp(&to.0) {
                std::cmp::Ordering::Less => x += 1,
                std::cmp::Ordering::Greater => x -= 1,
                std::cmp::Ordering::Equal => y = if y < to.1 { y + 1 } else { y - 1 },
            }
            cells.push((x, y));
        }
    }
    cells
}

fn side((x, y): Place, (to_x, to_y): Place) -> usize {
    match (to_x < x, to_x > x, to_y < y) {
        (true, ..) => 1,
        (_, true, _) => 2,
        (_, _, true) => 4,
        (false, false, false) => 8,
    }
}

/// The lane of each span such that no two overlap, short spans first, and how many lanes there are. Ends may touch.
pub(super) fn lanes(spans: &[(u32, u32)]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|index| {
        let (low, high) = spans[*index];
        (high - low, low)
    });
    let mut taken: Vec<Vec<(u32, u32)>> = Vec::new();
    let mut lane_of = vec![0; spans.len()];
    for index in order {
        let (low, high) = spans[index];
        let is_free = |lane: &Vec<(u32, u32)>| lane.iter().all(|(l, h)| high <= *l || low >= *h);
        let lane = taken.iter().position(is_free).unwrap_or(taken.len());
        if lane == taken.len() {
            taken.push(Vec::new());
        }
        taken[lane].push((low, high));
        lane_of[index] = lane;
    }
    (lane_of, taken.len())
}

/// Messages that share a line in the gutter: all to one rank, or all from one.
#[derive(Default)]
struct Arrow {
    /// Rows at which a message leaves: below the name of its rank.
    from: Vec<u16>,
    /// Rows at which one arrives: at the name of its rank.
    to: Vec<u16>,
    /// All rows that it passes.
    rows: BTreeSet<u16>,
}

impl Arrow {
    fn span(&self) -> (u16, u16) {
        (self.rows.first().copied().unwrap_or(0), self.rows.last().copied().unwrap_or(0))
    }
}

/// The arrows of a round with their lanes, 0 next to the names, and the number of lanes; what leads out of sight ends at the edge.
fn arrows(round: &Round, ranks: &Range<usize>) -> (Vec<(Arrow, usize)>, usize) {
    let mut ends: BTreeMap<(bool, usize), usize> = BTreeMap::new();
    for message in &round.messages {
        *ends.entry((true, message.to)).or_default() += 1;
        *ends.entry((false, message.from)).or_default() += 1;
    }
    let edge = pen::cells(2 * ranks.len()).saturating_sub(1);
    let row = |rank: usize, below: u16| match rank.checked_sub(ranks.start) {
        None => Err(0),
        Some(place) if place >= ranks.len() => Err(edge),
        Some(place) => Ok(pen::cells(2 * place).saturating_add(below)),
    };
    let mut grouped: BTreeMap<(u8, usize, usize), Arrow> = BTreeMap::new();
    for message in &round.messages {
        let (from, to) = (message.from, message.to);
        if from == to || !(ranks.contains(&from) || ranks.contains(&to)) {
            continue;
        }
        let key = match (ends.get(&(true, to)), ends.get(&(false, from))) {
            (Some(2..), Some(1)) => (0, to, 0),
            (Some(1), Some(2..)) => (1, from, 0),
            _ => (2, from, to),
        };
        let (from, to) = (row(from, 1), row(to, 0));
        let arrow = grouped.entry(key).or_default();
        arrow.rows.extend([from, to].map(|end| end.unwrap_or_else(|edge| edge)));
        arrow.from.extend(from.ok());
        arrow.to.extend(to.ok());
    }
    let arrows: Vec<Arrow> = grouped.into_values().collect();
    // A line that ends in a row leaves no room in it for the next.
    let span = |arrow: &Arrow| (arrow.span().0.into(), u32::from(arrow.span().1) + 1);
    let spans: Vec<(u32, u32)> = arrows.iter().map(span).collect();
    let (lane_of, count) = lanes(&spans);
    (arrows.into_iter().zip(lane_of).collect(), count)
}

/// Columns that the arrows of this round and those around it need, so that names stand still; 0 if there are too many to draw.
pub(super) fn gutter_width(trace: &MessageTrace, at: usize, ranks: &Range<usize>) -> u16 {
    const AHEAD: usize = 64;
    let rounds = trace.rounds.iter().skip(at.saturating_sub(AHEAD / 2)).take(AHEAD);
    match rounds.map(|round| arrows(round, ranks).1).max() {
        None | Some(0) => 0,
        Some(lanes) if lanes > MOST => 0,
        // The lanes, a stroke and the head of the arrow, and a space.
        Some(lanes) => u16::try_from(lanes).unwrap_or(0) + 3,
    }
}

/// Draws the arrows of a round into `width` columns from a place on, two rows a rank.
pub(super) fn draw_gutter(
    pen: &mut Pen<'_>,
    (x, y): Place,
    width: u16,
    round: &Round,
    ranks: &Range<usize>,
    look: &Look,
) {
    // The column of the arrow's head, left of a space.
    let head = x + width.saturating_sub(2);
    let mut wires = Wires::default();
    let mut heads = Vec::new();
    for (arrow, lane) in arrows(round, ranks).0 {
        let lane = pen::cells(lane);
        let Some(column) = head.checked_sub(lane.saturating_add(1)).filter(|at| *at >= x) else {
            continue;
        };
        let (low, high) = arrow.span();
        wires.add(&[(column, y + low), (column, y + high)]);
        for row in arrow.from.iter().chain(&arrow.to) {
            wires.add(&[(column, y + row), (head, y + row)]);
        }
        heads.extend(arrow.to.iter().map(|row| (*row, look.glyphs.arrival)));
        heads.extend(arrow.from.iter().map(|row| (*row, look.glyphs.horizontal)));
    }
    wires.draw(pen, &BTreeSet::new(), look);
    for (row, glyph) in heads {
        pen.glyph(head, y + row, glyph, look.theme.accent);
    }
}
