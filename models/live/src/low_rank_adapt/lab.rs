//! The lab that teaches a frozen network a new task through low-rank adapters.

mod adapters;
mod pictures;
mod session;
mod setup;
mod spectrum;
mod task;
#[cfg(test)]
mod tests;

use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Lab, LabError, Run, Schema};

use self::session::Session;
use crate::stepped;

/// Lab `low-rank-adapt`: LoRA and QLoRA beside fine-tuning of the whole network.
pub struct LowRankAdapt {
    schema: Schema,
}

impl LowRankAdapt {
    /// The lab with its schema.
    ///
    /// # Errors
    /// If the schema's text does not read, which is a mistake in this crate.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(include_str!("lab.toml"))? })
    }
}

impl Lab for LowRankAdapt {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        stepped::run(&self.schema, run, Session::open)
    }
}
