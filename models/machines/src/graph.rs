//! Kind `graph`: an expression as a computation graph, differentiated in reverse mode node by node.

mod build;
mod differentiate;
mod nodes;
mod operation;

use std::collections::BTreeMap;

use mlsys_lab::params::{ParamError, Params, Problem};
use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Run, Value};

use crate::picture;
use nodes::{Nodes, Role};

/// The lab `graph`.
pub struct Graph {
    schema: Schema,
}

impl Graph {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("graph.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for Graph {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let inputs = inputs(&run.params)?;
        let learning_rate = run.params.optional_float("learning_rate");
        let nodes = build::nodes(run.params.text("expression")?, &inputs)?;
        let adjoints = differentiate::adjoints(&nodes);
        // Before anything can fail: the picture shows where a value that is not finite is born.
        picture::offer(run, "graph", || table(&nodes, &adjoints.values));
        nodes.check_finite()?;
        adjoints.check_finite(&nodes)?;

        let mut metrics: Vec<(String, f64)> =
            vec![("value".to_owned(), nodes.at(nodes.output()).value)];
        for (node, &adjoint) in nodes.iter().zip(&adjoints.values) {
            let name = &node.label;
            match node.role {
                Role::Input => {
                    metrics.push((format!("grad.{name}"), adjoint));
                    if let Some(rate) = learning_rate {
                        // updated = input - learning_rate * grad
                        metrics.push((format!("updated.{name}"), node.value - rate * adjoint));
                    }
                }
                Role::Assigned => {
                    metrics.push((format!("node.{name}"), node.value));
                    metrics.push((format!("adjoint.{name}"), adjoint));
                }
                Role::Inner => {}
            }
        }
        // Values and adjoints have passed; what is left is a step too long for a number.
        if let Some((metric, _)) = metrics.iter().find(|(_, value)| !value.is_finite()) {
            return Err(LabError::NotFinite {
                metric: metric.clone(),
                reason: "the step learning_rate * grad is too large".to_owned(),
            });
        }
        for (metric, value) in metrics {
            run.scalar(&metric, value);
        }
        Ok(())
    }
}

/// The inputs by name, each a finite number with a name that an expression can use.
fn inputs(params: &Params) -> Result<BTreeMap<String, f64>, LabError> {
    let mut inputs = BTreeMap::new();
    let Some(Value::Table(entries)) = params.get("inputs") else {
        return Ok(inputs);
    };
    for (name, value) in entries {
        let param = format!("inputs.{name}");
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !starts || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(LabError::contradiction(
                [param.escape_debug().to_string().as_str()],
                "an input's name is made of letters, digits and _, and starts with no digit",
            ));
        }
        match value.as_f64() {
            Some(x) if x.is_finite() => inputs.insert(name.clone(), x),
            Some(_) | None => {
                let problem = Problem::OutOfRange {
                    value: value.clone(),
                    min: None,
                    max: None,
                };
                return Err(LabError::Param(ParamError { param, problem }));
            }
        };
    }
    Ok(inputs)
}

/// Nodes in the order of evaluation; constants that nobody named are left out.
fn table(nodes: &Nodes, adjoints: &[f64]) -> Frame {
    let rows = nodes
        .iter()
        .zip(adjoints)
        .filter(|(node, _)| !(node.role == Role::Inner && node.operation.is_constant()))
        .map(|(node, &adjoint)| {
            let operation = nodes.describe(node);
            [
                node.label.as_str().into(),
                operation.into(),
                marked(node.value),
                marked(adjoint),
            ]
        })
        .collect();
    picture::table(["node", "operation", "value", "adjoint"], rows)
}

/// A number, or the word for what is none: no table holds a NaN.
fn marked(x: f64) -> Value {
    if x.is_finite() {
        Value::Float(x)
    } else {
        Value::Text(number(x))
    }
}
