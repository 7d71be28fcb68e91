//! A pattern over threads: parsed, its names checked, and computed lane by lane.

use mlsys_expr::{Dialect, Expr, ExprError, evaluate_pattern, parse};
use mlsys_lab::LabError;
use mlsys_lab::nearest::nearest;

pub const LANES: i64 = 32;

/// An expression in integers over the names that a place gives it.
pub struct Pattern<'a> {
    param: &'a str,
    source: &'a str,
    expr: Expr,
    names: &'a [&'a str],
}

impl<'a> Pattern<'a> {
    /// Reads the pattern of a parameter; `names` are what it may speak of.
    ///
    /// # Errors
    /// It does not read, or it names something else.
    pub fn read(param: &'a str, source: &'a str, names: &'a [&'a str]) -> Result<Self, LabError> {
        let expr = parse(source, Dialect::Pattern)
            .map_err(|problem| LabError::expression(param, source, &problem))?;
        let unknown: Vec<ExprError> = expr
            .names()
            .into_iter()
            .filter(|(name, _)| !names.contains(&name.as_str()))
            .map(|(name, span)| ExprError {
                message: format!("nothing is called `{name}` here"),
                span,
                help: Some(match nearest(name.as_str(), names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", names.join(", ")),
                }),
            })
            .collect();
        if !unknown.is_empty() {
            return Err(LabError::expressions(param, source, &unknown));
        }
        Ok(Self { param, source, expr, names })
    }

    /// Its value where the names have these values, in their order.
    ///
    /// # Errors
    /// It has none there: division by zero, or a number beyond 2^53.
    pub fn at(&self, values: &[i64]) -> Result<i64, LabError> {
        let lookup = |name: &str| {
            let place = self.names.iter().position(|known| *known == name)?;
            values.get(place).copied()
        };
        evaluate_pattern(&self.expr, &lookup).map_err(|problem| {
            let first = self.names.first().zip(values.first());
            let place =
                first.map_or_else(String::new, |(name, value)| format!(" where {name} is {value}"));
            self.error(&ExprError {
                message: format!("{problem}{place}"),
                span: problem.span,
                help: None,
            })
        })
    }

    /// Its value, which must not be negative, in each lane of a warp; its names are `lane` and `warpSize`.
    ///
    /// # Errors
    /// It has no value in some lane, or one below zero: `what` says what it is.
    pub fn lanes(&self, what: &str) -> Result<Vec<i64>, LabError> {
        (0..LANES)
            .map(|lane| match self.at(&[lane, LANES])? {
                value @ 0.. => Ok(value),
                value => Err(self.error(&ExprError {
                    message: format!(
                        "{what} is {value} where lane is {lane}, and there is none below 0"
                    ),
                    span: self.expr.span,
                    help: None,
                })),
            })
            .collect()
    }

    fn error(&self, problem: &ExprError) -> LabError {
        LabError::expression(self.param, self.source, problem)
    }
}

/// What a pattern over one warp may speak of.
pub const OF_A_WARP: [&str; 2] = ["lane", "warpSize"];
