//! Answers that are numbers, or expressions that come to one.

use mlsys_expr::{Dialect, Env, EvalError, Value, evaluate};
use mlsys_lab::value::number;

use crate::check::{error_text, shown};
use crate::env::LessonEnv;
use crate::grade::answer::{Answer, Judgement, same};
use crate::model::{Formula, Predict, PredictKind, Target, Tolerance, Wrong};

/// A text that is no number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a number such as 1218, 1.5e14 or 1_000, or an expression such as 2*512^3: {reason}")]
pub struct ReadNumberError {
    /// What stands in the way.
    pub reason: String,
}

/// The number that a learner wrote: a number with or without `_` between thousands, or an expression of constants.
pub fn read_number(text: &str) -> Result<f64, ReadNumberError> {
    let fail = |reason: String| ReadNumberError { reason };
    let text = without_separators(text.trim());
    let expr =
        mlsys_expr::parse(&text, Dialect::Lesson).map_err(|error| fail(error.to_string()))?;
    if let Some((name, _)) = expr.names().first() {
        // The answer must not be had from the lab that the question is about.
        return Err(fail(format!("`{name}` is a name; write its value")));
    }
    match evaluate(&expr, &LessonEnv::new()) {
        Ok(Value::Number(x)) => Ok(x),
        Ok(Value::Text(_) | Value::Bool(_) | Value::Series(_)) => {
            Err(fail("this is no number".to_owned()))
        }
        Err(error) => Err(fail(error.to_string())),
    }
}

/// Drops `_` between digits, and nowhere else.
fn without_separators(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut previous_is_digit = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let between = previous_is_digit && rest.peek().is_some_and(char::is_ascii_digit);
        if c != '_' || !between {
            previous_is_digit = c.is_ascii_digit();
            plain.push(c);
        }
    }
    plain
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

/// Judges as many numbers as the answer has; `formulas` are those of a recognised mistake.
pub(super) fn judge<W>(
    texts: &[&str],
    answer: &[Formula],
    tolerance: Tolerance,
    wrong: &[Wrong<W>],
    formulas: fn(&W) -> &[Formula],
    env: &dyn Env,
) -> Judgement {
    let mut given = Vec::new();
    for text in texts {
        match read_number(text) {
            Ok(number) => given.push(number),
            Err(error) => return Judgement::Malformed(error.to_string()),
        }
    }
    if given.len() != answer.len() {
        let message =
            format!("{} numbers are asked for, and these are {}", answer.len(), given.len());
        return Judgement::Malformed(message);
    }
    fn all<'f>(formulas: &'f [Formula], env: &dyn Env) -> Result<Vec<f64>, NoNumber<'f>> {
        formulas.iter().map(|formula| value_of(formula, env)).collect()
    }
    let first_wrong = |values: &[f64]| {
        let mut pairs = given.iter().zip(values);
        pairs.position(|(&given, &value)| !tolerance.accepts(given, value))
    };
    let near = |values: &[f64]| values.len() == given.len() && first_wrong(values).is_none();
    let values = match all(answer, env) {
        Ok(values) => values,
        // It depends on a run that has not been made.
        Err(reason) => return Judgement::Malformed(format!("this cannot be graded yet: {reason}")),
    };
    let Some(first_wrong) = first_wrong(&values) else { return Judgement::Right };
    let is_meant =
        |wrong: &&Wrong<W>| all(formulas(&wrong.value), env).is_ok_and(|values| near(&values));
    Judgement::Wrong(match wrong.iter().find(is_meant) {
        Some(stated) => Some(stated.say.clone()),
        None => (first_wrong > 0).then(|| format!("the first {first_wrong} are right")),
    })
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
        // Theory is a bonus: without a value it is left out.
        let theory = self.theory.as_ref().and_then(|formula| value(formula, env).ok());
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
