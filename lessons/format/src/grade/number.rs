//! Answers that are numbers, or expressions that come to one.

use std::iter;

use mlsys_expr::{Env, EvalError, Value, evaluate};
use mlsys_lab::schema::{Label, Range};
use mlsys_lab::value::{number, significant};

use crate::check::{error_text, shown};
use crate::env::LessonEnv;
use crate::grade::answer::{Answer, Judgement, same};
use crate::grade::mistake;
use crate::grade::quantity::{self, ReadNumberError, Written};
use crate::model::{Bounds, Formula, Outcome, Predict, PredictKind, Target, Tolerance, Wrong};

/// The number that a learner wrote, as questions without a unit read it.
pub fn read_number(text: &str) -> Result<f64, ReadNumberError> {
    quantity::read(text, None).map(|written| written.value)
}

/// Why a stated answer cannot be compared with a learner's number.
#[derive(Debug, thiserror::Error)]
enum NoNumber<'f> {
    #[error("`{}` is {kind}, not a number", .formula.source)]
    OtherKind { formula: &'f Formula, kind: &'static str },
    #[error("{}", error_text(.0, .1))]
    NoValue(&'f Formula, EvalError),
}

fn value_of<'f>(formula: &'f Formula, env: &dyn Env) -> Result<f64, NoNumber<'f>> {
    match evaluate(&formula.expr, env) {
        Ok(Value::Number(x)) => Ok(x),
        Ok(other @ (Value::Text(_) | Value::Bool(_) | Value::Series(_))) => {
            Err(NoNumber::OtherKind { formula, kind: other.kind() })
        }
        Err(error) => Err(NoNumber::NoValue(formula, error)),
    }
}

/// The numbers that formulas come to.
pub(super) fn values<'f>(
    formulas: &'f [Formula],
    env: &dyn Env,
) -> Result<Vec<f64>, impl std::fmt::Display + use<'f>> {
    formulas.iter().map(|formula| value_of(formula, env)).collect::<Result<_, NoNumber<'f>>>()
}

/// What numbers are held against.
pub(super) struct Task<'q, W> {
    pub(super) answer: &'q [Formula],
    pub(super) tolerance: Tolerance,
    pub(super) unit: Option<&'q str>,
    /// What each number can be.
    pub(super) bounds: &'q [Bounds],
    pub(super) wrong: &'q [Wrong<W>],
    /// The numbers of a recognised mistake.
    pub(super) formulas: fn(&W) -> &[Formula],
}

