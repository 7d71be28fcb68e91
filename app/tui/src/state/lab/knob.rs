//! The knobs of a lab and how they are turned, typed and put back.

use mlsys_lab::Schema;
use mlsys_lab::params::{Given, ParamError, Params};
use mlsys_lab::schema::{Param, Type};
use mlsys_lab::value::{Value, number, significant};
use mlsys_lesson::Setting;

use crate::state::lab::LabState;
use crate::state::lab::history::{History, Turned};

pub struct Knob {
    /// Its name: the parameter's, or `inputs.x` for one entry of a table.
    pub name: String,
    pub param: &'static Param,
    pub value: Option<Value>,
    pub initial: Option<Value>,
    /// The values it steps through, if they are a list.
    pub values: Vec<Value>,
    pub range: (Option<f64>, Option<f64>),
}

#[derive(Debug, thiserror::Error)]
pub enum KnobError {
    #[error(transparent)]
    Value(#[from] ParamError),
    #[error("this lesson keeps {name} within {range}")]
    Range { name: String, range: String },
    #[error("in this lesson {name} is one of: {values}")]
    Unlisted { name: String, values: String },
    #[error("this lab has no knobs")]
    NoKnobs,
    #[error("this lesson has no knob for {0}")]
    Missing(String),
    #[error("this lesson has no lab '{lab}'; it has: {labs}")]
    NoLab { lab: String, labs: String },
    #[error("lab '{lab}' has no knob '{knob}'; it has: {knobs}")]
    NoKnob { lab: String, knob: String, knobs: String },
}

impl Knob {
    /// What it turns: an entry of a table is a number.
    pub fn ty(&self) -> Type {
        if self.name == self.param.name { self.param.ty } else { Type::Float }
    }

    /// The value this many steps further, kept inside the range.
    ///
    /// Rates and widths are felt as ratios, so numbers that span decades go in steps of 1, 2, 5, 10.
    fn after(&self, steps: i32) -> Option<Value> {
        if let (Type::Bool, Some(Value::Bool(value))) = (self.ty(), &self.value) {
            // Both directions lead to the other of two values.
            let other = Value::Bool(value ^ (steps % 2 != 0));
            return Some(other).filter(|other| self.is_listed(other));
        }
        if !self.values.is_empty() {
            let at = self.values.iter().position(|v| Some(v) == self.value.as_ref());
            let at = at.map(|at| at.saturating_add_signed(steps as isize));
            let at = at.unwrap_or_else(|| self.unlisted_step(steps));
            return self.values.get(at.min(self.values.len() - 1)).cloned();
        }
        let current = self.value.as_ref().and_then(Value::as_f64).unwrap_or(0.0);
        Some(match self.ty() {
            Type::Bool => Value::Bool(steps > 0),
            Type::Int => Value::Int(self.clamp(whole_step(current as i64, steps) as f64) as i64),
            Type::Float if self.param.ty == Type::Table => {
                Value::Float(self.clamp(even_step(current, steps)))
            }
            Type::Float => Value::Float(self.clamp(number_step(current, steps))),
            Type::String | Type::Enum | Type::Array | Type::Table => return None,
        })
    }

    fn is_listed(&self, value: &Value) -> bool {
        self.values.is_empty() || self.values.contains(value)
    }

    /// Why a turn in a direction changes nothing.
    pub fn at_end(&self, steps: i32) -> Option<String> {
        let is_up = steps > 0;
        match self.ty() {
            Type::String | Type::Table | Type::Array => None,
            Type::Bool => Some(format!("{} is {} in this lesson", self.name, self.value_text())),
            Type::Int | Type::Float | Type::Enum => {
                let place = if is_up { "last" } else { "first" };
                let end = match self.values.is_empty() {
                    true if is_up => "as large as it goes".to_owned(),
                    true => "as small as it goes".to_owned(),
                    false => format!("the {place} of {}", self.values_text()),
                };
                let back = if is_up { "left" } else { "right" };
                Some(format!("{} {} is {end}: {back} turns it back", self.name, self.value_text()))
            }
        }
    }

