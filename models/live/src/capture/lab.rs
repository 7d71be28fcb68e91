//! The lab that records a network as burn sees it: operations, their shapes, and what they cost.

mod check;
mod pictures;
mod session;
mod setup;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Lab, LabError, Run, Schema};

/// Lab `capture`: records a forward pass and a training step, counts them, and proves the record true.
pub struct Capture {
    schema: Schema,
}

impl Capture {
    /// The lab with its schema.
    ///
    /// # Errors
    /// If the schema's text does not read, which is a mistake in this crate.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(include_str!("lab.toml"))? })
    }
}

impl Lab for Capture {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        session::run(run)
    }
}
