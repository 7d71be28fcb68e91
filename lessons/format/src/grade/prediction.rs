//! A guess compared with theory and with what a run showed, in the words that are told.

use mlsys_expr::{Env, EvalError, Value, evaluate};
use mlsys_lab::schema::Label;
use mlsys_lab::value::{number, significant};

use crate::check::{error_text, shown};
use crate::env::LessonEnv;
use crate::grade::answer::{Answer, same};
use crate::grade::quantity;
use crate::model::{Formula, Outcome, Predict, PredictKind, Target};

/// A prediction compared with the actual value, both as shown with their unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub predicted: String,
    /// The value from theory, where the lesson gives one.
    pub theory: Option<String>,
    /// What the run showed, or the stated answer.
    pub actual: String,
    /// All of it in plain words.
    pub statement: String,
}

/// Why there is nothing to compare.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PredictionError {
    /// The prediction is not a number or not one of the choices.
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

    /// Compares a prediction with theory and measurement.
    ///
    /// # Errors
    /// A prediction that is none, or a measurement that is not there.
    pub fn compare(
        &self,
        given: &Answer,
        env: &LessonEnv<'_>,
    ) -> Result<Comparison, PredictionError> {
        let predicted = self.read(given)?;
        let actual = match &self.target {
            Target::Metric(formula) | Target::Answer(formula) => known(formula, env)?,
            Target::Choice(text) => Value::Text(text.clone()),
        };
        let label = self.target.formula().map(|formula| env.label(formula));
        // Theory is a bonus: without a value it is left out.
        let theory = self.theory.as_ref().and_then(|theory| value(&theory.formula, env).ok());
        Ok(self.compared(predicted, actual, label, theory))
    }

    /// Compares a prediction with what it was held against, as far as that is known without its run.
    pub fn recall(&self, given: &Answer, actual: &Answer) -> Option<Comparison> {
        let text = actual.one()?;
        let actual = match &self.kind {
            PredictKind::Numeric { .. } => Value::Number(text.parse().ok()?),
            PredictKind::Choice { .. } => Value::Text(text.to_owned()),
        };
        Some(self.compared(self.read(given).ok()?, actual, None, None))
    }

    fn compared(
        &self,
        predicted: Value,
        actual: Value,
        label: Option<Label>,
        theory: Option<Value>,
    ) -> Comparison {
        let source = label.map_or("the answer is".to_owned(), |label| label.to_string());
        let unit = match &self.kind {
            PredictKind::Numeric { unit, .. } => unit.as_deref(),
            PredictKind::Choice { .. } => None,
        };
        let in_words = |value: &Value| match (value, unit) {
            (Value::Number(x), Some(unit)) => format!("{} {}", number(*x), counted(unit, *x)),
            (Value::Text(text), _) => shown(&Value::Text(self.label(text).to_owned())),
            (value @ (Value::Number(_) | Value::Bool(_) | Value::Series(_)), _) => shown(value),
        };
        let verdict = match (&predicted, &actual) {
            (Value::Number(predicted), Value::Number(actual)) => {
                format!("; {}", distance(*predicted, *actual))
            }
            (Value::Number(_) | Value::Text(_) | Value::Bool(_) | Value::Series(_), _) => {
                String::new()
            }
        };
        let is_right = match (&predicted, &actual) {
            (Value::Text(predicted), Value::Text(actual)) => same(predicted, actual),
            _ => false,
        };
        let told = |value: &Value, label: Option<Label>| match value {
            Value::Number(x) => in_words(&Value::Number(rounded(*x, label))),
            Value::Text(_) | Value::Bool(_) | Value::Series(_) => in_words(value),
        };
        let of_theory = self.theory.as_ref().map(|theory| theory.label);
        let theory = theory.as_ref().map(|value| told(value, of_theory));
        let (predicted, actual) = (in_words(&predicted), told(&actual, label));
        let says = theory.as_ref().map_or_else(String::new, |theory| {
            // Two values of one origin: the second is what the lesson holds against the first.
            match of_theory.filter(|own| Some(*own) != label) {
                Some(own) => format!("; {own} {theory}"),
                // A measured value next to another is that of a run without the change.
                None if label == Some(Label::Measured) => format!("; baseline {theory}"),
                None => format!("; theory {theory}"),
            }
        });
        let statement = match label {
            Some(label) if is_right => format!("Right: {label} {actual}{says}."),
            None if is_right => format!("Right: {actual}{says}."),
            Some(_) | None => format!("You said {predicted}; {source} {actual}{says}{verdict}."),
        };
        Comparison { statement, predicted, theory, actual }
    }

    /// What the lesson says to what came out: the first case whose condition holds.
    pub fn outcome(&self, env: &dyn Env) -> Option<&str> {
        let holds = |outcome: &&Outcome| value(&outcome.when, env) == Ok(Value::Bool(true));
        self.outcomes.iter().find(holds).map(|outcome| outcome.say.as_str())
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
            PredictKind::Numeric { unit, bounds } => {
                match quantity::read_within(text, unit.as_deref(), bounds.range()) {
                    Ok(written) => Ok(Value::Number(written.value)),
                    Err(error) => malformed(error.to_string()),
                }
            }
            PredictKind::Choice { choices } => {
                match choices.iter().find(|choice| same(choice, text)) {
                    Some(choice) => Ok(Value::Text(choice.clone())),
                    None => malformed(format!("choose one of: {}", choices.join(", "))),
                }
            }
        }
    }
}

