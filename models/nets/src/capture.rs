//! The lab that records a network as burn sees it: operations, their shapes, and what they cost.

mod check;
mod cost;
mod count;
mod execute;
mod layers;
mod life;
mod pictures;
mod record;
mod saved;
mod session;
mod setup;
mod table;
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
        Ok(Self { schema: Schema::parse(include_str!("capture.toml"))? })
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

/// Parameters of a network and operations of its products in one forward pass, as a record of it counts them.
#[cfg(test)]
pub(crate) fn forward_counts(
    architecture: &crate::nets::Architecture,
    input: [usize; 2],
) -> Result<(u64, u64), String> {
    let forward = record::forward(architecture, input, crate::nets::Activation::Relu);
    let forward = forward.map_err(|error| error.to_string())?;
    let training = record::training(&forward, architecture, record::Rule::Sgd);
    let training = training.map_err(|error| error.to_string())?;
    let table = table::Table::new(&forward, &training);
    let weights = table.weights.iter().map(|place| table.tensors[*place].numbers());
    let flops = table.forward().map(|(_, node)| node.matmul_flops);
    Ok((weights.sum(), flops.sum()))
}
