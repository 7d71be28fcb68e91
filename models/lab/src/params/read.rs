//! Parameters read into structs: the field `width` of a lab's struct is its parameter `width`.
//!
//! A lab derives `serde::Deserialize` and calls [`Params::read`]:
//!
//! - an `Option` is a parameter that may be unset; any other field that is unset is an error that names it;
//! - an enum is read by its serde names (`rename_all = "kebab-case"`, or `rename` for one name); the same derive of
//!   `Serialize` writes them: `impl Display` is `self.serialize(f)`;
//! - a value of the lab's own type is read by `#[serde(try_from = "i64")]` and the like; the message of its error becomes
//!   a [`LabError::Contradiction`] of that parameter;
//! - a field that is a struct is read from the same parameters, unless there is a table of its name;
//! - `#[serde(default)]` is not used: defaults are the schema's.
//!
//! [`Schema::fits`] compares a struct with the schema when the lab is made, so that no option of the schema can be
//! missing from the enum that reads it, and no test compares lists of names.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::{Params, Settings};
use crate::error::{LabError, ParamError, Problem};
use crate::nearest::nearest;
use crate::schema::{Param, Schema, SchemaError, Type};
use crate::tables::Tables;
use crate::value::Value;

impl Params {
    /// Reads parameters into a struct, each field from the parameter of its name.
    ///
    /// # Errors
    /// If a parameter is unset, or its value is none of the field's type; the error names the parameter.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, LabError> {
        T::deserialize(Fields { params: self, schema: None }).map_err(|error| {
            // Only a type that is no struct, or `#[serde(flatten)]`, has an error without a name.
            let param = error.param.unwrap_or_else(|| "parameters".to_owned());
            match error.cause {
                Cause::Message(message) => LabError::Contradiction { params: vec![param], message },
                Cause::Problem(Problem::Unset { .. }) => self.unset(&param),
                Cause::Problem(problem) => LabError::Param(ParamError { param, problem }),
            }
        })
    }
}

impl Schema {
    /// This schema, if a struct can be read from it: each field is a parameter, takes its type and its default, and
    /// each option of an enum parameter is a variant.
    ///
    /// # Errors
    /// If a field does not fit; the message names it.
    pub fn fits<T: DeserializeOwned>(self) -> Result<Self, SchemaError> {
        let defaults = Params::resolve(&self, &Settings::new(), Tables::builtin(), None)
            .map_err(|errors| self.error(errors.iter().map(ToString::to_string).collect()))?;
        match T::deserialize(Fields { params: &defaults, schema: Some(&self) }) {
            Ok(_) => Ok(self),
            Err(wrong) => Err(self.error(wrong.to_string())),
        }
    }
}

/// Why a struct cannot be read.
#[derive(Debug)]
struct ReadError {
    param: Option<String>,
    cause: Cause,
}

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("{0}")]
    Problem(Problem),
    /// What serde, or the conversion into a type of the lab's own, says.
    #[error("{0}")]
    Message(String),
}

impl ReadError {
    fn problem(param: &str, problem: Problem) -> Self {
        Self { param: Some(param.to_owned()), cause: Cause::Problem(problem) }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(param) = &self.param {
            write!(f, "parameter '{param}': ")?;
        }
        write!(f, "{}", self.cause)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { param: None, cause: Cause::Message(message.to_string()) }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::problem(field, Problem::Unset { entry: None })
    }
}

/// Where fields come from: the parameters, and with a schema what it says of them, so that every field is visited.
#[derive(Clone, Copy)]
struct Fields<'a> {
    params: &'a Params,
    schema: Option<&'a Schema>,
}

impl<'a> Fields<'a> {
    fn field(self, name: &'static str) -> Field<'a> {
        let param = self.schema.and_then(|schema| schema.param(name));
        let value = self.params.get(name).map(Cow::Borrowed);
        let value = value.or_else(|| param.map(|param| Cow::Owned(sample(param))));
        Field { name, value, param, fields: Some(self) }
    }
}

/// A value that a parameter without a default takes, to read a field with it.
fn sample(param: &Param) -> Value {
    let least = param.min.unwrap_or(0.0);
    match param.ty {
        Type::Int => Value::Int(least as i64),
        Type::Float => Value::Float(least),
        Type::Bool => Value::Bool(false),
        Type::String => Value::from(""),
        Type::Enum => Value::from(param.values.first().map_or("", String::as_str)),
        Type::Array => Value::Array(Vec::new()),
        Type::Table => Value::Table(BTreeMap::new()),
    }
}

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ReadError> {
        Err(de::Error::custom("they are read into a struct, without #[serde(flatten)]"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_map(FieldAccess { fields: self, names: fields.iter(), next: None })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Hands out the fields of a struct one by one.
struct FieldAccess<'a> {
    fields: Fields<'a>,
    names: std::slice::Iter<'static, &'static str>,
    next: Option<&'static str>,
}

impl<'de> de::MapAccess<'de> for FieldAccess<'_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        self.next = self.names.next().copied();
        let key = self.next.map(|name| seed.deserialize(StrDeserializer::new(name)));
        key.transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let name = self.next.ok_or_else(|| de::Error::custom("a value before its name"))?;
        let named = |error: ReadError| ReadError {
            param: error.param.or_else(|| Some(name.to_owned())),
            ..error
        };
        seed.deserialize(self.fields.field(name)).map_err(named)
    }
}

/// A field of a struct, or a value inside one.
struct Field<'a> {
    /// The parameter that it is, or is inside of.
    name: &'a str,
    value: Option<Cow<'a, Value>>,
    /// What the schema says of it.
    param: Option<&'a Param>,
    /// All parameters; absent inside a value.
    fields: Option<Fields<'a>>,
}

