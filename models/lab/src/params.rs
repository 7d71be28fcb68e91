//! Parameters: from raw settings to typed, checked values.

mod read;
mod settings;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::LabError;
pub use crate::error::{ParamError, Problem};
use crate::report::Artifact;
use crate::schema::{Param, Schema, Type};
use crate::tables::Tables;
use crate::value::Value;

pub use settings::{Given, NoValue, Settings, allowed};

/// Where a parameter's value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was set.
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
    /// A parameter `seed` that is not set takes the run's seed.
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

    /// The same without defaults that have no effect, because another parameter's value decides.
    pub fn in_effect(&self, schema: &Schema) -> impl Iterator<Item = (&str, &Value)> {
        let deciding = schema.params.iter().filter(|param| self.get(&param.name).is_some());
        let decided: Vec<&String> = deciding.flat_map(|param| &param.decides).collect();
        self.iter().filter(move |(name, _)| {
            self.origin(name) != Some(&Origin::Default)
                || !decided.iter().any(|decided| decided.as_str() == *name)
        })
    }

    /// Replaces a live parameter's value, which [`Params::check_live`] has passed.
    pub fn change(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), (value, Origin::Set));
    }

    /// The same; values from a table's entry follow it: another `link` brings its bandwidth, unless that is set.
    pub fn turn(&mut self, schema: &Schema, tables: &Tables, name: &str, value: Value) {
        self.change(name, value);
        for param in &schema.params {
            let from = param.from.as_deref().and_then(|from| from.split_once('.'));
            let follows = from.is_some_and(|(selector, _)| selector == name)
                && !matches!(self.origin(&param.name), Some(Origin::Set | Origin::Seed));
            if follows {
                match self.supplied(schema, param, tables, None) {
                    Some(found) => self.values.insert(param.name.clone(), found),
                    None => self.values.remove(&param.name),
                };
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
        let negative = || format!("{name} is {value}, and a size is not negative");
        usize::try_from(value).map_err(|_| LabError::contradiction([name], negative()))
    }

    /// A number, or the error that it is unset.
    pub fn float(&self, name: &str) -> Result<f64, LabError> {
        let value = self.need(name)?;
        value.as_f64().ok_or_else(|| wrong(name, Type::Float, value))
    }

    /// A boolean, or the error that it is unset.
    pub fn bool(&self, name: &str) -> Result<bool, LabError> {
        let value = self.need(name)?;
        if let Value::Bool(b) = value { Ok(*b) } else { Err(wrong(name, Type::Bool, value)) }
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
mod tests {
    use super::*;

    const SCHEMA: &str = include_str!("params/tests/sample.toml");

    fn resolve(pairs: &[&str]) -> Result<Params, Vec<ParamError>> {
        let schema = Schema::parse(SCHEMA).unwrap();
        let settings = Settings::from_pairs(pairs.iter().copied()).unwrap();
        Params::resolve(&schema, &settings, Tables::builtin(), None)
    }

    #[test]
    fn settings_override_tables_override_defaults() {
        let plain = resolve(&[]).unwrap();
        assert_eq!(plain.int("sms").unwrap(), 80);
        assert_eq!(plain.origin("sms"), Some(&Origin::Default));
        let chip = resolve(&["gpu=a100-sxm4-40gb"]).unwrap();
        assert_eq!(chip.int("sms").unwrap(), 108);
        let set = resolve(&["gpu=a100-sxm4-40gb", "sms=1e2"]).unwrap();
        assert_eq!(set.int("sms").unwrap(), 100);
    }

    #[test]
    fn setting_one_entry_replaces_the_whole_default_table() {
        let params = resolve(&["inputs.z=7"]).unwrap();
        let entries = BTreeMap::from([("z".to_owned(), Value::Float(7.0))]);
        assert_eq!(params.get("inputs"), Some(&Value::Table(entries)));
    }

    #[test]
    fn the_seed_of_the_run_fills_an_unset_seed_only() {
        let schema = Schema::parse(SCHEMA).unwrap();
        let seeded = |pairs: &[&str]| {
            let settings = Settings::from_pairs(pairs.iter().copied()).unwrap();
            let params = Params::resolve(&schema, &settings, Tables::builtin(), Some(9)).unwrap();
            params.int("seed").unwrap()
        };
        assert_eq!(seeded(&[]), 9);
        assert_eq!(seeded(&["seed=3"]), 3);
    }

    #[test]
    fn all_errors_are_reported_with_suggestions() {
        let errors =
            resolve(&["sns=1", "rate=2", "mode=fats", "sms=1.5", "inputs.x=a"]).unwrap_err();
        assert_eq!(
            errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "parameter 'sns': no such parameter; did you mean 'sms'?",
                "parameter 'rate': 2 is outside 0 to 1",
                "parameter 'mode': 'fats' is not one of its values; did you mean 'fast'?",
                "parameter 'sms': expected int, found the number 1.5",
                "parameter 'inputs.x': expected float, found 'a'",
            ]
        );
    }

    #[test]
    fn odd_texts_are_errors_and_never_panics() {
        for text in ["", "nan", "inf", "1 # c", "1\nw = 2", "[", "\"", "true", "1e400"] {
            let pair = format!("rate={text}");
            let result = resolve(&[pair.as_str()]);
            let is_number = matches!(text, "1 # c");
            assert_eq!(result.is_ok(), is_number, "{text:?}: {result:?}");
        }
    }

    #[test]
    fn a_knob_changes_one_table_entry() {
        let schema = Schema::parse(SCHEMA).unwrap();
        for (set, expected) in [
            (vec![], "{ x = 7, y = 3 }"),
            (vec!["inputs={ a = 1, x = 0 }"], "{ a = 1, x = 7 }"),
            (vec!["inputs.y=4", "inputs.z=5"], "{ x = 7, y = 4, z = 5 }"),
        ] {
            let settings = Settings::from_pairs(set.iter().copied()).unwrap();
            let turned = settings.turned(&schema, "inputs.x", Value::Float(7.0));
            let params = Params::resolve(&schema, &turned, Tables::builtin(), None).unwrap();
            assert_eq!(params.get("inputs").unwrap().to_string(), expected);
        }
        let settings = Settings::from_pairs(["rate=0.1"]).unwrap();
        let turned = settings.turned(&schema, "rate", Value::Float(0.9));
        let params = Params::resolve(&schema, &turned, Tables::builtin(), None).unwrap();
        assert_eq!(params.float("rate").unwrap(), 0.9);
    }

    #[test]
    fn table_values_follow_the_entry_unless_set() {
        let schema = Schema::parse(SCHEMA).unwrap();
        let settings = Settings::from_pairs(["latency=0.5"]).unwrap();
        let mut params = Params::resolve(&schema, &settings, Tables::builtin(), None).unwrap();
        assert_eq!(params.float("bandwidth").unwrap(), 1.5e11);
        let other = Value::Text("nvlink4".to_owned());
        params.turn(&schema, Tables::builtin(), "link", other);
        assert_eq!(params.float("bandwidth").unwrap(), 4.5e11);
        assert_eq!(params.float("latency").unwrap(), 0.5);
    }
}
