//! What pictures are made of below any target: axes, quantities, the choice of a panel's metrics, layouts of graphs, the
//! state of kernels, values as text and as CSV.

pub mod axis;
pub(crate) mod csv;
pub mod graph;
pub mod kernel;
pub mod layout;
pub mod metrics;
pub mod passage;
mod quantity;
mod source;
#[cfg(test)]
pub(crate) mod tests;

pub use csv::csv;
pub use quantity::quantity;
pub(crate) use quantity::{Prefix, unit};
pub use source::{Source, changed};

use crate::glyphs::{GlyphSet, Glyphs};

/// Files can hold every character.
pub(crate) fn glyphs() -> Glyphs {
    Glyphs::new(GlyphSet::Unicode)
}
