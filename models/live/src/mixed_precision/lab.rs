//! The lab that trains in fewer bits: weights, gradients and activations rounded to a chosen format, beside the same run in
//! 32 bits.

mod learner;
mod narrow;
mod pass;
mod pictures;
mod rounding;
mod session;
mod setup;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Lab, LabError, Run, Schema};

use self::session::Session;
use crate::stepped;

/// Lab `mixed-precision`.
pub struct MixedPrecision {
    schema: Schema,
}

impl MixedPrecision {
    /// The lab with its schema.
    ///
    /// # Errors
    /// If the schema's text does not read, which is a mistake in this crate.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(include_str!("lab.toml"))? })
    }
}

impl Lab for MixedPrecision {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        stepped::run(&self.schema, run, Session::open)
    }
}
