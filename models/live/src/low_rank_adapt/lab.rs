//! The lab that teaches a frozen network a new task through low-rank adapters.

mod adapters;
mod pictures;
mod session;
mod setup;
mod spectrum;
mod task;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;

use self::session::Session;

use crate::stepped::LiveLab;

/// Lab `low-rank-adapt`: LoRA and QLoRA beside fine-tuning of the whole network.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