/// A number with as many digits as a comparison with a guess needs: of counts and large numbers all.
fn rounded(x: f64, label: Option<Label>) -> f64 {
    let digits = match label {
        // No measurement repeats to more than three digits, and no model is nearer to one than that.
        Some(Label::Measured | Label::Modelled | Label::Baseline) => 3,
        Some(Label::Claimed | Label::Published | Label::Computed) | None if x.abs() < 1000.0 => 4,
        Some(Label::Claimed | Label::Published | Label::Computed) | None => return x,
    };
    if x.fract() == 0.0 { x } else { significant(x, digits) }
}

/// A unit as it stands behind a number: `1 thread`, `2 threads`.
fn counted(unit: &str, x: f64) -> String {
    let (counted, rest) = unit.find('/').map_or((unit, ""), |at| unit.split_at(at));
    let word = counted.rsplit(' ').next().unwrap_or_default();
    // Shorter ones are abbreviations, such as ms.
    let is_plural = word.chars().count() > 3
        && word.ends_with('s')
        && !word.ends_with("ss")
        && word.chars().all(|c| c.is_lowercase() || c == '-');
    let end = match ["sses", "shes", "ches", "xes"].iter().any(|end| word.ends_with(end)) {
        _ if x.abs() != 1.0 || !is_plural => 0,
        true => 2,
        false => 1,
    };
    format!("{}{rest}", &counted[..counted.len() - end])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_counted_in_the_singular() {
        for (unit, one, two) in [
            ("threads", "thread", "threads"),
            ("warp instructions", "warp instruction", "warp instructions"),
            ("tokens/s", "token/s", "tokens/s"),
            ("multiply-adds", "multiply-add", "multiply-adds"),
            ("passes", "pass", "passes"),
            ("époques", "époque", "époques"),
            ("ms", "ms", "ms"),
            ("GB/s", "GB/s", "GB/s"),
            ("FLOPs", "FLOPs", "FLOPs"),
            ("%", "%", "%"),
        ] {
            assert_eq!([counted(unit, 1.0), counted(unit, 2.0)], [one, two]);
        }
    }

    #[test]
    fn a_truth_has_no_more_digits_than_a_guess_is_held_against() {
        for (x, label, expected) in [
            (0.804644, Some(Label::Computed), 0.8046),
            (0.804644, None, 0.8046),
            (0.804644, Some(Label::Modelled), 0.805),
            (76.3431, Some(Label::Baseline), 76.3),
            (511.0, Some(Label::Computed), 511.0),
            (268_435_456.0, Some(Label::Measured), 268_435_456.0),
            (123_456.5, Some(Label::Computed), 123_456.5),
        ] {
            assert_eq!(rounded(x, label), expected);
        }
    }
}
