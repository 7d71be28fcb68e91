//! The lab that rounds a trained network to few bits and measures what that does to its answers, its size and its noise.

mod calibrated;
mod judge;
mod native;
mod pass;
mod pictures;
mod report;
mod rounding;
mod scan;
mod session;
mod setup;
#[cfg(test)]
mod tests;
mod tune;

use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Lab, LabError, Run, Schema};

use self::session::Session;
use crate::stepped;

/// Lab `quantize-model`.
pub struct QuantizeModel {
    schema: Schema,
}

impl QuantizeModel {
    /// The lab with its schema.
    ///
    /// # Errors
    /// If the schema's text does not read, which is a mistake in this crate.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(include_str!("lab.toml"))? })
    }
}

impl Lab for QuantizeModel {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        stepped::run(&self.schema, run, Session::open)
    }
}
