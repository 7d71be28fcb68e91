//! Labs that are data: one TOML file holds the parameters, the metrics with their formulas, what must hold between
//! parameters, the panels, presets and sources. `docs/labs.md` describes every key.
//!
//! A file may come from anywhere, as a course's may: its size, its entries, the points it draws and the work of one run
//! are bounded, its formulas have no loops, and all that is wrong with it is told at once with its place.

mod draw;
mod evaluate;
mod model;
mod read;

pub use read::MAX_BYTES;

use std::ops::Range;
use std::sync::Arc;

use mlsys_lab::control::{Control, Limits};
use mlsys_lab::report::{FrameTrigger, Report};
use mlsys_lab::schema::{SchemaError, Type};
use mlsys_lab::{DeviceId, Lab, LabError, Params, Run, RunData, Schema, Settings, Tables, Value};

use self::evaluate::{Context, Fault, Names, Scope};
use self::model::{Definition, Form, Formula};
use mlsys_sim::integer::too_large;

/// A lab whose computation is a file.
#[derive(Debug)]
pub struct ClosedForm {
    schema: Schema,
    form: Form,
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind of mistake it is.
    pub mistake: Mistake,
    /// Where it stands, in bytes of the file.
    pub place: Range<usize>,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

/// The kinds of mistakes in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// The file, or something in it, is too large.
    TooLarge,
    /// A control character in a text.
    ControlCharacter,
    /// Text that is not TOML.
    Toml,
    /// A key that means nothing here.
    UnknownKey,
    /// A key that must be there.
    MissingKey,
    /// A value of another type than its key takes.
    WrongType,
    /// A value that its key does not take.
    BadValue,
    /// A name that is used twice.
    DuplicateId,
    /// Parts that contradict each other.
    Contradiction,
    /// An expression that does not read.
    Expression,
    /// A name that stands for nothing.
    UnknownName,
}

impl ClosedForm {
    /// Reads a file.
    ///
    /// # Errors
    /// All that is wrong with it, in the order of the file.
    pub fn read(text: &str) -> Result<Self, Vec<Problem>> {
        read::read(text).map(|(schema, form)| Self { schema, form })
    }

    /// What goes wrong when it runs with its defaults, and with each preset.
    pub fn failures(&self) -> Vec<String> {
        let presets = self.schema.presets.iter();
        let settings =
            presets.map(|preset| (format!("preset `{}`", preset.name), preset.settings()));
        std::iter::once(("the defaults".to_owned(), Settings::new()))
            .chain(settings)
            .filter_map(|(name, settings)| {
                let params = Params::resolve(&self.schema, &settings, Tables::builtin(), None);
                // Presets were resolved when the schema was read.
                let params = params.ok()?;
                let mut data = RunData::default();
                let failed = self.run(&mut Run {
                    params,
                    device: DeviceId::CPU,
                    sink: &mut data,
                    control: Control::free(Limits::default(), Arc::default()),
                });
                failed.err().map(|error| format!("with {name}: {error}"))
            })
            .collect()
    }

    /// Reads a file that is compiled in.
    ///
    /// # Errors
    /// The first thing that is wrong with it: a mistake in this crate, caught by its tests.
    pub(crate) fn built_in(text: &str) -> Result<Self, SchemaError> {
        Self::read(text).map_err(|problems| {
            let first = problems.into_iter().next();
            let told = first.map(|first| {
                let line = text.get(..first.place.start).unwrap_or_default().lines().count();
                let help = first.help.unwrap_or_default();
                format!("line {line}: {} ({help})", first.message)
            });
            let kind = text.lines().next().unwrap_or_default().to_owned();
            SchemaError { kind, message: told.unwrap_or_default() }
        })
    }
}

