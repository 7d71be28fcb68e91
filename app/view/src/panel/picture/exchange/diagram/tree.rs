//! Ranks in trees: each below the one it sends its sum to. A server with its workers is such a tree, too.

mod grown;

use mlsys_lab::frame::MessageTrace;
use mlsys_lab::frame::message_trace::{Message, Round};
use ratatui::layout::Rect;

use super::boxes::{Form, Shape};
use super::lines::{Line, Named, Place};
use super::{Boxed, Picture};
use grown::Grown;

/// Rows between two levels: the joint under a parent, and the stems of its children with what they carry.
const BAND: u16 = 2;
/// As little as there can be: stems end in the row of the joint.
const TIGHT: u16 = 1;
/// Columns between two boxes at least.
const GAP: u16 = 2;
/// Columns between two boxes at most.
const WIDEST: u16 = 12;

/// One tree or two.
pub(super) struct Trees {
    trees: Vec<Placed>,
    shape: Shape,
}

/// A tree on the screen.
struct Placed {
    grown: Grown,
    /// The upper left corner of each box, for ranks that take part.
    corners: Vec<Option<Place>>,
}

impl Trees {
    /// The most telling form that has room, two trees side by side before one above the other.
    pub(super) fn of(exchange: &MessageTrace, area: Rect, most: u16) -> Option<(Picture, Self)> {
        let grown = Grown::all(exchange)?;
        let most_chunks = grown.iter().map(|tree| tree.chunks.len()).max()?;
        let forms = Form::ALL.into_iter().map(|form| (form, BAND));
        for (form, band) in forms.chain([(Form::Row, TIGHT)]) {
            let shape = Shape::of(exchange, most_chunks, form);
            for beside in [true, false] {
                let found = Self::placed(&grown, (shape, band), area, beside);
                if let Some((rows, trees)) = found.filter(|(rows, _)| *rows < most) {
                    let boxes = trees.iter().flat_map(Placed::boxes).collect();
                    return Some((Picture { boxes, shape, rows }, Self { trees, shape }));
                }
            }
        }
        None
    }

    /// The trees and the rows that they take.
    fn placed(
        grown: &[Grown],
        (shape, band): (Shape, u16),
        area: Rect,
        beside: bool,
    ) -> Option<(u16, Vec<Placed>)> {
        let count = u16::try_from(grown.len()).ok()?;
        // Two trees are further apart than two boxes of one.
        let apart = 2 * GAP;
        let room = match beside && count > 1 {
            true => (area.width.saturating_sub(apart * (count - 1))) / count,
            false => area.width,
        };
        let (mut trees, mut x, mut y, mut rows) = (Vec::new(), area.x, area.y, 0);
        for tree in grown {
            let columns = u16::try_from(tree.columns).ok()?;
            let wide = shape.wide.checked_mul(columns)?;
            let gaps = columns.saturating_sub(1);
            let free = room.checked_sub(wide)?;
            let gap = free.checked_div(gaps).map_or(GAP, |gap| gap.min(WIDEST));
            if gap < GAP {
                return None;
            }
            let levels = u16::try_from(tree.levels).ok()?;
            let high = levels * shape.high + levels.saturating_sub(1) * band;
            let corner = |place: &(usize, f64)| {
                let across = place.1 * f64::from(shape.wide + gap);
                let down = u16::try_from(place.0).unwrap_or(0) * (shape.high + band);
                (x + across.round() as u16, y + down)
            };
            let corners = tree.places.iter();
            let corners = corners.map(|place| place.as_ref().map(corner)).collect();
            trees.push(Placed { grown: tree.clone(), corners });
            if beside {
                x += room + apart;
                rows = rows.max(high);
            } else {
                y += high + 1;
                rows = (y - area.y).saturating_sub(1);
            }
        }
        Some((rows, trees))
    }

    /// The lines from children to parents.
    pub(super) fn lines<'a>(
        &self,
        exchange: &MessageTrace,
        round: Option<&'a Round>,
    ) -> Vec<Line<'a>> {
        let chunks = exchange.chunks.len();
        let of_tree = |tree: &Placed| tree.lines(self.shape, chunks, round);
        self.trees.iter().flat_map(of_tree).collect()
    }
}

impl Placed {
    fn corner(&self, rank: usize) -> Option<Place> {
        self.corners.get(rank).copied().flatten()
    }

    fn boxes(&self) -> Vec<Boxed> {
        let boxed = |rank: usize| {
            Some(Boxed { rank, corner: self.corner(rank)?, chunks: self.grown.chunks.clone() })
        };
        (0..self.corners.len()).filter_map(boxed).collect()
    }

    fn lines<'a>(&self, shape: Shape, chunks: usize, round: Option<&'a Round>) -> Vec<Line<'a>> {
        let find = |from: usize, to: usize| -> Option<&'a Message> {
            let mut all = round?.messages.iter();
            all.find(|m| (m.from, m.to) == (from, to) && self.grown.carries(m, chunks))
        };
        let line = |(child, parent): (usize, &Option<usize>)| {
            let parent = (*parent)?;
            let (below, above) = (self.corner(child)?, self.corner(parent)?);
            let (from, to) = (shape.middle(above.0), shape.middle(below.0));
            let under = above.1 + shape.high - 1;
            Some(Line {
                path: vec![(from, under), (from, under + 1), (to, under + 1), (to, below.1)],
                start: find(child, parent),
                end: find(parent, child),
                named: Named::Beside(shape.wide.div_ceil(2) + GAP - 2),
            })
        };
        let parents = self.grown.parents.iter().enumerate();
        parents.filter_map(line).collect()
    }
}
