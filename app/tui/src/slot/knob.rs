//! The knobs of a lab and how they are turned, typed and put back.

use mlsys_lab::Schema;
use mlsys_lab::params::{Given, Params};
use mlsys_lab::schema::{Param, Type};
use mlsys_lab::value::Value;

use super::Slot;
use super::notch::{even_notch, notch, whole_notch};
use crate::history::{History, Turned};

/// A parameter the learner may turn.
pub struct Knob {
    /// Its name: the parameter's, or `inputs.x` for one entry of a table.
    pub name: String,
    /// The parameter.
    pub param: &'static Param,
    /// Its value now; absent if it is unset.
    pub value: Option<Value>,
    /// Its value in the lesson.
    pub initial: Option<Value>,
    /// The values it steps through, if they are a list.
    pub values: Vec<Value>,
    /// Smallest and largest value here.
    pub range: (Option<f64>, Option<f64>),
}

impl Knob {
    /// What it turns: an entry of a table is a number.
    pub fn ty(&self) -> Type {
        if self.name == self.param.name { self.param.ty } else { Type::Float }
    }

    /// The value so many notches further, kept inside the range.
    ///
    /// Rates and widths are felt as ratios, so numbers that span decades go in steps of 1, 2, 5, 10.
    fn after(&self, notches: i32) -> Option<Value> {
        if !self.values.is_empty() {
            let at = self.values.iter().position(|v| Some(v) == self.value.as_ref());
            let at = at.map_or(0, |at| at as i64 + i64::from(notches));
            let at = at.clamp(0, self.values.len() as i64 - 1);
            return self.values.get(at as usize).cloned();
        }
        let current = self.value.as_ref().and_then(Value::as_f64);
        match self.ty() {
            Type::Bool => Some(Value::Bool(notches > 0)),
            Type::Int => {
                let next = whole_notch(current.unwrap_or(0.0) as i64, notches);
                Some(Value::Int(self.clamp(next as f64) as i64))
            }
            Type::Float if self.param.ty == Type::Table => {
                let next = even_notch(current.unwrap_or(0.0), notches);
                Some(Value::Float(self.clamp(next)))
            }
            Type::Float => Some(Value::Float(self.clamp(notch(current.unwrap_or(0.0), notches)))),
            Type::String | Type::Enum | Type::Array | Type::Table => None,
        }
    }

    fn clamp(&self, x: f64) -> f64 {
        let x = self.range.0.map_or(x, |low| x.max(low));
        self.range.1.map_or(x, |high| x.min(high))
    }

    /// Checks a value against the lab and against the lesson.
    fn accepts(&self, schema: &Schema, given: Given) -> Result<Value, String> {
        let value = Params::check(schema, &self.name, given).map_err(|error| error.to_string())?;
        if let Some(x) = value.as_f64()
            && (self.range.0.is_some_and(|low| x < low)
                || self.range.1.is_some_and(|high| x > high))
        {
            return Err(format!("this lesson keeps {} within {}", self.name, self.range_text()));
        }
        if !self.values.is_empty() && !self.values.contains(&value) {
            let values: Vec<_> = self.values.iter().map(ToString::to_string).collect();
            return Err(format!("in this lesson {} is one of: {}", self.name, values.join(", ")));
        }
        Ok(value)
    }

    /// The range in words.
    pub fn range_text(&self) -> String {
        use mlsys_lab::value::number;
        match self.range {
            (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
            (Some(low), None) => format!("{} and above", number(low)),
            (None, Some(high)) => format!("{} and below", number(high)),
            (None, None) => "any value".to_owned(),
        }
    }
}

impl Slot {
    /// Gives a knob a value; a table and the knobs of its entries stay one.
    pub fn give(&mut self, place: usize, value: Option<Value>) {
        let Some(knob) = self.knobs.get_mut(place) else {
            return;
        };
        knob.value = value.clone();
        let given = knob.name.clone();
        for other in &mut self.knobs {
            match (&value, other.name.strip_prefix(&given), &mut other.value) {
                // The entry `.x` of the table that was given.
                (Some(Value::Table(entries)), Some(entry), held) if entry.starts_with('.') => {
                    *held = entries.get(&entry[1..]).cloned();
                }
                // The table that the entry belongs to.
                (Some(value), _, Some(Value::Table(entries))) => {
                    let entry = given.strip_prefix(&other.name);
                    if let Some(entry) = entry.and_then(|entry| entry.strip_prefix('.')) {
                        entries.insert(entry.to_owned(), value.clone());
                    }
                }
                (Some(_) | None, _, _) => {}
            }
        }
    }

    /// Turns the marked knob by so many notches and returns its name and new value, if it moved.
    pub fn turn(&mut self, notches: i32) -> Option<(String, Value)> {
        let index = self.knob;
        let knob = self.knobs.get(index)?;
        let next = knob.after(notches)?;
        if knob.value.as_ref() == Some(&next) {
            return None;
        }
        let (name, from) = (knob.name.clone(), knob.value.clone());
        self.give(index, Some(next.clone()));
        self.history.record(Turned { knob: index, from, to: Some(next.clone()) });
        Some((name, next))
    }

    /// Gives the marked knob a typed value.
    pub fn type_value(&mut self, text: &str) -> Result<(String, Value), String> {
        let index = self.knob;
        let Some(knob) = self.knobs.get(index) else {
            return Err("this lab has no knobs".to_owned());
        };
        let value = knob.accepts(self.schema, Given::Text(text.trim().to_owned()))?;
        let (name, from) = (knob.name.clone(), knob.value.clone());
        self.give(index, Some(value.clone()));
        if from.as_ref() != Some(&value) {
            self.history.record(Turned { knob: index, from, to: Some(value.clone()) });
        }
        Ok((name, value))
    }

    /// Checks a value for the knob at a place.
    pub fn accepts(&self, place: usize, value: Value) -> Result<Value, String> {
        let knob = self.knobs.get(place).ok_or("there is no such knob")?;
        knob.accepts(self.schema, Given::Value(value))
    }

    /// Puts every knob back to the lesson's value.
    pub fn reset_knobs(&mut self) {
        for knob in &mut self.knobs {
            knob.value = knob.initial.clone();
        }
        self.history = History::default();
    }
}
