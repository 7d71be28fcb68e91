//! The set of labs that everything else asks: validation, knobs, command line, documentation.

use std::sync::Arc;

use crate::lab::Lab;
use crate::nearest::nearest;

/// Labs by kind, in the order of the course. A clone shares the labs.
#[derive(Clone, Default)]
pub struct Registry {
    labs: Vec<Arc<dyn Lab>>,
}

/// A kind that no lab has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no lab '{kind}'{}", hint(.nearest))]
pub struct UnknownKind {
    /// The name given.
    pub kind: String,
    /// The nearest kind.
    pub nearest: Option<String>,
}

fn hint(nearest: &Option<String>) -> String {
    match nearest {
        Some(kind) => format!("; did you mean '{kind}'?"),
        None => "; `mlsys lab list` shows them all".to_owned(),
    }
}

impl Registry {
    /// A registry of these labs.
    pub fn new(labs: Vec<Box<dyn Lab>>) -> Self {
        Self::default().with(labs)
    }

    /// The same labs and, after them, those that a course brings; each has a kind of its own.
    #[must_use]
    pub fn with(&self, labs: Vec<Box<dyn Lab>>) -> Self {
        let added = labs.into_iter().map(Arc::from);
        Self { labs: self.labs.iter().cloned().chain(added).collect() }
    }

    /// The lab of a kind.
    pub fn find(&self, kind: &str) -> Result<&dyn Lab, UnknownKind> {
        self.iter().find(|lab| lab.schema().kind == kind).ok_or_else(|| UnknownKind {
            kind: kind.escape_debug().to_string(),
            nearest: nearest(kind, self.iter().map(|lab| lab.schema().kind.as_str()))
                .map(str::to_owned),
        })
    }

    /// All labs.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Lab> {
        self.labs.iter().map(AsRef::as_ref)
    }
}
