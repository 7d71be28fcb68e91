//! Built-in lessons in a course of one's own.

use mlsys_lab::value::Value;

use crate::diagnostic::{Located, Place};
use crate::model::{Block, Check, LatePolicy, Lesson, LessonId, Timestamp};

/// A table `[[lesson]]` of `course.toml`: a built-in lesson, and what the course changes in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedInclusion {
    pub built_in: Located<LessonId>,
    /// What it requires in place of what it says itself.
    pub requires: Option<Vec<Located<LessonId>>>,
    pub due: Option<Timestamp>,
    pub late: Option<LatePolicy>,
    pub attempts: Option<u32>,
    /// Where its knobs stand at first.
    pub set: Vec<ListedStart>,
}

/// A start value as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedStart {
    pub lab: Located<String>,
    pub knob: Located<String>,
    pub value: Located<Value>,
}

/// How a course includes a built-in lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Inclusion {
    /// Where `course.toml` names it.
    pub place: Place,
    pub start: Vec<StartValue>,
}

/// Where a knob stands at first, in place of what its lesson says.
#[derive(Clone, Debug, PartialEq)]
pub struct StartValue {
    pub lab: String,
    pub knob: String,
    pub value: Value,
}

impl Lesson {
    /// Includes it in a course. Checks of a lab that starts elsewhere are left out: they hold for the lesson's own values.
    pub(crate) fn include(&mut self, inclusion: Inclusion) {
        for StartValue { lab, knob, value } in &inclusion.start {
            let mut labs = self.blocks.iter_mut().filter_map(Block::as_lab_mut);
            let Some(lab) = labs.find(|one| one.id == *lab) else { continue };
            match knob.split_once('.') {
                None => {
                    for turned in lab.knobs.iter_mut().filter(|one| one.param == *knob) {
                        turned.default = Some(value.clone());
                    }
                }
                // An entry stands where its table says.
                Some((table, entry)) => {
                    for setting in lab.set.iter_mut().filter(|one| one.name == table) {
                        if let Value::Table(entries) = &mut setting.value {
                            entries.insert(entry.to_owned(), value.clone());
                        }
                    }
                }
            }
        }
        let starts_elsewhere = |check: &Check| {
            let names = check.assert.expr.names();
            let labs = names.iter().filter_map(|(name, _)| name.parts().next());
            labs.into_iter().any(|lab| inclusion.start.iter().any(|start| start.lab == lab))
        };
        self.blocks.retain(|block| !block.as_check().is_some_and(starts_elsewhere));
        self.included = Some(inclusion);
    }
}
