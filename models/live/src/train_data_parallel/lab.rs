//! The lab that trains on several workers which each see a part of every batch and sum their gradients by real messages.

mod compress;
mod modelled;
mod rows;
mod session;
mod setup;
mod task;
#[cfg(test)]
mod tests;
mod worker;

use mlsys_lab::schema::SchemaError;

use self::session::Session;

use crate::stepped::LiveLab;

/// Lab `train-data-parallel`.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
