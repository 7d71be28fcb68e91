//! The course: modules, the order of their lessons, and what comes before what.

pub(crate) mod read;

use std::ops::Range;

use mlsys_lab::nearest::nearest;

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{CourseId, Lesson, LessonId};

/// Lessons in the order in which they are best taken, by modules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// Its name, under which progress is kept.
    pub id: CourseId,
    /// Its title.
    pub title: String,
    /// What it is about.
    pub about: String,
    /// Under which licence it may be used.
    pub license: Option<String>,
    /// Who wrote it.
    pub authors: Vec<String>,
    pub(crate) modules: Vec<Module>,
    pub(crate) lessons: Vec<Lesson>,
}

/// A part of a course.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name.
    pub id: String,
    /// What a person reads.
    pub title: String,
    /// What it is about.
    pub about: String,
    /// Its lessons among those of the course.
    pub lessons: Range<usize>,
}

impl Course {
    /// A course of lessons that belong to none: one module, in the order given.
    pub fn of_lessons(lessons: Vec<Lesson>) -> Self {
        let module = Module {
            id: "lessons".to_owned(),
            title: "Lessons".to_owned(),
            about: String::new(),
            lessons: 0..lessons.len(),
        };
        Self { modules: vec![module], lessons, ..Self::default() }
    }

    /// The same course with each lesson put in the place of another, such as of its original.
    pub fn map_lessons(self, map: impl FnMut(Lesson) -> Lesson) -> Self {
        Self { lessons: self.lessons.into_iter().map(map).collect(), ..self }
    }

    /// The lessons in order.
    pub fn lessons(&self) -> &[Lesson] {
        &self.lessons
    }

    /// The modules in order, those without lessons too.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The lessons of a module, in order.
    pub fn lessons_of(&self, module: &Module) -> &[Lesson] {
        &self.lessons[module.lessons.clone()]
    }

    /// The lesson of an id.
    pub fn find(&self, id: &LessonId) -> Option<&Lesson> {
        self.lessons.iter().find(|lesson| lesson.front.id == *id)
    }

    /// The id nearest to a misspelt one.
    pub fn nearest(&self, id: &str) -> Option<&LessonId> {
        let nearest = nearest(id, self.lessons.iter().map(|lesson| lesson.front.id.as_str()))?;
        let found = self.lessons.iter().find(|lesson| lesson.front.id.as_str() == nearest);
        found.map(|lesson| &lesson.front.id)
    }
}

/// What is wrong between these lessons, each thing told once: of two lessons with one id the second is, and then
/// passed over.
pub fn between(lessons: &[Lesson]) -> Vec<Diagnostic> {
    between_also(lessons, &[])
}

/// The same with lessons that could not be read: requiring one of them is no further error.
fn between_also(lessons: &[Lesson], unread: &[&str]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut distinct: Vec<&Lesson> = Vec::new();
    for lesson in lessons {
        match distinct.iter().find(|other| other.front.id == lesson.front.id) {
            None => distinct.push(lesson),
            Some(first) => problems.push(duplicate(lesson, first)),
        }
    }
    problems.extend(unknown(&distinct, unread));
    problems.extend(cycles(&distinct));
    problems
}

fn duplicate(lesson: &Lesson, first: &Lesson) -> Diagnostic {
    let message = format!("the lesson `{}` is already in {}", lesson.front.id, first.source.file);
    let error = lesson.source.error(Code::DuplicateId, lesson.front.place, message);
    error.help("give one of the two another id")
}

/// Requirements that do not exist.
fn unknown(lessons: &[&Lesson], unread: &[&str]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for lesson in lessons {
        for required in &lesson.front.requires {
            if lessons.iter().any(|other| other.front.id == required.value)
                || unread.contains(&required.value.as_str())
            {
                continue;
            }
            let message = format!("there is no lesson `{}`", required.value);
            let ids = lessons.iter().map(|other| other.front.id.as_str());
            let help = match nearest(required.value.as_str(), ids) {
                Some(id) => format!("did you mean \"{id}\"?"),
                None => "`mlsys list` shows them all".to_owned(),
            };
            let error = lesson.source.error(Code::UnknownLesson, required.place, message);
            problems.push(error.help(help));
        }
    }
    problems
}

fn cycles(lessons: &[&Lesson]) -> Vec<Diagnostic> {
    let mut left: Vec<&Lesson> = lessons.to_vec();
    let mut problems = Vec::new();
    while let Some(&start) = left.first() {
        // Follow requirements among what is left until a lesson has none there, or comes again.
        let mut path = vec![start];
        while let Some(&at) = path.last() {
            let next = at.front.requires.iter().find_map(|required| {
                let lesson = left.iter().find(|other| other.front.id == required.value)?;
                Some((*lesson, required.place))
            });
            let Some((next, place)) = next else {
                left.retain(|lesson| lesson.front.id != at.front.id);
                break;
            };
            if let Some(first) = path.iter().position(|seen| seen.front.id == next.front.id) {
                let cycle = &path[first..];
                let names: Vec<_> =
                    cycle.iter().chain([&next]).map(|l| l.front.id.as_str()).collect();
                let message = format!("lessons require each other: {}", names.join(" -> "));
                let error = at.source.error(Code::Cycle, place, message);
                problems.push(error.help("remove one of these requirements"));
                left.retain(|lesson| !cycle.iter().any(|other| other.front.id == lesson.front.id));
                break;
            }
            path.push(next);
        }
    }
    problems
}
