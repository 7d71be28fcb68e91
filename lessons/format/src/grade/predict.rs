//! Predictions beside what was measured and what theory says.

use mlsys_expr::{Env, EvalError, Value, evaluate};
use mlsys_lab::value::number;

use super::number::read_number;
use super::{Answer, same};
use crate::check::{error_text, shown};
use crate::model::{Formula, Predict, PredictKind, Target};

/// A prediction beside the truth, each as shown with its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// What was predicted.
    pub predicted: String,
    /// What theory says, where the lesson tells.
    pub theory: Option<String>,
    /// What the run showed, or the stated answer.
    pub actual: String,
    /// All of it in plain words.
    pub statement: String,
}

/// Why there is nothing to compare.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PredictionError {
    /// What was predicted is no answer to what is asked.
    #[error("{0}")]
    Malformed(String),
    /// The truth is not known here.
    #[error("there is nothing to compare with yet: {0}")]
    Unknown(String),
}

impl Predict {
    /// Whether a text is a prediction of this kind.
    ///
    /// # Errors
    /// What such a prediction looks like.
    pub fn accepts(&self, given: &Answer) -> Result<(), PredictionError> {
        self.read(given).map(|_| ())
    }

    /// Puts a prediction beside theory and measurement.
    ///
    /// # Errors
    /// A prediction that is none, or a measurement that is not there.
    pub fn compare(&self, given: &Answer, env: &dyn Env) -> Result<Comparison, PredictionError> {
        let predicted = self.read(given)?;
        let (actual, source) = match &self.target {
            Target::Metric(formula) => (known(formula, env)?, "measured"),
            Target::Answer(formula) => (known(formula, env)?, "the answer is"),
            Target::Choice(text) => (Value::Text(text.clone()), "the answer is"),
        };
        let unit = match &self.kind {
            PredictKind::Numeric { unit } => unit.as_deref(),
            PredictKind::Choice { .. } => None,
        };
        let theory = match &self.theory {
            // Theory is a bonus: without a value it is left out.
            Some(formula) => value(formula, env).ok(),
            None => None,
        };
        let in_words = |value: &Value| match (value, unit) {
            (Value::Number(x), Some(unit)) => format!("{} {unit}", number(*x)),
            (Value::Text(text), _) => shown(&Value::Text(self.label(text).to_owned())),
            (value @ (Value::Number(_) | Value::Bool(_) | Value::Series(_)), _) => shown(value),
        };
        let verdict = match (&predicted, &actual) {
            (Value::Number(predicted), Value::Number(actual)) => distance(*predicted, *actual),
            (Value::Text(predicted), Value::Text(actual)) if same(predicted, actual) => {
                "just so".to_owned()
            }
            (Value::Number(_) | Value::Text(_) | Value::Bool(_) | Value::Series(_), _) => {
                "it came out otherwise".to_owned()
            }
        };
        let theory = theory.as_ref().map(in_words);
        let (predicted, actual) = (in_words(&predicted), in_words(&actual));
        let says =
            theory.as_ref().map_or_else(String::new, |theory| format!("; theory says {theory}"));
        Ok(Comparison {
            statement: format!("You said {predicted}; {source} {actual}{says}; {verdict}."),
            predicted,
            theory,
            actual,
        })
    }

    /// What it is held against, once that is known, so that it reads back as the same.
    pub fn truth(&self, env: &dyn Env) -> Option<Answer> {
        let value = match &self.target {
            Target::Metric(formula) | Target::Answer(formula) => value(formula, env).ok()?,
            Target::Choice(text) => Value::Text(text.clone()),
        };
        match value {
            Value::Number(x) => Some(Answer::One(format!("{x:?}"))),
            Value::Text(text) => Some(Answer::One(text)),
            Value::Bool(truth) => Some(Answer::One(truth.to_string())),
            Value::Series(points) => points.last().map(|(_, x)| Answer::One(format!("{x:?}"))),
        }
    }

    fn read(&self, given: &Answer) -> Result<Value, PredictionError> {
        let malformed = |message: String| Err(PredictionError::Malformed(message));
        let Some(text) = given.one() else {
            return malformed("a prediction is one number or one choice".to_owned());
        };
        match &self.kind {
            PredictKind::Numeric { .. } => match read_number(text) {
                Ok(x) => Ok(Value::Number(x)),
                Err(error) => malformed(error.to_string()),
            },
            PredictKind::Choice { choices } => {
                match choices.iter().find(|choice| same(choice, text)) {
                    Some(choice) => Ok(Value::Text(choice.clone())),
                    None => malformed(format!("choose one of: {}", choices.join(", "))),
                }
            }
        }
    }
}

fn value(formula: &Formula, env: &dyn Env) -> Result<Value, EvalError> {
    evaluate(&formula.expr, env)
}

fn known(formula: &Formula, env: &dyn Env) -> Result<Value, PredictionError> {
    value(formula, env).map_err(|error| {
        PredictionError::Unknown(match error.missing() {
            Some(reason) => reason.to_owned(),
            None => error_text(formula, &error),
        })
    })
}

/// How far a guess is from the truth, in the words a person would use.
fn distance(predicted: f64, actual: f64) -> String {
    let error = (predicted - actual).abs();
    if error <= 1e-9 * actual.abs() {
        return "exactly right".to_owned();
    }
    if actual == 0.0 || predicted == 0.0 || (predicted < 0.0) != (actual < 0.0) {
        return format!("off by {}", number(error));
    }
    let ratio = (predicted / actual).abs();
    let factor = ratio.max(1.0 / ratio);
    if factor < 1.02 {
        "close to the mark".to_owned()
    } else if factor < 1.5 {
        format!("off by {:.0} %", 100.0 * error / actual.abs())
    } else if factor < 100.0 {
        format!("off by a factor of {factor:.1}")
    } else {
        format!("off by {:.0} orders of magnitude", factor.log10())
    }
}