    /// The place of the listed value that comes next after one that a table supplied and the list lacks.
    fn unlisted_step(&self, steps: i32) -> usize {
        let current = self.value.as_ref().and_then(Value::as_f64).unwrap_or(f64::NEG_INFINITY);
        let below = self.values.iter().filter(|value| value.as_f64().is_some_and(|x| x < current));
        let below = below.count();
        if steps > 0 { below } else { below.saturating_sub(1) }
    }

    fn clamp(&self, x: f64) -> f64 {
        let x = self.range.0.map_or(x, |low| x.max(low));
        self.range.1.map_or(x, |high| x.min(high))
    }

    pub fn accepts(&self, schema: &Schema, given: Given) -> Result<Value, KnobError> {
        let value = Params::check(schema, &self.name, given)?;
        let name = self.name.clone();
        if value.as_f64().is_some_and(|x| self.clamp(x) != x) {
            return Err(KnobError::Range { name, range: self.range_text() });
        }
        if self.values.is_empty() {
            return Ok(value);
        }
        let listed = self.values.iter().find(|listed| is_same(listed, &value));
        listed.cloned().ok_or_else(|| KnobError::Unlisted { name, values: self.values_text() })
    }

    pub fn is_turned(&self) -> bool {
        self.value != self.initial
    }

    pub fn named_value(&self) -> (String, Value) {
        (self.name.clone(), self.value.clone().unwrap_or_else(|| Value::from("unset")))
    }

    pub fn value_text(&self) -> String {
        self.value.as_ref().map_or("unset".to_owned(), Value::to_string)
    }

    pub fn values_text(&self) -> String {
        let values: Vec<_> = self.values.iter().map(ToString::to_string).collect();
        values.join(", ")
    }

    pub fn range_text(&self) -> String {
        match self.range {
            (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
            (Some(low), None) => format!("{} and above", number(low)),
            (None, Some(high)) => format!("{} and below", number(high)),
            (None, None) => "any value".to_owned(),
        }
    }
}

impl LabState {
    /// What a knob was set to when the last run began, or by the last turn that this run heard of.
    pub fn last_value(&self, name: &str) -> Option<&Value> {
        let mut changes = self.run.data.changes.iter().rev();
        let changed = changes.find(|change| change.name == name).map(|change| &change.value);
        let begun = self.run.begun_with.iter().find(|(knob, _)| knob == name);
        changed.or(begun.map(|(_, value)| value))
    }

    /// Whether the last run had these knobs turned, and all others where the lesson has them.
    ///
    /// A knob that takes effect while a run goes on counts as the run heard of it last; a turn after its end is the next run's.
    pub fn has_run_with(&self, turn: &[Setting]) -> bool {
        self.controls.knobs.iter().all(|knob| {
            let (_, now) = knob.named_value();
            let value = self.last_value(&knob.name).unwrap_or(&now);
            match turn.iter().find(|setting| setting.name == knob.name) {
                Some(setting) => is_same(&setting.value, value),
                None => {
                    has_entry_in(turn, &knob.name)
                        || knob.initial.as_ref().is_none_or(|initial| is_same(initial, value))
                }
            }
        })
    }

    /// The knobs that are turned and have to go back for a try that turns others, with the lesson's values.
    pub fn turned_besides<'a>(
        &'a self,
        turn: &'a [Setting],
    ) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let knobs = self.controls.knobs.iter().filter(|knob| knob.is_turned());
        let is_named = |name: &str| turn.iter().any(|setting| setting.name == name);
        knobs
            .filter(move |knob| !is_named(&knob.name) && !has_entry_in(turn, &knob.name))
            .filter_map(|knob| Some((knob.name.as_str(), knob.initial.as_ref()?)))
    }

