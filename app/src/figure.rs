//! Pictures of a run as files: vector graphics and comma-separated values, drawn without a screen.

pub mod axis;
pub mod metrics;
mod quantity;

pub use quantity::quantity;
