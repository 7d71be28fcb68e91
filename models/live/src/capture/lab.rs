//! The lab that records a network as burn sees it: operations, their shapes, and what they cost.

mod check;
mod pictures;
mod session;
mod setup;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;

use crate::stepped::LiveLab;

/// Lab `capture`: records a forward pass and a training step, counts them, and proves the record true.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::new(include_str!("lab.toml"), |_, run| session::run(run))
}
