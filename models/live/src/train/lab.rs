//! The lab that trains a network: the same five lines of a training loop in the first lesson and the last.

mod pictures;
mod session;
mod setup;

use mlsys_lab::schema::SchemaError;

use self::session::Session;

pub(crate) use pictures::confusion;

use crate::stepped::LiveLab;

/// Lab `train`: trains a multi-layer perceptron or a convolutional network on points or images.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
