//! The lab that trains a student on a teacher's softened answers, and beside it the same student on labels alone.

mod pictures;
mod session;
mod setup;
mod student;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Lab, LabError, Run, Schema};

use self::session::Session;
use crate::stepped;

/// Lab `distill`.
pub struct Distill {
    schema: Schema,
}

impl Distill {
    /// The lab with its schema.
    ///
    /// # Errors
    /// If the schema's text does not read, which is a mistake in this crate.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(include_str!("lab.toml"))? })
    }
}

impl Lab for Distill {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        stepped::run(&self.schema, run, Session::open)
    }
}
