//! Parameters that name an earlier lab, whose run leaves what this one starts from.

use mlsys_lab::schema::Schema;
use mlsys_lab::value::Value;

use super::{Validation, suggestion};
use crate::diagnostic::Code;
use crate::diagnostic::{Place, shortened};
use crate::model::LabDirective;

impl Validation<'_> {
    /// Holds every name that a lab's settings and knobs give to such a parameter against the labs before it.
    pub(super) fn sources(&mut self, schema: &Schema, lab: &LabDirective) {
        let artifact = |name: &str| schema.param(name).and_then(|param| param.artifact.clone());
        for setting in &lab.set {
            if let (Some(kind), Value::Text(name)) = (artifact(&setting.name), &setting.value) {
                self.source_of(lab, &kind, name, setting.value_place);
            }
        }
        for knob in &lab.knobs {
            let Some(kind) = artifact(&knob.param) else {
                continue;
            };
            for value in knob.values.iter().flatten().chain(&knob.default) {
                if let Value::Text(name) = value {
                    self.source_of(lab, &kind, name, knob.place);
                }
            }
        }
    }

    fn source_of(&mut self, lab: &LabDirective, kind: &str, name: &str, place: Place) {
        let lesson = self.lesson;
        let labs: Vec<&LabDirective> = lesson.labs().collect();
        let own = labs.iter().position(|other| other.id == lab.id);
        let (earlier, rest) = labs.split_at(own.unwrap_or(labs.len()));
        let leaves = |other: &LabDirective| {
            let found = self.registry.find(&other.kind.value).ok();
            found.is_some_and(|lab| lab.schema().yields.as_deref() == Some(kind))
        };
        let usable = earlier.iter().filter(|other| leaves(other));
        let usable: Vec<&str> = usable.map(|other| other.id.as_str()).collect();
        let help = |usable: &[&str]| match usable {
            [] => format!("no lab before this one leaves a {kind}; put one there, such as train"),
            _ => suggestion(name, usable.iter().copied(), "labs before it that leave one are")
                .unwrap_or_default(),
        };
        if let Some(other) = earlier.iter().find(|other| other.id == name) {
            if !leaves(other) {
                let message = format!(
                    "lab `{}` is a {}, which leaves no {kind}",
                    shortened(name),
                    other.kind.value
                );
                let help = help(&usable);
                self.error(Code::BadParam, place, message, Some(help));
            }
            return;
        }
        let message = if name == lab.id {
            format!("lab `{}` cannot start from itself", shortened(name))
        } else if rest.iter().any(|other| other.id == name) {
            format!(
                "lab `{}` comes later, and only what comes before can be started from",
                shortened(name)
            )
        } else if is_identifier(name) {
            format!("there is no lab `{}` before this one", shortened(name))
        } else {
            let message = format!(
                "`{}` is no lab of this lesson, and a recorded run or a file is on one machine alone",
                shortened(name)
            );
            let help = help(&usable);
            let warning = self.source.warning(Code::BadParam, place, message);
            self.found.push(warning.help(help));
            return;
        };
        let help = help(&usable);
        self.error(Code::BadParam, place, message, Some(help));
    }
}

/// Whether a name could be that of a lab.
fn is_identifier(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
