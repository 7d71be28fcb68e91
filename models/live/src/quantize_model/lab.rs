//! The lab that rounds a trained network to few bits and measures what that does to its answers, its size and its noise.

mod calibrated;
mod judge;
mod native;
mod pass;
mod pictures;
mod report;
mod rounding;
mod scan;
mod session;
mod setup;
#[cfg(test)]
mod tests;
mod tune;

use mlsys_lab::schema::SchemaError;

use self::session::Session;

use crate::stepped::LiveLab;

/// Lab `quantize-model`.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
