//! Lines of messages that turn corners, join and cross.

use std::collections::{BTreeMap, BTreeSet};

use crate::canvas::Pen;
use crate::theme::Look;

const LEFT: usize = 1;
const RIGHT: usize = 2;
const UP: usize = 4;
const DOWN: usize = 8;

/// Lines, drawn together so that corners and crossings fit.
#[derive(Default)]
pub(super) struct Wires {
    strokes: BTreeMap<(u16, u16), usize>,
    idle: BTreeSet<(u16, u16)>,
}

impl Wires {
    /// A line over which something passes, through places in one row or column. Its first and last
    /// place belong to boxes and are not drawn.
    pub(super) fn pass(&mut self, corners: &[(u16, u16)]) {
        let cells = cells(corners);
        for (place, &(x, y)) in cells.iter().enumerate() {
            let is_end = place == 0 || place + 1 == cells.len();
            if is_end {
                continue;
            }
            let neighbours = [cells[place - 1], cells[place + 1]];
            let bits = neighbours.map(|to| toward((x, y), to));
            *self.strokes.entry((x, y)).or_default() |= bits[0] | bits[1];
        }
    }

    /// A line over which nothing passes in this round.
    pub(super) fn rest(&mut self, corners: &[(u16, u16)]) {
        let cells = cells(corners);
        let inner = cells.iter().skip(1).take(cells.len().saturating_sub(2));
        self.idle.extend(inner);
    }

    pub(super) fn draw(&self, pen: &mut Pen<'_>, look: &Look) {
        for &(x, y) in &self.idle {
            pen.glyph(x, y, look.glyphs.faint_point, look.theme.dim);
        }
        for (&(x, y), bits) in &self.strokes {
            pen.glyph(x, y, look.glyphs.strokes[0][bits & 15], look.theme.accent);
        }
    }
}

/// Every place along a line, corners included.
fn cells(corners: &[(u16, u16)]) -> Vec<(u16, u16)> {
    let mut cells: Vec<(u16, u16)> = corners.first().copied().into_iter().collect();
    for pair in corners.windows(2) {
        let (mut x, mut y) = pair[0];
        let (to_x, to_y) = pair[1];
        while (x, y) != (to_x, to_y) {
            // Across first: a line that is not straight turns where it has got to.
            if x != to_x {
                x = if x < to_x { x + 1 } else { x - 1 };
            } else {
                y = if y < to_y { y + 1 } else { y - 1 };
            }
            cells.push((x, y));
        }
    }
    cells
}

/// The direction from a place to its neighbour.
fn toward((x, y): (u16, u16), (to_x, to_y): (u16, u16)) -> usize {
    if to_x < x {
        LEFT
    } else if to_x > x {
        RIGHT
    } else if to_y < y {
        UP
    } else {
        DOWN
    }
}
