//! Where the boxes and lines of a directed graph go: in layers from left to right, lines along rows and columns.
//!
//! A pure function of sizes and links, in cells of a grid: the screen draws a cell as a letter, a file as a small
//! rectangle. The method is Sugiyama's: layers by longest path, long links through the layers between, order by
//! barycentres, rows by least squares; then each channel between two layers is routed by shortest paths.

mod channel;
mod layers;
mod route;
mod rows;
#[cfg(test)]
mod tests;

pub use crate::panel::picture::graph::layout::layers::{Arranged, Seat};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub width: usize,
    pub height: usize,
    /// The row of it, from its top, at which lines leave and would best arrive.
    pub port: usize,
    /// The first and the last row at which lines may arrive.
    pub entries: (usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spacing {
    /// Empty rows between boxes of a layer.
    pub rows: usize,
    /// Columns between layers where all lines are straight.
    pub columns: usize,
    pub fit: Fit,
}

/// What matters more: that a drawing is easy to follow, or that it is narrow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    #[default]
    Clear,
    Narrow,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub x: usize,
    pub y: usize,
    /// Its columns: all boxes of a layer are as wide as the widest.
    pub width: usize,
    pub height: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    pub width: usize,
    pub height: usize,
    pub places: Vec<Place>,
    /// The corners of each link's line, in the order of the links: from the cell right of the box it leaves to the cell
    /// left of the box it reaches. A link of a box to itself has none.
    pub routes: Vec<Vec<(usize, usize)>>,
}

pub fn lay_out(arranged: &Arranged, sizes: &[Size], spacing: Spacing) -> Layout {
    let tops = rows::rows(arranged, sizes, spacing);
    route::draw(arranged, sizes, spacing, &tops)
}

/// The parts of a graph that no link joins, one next to the other; absent where there is one part or too many.
pub fn side_by_side(links: &[(usize, usize)], sizes: &[Size], spacing: Spacing) -> Option<Layout> {
    const MOST: usize = 4;
    const GAP: usize = 4;
    let part_of = parts(sizes.len(), links);
    let count = part_of.iter().max()? + 1;
    if !(2..=MOST).contains(&count) {
        return None;
    }
    let mut all = Layout {
        places: vec![Place::default(); sizes.len()],
        routes: vec![Vec::new(); links.len()],
        ..Layout::default()
    };
    for part in 0..count {
        let boxes: Vec<usize> = (0..sizes.len()).filter(|index| part_of[*index] == part).collect();
        let own: Vec<usize> = (0..links.len())
            .filter(|link| {
                part_of.get(links[*link].0) == Some(&part) && links[*link].1 < sizes.len()
            })
            .collect();
        let place = |index: usize| boxes.partition_point(|other| *other < index);
        let own_links: Vec<_> =
            own.iter().map(|link| (place(links[*link].0), place(links[*link].1))).collect();
        let own_sizes: Vec<Size> = boxes.iter().map(|index| sizes[*index]).collect();
        let arranged = Arranged::new(boxes.len(), &own_links, spacing.fit);
        let layout = lay_out(&arranged, &own_sizes, spacing);
        let left = if part == 0 { 0 } else { all.width + GAP };
        for (place, index) in layout.places.iter().zip(&boxes) {
            all.places[*index] = Place { x: place.x + left, ..*place };
        }
        for (route, link) in layout.routes.iter().zip(&own) {
            all.routes[*link] = route.iter().map(|(x, y)| (x + left, *y)).collect();
        }
        all.width = left + layout.width;
        all.height = all.height.max(layout.height);
    }
    Some(all)
}

/// For each box the number of the part that it is in, in the order of their first boxes.
fn parts(boxes: usize, links: &[(usize, usize)]) -> Vec<usize> {
    let mut parents: Vec<usize> = (0..boxes).collect();
    let root = |parents: &[usize], mut at: usize| {
        while parents[at] != at {
            at = parents[at];
        }
        at
    };
    for &(from, to) in links.iter().filter(|(from, to)| *from < boxes && *to < boxes) {
        let (a, b) = (root(&parents, from), root(&parents, to));
        parents[a.max(b)] = a.min(b);
    }
    let roots: Vec<usize> = (0..boxes).map(|index| root(&parents, index)).collect();
    let is_first = |index: &usize| roots[*index] == *index;
    roots.iter().map(|of| (0..*of).filter(is_first).count()).collect()
}
