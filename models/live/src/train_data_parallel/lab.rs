//! The lab that trains on several workers which each see a part of every batch and sum their gradients by real messages.

mod compress;
mod modelled;
mod rows;
mod session;
mod setup;
mod task;
#[cfg(test)]
mod tests;
mod worker;

use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Lab, LabError, Run, Schema};

use self::session::Session;
use crate::stepped;

/// Lab `train-data-parallel`.
pub struct TrainDataParallel {
    schema: Schema,
}

impl TrainDataParallel {
    /// The lab with its schema.
    ///
    /// # Errors
    /// If the schema's text does not read, which is a mistake in this crate.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(include_str!("lab.toml"))? })
    }
}

impl Lab for TrainDataParallel {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        stepped::run(&self.schema, run, Session::open)
    }
}
