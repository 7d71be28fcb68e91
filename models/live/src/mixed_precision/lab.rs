//! The lab that trains in fewer bits: weights, gradients and activations rounded to a chosen format, beside the same run in
//! 32 bits.

mod learner;
mod narrow;
mod pass;
mod pictures;
mod rounding;
mod session;
mod setup;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;

use self::session::Session;

use crate::stepped::LiveLab;

/// Lab `mixed-precision`.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
