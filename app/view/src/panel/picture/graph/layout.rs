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
