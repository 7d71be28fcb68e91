//! The lab that searches a small space of networks for those that no other beats in both accuracy and latency.

mod front;
mod latency;
mod pictures;
mod proposals;
mod session;
mod setup;
mod space;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;

use self::session::Session;

use crate::stepped::LiveLab;

/// Lab `architecture-search`.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