/// Judges as many numbers as the answer has.
pub(super) fn judge<W>(texts: &[&str], task: &Task<'_, W>, env: &dyn Env) -> Judgement {
    let ranges = || task.bounds.iter().map(|bounds| bounds.range()).chain(iter::repeat(Range::ALL));
    let read = texts.iter().zip(ranges());
    let given: Result<Vec<Written>, _> =
        read.map(|(text, range)| quantity::read_share(text, task.unit, range)).collect();
    let given = match given {
        Ok(given) => given,
        Err(error) => return Judgement::Malformed(error.to_string()),
    };
    if given.len() != task.answer.len() {
        let (wanted, given) = (task.answer.len(), given.len());
        let message = format!("{wanted} numbers are asked for, and these are {given}");
        return Judgement::Malformed(message);
    }
    let outside = given.iter().zip(ranges()).find(|(given, range)| !range.contains(given.value));
    let outside = outside
        .map(|(given, range)| ReadNumberError::Outside { given: given.value, range }.to_string());
    let values = match values(task.answer, env) {
        Ok(values) => values,
        // It depends on a run that has not been made.
        Err(reason) => {
            let reason = || format!("this cannot be graded yet: {reason}");
            return Judgement::Malformed(outside.unwrap_or_else(reason));
        }
    };
    let is_near = |given: Written, value: f64| task.tolerance.accepts(given.value, value);
    let is_right = |given: Written, value: f64| is_near(given, value) || given.displays(value);
    let holds = |wanted: &[f64], test: &dyn Fn(Written, f64) -> bool| {
        let mut pairs = given.iter().zip(wanted);
        wanted.len() == given.len() && pairs.all(|(&given, &value)| test(given, value))
    };
    let mistake = |test: &dyn Fn(Written, f64) -> bool| {
        task.wrong.iter().find(|wrong| {
            self::values((task.formulas)(&wrong.value), env)
                .is_ok_and(|values| holds(&values, test))
        })
    };
    if holds(&values, &is_near) {
        return Judgement::Right;
    }
    if holds(&values, &is_right) {
        return match mistake(&|given, value| is_near(given, value) || given.rounds(value)) {
            Some(_) => Judgement::Malformed(
                "write more digits: these could come from a mistake".to_owned(),
            ),
            None => Judgement::Right,
        };
    }
    if holds(&values, &|given, value| is_right(given, value) || given.is_coarse(value)) {
        return Judgement::Malformed("write more digits, four at least".to_owned());
    }
    let is_stated = mistake(&is_near).or_else(|| mistake(&Written::is));
    if let Some(stated) = is_stated.or_else(|| mistake(&Written::displays)) {
        return Judgement::Wrong(Some(stated.say.clone()));
    }
    if let Some(outside) = outside {
        return Judgement::Malformed(outside);
    }
    let mut all = given.iter().zip(&values).zip(task.answer).enumerate();
    let wrong = all.find(|(_, ((given, value), _))| !is_right(**given, **value));
    let Some((before, ((given, value), answer))) = wrong else { return Judgement::Right };
    let named = mistake::named(*given, answer, *value, task.unit, env);
    Judgement::Wrong(match (before, named) {
        (0, named) => Some(named.unwrap_or_else(|| unexplained(given.value, *value))),
        (before, None) => Some(format!("the first {before} are right")),
        (before, Some(named)) => Some(format!("the first {before} are right. {named}")),
    })
}

/// What is said of a wrong number that no edit of the answer gives: how far off it is, and not in which direction.
fn unexplained(given: f64, value: f64) -> String {
    let ratio = (given / value).max(value / given);
    let is_comparable = given * value > 0.0;
    let far = match ratio {
        _ if !is_comparable => "Its sign is not that of the answer, or one of both is 0.",
        ratio if ratio <= 1.1 => {
            "It is within 10 % of the answer: is an input rounded, or one of another case?"
        }
        ratio if ratio <= 3.0 => "Its order of magnitude is right.",
        _ => "It is off by more than a factor of 3.",
    };
    format!("No common mistake gives this number. {far}")
}

/// How many of several numbers are right, each at its place.
pub(super) fn count_right(
    texts: &[&str],
    answer: &[Formula],
    tolerance: Tolerance,
    env: &dyn Env,
) -> usize {
    let pairs = texts.iter().zip(answer);
    let right = pairs.filter(|(text, formula)| {
        let (given, value) = (quantity::read(text, None), value_of(formula, env));
        matches!((given, value), (Ok(given), Ok(value))
            if tolerance.accepts(given.value, value) || given.displays(value))
    });
    right.count()
}

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
        let source = label.map_or("the answer is".to_owned(), |label| label.to_string());
        let unit = match &self.kind {
            PredictKind::Numeric { unit, .. } => unit.as_deref(),
            PredictKind::Choice { .. } => None,
        };
        // Theory is a bonus: without a value it is left out.
        let theory = self.theory.as_ref().and_then(|theory| value(&theory.formula, env).ok());
        let in_words = |value: &Value| match (value, unit) {
            (Value::Number(x), Some(unit)) => format!("{} {unit}", number(*x)),
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
        // No measurement repeats to more than three digits, and no model is nearer to one than that.
        let told = |value: &Value, label: Option<Label>| match (value, label) {
            (Value::Number(x), Some(Label::Measured | Label::Modelled)) if x.fract() != 0.0 => {
                in_words(&Value::Number(significant(*x, 3)))
            }
            (Value::Number(_) | Value::Text(_) | Value::Bool(_) | Value::Series(_), _) => {
                in_words(value)
            }
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
        Ok(Comparison { statement, predicted, theory, actual })
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
