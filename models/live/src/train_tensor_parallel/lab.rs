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

use self::session::Session;

use crate::stepped::LiveLab;

/// The lab `train-tensor-parallel`.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)
}