    /// Gives a knob a value; a table and the knobs of its entries stay one.
    pub fn give(&mut self, place: usize, value: Option<Value>) {
        let Some(knob) = self.controls.knobs.get_mut(place) else { return };
        knob.value = value.clone();
        let given = knob.name.clone();
        for other in &mut self.controls.knobs {
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
        self.follow_tables();
    }

    /// A knob with a value from a table follows the knobs that choose the entry of the table, unless it was turned.
    pub fn follow_tables(&mut self) {
        let chosen = self.controls.knobs.iter().filter(|knob| knob.param.from.is_none());
        let Ok(params) = self.resolved(&self.turned(chosen)) else { return };
        for knob in self.controls.knobs.iter_mut().filter(|knob| knob.param.from.is_some()) {
            let supplied = params.get(&knob.param.name).cloned();
            if !knob.is_turned() {
                knob.value = supplied.clone();
            }
            knob.initial = supplied;
        }
    }

    /// Gives the marked knob a value, which can be undone; returns its name, or none if it has the value already.
    fn give_marked(&mut self, value: &Value) -> Option<String> {
        let place = self.controls.marked;
        let knob = self.controls.knobs.get(place)?;
        let (name, from, to) = (knob.name.clone(), knob.value.clone(), Some(value.clone()));
        if from == to {
            return None;
        }
        self.give(place, to.clone());
        self.controls.history.record(Turned { knob: place, from, to });
        Some(name)
    }

    /// Turns the marked knob by this many steps and returns its name and new value, if it moved.
    pub fn turn(&mut self, steps: i32) -> Option<(String, Value)> {
        let next = self.controls.knobs.get(self.controls.marked)?.after(steps)?;
        Some((self.give_marked(&next)?, next))
    }

    pub fn type_value(&mut self, text: &str) -> Result<(String, Value), KnobError> {
        let knob = self.controls.knobs.get(self.controls.marked).ok_or(KnobError::NoKnobs)?;
        let value = knob.accepts(self.schema, Given::Text(text.trim().to_owned()))?;
        let name = knob.name.clone();
        self.give_marked(&value);
        Ok((name, value))
    }

    pub fn mark_knob(&mut self, name: &str) -> Result<(), KnobError> {
        let knobs = &self.controls.knobs;
        let Some(index) = knobs.iter().position(|knob| knob.name == name) else {
            let names: Vec<_> = knobs.iter().map(|knob| knob.name.as_str()).collect();
            let (lab, knobs) = (self.id.clone(), names.join(", "));
            return Err(KnobError::NoKnob { lab, knob: name.to_owned(), knobs });
        };
        self.controls.marked = index;
        Ok(())
    }

    pub fn is_turned(&self) -> bool {
        self.controls.knobs.iter().any(Knob::is_turned)
    }

    pub fn reset_knobs(&mut self) {
        for knob in &mut self.controls.knobs {
            knob.value = knob.initial.clone();
        }
        self.follow_tables();
        self.controls.history = History::default();
    }
}

/// The next count in a direction: by one while it is small, by doubling between powers of two, else as [`number_step`].
pub fn whole_step(n: i64, steps: i32) -> i64 {
    const SMALL: i64 = 8;
    let up = steps > 0;
    (0..steps.unsigned_abs()).fold(n, |n, _| {
        let doubles = n >= SMALL && u64::try_from(n).is_ok_and(u64::is_power_of_two);
        match (up, doubles) {
            (true, true) => n.saturating_mul(2),
            (false, true) => n / 2,
            (true, false) if n < SMALL => n + 1,
            (false, false) if n <= SMALL => n - 1,
            (_, false) => number_step(n as f64, steps.signum()) as i64,
        }
    })
}

/// The next of ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ... in a direction; below a millionth it is zero.
pub fn number_step(x: f64, steps: i32) -> f64 {
    const SMALLEST: f64 = 1e-6;
    const MANTISSAS: [f64; 3] = [1.0, 2.0, 5.0];
    if steps == 0 {
        return x;
    }
    if x < 0.0 {
        return -number_step(-x, -steps);
    }
    (0..steps.unsigned_abs()).fold(x, |x, _| {
        let exponent = if x > 0.0 { x.log10().floor() } else { -6.0 };
        let ladder = (-1..=1).flat_map(|shift| {
            // Without the last bits of rounding, so that a knob reads 0.2 and not 0.2000000001.
            let scale = 10f64.powf(exponent + f64::from(shift));
            MANTISSAS.map(|mantissa| significant(mantissa * scale, 4))
        });
        let near = x * 1e-9;
        let ladder = ladder.filter(|&v| v >= SMALLEST);
        if steps > 0 {
            ladder.filter(|&v| v > x + near).fold(f64::INFINITY, f64::min)
        } else {
            ladder.filter(|&v| v < x - near).fold(0.0, f64::max)
        }
    })
}

/// The next multiple of a quarter in a direction, or of a quarter of the power of ten that the number has: a coordinate
/// is felt as a distance, and crosses zero.
pub fn even_step(x: f64, steps: i32) -> f64 {
    (0..steps.unsigned_abs()).fold(x, |x, _| {
        let towards_zero = (x > 0.0) != (steps > 0);
        let size = x.abs().max(1.0);
        // From 10 down the steps are those below 10.
        let size = if towards_zero { size * (1.0 - 1e-9) } else { size };
        let step = 0.25 * 10_f64.powf(size.log10().floor().max(0.0));
        let near = 1e-9 * f64::from(steps.signum());
        if steps > 0 {
            ((x / step + near).floor() + 1.0) * step
        } else {
            ((x / step + near).ceil() - 1.0) * step
        }
    })
}

/// Whether two values are equal, whole numbers and others alike; spaces in a text make no difference.
fn is_same(a: &Value, b: &Value) -> bool {
    let spaceless =
        |value: &Value| value.as_str().map(|text| text.split_whitespace().collect::<String>());
    a == b
        || a.as_f64().is_some_and(|x| b.as_f64() == Some(x))
        || spaceless(a).is_some_and(|text| spaceless(b) == Some(text))
}

/// Whether a try turns an entry of this table.
fn has_entry_in(turn: &[Setting], table: &str) -> bool {
    turn.iter().any(|setting| setting.name.split_once('.').is_some_and(|(own, _)| own == table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_1_2_5_and_coordinates_go_by_quarters() {
        let step = |is_number, from, by| {
            if is_number { number_step(from, by) } else { even_step(from, by) }
        };
        for (is_number, from, steps, to) in [
            (true, 0.01, 1, 0.02),
            (true, 0.02, 1, 0.05),
            (true, 0.05, 3, 0.5),
            (true, 0.5, -5, 0.01),
            (true, 3.0, 1, 5.0),
            (true, 3.0, -1, 2.0),
            (true, 1e-6, -1, 0.0),
            (true, 0.0, 1, 1e-6),
            (false, 2.0, 1, 2.25),
            (false, 2.1, 1, 2.25),
            (false, 2.1, -1, 2.0),
            (false, 0.25, -2, -0.25),
            (false, -1.25, 1, -1.0),
            (false, 9.75, 2, 12.5),
            (false, 12.5, -2, 9.75),
            (false, -10.0, -1, -12.5),
            (false, 1e6, 1, 1.25e6),
        ] {
            assert_eq!(step(is_number, from, steps), to, "{from} by {steps}");
        }
    }

    #[test]
    fn counts_go_by_one_then_double() {
        for (from, by, to) in [
            (6, 1, [7, 8, 16, 32]),
            (32, -1, [16, 8, 4, 3]),
            (2, -1, [1, 0, -1, -2]),
            (400, 1, [500, 1000, 2000, 5000]),
        ] {
            assert_eq!([1, 2, 3, 4].map(|times| whole_step(from, by * times)), to);
        }
    }
}
