//! The lab that takes weights out of a trained network, lets the rest recover, and says what is left to store and to
//! compute.

mod cut;
mod hardware;
mod network;
mod parts;
mod pictures;
mod session;
mod setup;
mod size;
#[cfg(test)]
mod tests;
mod tuner;

use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Lab, LabError, Run, Schema};

use self::session::Session;
use crate::stepped;

/// Lab `prune-model`.
pub struct PruneModel {
    schema: Schema,
}

impl PruneModel {
    /// The lab with its schema.
    ///
    /// # Errors
    /// If the schema's text does not read, which is a mistake in this crate.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(include_str!("lab.toml"))? })
    }
}

impl Lab for PruneModel {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        stepped::run(&self.schema, run, Session::open)
    }
}
