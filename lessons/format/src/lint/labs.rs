//! The labs of a lesson that answer at once, run as the lesson sets them.

use std::rc::Rc;

use mlsys_lab::Registry;
use mlsys_lab::report::RunData;
use mlsys_lab::schema::Schema;

use crate::env::LessonEnv;
use crate::grade::run_once;
use crate::model::{LabDirective, Lesson};

pub(super) struct Labs<'l>(Vec<Run<'l>>);

type Run<'l> = (&'l LabDirective, &'l Schema, Rc<RunData>);

impl<'l> Labs<'l> {
    pub(super) fn run(lesson: &'l Lesson, registry: &'l Registry) -> Self {
        Self(lesson.labs().filter_map(|lab| ran(lab, registry)).collect())
    }

    /// The same of a lesson with other numbers: what is set as before has run already.
    pub(super) fn again<'o>(&self, lesson: &'o Lesson, registry: &'o Registry) -> Labs<'o>
    where
        'l: 'o,
    {
        let ran_before = |lab: &'o LabDirective| {
            let (_, schema, data) =
                self.0.iter().find(|(own, ..)| own.id == lab.id && own.set == lab.set)?;
            Some((lab, *schema, Rc::clone(data)))
        };
        Labs(
            lesson
                .labs()
                .filter_map(|lab| ran_before(lab).or_else(|| ran(lab, registry)))
                .collect(),
        )
    }

    /// The values of their metrics.
    pub(super) fn env<'a>(&'a self, lesson: &'a Lesson) -> LessonEnv<'a> {
        let env = LessonEnv::unrun(lesson);
        self.0.iter().fold(env, |env, (lab, schema, data)| env.with_run(&lab.id, schema, data))
    }

    /// What came of a lab.
    pub(super) fn of(&self, lab: &LabDirective) -> Option<(&Schema, &RunData)> {
        let (_, schema, data) = self.0.iter().find(|(own, ..)| own.id == lab.id)?;
        Some((schema, data))
    }
}

/// The reports of a lab with the lesson's settings; none if it takes a while or does not run so.
fn ran<'l>(lab: &'l LabDirective, registry: &'l Registry) -> Option<Run<'l>> {
    let found = registry.find(&lab.kind.value).ok()?;
    let schema = found.schema();
    if schema.is_live() {
        return None;
    }
    Some((lab, schema, Rc::new(run_once(found, &lab.settings()).ok()?)))
}
