//! Start values that a course gives the knobs of a built-in lesson: knobs that the lesson has, within their ranges.

use mlsys_lab::Registry;
use mlsys_lab::params::{Given, Params};
use mlsys_lab::schema::Schema;
use mlsys_lab::value::{Value, number};

use crate::diagnostic::{Code, Diagnostic, Source, shortened};
use crate::model::{Knob, LabDirective, Lesson, ListedStart, StartValue};
use crate::validate::{Validation, suggestion};

/// The values that the lesson can start at, and what is wrong with the others, in the text that lists them.
pub(crate) fn start_values(
    lesson: &Lesson,
    source: &Source,
    registry: &Registry,
    listed: &[ListedStart],
) -> (Vec<StartValue>, Vec<Diagnostic>) {
    let mut check = Validation { lesson, source, registry, drawn: &[], found: Vec::new() };
    let mut start = Vec::new();
    for listed in listed {
        start.extend(check.start_value(listed));
    }
    (start, check.found)
}

impl Validation<'_> {
    fn start_value(&mut self, listed: &ListedStart) -> Option<StartValue> {
        let ListedStart { lab: name, knob: param, value } = listed;
        let lesson = self.lesson;
        let Some(lab) = lesson.lab(&name.value) else {
            let message =
                format!("the lesson {} has no lab `{}`", lesson.front.id, shortened(&name.value));
            let known = lesson.labs().map(|lab| lab.id.as_str());
            let help = suggestion(&name.value, known, "its labs are");
            self.error_maybe(Code::UnknownName, name.place, message, help);
            return None;
        };
        let schema = self.registry.find(&lab.kind.value).ok()?.schema();
        let Some(knob) = lab.knobs.iter().find(|knob| knob.param == param.value) else {
            let message = format!(
                "lab `{}` of {} has no knob `{}`",
                lab.id,
                lesson.front.id,
                shortened(&param.value)
            );
            let known = lab.knobs.iter().map(|knob| knob.param.as_str());
            let help = suggestion(&param.value, known, "its knobs are");
            self.error_maybe(Code::BadKnob, param.place, message, help);
            return None;
        };
        if let Some((table, _)) = knob.param.split_once('.')
            && !lab.set.iter().any(|setting| setting.name == table)
        {
            let message = format!("the lesson leaves the table {table} as the lab has it");
            let help = "only an entry of a table that the lesson sets can start elsewhere";
            self.error(Code::BadKnob, param.place, message, help);
            return None;
        }
        if lab.vary.iter().any(|varied| varied.name.value == knob.param) {
            let message = format!(
                "lab `{}` of {} draws `{}` by learner",
                lab.id, lesson.front.id, knob.param
            );
            let help = "leave it out: its questions ask about the learner's number";
            self.error(Code::BadKnob, param.place, message, help);
            return None;
        }
        let places = (param.place, value.place);
        let checked = self.value(schema, &knob.param, &value.value, places, Code::BadKnob)?;
        if let Some(allowed) = allowed(schema, lab, knob, &checked) {
            let message = format!(
                "the knob `{}` of {} cannot stand at {checked}",
                knob.param, lesson.front.id
            );
            self.error(Code::BadKnob, value.place, message, allowed);
            return None;
        }
        let lab = lab.id.clone();
        Some(StartValue { lab, knob: knob.param.clone(), value: checked })
    }
}

/// What a knob can stand at, where that is not this value; the parameter's own range was compared before.
fn allowed(schema: &Schema, lab: &LabDirective, knob: &Knob, value: &Value) -> Option<String> {
    if let Some(values) = &knob.values {
        let check = |one: &Value| {
            let given = Given::Value(one.clone());
            Params::check(schema, &knob.param, given).unwrap_or_else(|_| one.clone())
        };
        let known: Vec<String> = values.iter().map(|one| check(one).to_string()).collect();
        let is_known = known.contains(&value.to_string());
        return (!is_known)
            .then(|| format!("in lab `{}` it takes one of: {}", lab.id, known.join(", ")));
    }
    let (min, max) = (knob.min.unwrap_or(f64::NEG_INFINITY), knob.max.unwrap_or(f64::INFINITY));
    let outside = value.as_f64().is_some_and(|x| x < min || x > max);
    outside.then(|| match (knob.min, knob.max) {
        (Some(min), Some(max)) => {
            format!("in lab `{}` it goes from {} to {}", lab.id, number(min), number(max))
        }
        (Some(min), None) => format!("in lab `{}` it is at least {}", lab.id, number(min)),
        (_, max) => {
            format!("in lab `{}` it is at most {}", lab.id, number(max.unwrap_or(f64::INFINITY)))
        }
    })
}
