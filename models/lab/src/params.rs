//! Parameters: from what somebody typed to typed, checked values.

mod error;
mod read;
mod settings;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::artifact::Artifact;
use crate::lab::LabError;
use crate::schema::{Param, Schema, Type};
use crate::tables::Tables;
use crate::value::Value;

pub use error::{ParamError, Problem};
pub use settings::{Given, Settings, allowed};

/// Where a parameter's value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Somebody set it.
    Set,
    /// A table entry supplied it: the path, such as `gpu.v100-sxm2-16gb.sms`.
    Table(String),
    /// The schema's default.
    Default,
    /// The seed of the run.
    Seed,
}

/// The resolved parameters of one run: every value typed and inside its range.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    values: BTreeMap<String, (Value, Origin)>,
    missing_entries: BTreeMap<String, String>,
    files: BTreeMap<String, String>,
    artifacts: BTreeMap<String, Arc<Artifact>>,
}

impl Params {
    /// Resolves what was set against a schema; all errors at once.
    ///
    /// Order, per parameter: what was set; the field of the table entry that `from` names; the default; unset. An
    /// entry that lacks the field leaves the parameter unset, so that numbers of two machines are never mixed.
    /// A parameter `seed` that nobody set takes the run's seed.
    pub fn resolve(
        schema: &Schema,
        settings: &Settings,
        tables: &Tables,
        seed: Option<u64>,
    ) -> Result<Self, Vec<ParamError>> {
        let mut errors = Vec::new();
        let mut set = settings::typed(schema, settings, tables, &mut errors);
        let mut resolved = Self {
            values: BTreeMap::new(),
            missing_entries: BTreeMap::new(),
            files: settings.files(),
            artifacts: BTreeMap::new(),
        };
        for param in &schema.params {
            let found = if let Some(value) = set.remove(&param.name) {
                Some((value, Origin::Set))
            } else {
                resolved.supplied(schema, param, tables, seed)
            };
            if let Some(found) = found {
                resolved.values.insert(param.name.clone(), found);
            }
        }
        if errors.is_empty() { Ok(resolved) } else { Err(errors) }
    }

    fn supplied(
        &mut self,
        schema: &Schema,
        param: &Param,
        tables: &Tables,
        seed: Option<u64>,
    ) -> Option<(Value, Origin)> {
        if let (Some(seed), "seed") = (seed, param.name.as_str()) {
            return Some((Value::Int(seed as i64), Origin::Seed));
        }
        if let Some((selector, path)) = param.from.as_deref().and_then(|from| from.split_once('.'))
            && let Some(Value::Text(entry)) = self.get(selector).cloned()
        {
            let table =
                schema.param(selector).and_then(|p| p.values_from.as_deref()).unwrap_or(selector);
            let path = self.fill(path);
            return match tables.field(table, &entry, &path) {
                Some(value) => Some((value, Origin::Table(format!("{table}.{entry}.{path}")))),
                None => {
                    let entry = format!("{table}.{entry}.{path}");
                    self.missing_entries.insert(param.name.clone(), entry);
                    None
                }
            };
        }
        param.default.clone().map(|value| (value, Origin::Default))
    }

    /// Puts parameter values into a path such as `path.{precision}.clock_hertz`.
    fn fill(&self, path: &str) -> String {
        let mut filled = path.to_owned();
        for (name, (value, _)) in &self.values {
            if let Value::Text(text) = value {
                filled = filled.replace(&format!("{{{name}}}"), text);
            }
        }
        filled
    }

