//! Answers that are numbers, or expressions that come to one.

use mlsys_expr::{Dialect, Env, Value, evaluate};

use super::Judgement;
use crate::env::LessonEnv;
use crate::model::{Formula, Tolerance, Wrong};

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

/// The value of a stated answer.
pub(crate) fn value_of(formula: &Formula, env: &dyn Env) -> Result<f64, String> {
    match evaluate(&formula.expr, env) {
        Ok(Value::Number(x)) => Ok(x),
        Ok(other @ (Value::Text(_) | Value::Bool(_) | Value::Series(_))) => {
            Err(format!("`{}` is {}, not a number", formula.source, other.kind()))
        }
        Err(error) => Err(crate::check::error_text(formula, &error)),
    }
}

pub(super) fn judge(
    text: &str,
    answer: &Formula,
    tolerance: Tolerance,
    wrong: &[Wrong<Formula>],
    env: &dyn Env,
) -> Judgement {
    let given = match read_number(text) {
        Ok(given) => given,
        Err(error) => return Judgement::Malformed(error.to_string()),
    };
    match value_of(answer, env) {
        Err(reason) => Judgement::Malformed(undecided(&reason)),
        Ok(answer) if tolerance.accepts(given, answer) => Judgement::Right,
        Ok(_) => {
            let stated = wrong.iter().find(|wrong| {
                value_of(&wrong.value, env).is_ok_and(|value| tolerance.accepts(given, value))
            });
            Judgement::Wrong(stated.map(|wrong| wrong.say.clone()))
        }
    }
}

pub(super) fn judge_list(
    texts: &[&str],
    answer: &[Formula],
    tolerance: Tolerance,
    wrong: &[Wrong<Vec<Formula>>],
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
    let all = |formulas: &[Formula]| formulas.iter().map(|f| value_of(f, env)).collect();
    let near = |values: &[f64]| {
        values.len() == given.len()
            && given.iter().zip(values).all(|(&given, &value)| tolerance.accepts(given, value))
    };
    let values: Result<Vec<f64>, String> = all(answer);
    match values {
        Err(reason) => Judgement::Malformed(undecided(&reason)),
        Ok(values) if near(&values) => Judgement::Right,
        Ok(values) => {
            let stated =
                wrong.iter().find(|wrong| all(&wrong.value).is_ok_and(|values| near(&values)));
            let first_wrong = given
                .iter()
                .zip(&values)
                .position(|(&given, &value)| !tolerance.accepts(given, value));
            Judgement::Wrong(match (stated, first_wrong) {
                (Some(stated), _) => Some(stated.say.clone()),
                (None, Some(at)) if at > 0 => Some(format!("the first {at} are right")),
                (None, _) => None,
            })
        }
    }
}

/// The answer depends on a run that has not been made.
fn undecided(reason: &str) -> String {
    format!("this cannot be graded yet: {reason}")
}
