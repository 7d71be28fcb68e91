//! Panels over several runs, as a schema declares them.

use mlsys_expr::{Dialect, Expr, parse};
use serde::{Deserialize, Deserializer, de};

use crate::frame::Dimension;

/// A panel over several runs: which take part, and what each contributes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempts {
    /// Kinds of labs that take part, each as its own panel of this name declares; empty for this kind alone.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// A parameter in which runs must agree to be compared, such as the data that their networks learned; a run of a kind
    /// without it is compared with all.
    pub same: Option<String>,
    /// How they are drawn.
    #[serde(default)]
    pub form: Form,
    /// What is told of each run: two axes of a scatter, or the columns of a table.
    #[serde(default)]
    pub axes: Vec<Dimension>,
    /// What a run contributes: usually one point, else points with names.
    #[serde(default)]
    pub points: Vec<Told>,
    /// What all runs are compared with, such as the network before it was made smaller: one point for all of them.
    pub reference: Option<Told>,
}

/// How several runs are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Points between two axes; those that no other beats are joined, or those of one name where neither way is better.
    #[default]
    Scatter,
    /// A row a run.
    Table,
}

/// What is told of a run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// What it is called; empty where a run has but one point.
    #[serde(default)]
    pub name: String,
    /// A number an axis, as expressions over the run's metrics and parameters.
    pub values: Vec<Term>,
}

/// An expression over a run's metrics and parameters, in the language of lessons.
#[derive(Clone, Debug, PartialEq)]
pub struct Term(pub Expr);

impl<'de> Deserialize<'de> for Term {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let source = String::deserialize(deserializer)?;
        parse(&source, Dialect::Lesson)
            .map(Self)
            .map_err(|error| de::Error::custom(format!("'{source}': {error}")))
    }
}

impl Attempts {
    /// Whether runs of a lab take part, where the panel is one of `kind`'s.
    pub fn takes(&self, kind: &str, other: &str) -> bool {
        kind == other || self.kinds.iter().any(|one| one == other)
    }
}
