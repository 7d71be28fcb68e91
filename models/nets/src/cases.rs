//! Parameters that several labs here read the same way.

use mlsys_lab::{LabError, Params};

use crate::nets::{Activation, Architecture, TransformerConfig};

/// The kind of a network, as parameter `model` names it.
#[derive(Clone, Copy)]
pub(crate) enum Model {
    /// Layers of neurons.
    Mlp,
    /// Convolutions.
    Cnn,
    /// Blocks of attention and gated layers.
    Transformer,
}

/// The names of `model`.
pub(crate) const MODELS: [(&str, Model); 3] =
    [("mlp", Model::Mlp), ("cnn", Model::Cnn), ("transformer", Model::Transformer)];

/// The names of `activation`.
pub(crate) const ACTIVATIONS: [(&str, Activation); 6] = [
    ("relu", Activation::Relu),
    ("tanh", Activation::Tanh),
    ("sigmoid", Activation::Sigmoid),
    ("gelu", Activation::Gelu),
    ("silu", Activation::Silu),
    ("identity", Activation::Identity),
];

/// The case that an enum parameter names. Resolution has checked the name against the schema, whose names are
/// tested to be those of `cases`.
///
/// # Errors
/// If no case has that name.
pub(crate) fn pick<T: Copy>(
    params: &Params,
    name: &str,
    cases: &[(&str, T)],
) -> Result<T, LabError> {
    let text = params.text(name)?;
    let found = cases.iter().find(|(case, _)| *case == text);
    found.map(|&(_, case)| case).ok_or_else(|| {
        let known: Vec<_> = cases.iter().map(|(case, _)| *case).collect();
        LabError::contradiction([name], format!("'{text}' is none of {}", known.join(", ")))
    })
}

/// A transformer of these sizes.
///
/// # Errors
/// If its sizes contradict one another.
pub(crate) fn transformer(config: TransformerConfig) -> Result<Architecture, LabError> {
    match config.check() {
        Ok(()) => Ok(Architecture::Transformer(config)),
        Err((names, reason)) => Err(LabError::contradiction(names.iter().copied(), reason)),
    }
}

/// Holds the names of cases against those that a schema lists.
#[cfg(test)]
pub(crate) fn must_be_listed<T>(lab: &dyn mlsys_lab::Lab, param: &str, cases: &[(&str, T)]) {
    let names: Vec<&str> = cases.iter().map(|(name, _)| *name).collect();
    assert_eq!(lab.schema().param(param).unwrap().values, names, "{param}");
}
