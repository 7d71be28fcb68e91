//! Knobs: a parameter that can be turned, within its own range, from a value that it can have.

use mlsys_lab::schema::{Param, Schema, Type};
use mlsys_lab::value::{Value, number};

use crate::diagnostic::Code;
use crate::model::{Knob, LabDirective};
use crate::validate::Validation;

impl Validation<'_> {
    pub(super) fn knob(&mut self, schema: &Schema, lab: &LabDirective, knob: &Knob) {
        let places = (knob.place, knob.place);
        let Some(param) = schema.param(&knob.param) else {
            // Any value of an unknown parameter gives the error that names it.
            self.value(schema, &knob.param, &Value::Bool(true), places, Code::BadKnob);
            return;
        };
        match param.ty {
            Type::Int | Type::Float | Type::Bool | Type::Enum | Type::String
                if !param.command_line_only => {}
            Type::Table if knob.param == param.name => {}
            Type::Table => {
                if !self.entry(param, lab, knob) {
                    return;
                }
            }
            Type::Int | Type::Float | Type::Bool | Type::Enum | Type::String | Type::Array => {
                let message = format!("`{}` cannot be a knob", knob.param);
                let help = "knobs turn numbers, enums, booleans, texts and tables; set it with `set` instead";
                self.error(Code::BadKnob, knob.place, message, help);
                return;
            }
        }
        self.range(param, knob);
        let values: Option<Vec<Value>> = knob.values.as_ref().map(|values| {
            let checked = values
                .iter()
                .filter_map(|value| self.value(schema, &knob.param, value, places, Code::BadKnob));
            checked.collect()
        });
        if knob.values.as_ref().is_some_and(Vec::is_empty) {
            let message = format!("the knob `{}` has no values", knob.param);
            let help = "name one at least, or leave `values` out";
            self.error(Code::BadKnob, knob.place, message, help);
            return;
        }
        if values.as_ref().map(Vec::len) != knob.values.as_ref().map(Vec::len) {
            return;
        }
        let Some((start, origin)) = start(param, lab, knob) else { return };
        let Some(start) = self.value(schema, &knob.param, &start, places, Code::BadKnob) else {
            return;
        };
        let outside = start.as_f64().is_some_and(|x| {
            knob.min.is_some_and(|min| x < min) || knob.max.is_some_and(|max| x > max)
        });
        if outside || values.is_some_and(|values| !values.contains(&start)) {
            let message = format!("the knob `{}` cannot stand at {start}, {origin}", knob.param);
            let help = "include it, or give the knob a `default` that it can stand at";
            self.error(Code::BadKnob, knob.place, message, help);
        }
    }

    /// Whether a knob for one entry of a table has an entry to turn.
    fn entry(&mut self, param: &Param, lab: &LabDirective, knob: &Knob) -> bool {
        let (message, help) = if knob.default.is_some() {
            (
                format!("the knob `{}` stands where the table says", knob.param),
                format!("give the entry its value in `set`, with all others of {}", param.name),
            )
        } else if start(param, lab, knob).is_none() {
            (
                format!("the table {} has no entry for the knob `{}`", param.name, knob.param),
                format!("add it to {} in `set`", param.name),
            )
        } else {
            return true;
        };
        self.error(Code::BadKnob, knob.place, message, help);
        false
    }

    /// A knob's range narrows its parameter's.
    fn range(&mut self, param: &Param, knob: &Knob) {
        let wider_below = matches!((knob.min, param.min), (Some(min), Some(least)) if min < least);
        let wider_above = matches!((knob.max, param.max), (Some(max), Some(most)) if max > most);
        let numeric = matches!(param.ty, Type::Int | Type::Float | Type::Table);
        let problem = if !numeric && (knob.min.is_some() || knob.max.is_some()) {
            Some(format!("`{}` is no number and has no range", param.name))
        } else if wider_below || wider_above {
            let end = |end: Option<f64>| end.map_or_else(|| "anything".to_owned(), number);
            Some(format!(
                "the knob `{}` goes beyond what the lab allows: {} to {}",
                param.name,
                end(param.min),
                end(param.max)
            ))
        } else {
            None
        };
        if let Some(message) = problem {
            let help = "a lesson may narrow a parameter's range, not widen it";
            self.error(Code::BadKnob, knob.place, message, help);
        }
    }
}

/// The value a knob starts at, if something gives one, and what that is.
pub(super) fn start(
    param: &Param,
    lab: &LabDirective,
    knob: &Knob,
) -> Option<(Value, &'static str)> {
    let set = lab.set.iter().find(|setting| setting.name == knob.param);
    let own = knob.default.clone().map(|value| (value, "its default"));
    let is_drawn = lab.vary.iter().any(|varied| varied.name.value == knob.param);
    let by = if is_drawn { "a number of `vary`" } else { "the value that `set` gives" };
    let set = set.map(|setting| (setting.value.clone(), by));
    // What a table entry supplies is known when the run starts.
    let default = param.default.clone().filter(|_| param.from.is_none());
    let whole = default.map(|value| (value, "the lab's default"));
    let Some((_, entry)) = knob.param.split_once('.') else { return own.or(set).or(whole) };
    // One entry of a table: a table that is set replaces its default.
    let table = lab.set.iter().find(|setting| setting.name == param.name);
    let table = table.map(|setting| (setting.value.clone(), "the value that `set` gives"));
    let (value, origin) = set.or(table).or(whole)?;
    let Value::Table(entries) = &value else { return Some((value, origin)) };
    Some((entries.get(entry)?.clone(), origin))
}
