//! Settings: raw text from a command line or typed values from a lesson, checked against a schema.

use std::collections::BTreeMap;

use crate::error::{ParamError, Problem};
use crate::nearest::nearest;
use crate::schema::{Entries, Param, Schema, Type};
use crate::tables::Tables;
use crate::value::Value;

/// A value as it was given.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// Text after `=` on a command line: strings and enums stand as typed, other types are TOML values.
    Text(String),
    /// The same, read from a file; complaints about the text then name the file.
    File {
        /// The file as it was named.
        name: String,
        /// What is in it.
        text: String,
    },
    /// A value that already has a type, from a lesson.
    Value(Value),
}

/// A setting without a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' has no value: write NAME=VALUE")]
pub struct NoValue {
    /// The setting as it was given.
    pub text: String,
}

/// Parameters that were set, in the order they were set; later layers win over earlier ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    entries: Vec<(String, Given)>,
}

impl Settings {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads `name=value` texts, as `--set` takes them.
    ///
    /// # Errors
    /// The first text without `=`.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = &'a str>) -> Result<Self, NoValue> {
        let mut settings = Self::new();
        for pair in pairs {
            match pair.split_once('=') {
                Some((name, value)) => settings.push(name.trim(), Given::Text(value.to_owned())),
                None => return Err(NoValue { text: pair.to_owned() }),
            }
        }
        Ok(settings)
    }

    /// Adds one setting; a nested table may be given whole or entry by entry with dotted names.
    pub fn push(&mut self, name: &str, given: Given) {
        self.entries.push((name.to_owned(), given));
    }

    /// These settings with those of a stronger layer over them.
    pub fn overlaid(mut self, over: &Self) -> Self {
        let replaced = |name: &str| over.entries.iter().any(|(other, _)| stem(other) == stem(name));
        self.entries.retain(|(name, _)| !replaced(name));
        self.entries.extend(over.entries.iter().cloned());
        self
    }

    /// These settings with one knob turned: the entry of a table leaves the table's other entries as they are.
    pub fn turned(self, schema: &Schema, name: &str, value: Value) -> Self {
        let table = schema.param(name).filter(|param| param.ty == Type::Table);
        let mut turned = Self::new();
        let (Some(param), Some((stem, entry))) = (table, name.split_once('.')) else {
            turned.push(name, Given::Value(value));
            return self.overlaid(&turned);
        };
        let given = self.entries.iter().filter(|(other, _)| self::stem(other) == stem);
        let mut entries = match &param.default {
            Some(Value::Table(entries)) => entries.clone(),
            Some(_) | None => BTreeMap::new(),
        };
        // Whatever is set of a table replaces its default.
        for (index, (other, given)) in given.enumerate() {
            if index == 0 {
                entries.clear();
            }
            match (other.split_once('.'), check(param, other, given.clone(), Tables::builtin())) {
                (None, Ok(Value::Table(whole))) => entries.extend(whole),
                (Some((_, entry)), Ok(value)) => {
                    entries.insert(entry.to_owned(), value);
                }
                // What cannot be read is told when the settings are resolved; here nothing is lost by leaving it out.
                (None, Ok(_)) | (_, Err(_)) => {}
            }
        }
        entries.insert(entry.to_owned(), value);
        turned.push(stem, Given::Value(Value::Table(entries)));
        self.overlaid(&turned)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Given)> {
        self.entries.iter().map(|(name, given)| (name.as_str(), given))
    }

    /// Parameters read from a file, each with the file's name.
    pub(super) fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        for (name, given) in &self.entries {
            match given {
                Given::File { name: file, .. } => files.insert(name.clone(), file.clone()),
                Given::Text(_) | Given::Value(_) => files.remove(name),
            };
        }
        files
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

fn stem(name: &str) -> &str {
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

/// Types and checks every setting; what cannot be used becomes an error.
pub(super) fn typed(
    schema: &Schema,
    settings: &Settings,
    tables: &Tables,
    errors: &mut Vec<ParamError>,
) -> BTreeMap<String, Value> {
    let mut set: BTreeMap<String, Value> = BTreeMap::new();
    for (name, given) in settings.iter() {
        let fail = |problem| ParamError { param: name.to_owned(), problem };
        let Some(param) = schema.param(name) else {
            errors.push(unknown(schema, name));
            continue;
        };
        match check(param, name, given.clone(), tables) {
            Err(error) => errors.push(error),
            Ok(value) => match name.split_once('.') {
                Some((table, entry)) if param.ty == Type::Table => {
                    let slot = set
                        .entry(table.to_owned())
                        .or_insert_with(|| Value::Table(BTreeMap::new()));
                    let mut flat = BTreeMap::new();
                    if flatten(entry.to_owned(), value, &mut flat).is_err() {
                        continue;
                    }
                    for (entry, value) in flat {
                        if let Value::Table(entries) = slot
                            && entries.insert(entry, value).is_some()
                        {
                            errors.push(fail(Problem::Repeated));
                        }
                    }
                }
                Some(_) | None => {
                    if set.insert(param.name.clone(), value).is_some() {
                        errors.push(fail(Problem::Repeated));
                    }
                }
            },
        }
    }
    set
}

/// Checks one value for one parameter by name.
pub(super) fn check_one(
    schema: &Schema,
    name: &str,
    given: Given,
    tables: &Tables,
) -> Result<Value, ParamError> {
    let param = schema.param(name).ok_or_else(|| unknown(schema, name))?;
    check(param, name, given, tables)
}

fn unknown(schema: &Schema, name: &str) -> ParamError {
    ParamError {
        param: name.to_owned(),
        problem: Problem::Unknown {
            nearest: schema.nearest_param(name).map(str::to_owned),
            known: schema.params.iter().map(|p| p.name.clone()).collect(),
        },
    }
}

fn check(param: &Param, name: &str, given: Given, tables: &Tables) -> Result<Value, ParamError> {
    let fail = |problem| ParamError { param: name.to_owned(), problem };
    let entry_of_table = param.ty == Type::Table && name.contains('.');
    if param.entries == Entries::Texts {
        return texts(name, given).map_err(fail);
    }
    let ty = if entry_of_table { Type::Float } else { param.ty };
    let value = match given {
        Given::Value(value) => value,
        Given::Text(text) | Given::File { text, .. } => {
            read(ty, &text).ok_or_else(|| fail(wrong(ty, quoted(&text))))?
        }
    };
    let value = coerce(ty, value).map_err(fail)?;
    if let Some(x) = value.as_f64() {
        let below = param.min.is_some_and(|min| x < min);
        let above = param.max.is_some_and(|max| x > max);
        if !x.is_finite() || below || above {
            return Err(fail(Problem::OutOfRange { value, min: param.min, max: param.max }));
        }
    }
    if let (Type::Enum, Value::Text(text)) = (ty, &value) {
        let known = allowed(param, tables);
        if !known.contains(text) {
            return Err(fail(Problem::NotOneOf {
                value: text.clone(),
                nearest: nearest(text, known.iter().map(String::as_str)).map(str::to_owned),
                known,
            }));
        }
    }
    Ok(value)
}

fn wrong(expected: Type, found: String) -> Problem {
    Problem::WrongType { expected, found }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.escape_debug())
}

