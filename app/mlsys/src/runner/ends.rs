//! The knobs of a lesson at their ends: what a learner can reach must not break.

use std::time::Duration;

use mlsys_lab::control::{Limits, StopReason};
use mlsys_lab::params::Params;
use mlsys_lab::schema::{Param, Schema, Type};
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;
use mlsys_lesson::{Knob, LabDirective};

use super::plan::{Plan, device_of};
use crate::context::Context;
use mlsys_run::outcome::Outcome;
use mlsys_run::session::{RunRequest, execute};

/// As far as a live lab goes here: far enough to fail where it cannot start.
const LIMITS: Limits = Limits { steps: Some(3), time: Some(Duration::from_secs(1)) };

/// Runs a lab with each of its knobs at each end, the others where they start; the sentences say what broke.
pub fn troubles(
    directive: &LabDirective,
    plan: &Plan<'_>,
    seed: u64,
    context: &mut Context<'_>,
) -> Vec<String> {
    let Ok(device) = device_of(plan) else {
        return Vec::new();
    };
    let schema = plan.schema();
    let mut troubles = Vec::new();
    for knob in &directive.knobs {
        let Some(param) = schema.param(&knob.param) else {
            continue;
        };
        for end in ends(knob, param) {
            if context.interrupt.is_asked() {
                return troubles;
            }
            let trouble = match params_at(directive, schema, knob, &end, seed) {
                Err(trouble) => Some(trouble),
                Ok(params) => {
                    let label = format!("{} {} = {end}", directive.id, knob.param);
                    let device = device.clone();
                    let order = RunRequest {
                        label: &label,
                        lab: plan.lab,
                        params,
                        device,
                        limits: LIMITS,
                        lesson: None,
                        runs: None,
                        sources: plan.sources.clone(),
                    };
                    let finished = execute(order, &context.interrupt, context.console);
                    match finished.outcome {
                        // Three steps may take longer than the second they get.
                        Outcome::Stopped(StopReason::TimeLimit) => None,
                        Outcome::Finished
                        | Outcome::Stopped(_)
                        | Outcome::Failed(_)
                        | Outcome::Panicked(_) => finished.trouble(),
                    }
                }
            };
            troubles.extend(
                trouble
                    .map(|why| format!("lab {} with {} = {end}: {why}", directive.id, knob.param)),
            );
        }
    }
    troubles
}

fn params_at(
    directive: &LabDirective,
    schema: &Schema,
    knob: &Knob,
    end: &Value,
    seed: u64,
) -> Result<Params, String> {
    Params::resolve(
        schema,
        &directive.settings().turned(schema, &knob.param, end.clone()),
        Tables::builtin(),
        Some(seed),
    )
    .map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        errors.join("; ")
    })
}

/// The ends of a knob: smallest and largest, or each of its names, which have no order.
fn ends(knob: &Knob, param: &Param) -> Vec<Value> {
    if let Some(values) = &knob.values {
        return match values.as_slice() {
            [first, .., last] if first.as_f64().is_some() => vec![first.clone(), last.clone()],
            values => values.to_vec(),
        };
    }
    match param.ty {
        Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Type::Enum => match &param.values_from {
            Some(table) => Tables::builtin().names(table).into_iter().map(Value::from).collect(),
            None => param.values.iter().map(|name| Value::from(name.as_str())).collect(),
        },
        Type::Int | Type::Float => {
            let ends = [knob.min.or(param.min), knob.max.or(param.max)];
            ends.into_iter().flatten().map(Value::Float).collect()
        }
        // A knob for one entry of a table has the ends that the lesson gives it.
        Type::Table => {
            let ends = [knob.min, knob.max];
            ends.into_iter().flatten().map(Value::Float).collect()
        }
        Type::String | Type::Array => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lesson::Place;

    fn schema() -> Schema {
        Schema::parse(
            "kind='t'\ntitle='t'\nmodule='t'\nabout='t'\nsource='t'\n\
             [[param]]\nname='n'\ntype='int'\nmin=1.0\nmax=9.0\nabout=''\n\
             [[param]]\nname='name'\ntype='enum'\nvalues=['a','b']\nabout=''\n\
             [[param]]\nname='open'\ntype='float'\nmin=0.0\nabout=''\n\
             [[param]]\nname='flag'\ntype='bool'\nabout=''",
        )
        .unwrap()
    }

    fn knob(param: &str) -> Knob {
        Knob {
            param: param.to_owned(),
            values: None,
            min: None,
            max: None,
            default: None,
            place: Place::default(),
        }
    }

    #[test]
    fn knob_ends_come_from_lesson_then_parameter() {
        let schema = schema();
        let ends_of = |knob: Knob| ends(&knob, schema.param(&knob.param).unwrap());
        assert_eq!(ends_of(knob("n")), [Value::Float(1.0), Value::Float(9.0)]);
        assert_eq!(
            ends_of(Knob { max: Some(4.0), ..knob("n") }),
            [Value::Float(1.0), Value::Float(4.0)]
        );
        assert_eq!(ends_of(knob("name")), [Value::from("a"), Value::from("b")]);
        assert_eq!(
            ends_of(Knob { values: Some(vec!["b".into()]), ..knob("name") }),
            [Value::from("b")]
        );
        let values = Some(vec![Value::Int(1), Value::Int(2), Value::Int(4)]);
        assert_eq!(ends_of(Knob { values, ..knob("n") }), [Value::Int(1), Value::Int(4)]);
        assert_eq!(ends_of(knob("open")), [Value::Float(0.0)]);
        assert_eq!(ends_of(knob("flag")), [Value::Bool(false), Value::Bool(true)]);
    }
}
