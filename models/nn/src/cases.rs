//! Parameters that several labs here read the same way.

use mlsys_lab::LabError;
use serde::Deserialize;

use crate::networks::{Architecture, TransformerConfig};

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    Mlp,
    Cnn,
    Transformer,
}

/// A transformer of these sizes, if they do not contradict one another.
pub fn transformer(config: TransformerConfig) -> Result<Architecture, LabError> {
    match config.check() {
        Ok(()) => Ok(Architecture::Transformer(config)),
        Err((names, reason)) => Err(LabError::contradiction(names.iter().copied(), reason)),
    }
}
