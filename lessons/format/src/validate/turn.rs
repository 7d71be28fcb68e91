//! Tries: knobs of a lab that can be turned as the try says, away from where they stand.

use mlsys_lab::Registry;
use mlsys_lab::schema::Schema;

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{LabDirective, Lesson, Predict, Setting};
use crate::validate::knob::start;
use crate::validate::{Validation, suggestion};

/// What does not fit in a lesson's labs, and in what tries turn in them.
pub(crate) fn validate_labs(lesson: &Lesson, registry: &Registry) -> Vec<Diagnostic> {
    let source = &lesson.source;
    let mut check = Validation { lesson, source, registry, drawn: &[], found: Vec::new() };
    lesson.labs().for_each(|lab| check.lab(lab));
    for predict in lesson.predictions() {
        check.turned(predict);
    }
    check.found
}

impl<'a> Validation<'a> {
    /// Checks what a try turns; the name under which its expressions find that run, and the schema of its lab.
    pub(super) fn turned(&mut self, attempt: &'a Predict) -> Option<(&'a str, &'a Schema)> {
        let (turn, lab) = (attempt.turn.as_ref()?, attempt.lab.as_ref()?);
        let lab = self.lesson.lab(&lab.value)?;
        let schema = self.registry.find(&lab.kind.value).ok()?.schema();
        if turn.is_empty() {
            let message = "this try turns nothing".to_owned();
            self.error(Code::BadValue, attempt.place, message, "name a knob in `set`");
        }
        if !attempt.names_its_run() {
            let id = &attempt.id;
            let message = format!("no expression of this try names the turned run, `{id}`");
            let help = format!("compare a metric of it, such as metric = \"{id}.seconds\"");
            self.error(Code::Contradiction, attempt.place, message, help);
        }
        for setting in turn {
            self.turn(schema, lab, setting);
        }
        Some((&attempt.id, schema))
    }

    fn turn(&mut self, schema: &Schema, lab: &LabDirective, setting: &Setting) {
        let Some(knob) = lab.knobs.iter().find(|knob| knob.param == setting.name) else {
            let message = format!("lab {} has no knob `{}`", lab.id, setting.name);
            let known = lab.knobs.iter().map(|knob| knob.param.as_str());
            let help = suggestion(&setting.name, known, "its knobs are");
            return self.error_maybe(Code::BadKnob, setting.place, message, help);
        };
        let places = (setting.place, setting.value_place);
        let Some(value) = self.value(schema, &setting.name, &setting.value, places, Code::BadKnob)
        else {
            return;
        };
        let outside = value.as_f64().is_some_and(|x| {
            knob.min.is_some_and(|min| x < min) || knob.max.is_some_and(|max| x > max)
        });
        let unlisted = knob.values.as_ref().is_some_and(|values| {
            !values.iter().any(|known| known == &value || known.as_f64() == value.as_f64())
        });
        let start = schema.param(&knob.param).and_then(|param| start(param, lab, knob));
        let (message, help) = if outside || unlisted {
            let help = "give the knob this value, or turn it to one that it has";
            (format!("the knob `{}` cannot be turned to {value}", knob.param), help)
        } else if start.is_some_and(|(start, _)| {
            start == value || (value.as_f64().is_some() && start.as_f64() == value.as_f64())
        }) {
            (
                format!("the knob `{}` stands at {value} at first", knob.param),
                "turn it to another value, or let it stand at another one first",
            )
        } else {
            return;
        };
        self.error(Code::BadKnob, setting.value_place, message, help);
    }
}
