//! The lab that trains a network: the same five lines of a training loop in the first lesson and the last.

mod pictures;
mod session;
mod setup;

use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Lab, LabError, Run, Schema};

use self::session::Session;
use crate::stepped;

pub(crate) use pictures::confusion;

/// Lab `train`: trains a multi-layer perceptron or a convolutional network on points or images.
pub struct Train {
    schema: Schema,
}

impl Train {
    /// The lab with its schema.
    ///
    /// # Errors
    /// If the schema's text does not read, which is a mistake in this crate.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(include_str!("lab.toml"))? })
    }
}

impl Lab for Train {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        stepped::run(&self.schema, run, Session::open)
    }
}
