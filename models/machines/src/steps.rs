//! A calculation written out: every formula, the same with its numbers, and what comes of it.

use mlsys_lab::value::number;
use mlsys_lab::{Frame, LabError, Run, Value};

use crate::picture;

/// The rows of a calculation.
#[derive(Default)]
pub(crate) struct Steps(Vec<[Value; 4]>);

impl Steps {
    /// Adds `quantity = formula = with_numbers = value`.
    pub(crate) fn add(
        &mut self,
        quantity: &str,
        formula: &str,
        with_numbers: impl Into<String>,
        value: impl Into<Value>,
    ) {
        self.0.push([
            quantity.into(),
            formula.into(),
            with_numbers.into().into(),
            value.into(),
        ]);
    }

    /// The rows as a table.
    pub(crate) fn table(self) -> Frame {
        picture::table(["quantity", "formula", "with numbers", "value"], self.0)
    }
}

/// A share as a person says it, such as `70.2%`.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent == 0.0 || percent >= 0.05 {
        format!("{percent:.1}%")
    } else {
        format!("{}%", number(percent))
    }
}

/// Reports a metric that must be finite.
///
/// # Errors
/// It is not; `reason` says which parameters make it so.
pub(crate) fn finite(
    run: &mut Run<'_>,
    metric: &str,
    value: f64,
    reason: impl FnOnce() -> String,
) -> Result<(), LabError> {
    if !value.is_finite() {
        return Err(LabError::NotFinite {
            metric: metric.to_owned(),
            reason: reason(),
        });
    }
    run.scalar(metric, value);
    Ok(())
}
