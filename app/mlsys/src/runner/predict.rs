//! Predictions: nobody predicts without a screen, but theory and measurement must have values.

use std::time::Duration;

use mlsys_expr::{Env, EvalError, Value as Known, evaluate};
use mlsys_lab::value::Value;
use mlsys_lesson::{Formula, Predict, Target};

use mlsys_run::results::{Item, Kind, Verdict};

/// What a prediction is held against, and what theory says.
pub fn item(predict: &Predict, env: &dyn Env) -> Item {
    let target = match &predict.target {
        Target::Metric(formula) | Target::Answer(formula) => value(formula, env),
        Target::Choice(text) => Ok(Value::Text(text.clone())),
    };
    let theory = predict.theory.as_ref().map(|formula| value(formula, env)).transpose();
    let verdict = match (&target, &theory) {
        (Ok(_), Ok(_)) => Verdict::Passed,
        (Err(error), _) | (_, Err(error)) => match error.missing() {
            Some(reason) => Verdict::Skipped(reason.to_owned()),
            None => Verdict::Failed(error.to_string()),
        },
    };
    Item {
        id: predict.id.clone(),
        about: predict.prompt.clone(),
        kind: Kind::Predict { theory: theory.ok().flatten(), target: target.ok() },
        verdict,
        elapsed: Duration::ZERO,
    }
}

fn value(formula: &Formula, env: &dyn Env) -> Result<Value, EvalError> {
    Ok(match evaluate(&formula.expr, env)? {
        Known::Number(number) => Value::Float(number),
        Known::Text(text) => Value::Text(text),
        Known::Bool(bool) => Value::Bool(bool),
        // An expression is never a series: a bare name is its last value.
        Known::Series(points) => {
            Value::Array(points.iter().map(|(_, value)| Value::Float(*value)).collect())
        }
    })
}
