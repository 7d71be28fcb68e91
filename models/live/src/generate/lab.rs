//! The lab that generates text token by token, as a server of language models does: with a key/value cache or without, for
//! one prompt or several, alone or with a smaller model that drafts.

mod beside;
mod cache;
mod decoder;
mod pictures;
mod prompt;
mod sample;
mod serve;
mod session;
mod setup;
#[cfg(test)]
mod tests;
mod tracks;
mod writer;

use mlsys_lab::schema::SchemaError;

use crate::stepped::LiveLab;

/// Lab `generate`.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::new(include_str!("lab.toml"), session::run)
}
