//! The lab that takes a convolution apart: a square filter, and four cheaper ways to see as far, trained side by side.

mod field;
mod form;
mod measure;
mod pictures;
mod session;
mod setup;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;

use self::session::Session;

use crate::stepped::LiveLab;

/// Lab `conv-factorize`.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
