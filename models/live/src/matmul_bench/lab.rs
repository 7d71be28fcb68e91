//! The lab that times matrix products and puts them under the measured roof.

mod matrices;
mod pictures;
mod results;
mod session;
mod setup;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;

use self::session::Session;

use crate::stepped::LiveLab;

/// Lab `matmul-bench`: products of chosen shapes, timed, checked and marked under the roof.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
