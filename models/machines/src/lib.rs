//! Analytic labs: computation graphs and models of machines that answer at once from formulas.
//!
//! Each lab is one schema (`KIND.toml`, with formula and source) and one file of code beside it. Labs report their
//! metrics and pictures in one go and look at neither device nor control. Integers are exact: a count that does not
//! fit in 64 bits is an error, never a wrapped number.

mod activation_memory;
mod expression;
pub mod graph;
mod integer;
mod intensity;
pub mod kernel;
mod launch_geometry;
mod occupancy;
mod picture;
mod steps;
mod thread_index;
mod transformer;
mod transformer_flops;
mod transformer_params;

use mlsys_lab::Lab;
use mlsys_lab::schema::SchemaError;

pub use activation_memory::ActivationMemory;
pub use graph::Graph;
use graph::engine::Engine;
pub use intensity::Intensity;
pub use launch_geometry::LaunchGeometry;
pub use occupancy::Occupancy;
pub use thread_index::ThreadIndex;
pub use transformer_flops::TransformerFlops;
pub use transformer_params::TransformerParams;

/// Every lab of this crate, in the order of the course.
///
/// # Errors
/// A schema that does not read, which is a mistake in this crate and caught by its tests.
pub fn labs() -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    all(Graph::new()?)
}

/// The same, with another engine that differentiates beside the lab `graph`.
///
/// # Errors
/// As for [`labs`].
pub fn labs_beside(engine: Box<dyn Engine>) -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    all(Graph::new()?.beside(engine))
}

fn all(graph: Graph) -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    Ok(vec![
        Box::new(graph),
        Box::new(ThreadIndex::new()?),
        Box::new(LaunchGeometry::new()?),
        Box::new(Occupancy::new()?),
        Box::new(Intensity::new()?),
        Box::new(ActivationMemory::new()?),
        Box::new(TransformerParams::new()?),
        Box::new(TransformerFlops::new()?),
        Box::new(kernel::KernelLab::new()?),
    ])
}