/// A table of numbers and texts, or one entry of it.
fn texts(name: &str, given: Given) -> Result<Value, Problem> {
    let is_entry = name.contains('.');
    let value = match given {
        Given::Value(value) => value,
        Given::Text(text) | Given::File { text, .. } => match read(Type::Float, &text) {
            Some(value) => value,
            None if is_entry => Value::Text(text),
            None => return Err(wrong(Type::Table, quoted(&text))),
        },
    };
    match (&value, is_entry) {
        (Value::Table(_), _) => {
            let mut flat = BTreeMap::new();
            flatten(String::new(), value, &mut flat)?;
            Ok(Value::Table(flat))
        }
        (Value::Int(_) | Value::Float(_) | Value::Text(_), true) => Ok(value),
        _ => Err(wrong(Type::Table, value.type_name().to_owned())),
    }
}

/// Entries of tables inside a table, by dotted names.
fn flatten(name: String, value: Value, into: &mut BTreeMap<String, Value>) -> Result<(), Problem> {
    match value {
        Value::Table(entries) => entries.into_iter().try_for_each(|(entry, value)| {
            let dot = if name.is_empty() { "" } else { "." };
            flatten(format!("{name}{dot}{entry}"), value, into)
        }),
        Value::Int(_) | Value::Float(_) | Value::Text(_) => {
            into.insert(name, value);
            Ok(())
        }
        Value::Bool(_) | Value::Array(_) => {
            Err(wrong(Type::Table, format!("{} as its entry '{name}'", value.type_name())))
        }
    }
}

/// The names an enum parameter takes.
pub fn allowed(param: &Param, tables: &Tables) -> Vec<String> {
    match &param.values_from {
        Some(table) => tables.names(table).into_iter().map(str::to_owned).collect(),
        None => param.values.clone(),
    }
}

/// Reads command-line text as a value of a type: TOML, but strings and enums stand as typed unless quoted.
fn read(ty: Type, text: &str) -> Option<Value> {
    let toml = |text: &str| -> Option<Value> {
        let mut table: BTreeMap<String, Value> = toml::from_str(&format!("v = {text}")).ok()?;
        (table.len() == 1).then(|| table.remove("v"))?
    };
    match ty {
        Type::String | Type::Enum => {
            let quoted = text.len() > 1 && text.starts_with('"') && text.ends_with('"');
            if quoted { toml(text) } else { Some(Value::Text(text.to_owned())) }
        }
        Type::Int | Type::Float | Type::Bool | Type::Array | Type::Table => toml(text),
    }
}

/// Fits a value to a type: an int takes a float with a whole value, a float takes an int.
fn coerce(ty: Type, value: Value) -> Result<Value, Problem> {
    // Beyond 2^63 an integral float is no longer a count that can be held exactly.
    const WHOLE: f64 = 9.2e18;
    match (ty, value) {
        (Type::Int, Value::Float(x)) if x.fract() == 0.0 && x.abs() < WHOLE => {
            Ok(Value::Int(x as i64))
        }
        (Type::Float, Value::Int(i)) => Ok(Value::Float(i as f64)),
        (Type::Table, Value::Table(entries)) => {
            let number = |(name, entry): (String, Value)| match entry.as_f64() {
                Some(x) => Ok((name, Value::Float(x))),
                None => Err(wrong(ty, format!("{} as its entry '{name}'", described(&entry)))),
            };
            entries.into_iter().map(number).collect::<Result<_, _>>().map(Value::Table)
        }
        (Type::Int, value @ Value::Int(_))
        | (Type::Float, value @ Value::Float(_))
        | (Type::Bool, value @ Value::Bool(_))
        | (Type::String | Type::Enum, value @ Value::Text(_))
        | (Type::Array, value @ Value::Array(_)) => Ok(value),
        (_, other) => Err(wrong(ty, described(&other))),
    }
}

/// A value for a message that it is none of the type.
fn described(value: &Value) -> String {
    match value {
        Value::Float(x) => format!("the number {}", crate::value::number(*x)),
        Value::Text(text) => format!("the text {}", quoted(text)),
        Value::Bool(_) | Value::Int(_) => format!("{} ({value})", value.type_name()),
        Value::Array(_) | Value::Table(_) => value.type_name().to_owned(),
    }
}
