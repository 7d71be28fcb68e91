//! The lab that searches a small space of networks for those that no other beats in both accuracy and latency.

mod front;
mod latency;
mod pictures;
mod proposals;
mod session;
mod setup;
mod space;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Lab, LabError, Run, Schema};

use self::session::Session;
use crate::stepped;

/// Lab `architecture-search`.
pub struct ArchitectureSearch {
    schema: Schema,
}

impl ArchitectureSearch {
    /// The lab with its schema.
    ///
    /// # Errors
    /// If the schema's text does not read, which is a mistake in this crate.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(include_str!("lab.toml"))? })
    }
}

impl Lab for ArchitectureSearch {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        stepped::run(&self.schema, run, Session::open)
    }
}