    /// A value by name, if it is set.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name).map(|(value, _)| value)
    }

    /// Gives a parameter what the run that it names has left.
    pub fn give(&mut self, name: &str, artifact: Arc<Artifact>) {
        self.artifacts.insert(name.to_owned(), artifact);
    }

    /// What the run that a parameter names has left, if it names one.
    pub fn artifact(&self, name: &str) -> Option<&Arc<Artifact>> {
        self.artifacts.get(name)
    }

    /// Where a value came from, if it is set.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.values.get(name).map(|(_, origin)| origin)
    }

    /// The name of the file that a value was read from, for complaints about it.
    pub fn file(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    /// All set values by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(name, (value, _))| (name.as_str(), value))
    }

    /// Replaces a live parameter's value, which [`Params::check_live`] has passed.
    pub fn change(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), (value, Origin::Set));
    }

    /// The same, and what a table's entry supplies follows the entry: with another `link` comes its bandwidth, unless
    /// somebody has set that.
    pub fn turn(&mut self, schema: &Schema, tables: &Tables, name: &str, value: Value) {
        self.change(name, value);
        for param in &schema.params {
            let from = param.from.as_deref().and_then(|from| from.split_once('.'));
            let follows = from.is_some_and(|(selector, _)| selector == name)
                && !matches!(self.origin(&param.name), Some(Origin::Set | Origin::Seed));
            if follows {
                match self.supplied(schema, param, tables, None) {
                    Some(found) => {
                        self.values.insert(param.name.clone(), found);
                    }
                    None => {
                        self.values.remove(&param.name);
                    }
                }
            }
        }
    }

    /// Checks one value against a schema, as typed, for a knob that is turned.
    pub fn check(schema: &Schema, name: &str, given: Given) -> Result<Value, ParamError> {
        settings::check_one(schema, name, given, Tables::builtin())
    }

    /// An integer, or the error that it is unset.
    pub fn int(&self, name: &str) -> Result<i64, LabError> {
        match self.need(name)? {
            Value::Int(i) => Ok(*i),
            // Resolution has made sure that a float here is integral.
            Value::Float(x) => Ok(*x as i64),
            other @ (Value::Bool(_) | Value::Text(_) | Value::Array(_) | Value::Table(_)) => {
                Err(wrong(name, Type::Int, other))
            }
        }
    }

    /// A non-negative integer as a size, or the error that it is unset.
    pub fn size(&self, name: &str) -> Result<usize, LabError> {
        let value = self.int(name)?;
        usize::try_from(value).map_err(|_| {
            LabError::contradiction(
                [name],
                format!("{name} is {value}, and a size is not negative"),
            )
        })
    }

    /// A number, or the error that it is unset.
    pub fn float(&self, name: &str) -> Result<f64, LabError> {
        let value = self.need(name)?;
        value.as_f64().ok_or_else(|| wrong(name, Type::Float, value))
    }

    /// A boolean, or the error that it is unset.
    pub fn bool(&self, name: &str) -> Result<bool, LabError> {
        match self.need(name)? {
            Value::Bool(b) => Ok(*b),
            other @ (Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Array(_)
            | Value::Table(_)) => Err(wrong(name, Type::Bool, other)),
        }
    }

    /// A text or the name of an enum's case, or the error that it is unset.
    pub fn text(&self, name: &str) -> Result<&str, LabError> {
        let value = self.need(name)?;
        value.as_str().ok_or_else(|| wrong(name, Type::String, value))
    }

    /// A number, if it is set.
    pub fn optional_float(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(Value::as_f64)
    }

    /// An integer, if it is set.
    pub fn optional_int(&self, name: &str) -> Option<i64> {
        self.get(name).map(|_| self.int(name))?.ok()
    }

    fn need(&self, name: &str) -> Result<&Value, LabError> {
        self.get(name).ok_or_else(|| self.unset(name))
    }

    /// The error that a parameter is unset, with the table entry that was to supply it.
    fn unset(&self, name: &str) -> LabError {
        LabError::Param(ParamError {
            param: name.to_owned(),
            problem: Problem::Unset { entry: self.missing_entries.get(name).cloned() },
        })
    }
}

fn wrong(name: &str, ty: Type, value: &Value) -> LabError {
    LabError::Param(ParamError {
        param: name.to_owned(),
        problem: Problem::WrongType { expected: ty, found: value.type_name().to_owned() },
    })
}

#[cfg(test)]
mod tests;
