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
use mlsys_lab::{Lab, LabError, Run, Schema};

use self::session::Session;
use crate::stepped;

/// Lab `train-pipeline-parallel`.
pub struct TrainPipelineParallel {
    schema: Schema,
}

impl TrainPipelineParallel {
    /// The lab with its schema.
    ///
    /// # Errors
    /// If the schema's text does not read, which is a mistake in this crate.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(include_str!("lab.toml"))? })
    }
}

impl Lab for TrainPipelineParallel {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        stepped::run(&self.schema, run, Session::open)
    }
}
