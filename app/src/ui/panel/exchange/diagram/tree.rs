//! Ranks in trees: each below the one it sends its sum to. A server with its workers is such a tree, too.

mod grown;

use mlsys_lab::frame::Exchange;
use mlsys_lab::frame::exchange::{After, Message, Round};
use ratatui::layout::Rect;

use super::boxes::{Form, Shape, carried};
use super::wires::Wires;
use crate::ui::panel::pen::{self, Pen};
use crate::ui::theme::Look;
use grown::Grown;

/// Rows between two levels: the joint under a parent, and the stems of its children with what they carry.
const BAND: u16 = 2;
/// Columns between two boxes at least.
const GAP: u16 = 2;
/// Columns between two boxes at most.
const WIDEST: u16 = 12;

/// Where the boxes of one tree or two are.
pub(in crate::ui::panel::exchange) struct Trees {
    trees: Vec<Placed>,
    shape: Shape,
    /// Rows of all.
    pub(super) rows: u16,
}

/// A tree on the screen.
struct Placed {
    grown: Grown,
    /// The upper left corner of each box, for ranks that take part.
    corners: Vec<Option<(u16, u16)>>,
}

impl Trees {
    /// The most telling form that has room, two trees side by side before one above the other.
    pub(super) fn of(exchange: &Exchange, area: Rect, most: u16) -> Option<Self> {
        let grown = Grown::all(exchange)?;
        let most_chunks = grown.iter().map(|tree| tree.chunks.len()).max()?;
        for form in Form::ALL {
            let shape = Shape::of(exchange, most_chunks, form);
            for beside in [true, false] {
                let found = Self::placed(&grown, shape, area, beside);
                if let Some(found) = found.filter(|found| found.rows < most) {
                    return Some(found);
                }
            }
        }
        None
    }

    fn placed(grown: &[Grown], shape: Shape, area: Rect, beside: bool) -> Option<Self> {
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
            let high = levels * shape.high + levels.saturating_sub(1) * BAND;
            let corner = |place: &(usize, f64)| {
                let across = place.1 * f64::from(shape.wide + gap);
                let down = u16::try_from(place.0).unwrap_or(0) * (shape.high + BAND);
                (x + across.round() as u16, y + down)
            };
            let corners = tree.places.iter();
            let corners = corners.map(|place| place.as_ref().map(corner)).collect();
            trees.push(Placed {
                grown: tree.clone(),
                corners,
            });
            if beside {
                x += room + apart;
                rows = rows.max(high);
            } else {
                y += high + 1;
                rows = (y - area.y).saturating_sub(1);
            }
        }
        Some(Self { trees, shape, rows })
    }

    pub(super) fn draw(
        &self,
        pen: &mut Pen<'_>,
        exchange: &Exchange,
        after: &After,
        round: Option<&Round>,
        look: &Look,
    ) {
        for tree in &self.trees {
            self.links(pen, exchange, tree, round, look);
            for (rank, corner) in tree.corners.iter().enumerate() {
                if let Some(corner) = corner {
                    let chunks = &tree.grown.chunks;
                    self.shape
                        .draw(pen, exchange, after, (rank, *corner), chunks, look);
                }
            }
        }
    }

    /// The lines from children to parents, with what passes over them.
    fn links(
        &self,
        pen: &mut Pen<'_>,
        exchange: &Exchange,
        tree: &Placed,
        round: Option<&Round>,
        look: &Look,
    ) {
        let mut wires = Wires::default();
        let mut signs = Vec::new();
        for (child, parent) in tree.grown.parents.iter().enumerate() {
            let Some(parent) = *parent else { continue };
            let corner = |rank: usize| tree.corners.get(rank).copied().flatten();
            let (Some(below), Some(above)) = (corner(child), corner(parent)) else {
                continue;
            };
            let (from, to) = (self.shape.middle(above.0), self.shape.middle(below.0));
            let under = above.1 + self.shape.high - 1;
            let line = [
                (from, under),
                (from, under + 1),
                (to, under + 1),
                (to, below.1),
            ];
            let find = |from: usize, to: usize| {
                let all = round.iter().flat_map(|round| &round.messages);
                let mut all = all.filter(|m| (m.from, m.to) == (from, to));
                all.find(|m| tree.grown.carries(m, exchange.chunks.len()))
            };
            let (up, down) = (find(child, parent), find(parent, child));
            match up.or(down) {
                Some(_) => wires.pass(&line),
                None => wires.rest(&line),
            }
            if up.is_some() {
                signs.push(((from, under + 1), look.glyphs.ascending));
            }
            if down.is_some() {
                signs.push(((to, below.1 - 1), look.glyphs.descending));
            }
            self.names(pen, exchange, (to, below.1 - 1), (up, down), look);
        }
        wires.draw(pen, look);
        for ((x, y), sign) in signs {
            pen.glyph(x, y, sign, look.theme.accent);
        }
    }

    /// What a stem carries, right of it; where it carries something both ways, what goes up stands left of it.
    fn names(
        &self,
        pen: &mut Pen<'_>,
        exchange: &Exchange,
        (x, y): (u16, u16),
        (up, down): (Option<&Message>, Option<&Message>),
        look: &Look,
    ) {
        let room = self.shape.wide.div_ceil(2) + GAP - 2;
        let style = look.theme.selection;
        if let (Some(up), Some(_)) = (up, down) {
            let name = fitting(&carried(exchange, up), room);
            pen.text(x.saturating_sub(1 + pen::width(&name)), y, &name, style);
        }
        if let Some(message) = down.or(up) {
            let name = fitting(&carried(exchange, message), room);
            pen.text(x + 2, y, &name, style);
        }
    }
}

/// A name without its margins where it needs their room.
fn fitting(name: &str, room: u16) -> String {
    let name = match pen::width(name) <= room {
        true => name,
        false => name.trim(),
    };
    name.chars().take(usize::from(room)).collect()
}