impl<'a> Field<'a> {
    fn inside(name: &'a str, value: &'a Value) -> Self {
        Self { name, value: Some(Cow::Borrowed(value)), param: None, fields: None }
    }

    fn schema(&self) -> Option<&'a Schema> {
        self.fields.and_then(|fields| fields.schema)
    }

    fn problem(&self, problem: Problem) -> ReadError {
        ReadError::problem(self.name, problem)
    }

    fn value(&self) -> Result<&Value, ReadError> {
        self.value.as_deref().ok_or_else(|| {
            self.problem(match self.schema() {
                Some(schema) => Problem::Unknown {
                    nearest: schema.nearest_param(self.name).map(str::to_owned),
                    known: Vec::new(),
                },
                None => Problem::Unset { entry: None },
            })
        })
    }

    /// A whole number.
    fn whole(&self) -> Result<i64, ReadError> {
        let value = self.value()?;
        if let Value::Int(i) = value {
            return Ok(*i);
        }
        // Sizes in an array are taken as typed, and 1e3 is one.
        let whole = value.as_f64().filter(|x| x.fract() == 0.0 && x.abs() < 9.2e18);
        whole.map(|x| x as i64).ok_or_else(|| {
            let found = value.type_name().to_owned();
            self.problem(Problem::WrongType { expected: Type::Int, found })
        })
    }

    fn unsigned(&self) -> Result<u64, ReadError> {
        let whole = self.whole()?;
        u64::try_from(whole).map_err(|_| {
            let value = Value::Int(whole);
            self.problem(Problem::OutOfRange { value, min: Some(0.0), max: None })
        })
    }

    /// One of these names.
    fn one_of<'v>(&self, value: &'v str, names: &[&'static str]) -> Result<&'v str, ReadError> {
        if names.contains(&value) {
            return Ok(value);
        }
        Err(self.problem(Problem::NotOneOf {
            value: value.to_owned(),
            nearest: nearest(value, names.iter().copied()).map(str::to_owned),
            known: names.iter().map(|&name| name.to_owned()).collect(),
        }))
    }
}

impl<'de> IntoDeserializer<'de, ReadError> for Field<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! whole_numbers {
    ($($signed:ident)*; $($unsigned:ident)*) => {
        $(fn $signed<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            visitor.visit_i64(self.whole()?)
        })*
        $(fn $unsigned<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            visitor.visit_u64(self.unsigned()?)
        })*
    };
}

impl<'de> Deserializer<'de> for Field<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value()? {
            Value::Bool(b) => visitor.visit_bool(*b),
            Value::Int(i) => visitor.visit_i64(*i),
            Value::Float(x) => visitor.visit_f64(*x),
            Value::Text(text) => visitor.visit_str(text),
            Value::Array(items) => {
                let items = items.iter().map(|value| Field::inside(self.name, value));
                visitor.visit_seq(SeqDeserializer::new(items))
            }
            Value::Table(entries) => {
                let entries = entries.iter();
                visitor.visit_map(MapDeserializer::new(
                    entries.map(|(name, value)| (name.clone(), Field::inside(self.name, value))),
                ))
            }
        }
    }

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64;
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match (&self.value, self.schema()) {
            (None, None) => visitor.visit_none(),
            (Some(_), _) | (None, Some(_)) => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        for option in self.param.iter().flat_map(|param| &param.values) {
            self.one_of(option, variants)?;
        }
        let value = self.value()?;
        let text = value.as_str().ok_or_else(|| {
            let found = value.type_name().to_owned();
            self.problem(Problem::WrongType { expected: Type::Enum, found })
        })?;
        visitor.visit_enum(StrDeserializer::new(self.one_of(text, variants)?))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match (&self.value, self.fields) {
            (None, Some(all)) => all.deserialize_struct(name, fields, visitor),
            (Some(_), _) | (None, None) => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        identifier ignored_any
    }
}
