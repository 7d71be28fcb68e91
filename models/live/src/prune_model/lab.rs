//! The lab that takes weights out of a trained network, lets the rest recover, and says what is left to store and to
//! compute.

mod cut;
mod hardware;
mod network;
mod parts;
mod pictures;
mod session;
mod setup;
mod size;
#[cfg(test)]
mod tests;
mod tuner;

use mlsys_lab::schema::SchemaError;

use self::session::Session;

use crate::stepped::LiveLab;

/// Lab `prune-model`.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
