//! Labs that are data: one TOML file holds the parameters, the metrics with their formulas, what must hold between
//! parameters, the panels, presets and sources. `docs/labs.md` describes every key.
//!
//! A built-in file may start from what a [`Simulation`] in Rust finds: its metrics without a `value`, the names in
//! `simulated`, and the pictures of panels that have none in the file.
//!
//! A file may come from anywhere, as a course's may: its size, its entries, the points it draws and the work of one run
//! are bounded, its formulas have no loops, and all that is wrong with it is told at once with its place.

mod draw;
mod evaluate;
mod explain;
mod functions;
mod model;
mod read;

pub use read::MAX_BYTES;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use mlsys_lab::control::{Control, Limits};
use mlsys_lab::params::ParamError;
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::{Metric, SchemaError, Type};
use mlsys_lab::{DeviceId, Lab, LabError, Params, Run, RunData, Schema, Settings, Tables, Value};
use mlsys_sim::integer::too_large;
use serde::Serialize;

use self::evaluate::{Context, Fault, Scope};
use self::explain::Names;
use self::model::{Form, Formula, Start};

#[derive(Debug)]
pub struct ClosedForm {
    schema: Schema,
    form: Form,
    simulation: Option<Simulation>,
}

/// Computes the values that a file's formulas start from, and draws the panels that the file has no picture of.
pub type Simulation = fn(&mut Run<'_>) -> Result<Simulated, LabError>;

#[derive(Debug, Default)]
pub struct Simulated(BTreeMap<String, Value>);

impl Simulated {
    /// A value for each field of a struct; a field that is none is unset.
    ///
    /// # Errors
    /// A count beyond 64 bits.
    pub(crate) fn fields(fields: &impl Serialize) -> Result<Self, LabError> {
        let table = toml::Table::try_from(fields);
        let table = table.map_err(|error| LabError::Data(error.to_string()))?;
        table.try_into().map(Self).map_err(|error| LabError::Data(error.to_string()))
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    pub(crate) fn list<V: Into<Value>>(&mut self, name: &str, values: impl IntoIterator<Item = V>) {
        self.set(name, Value::Array(values.into_iter().map(Into::into).collect()));
    }

    /// Records: each row has a value for each of the keys.
    pub(crate) fn records<const N: usize>(
        &mut self,
        name: &str,
        keys: [&str; N],
        rows: impl IntoIterator<Item = [Value; N]>,
    ) {
        let record = |row: [Value; N]| {
            Value::Table(keys.iter().map(|key| (*key).to_owned()).zip(row).collect())
        };
        self.list(name, rows.into_iter().map(record));
    }
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub mistake: Mistake,
    /// Where it stands, in bytes of the file.
    pub place: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    TooLarge,
    ControlCharacter,
    Toml,
    UnknownKey,
    MissingKey,
    WrongType,
    BadValue,
    DuplicateId,
    Contradiction,
    Expression,
    UnknownName,
}

impl ClosedForm {
    /// Reads a file.
    ///
    /// # Errors
    /// All that is wrong with it, in the order of the file.
    pub fn read(text: &str) -> Result<Self, Vec<Problem>> {
        let (schema, form) = read::read(text, Start::Parameters)?;
        Ok(Self { schema, form, simulation: None })
    }

    /// What goes wrong when it runs with its defaults, and with each preset.
    pub fn failures(&self) -> Vec<String> {
        let presets = self.schema.presets.iter();
        let settings =
            presets.map(|preset| (format!("preset `{}`", preset.name), preset.settings()));
        // Presets were resolved when the schema was read.
        std::iter::once(("the defaults".to_owned(), Settings::new()))
            .chain(settings)
            .filter_map(|(name, settings)| {
                let failed = match self.collect(&settings).ok()? {
                    Ok(data) => self.schema.out_of_range(&data)?.to_string(),
                    Err(error) => error.to_string(),
                };
                Some(format!("with {name}: {failed}"))
            })
            .collect()
    }

    /// What a run reports, if its settings can be used.
    fn collect(&self, settings: &Settings) -> Result<Result<RunData, LabError>, Vec<ParamError>> {
        let params = Params::resolve(&self.schema, settings, Tables::builtin(), None)?;
        let mut data = RunData::default();
        let ended = self.run(&mut Run {
            params,
            device: DeviceId::CPU,
            sink: &mut data,
            control: Control::free(Limits::default(), Arc::default()),
        });
        Ok(ended.map(|()| data))
    }

    /// Reads a file that is compiled in.
    ///
    /// # Errors
    /// The first thing that is wrong with it: a mistake in this crate, caught by its tests.
    pub(crate) fn built_in(
        text: &str,
        simulation: Option<Simulation>,
    ) -> Result<Self, SchemaError> {
        let start = if simulation.is_some() { Start::Simulation } else { Start::Parameters };
        let (schema, form) = read::read(text, start).map_err(|problems| {
            let messages = problems.iter().map(|problem| {
                let line = text.bytes().take(problem.place.start).filter(|b| *b == b'\n').count();
                format!("line {}: {}", line + 1, problem.message)
            });
            let message = messages.collect::<Vec<_>>().join("; ");
            SchemaError { kind: text.lines().take(1).collect(), message }
        })?;
        Ok(Self { schema, form, simulation })
    }
}

impl Lab for ClosedForm {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let params = run.params.clone();
        self.check(&params)?;
        let simulated = match self.simulation {
            Some(simulation) => simulation(run)?,
            None => Simulated::default(),
        };
        let context = Context::new(&self.form, &params, &simulated.0);
        let scope = Scope::of_run(&context);
        for (condition, words) in &self.form.notices {
            let text = scope
                .holds(condition)
                .and_then(|holds| if holds { scope.text(words).map(Some) } else { Ok(None) });
            if let Some(text) = text.map_err(|fault| fault.error(&params, "a notice"))? {
                run.notice(text);
            }
        }
        for metric in &self.schema.metrics {
            let formula = self.form.formula(&metric.name);
            let value = match formula {
                Some(formula) => scope
                    .named(&metric.name)
                    .map_err(|fault| self.unset(fault, formula, &params, &metric.name))?,
                None => simulated.0.get(&metric.name).cloned(),
            };
            if let Some(value) = value {
                run.scalar(&metric.name, self.reported(metric, formula, value, &scope)?);
            }
        }
        for (panel, picture) in &self.form.panels {
            if run.sink.wants_frame(panel, FrameTrigger::Final) {
                let frame = draw::frame(picture, &scope);
                run.frame(panel, frame.map_err(|fault| fault.error(&params, panel))?);
            }
        }
        Ok(())
    }
}

impl ClosedForm {
    fn check(&self, params: &Params) -> Result<(), LabError> {
        let none = BTreeMap::new();
        let context = Context::new(&self.form, params, &none);
        let scope = Scope::of_run(&context);
        for check in &self.form.checks {
            let mut broken = None;
            draw::nested(check, &check.each, &scope, &scope, true, &mut |check, scope, _| {
                if broken.is_none() && scope.value(&check.holds)? == Some(Value::Bool(false)) {
                    broken = Some((check, scope.text(&check.message)?));
                }
                Ok(())
            })
            .map_err(|fault| self.unset(fault, &check.what.holds, params, "a check"))?;
            if let Some((check, message)) = broken {
                let params = check.params.iter().map(String::as_str);
                return Err(LabError::contradiction(params, message));
            }
        }
        Ok(())
    }

    fn unset(&self, fault: Fault, formula: &Formula, params: &Params, what: &str) -> LabError {
        match fault {
            Fault::Unset(name) => {
                let first = self.first_unset(formula, params);
                Fault::Unset(first.unwrap_or(name)).error(params, what)
            }
            other @ (Fault::Wrong { .. } | Fault::Exhausted) => other.error(params, what),
        }
    }

    fn reported(
        &self,
        metric: &Metric,
        formula: Option<&Formula>,
        value: Value,
        scope: &Scope<'_>,
    ) -> Result<Value, LabError> {
        if !value.is_finite() {
            let reason = self.reason(metric, formula, &value, scope);
            return Err(LabError::NotFinite { metric: metric.name.clone(), reason });
        }
        Ok(match (metric.ty, value) {
            (Type::Float, Value::Int(x)) => Value::Float(x as f64),
            (Type::Int, Value::Float(x)) if x.fract() == 0.0 => {
                if x.abs() >= 9.2e18 {
                    let needed = formula.map_or_else(Vec::new, |formula| {
                        explain::parameters(&self.form, formula, Names::Values)
                    });
                    let numbers = self.schema.params.iter().filter(|param| {
                        matches!(param.ty, Type::Int | Type::Float)
                            && needed.contains(&param.name.as_str())
                    });
                    let names = numbers.map(|param| param.name.as_str());
                    return Err(too_large(names, &metric.name));
                }
                Value::Int(x as i64)
            }
            (
                Type::Int,
                value @ (Value::Float(_) | Value::Bool(_) | Value::Text(_) | Value::Array(_)),
            )
            | (Type::Float, value @ (Value::Bool(_) | Value::Text(_) | Value::Array(_)))
            | (Type::String, value @ (Value::Bool(_) | Value::Int(_) | Value::Float(_))) => {
                let message = format!("{}: {} is not of its type", metric.name, value);
                return Err(LabError::Data(message));
            }
            (_, value) => value,
        })
    }

    /// Of the parameters that a formula depends on, the first in the schema that is needed and not set.
    fn first_unset(&self, formula: &Formula, params: &Params) -> Option<String> {
        let needed = explain::parameters(&self.form, formula, Names::All);
        let unset = self
            .schema
            .params
            .iter()
            .filter(|param| !param.optional && params.get(&param.name).is_none());
        unset.map(|param| param.name.clone()).find(|name| needed.contains(&name.as_str()))
    }

    /// Why a metric is not finite: in the words of the file, else its formula with its numbers.
    fn reason(
        &self,
        metric: &Metric,
        formula: Option<&Formula>,
        value: &Value,
        scope: &Scope<'_>,
    ) -> String {
        let template = self.form.reasons.get(&metric.name).or(self.form.reason.as_ref());
        if let Some(text) = template.and_then(|template| scope.text(template).ok()) {
            return text;
        }
        let Some(formula) = formula else { return format!("it is {value}") };
        match explain::written_out(formula, scope) {
            Ok((formula, numbers)) if numbers.is_empty() => formula,
            Ok((formula, numbers)) => format!("{formula} = {numbers}"),
            Err(_) => formula.source.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
