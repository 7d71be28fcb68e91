//! The lab that trains a student on a teacher's softened answers, and beside it the same student on labels alone.

mod pictures;
mod session;
mod setup;
mod student;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;

use self::session::Session;

use crate::stepped::LiveLab;

/// Lab `distill`.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
