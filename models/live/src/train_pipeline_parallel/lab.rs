//! The lab that trains a transformer on a pipeline: consecutive blocks on different workers, microbatch by microbatch.
//!
//! [`setup`] reads the parameters, [`part`] is what of the model lies on a stage, [`stage`] a worker that carries out its
//! list of operations, [`clock`] what the same list would take on a cluster, [`session`] the run.

mod clock;
mod part;
mod pictures;
mod session;
mod setup;
mod stage;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;

use self::session::Session;

use crate::stepped::LiveLab;

/// Lab `train-pipeline-parallel`.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
