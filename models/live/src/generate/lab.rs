//! The lab that generates text token by token, as a server of language models does: with a key/value cache or without, for
//! one prompt or several, alone or with a smaller model that drafts.

mod beside;
mod cache;
mod decoder;
mod pictures;
mod prompt;
mod sample;
mod serve;
mod session;
mod setup;
#[cfg(test)]
mod tests;
mod tracks;
mod writer;

use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Lab, LabError, Run, Schema};

/// Lab `generate`.
pub struct Generate {
    schema: Schema,
}

impl Generate {
    /// The lab with its schema.
    ///
    /// # Errors
    /// If the schema's text does not read, which is a mistake in this crate.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(include_str!("lab.toml"))? })
    }
}

impl Lab for Generate {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        session::run(&self.schema, run)
    }
}
