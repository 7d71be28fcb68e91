//! The lab that computes one attention in four ways.

mod exact;
mod film;
mod pictures;
mod results;
mod session;
mod setup;
#[cfg(test)]
mod tests;
mod tiles;
mod ways;

use mlsys_lab::schema::SchemaError;

use self::session::Session;

use crate::stepped::LiveLab;

/// Lab `attention`: stored scores, tiles with a running softmax, a sliding window and a linear kernel, compared and timed.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
