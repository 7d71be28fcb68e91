//! The lab that computes one attention in four ways.

mod exact;
mod film;
mod pictures;
mod results;
mod session;
mod setup;
#[cfg(test)]
mod tests;
mod tiles;
mod ways;

use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Lab, LabError, Run, Schema};

use self::session::Session;
use crate::stepped;

/// Lab `attention`: stored scores, tiles with a running softmax, a sliding window and a linear kernel, compared and timed.
pub struct Attention {
    schema: Schema,
}

impl Attention {
    /// The lab with its schema.
    ///
    /// # Errors
    /// If the schema's text does not read, which is a mistake in this crate.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(include_str!("lab.toml"))? })
    }
}

impl Lab for Attention {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        stepped::run(&self.schema, run, Session::open)
    }
}
