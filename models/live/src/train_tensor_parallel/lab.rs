//! Lab `train-tensor-parallel`: every layer split over workers, with the messages that this takes and the proof that the
//! gradients stay the same.
//!
//! [`cut`] says which part of each weight a rank has, [`link`] sends, [`pass`] goes forward and back through cut matrices
//! and [`context`] through a cut sequence, whose attention is [`ring`]; [`worker`] does a step of one rank, [`clock`] says
//! what it comes to by formula.

mod clock;
mod context;
mod cut;
mod link;
mod pass;
mod pictures;
mod ring;
mod session;
mod setup;
mod slopes;
#[cfg(test)]
mod tests;
mod worker;

use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Lab, LabError, Run, Schema};

use self::session::Session;
use crate::stepped;

/// The lab `train-tensor-parallel`.
pub struct TrainTensorParallel {
    schema: Schema,
}

impl TrainTensorParallel {
    /// The lab with its schema.
    ///
    /// # Errors
    /// If the schema's text does not read, which is a mistake in this crate.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(include_str!("lab.toml"))? })
    }
}

impl Lab for TrainTensorParallel {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        stepped::run(&self.schema, run, Session::open)
    }
}
