//! What answers are held against: expressions, tolerances, recognised mistakes.

use mlsys_expr::Expr;
use mlsys_lab::schema::Range;

use crate::diagnostic::Place;

/// An expression with its text and its place in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// The tree; its spans count from the start of `source`.
    pub expr: Expr,
    /// As it was written.
    pub source: String,
    /// Where it stands in the file.
    pub place: Place,
}

impl Formula {
    pub(crate) fn refers_to(&self, name: &str) -> bool {
        self.expr.names().iter().any(|(known, _)| known.as_str() == name)
    }
}

/// A recognised wrong answer and what to say to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong<T> {
    pub value: T,
    pub say: String,
    /// Where the answer stands.
    pub place: Place,
}

/// What a number that is asked for can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// As the lesson states it.
    pub min: Option<f64>,
    /// As the lesson states it.
    pub max: Option<f64>,
    /// What follows from the metrics that the answer names, or else from its unit.
    pub(crate) implied: Range,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { min: None, max: None, implied: Range::ALL }
    }
}

impl Bounds {
    pub fn range(self) -> Range {
        let Range { min, max } = self.implied;
        Range { min: self.min.unwrap_or(min), max: self.max.unwrap_or(max) }
    }
}

/// How near to the answer a number counts as the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// The same number, up to 1e-9 of it, which is what the arithmetic of two formulas may differ by.
    Exact,
    /// Up to this share of the answer.
    Relative(f64),
    /// Up to this much.
    Absolute(f64),
}

impl Tolerance {
    /// Whether `given` counts as `wanted`.
    pub fn accepts(self, given: f64, wanted: f64) -> bool {
        const ARITHMETIC: f64 = 1e-9;
        let distance = (given - wanted).abs();
        match self {
            Self::Exact => distance <= ARITHMETIC * wanted.abs(),
            // A number exactly at the tolerance is within it, whatever the last bit of the subtraction says.
            Self::Relative(share) => distance <= share * wanted.abs() * (1.0 + ARITHMETIC),
            Self::Absolute(most) => distance <= most * (1.0 + ARITHMETIC),
        }
    }
}
