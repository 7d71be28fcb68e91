//! Where points are drawn.

use std::collections::HashSet;

use mlsys_lab::frame::{Scatter, ScatterPoint};

use crate::panel::plane::Plane;

/// Column and row of a cell.
pub(super) type Place = (u16, u16);

pub(super) fn shown(scatter: &Scatter, (x, y): (f64, f64)) -> (f64, f64) {
    (scatter.x.shown(x), scatter.y.shown(y))
}

/// The cell of each point, in the order of the points.
pub(super) struct Cells(Vec<Option<Place>>);

impl Cells {
    /// Gives every point its cell, but a point that is the only one of its group and would be hidden below another one, though
    /// it lies elsewhere, the next cell on its side; the most important point comes last in the order.
    pub(super) fn new(plane: &Plane<'_>, scatter: &Scatter, order: &[usize]) -> Self {
        let exact = |point: &ScatterPoint| plane.exact(shown(scatter, point.place()?));
        let cell = |point: &ScatterPoint| plane.cell(shown(scatter, point.place()?));
        let mut cells: Vec<Option<Place>> = scatter.points.iter().map(cell).collect();
        let mut taken: HashSet<Place> = cells.iter().copied().flatten().collect();
        let is_alone = |point: &ScatterPoint| {
            scatter.points.iter().filter(|other| other.series == point.series).count() == 1
        };
        for (place, &index) in order.iter().enumerate() {
            let (Some(point), Some(own)) = (scatter.points.get(index), cells[index]) else {
                continue;
            };
            let above = order[place + 1..].iter().rev().find(|above| cells[**above] == Some(own));
            let above = above.and_then(|above| scatter.points.get(*above));
            let (Some(above), true) = (above, is_alone(point)) else { continue };
            let next_to = exact(point)
                .zip(exact(above))
                .and_then(|(point, above)| next_to(own, (point.0 - above.0, point.1 - above.1)));
            let is_inside = |(x, y): &Place| plane.plot.contains((*x, *y).into());
            if let Some(free) = next_to.filter(is_inside).filter(|place| taken.insert(*place)) {
                cells[index] = Some(free);
            }
        }
        Self(cells)
    }

    pub(super) fn of(&self, index: usize) -> Option<Place> {
        self.0.get(index).copied().flatten()
    }

    pub(super) fn all(&self) -> HashSet<Place> {
        self.0.iter().copied().flatten().collect()
    }
}

/// The cell next to another one towards the point that lies these columns and rows from its point; none for a point that
/// lies as good as at the same place.
fn next_to((x, y): Place, (across, down): (f64, f64)) -> Option<Place> {
    /// Less than this part of a cell is not seen on a larger screen either.
    const SEEN: f64 = 0.1;
    let step = |at: u16, by: f64| if by < 0.0 { at.checked_sub(1) } else { at.checked_add(1) };
    match (across.abs() >= SEEN, down.abs() >= SEEN) {
        (true, _) => Some((step(x, across)?, y)),
        (false, true) => Some((x, step(y, down)?)),
        (false, false) => None,
    }
}
