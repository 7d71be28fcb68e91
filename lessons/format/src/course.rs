//! The course: modules, the order of their lessons, and what comes before what.

mod between;
mod read;

use std::ops::Range;

use mlsys_lab::nearest::nearest;

use crate::model::{CourseId, Lesson, LessonId};

pub use between::between;
pub use read::{
    COURSE_FILE, CourseFile, CourseFiles, ParsedCourse, is_inside, read_course, translated,
};

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
        self.lessons.get(module.lessons.clone()).unwrap_or_default()
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