impl Lab for ClosedForm {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let params = run.params.clone();
        let context = Context::new(&self.form, &params);
        let scope = Scope::of_run(&context);
        let failed = |fault: Fault, what: &str| fault.error(&params, what);
        let unset = |fault: Fault, formula: &Formula, what: &str| match fault {
            Fault::Unset(name) => {
                let first = self.first_unset(formula, &params);
                Fault::Unset(first.unwrap_or(name)).error(&params, what)
            }
            other @ (Fault::Wrong { .. } | Fault::Exhausted) => other.error(&params, what),
        };
        for check in &self.form.checks {
            let mut broken = None;
            draw::nested(check, &check.each, &scope, &scope, true, &mut |check, scope, _| {
                if broken.is_none() && scope.value(&check.holds)? == Some(Value::Bool(false)) {
                    broken = Some((check, scope.text(&check.message)?));
                }
                Ok(())
            })
            .map_err(|fault| unset(fault, &check.what.holds, "a check"))?;
            if let Some((check, message)) = broken {
                let params = check.params.iter().map(String::as_str);
                return Err(LabError::contradiction(params, message));
            }
        }
        for (condition, words) in &self.form.notices {
            let said = scope
                .holds(condition)
                .and_then(|holds| if holds { scope.text(words).map(Some) } else { Ok(None) });
            if let Some(words) = said.map_err(|fault| failed(fault, "a notice"))? {
                run.sink.report(Report::Notice(words));
            }
        }
        for name in self.schema.metrics.iter().map(|metric| metric.name.as_str()) {
            let found = self.form.index.get(name);
            let Some(definition) = found.and_then(|&index| self.form.definitions.get(index)) else {
                continue;
            };
            let value = scope.named(name);
            let value = value.map_err(|fault| unset(fault, &definition.formula, name))?;
            if let Some(value) = value {
                run.scalar(name, self.reported(definition, value, &scope)?);
            }
        }
        for (panel, picture) in &self.form.panels {
            if !run.sink.wants_frame(panel, FrameTrigger::Final) {
                continue;
            }
            let frame = draw::frame(picture, &scope).map_err(|fault| failed(fault, panel))?;
            let panel = panel.as_str().into();
            run.sink.report(Report::Frame { panel, step: 0, frame: Box::new(frame) });
        }
        Ok(())
    }
}

impl ClosedForm {
    /// A metric's value in its declared type.
    fn reported(
        &self,
        definition: &Definition,
        value: Value,
        scope: &Scope<'_>,
    ) -> Result<Value, LabError> {
        if !value.is_finite() {
            return Err(LabError::NotFinite {
                metric: definition.name.clone(),
                reason: self.reason(definition, scope),
            });
        }
        Ok(match (definition.metric, value) {
            (Some(Type::Float), Value::Int(x)) => Value::Float(x as f64),
            (Some(Type::Int), Value::Float(x)) if x.fract() == 0.0 => {
                if x.abs() >= 9.2e18 {
                    let needed =
                        evaluate::parameters(&self.form, &definition.formula, Names::Values);
                    let numbers = self.schema.params.iter().filter(|param| {
                        matches!(param.ty, Type::Int | Type::Float)
                            && needed.contains(&param.name.as_str())
                    });
                    let names = numbers.map(|param| param.name.as_str());
                    return Err(too_large(names, &definition.name));
                }
                Value::Int(x as i64)
            }
            (
                Some(Type::Int),
                value @ (Value::Float(_) | Value::Bool(_) | Value::Text(_) | Value::Array(_)),
            )
            | (Some(Type::Float), value @ (Value::Bool(_) | Value::Text(_) | Value::Array(_)))
            | (Some(Type::String), value @ (Value::Bool(_) | Value::Int(_) | Value::Float(_))) => {
                let message = format!("{}: {} is not of its type", definition.name, value);
                return Err(LabError::Data(message));
            }
            (_, value) => value,
        })
    }

    /// Of the parameters that a formula depends on, the first in the schema that is needed and not set.
    fn first_unset(&self, formula: &Formula, params: &Params) -> Option<String> {
        let needed = evaluate::parameters(&self.form, formula, Names::All);
        let unset = self
            .schema
            .params
            .iter()
            .filter(|param| !param.optional && params.get(&param.name).is_none());
        unset.map(|param| param.name.clone()).find(|name| needed.contains(&name.as_str()))
    }

    fn reason(&self, definition: &Definition, scope: &Scope<'_>) -> String {
        let said = definition.reason.as_ref().or(self.form.reason.as_ref());
        let told = said.and_then(|template| scope.text(template).ok());
        told.unwrap_or_else(|| match evaluate::written_out(&definition.formula, scope) {
            Ok((formula, numbers)) if numbers.is_empty() => formula,
            Ok((formula, numbers)) => format!("{formula} = {numbers}"),
            Err(_) => definition.formula.source.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
