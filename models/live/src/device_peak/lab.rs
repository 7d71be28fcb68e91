//! The lab that measures what the device at hand really reaches.

mod pictures;
mod plan;
mod results;
mod session;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;

use self::session::Session;

use crate::stepped::LiveLab;

/// Lab `device-peak`: bandwidth, arithmetic and the cost of a start, beside data-centre chips.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
