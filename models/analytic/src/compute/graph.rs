//! Kind `graph`: an expression as a computation graph, differentiated in reverse mode node by node.

mod compare;
mod lifetimes;
mod tape;
mod walk;

use std::collections::BTreeMap;

use mlsys_lab::params::{ParamError, Params, Problem};
use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::{Lab, LabError, Report, Run, Value, picture};

use compare::Comparison;
use lifetimes::Lifetimes;
use mlsys_sim::graph::differentiate::Adjoints;
use mlsys_sim::graph::nodes::{Nodes, Role};
use mlsys_sim::graph::operation::Engine;
use mlsys_sim::graph::{differentiate, nodes};

pub struct Graph {
    schema: Schema,
    engine: Option<Box<dyn Engine>>,
}

impl Graph {
    /// The lab with its schema read, with its own reverse mode as the only engine.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/graph.toml"))?;
        Ok(Self { schema, engine: None })
    }

    /// The same with another engine that differentiates each graph too.
    #[must_use]
    pub fn with_engine(mut self, engine: Box<dyn Engine>) -> Self {
        self.engine = Some(engine);
        self
    }
}

impl Lab for Graph {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let inputs = inputs(&run.params)?;
        let nudge = run.params.optional_float("nudge");
        let nodes = nodes::nodes(run.params.text("expression")?, &inputs)?;
        let adjoints = differentiate::adjoints(&nodes);
        let others = Comparison::new(&nodes, nudge, self.engine.as_deref(), run.device);
        let lifetimes = Lifetimes::new(&nodes);
        // Before anything can fail: the pictures show where a value that is not finite is born.
        picture::offer(run, "graph", || walk::picture(&nodes, &adjoints));
        picture::offer(run, "values", || others.table(&nodes, &adjoints));
        picture::offer(run, "tape", || tape::picture(&nodes, &adjoints));
        picture::offer(run, "lifetimes", || lifetimes.picture(&nodes));
        if !inputs.is_empty() {
            picture::offer(run, "nudges", || others.errors(&nodes, &adjoints, nudge));
        }
        nodes.check_finite()?;
        adjoints.check_finite(&nodes)?;

        let metrics =
            metrics(&nodes, &adjoints, &others, run.params.optional_float("learning_rate"));
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
        for (metric, count) in [
            ("operations", nodes.operations() as i64),
            ("edges", nodes.edges().len() as i64),
            ("saved_bytes", lifetimes.saved_bytes()),
            ("peak_bytes", lifetimes.peak_bytes()),
            ("inference_peak_bytes", lifetimes.inference_peak_bytes()),
        ] {
            run.scalar(metric, count);
        }
        for notice in others.notices {
            run.sink.report(Report::Notice(notice));
        }
        Ok(())
    }
}

fn metrics(
    nodes: &Nodes,
    adjoints: &Adjoints,
    others: &Comparison,
    learning_rate: Option<f64>,
) -> Vec<(String, f64)> {
    let mut metrics = vec![("value".to_owned(), nodes.at(nodes.output()).value)];
    for (index, node) in nodes.drawn() {
        let (name, adjoint) = (&node.label, adjoints.values[index]);
        match node.role {
            Role::Input => {
                metrics.push((format!("grad.{name}"), adjoint));
                // Near the edge of a function's domain a nudge, or fewer bits, may find no number where we do.
                let finite = |x: &f64| x.is_finite();
                if let Some(gradient) = others.engine_gradient(index).filter(finite) {
                    metrics.push((format!("burn_grad.{name}"), gradient));
                }
                let slope = others.slopes[index].map(|slope| slope.value);
                if let Some(slope) = slope.filter(finite) {
                    metrics.push((format!("numeric_grad.{name}"), slope));
                    metrics.push((format!("nudge_error.{name}"), (slope - adjoint).abs()));
                }
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
    let largest = others.largest_difference(nodes, adjoints);
    metrics.extend(largest.map(|difference| ("gradient_difference".to_owned(), difference)));
    metrics
}

/// The inputs by name, each a finite number with a name that an expression can use.
fn inputs(params: &Params) -> Result<BTreeMap<String, f64>, LabError> {
    let mut inputs = BTreeMap::new();
    let Some(Value::Table(entries)) = params.get("inputs") else { return Ok(inputs) };
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
                let problem = Problem::OutOfRange { value: value.clone(), min: None, max: None };
                return Err(LabError::Param(ParamError { param, problem }));
            }
        };
    }
    Ok(inputs)
}
