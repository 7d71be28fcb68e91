//! A course as its page lists it: the front matter of all lessons, and each lesson once it is opened.

use std::fmt;
use std::sync::{Arc, LazyLock};

use mlsys_lab::Registry;

use super::{COURSE_FILE, Course, CourseFiles, Module};
use crate::model::{CourseId, FrontMatter, GradingRules, Lesson, ListedModule, Sheet};
use crate::parse::{front_matter, manifest_draft, parse_bytes};

#[derive(Debug)]
pub struct Outline {
    pub id: CourseId,
    pub title: String,
    pub grading: GradingRules,
    pub modules: Vec<Module>,
    pub lessons: Vec<Arc<ListedLesson>>,
}

/// A lesson of a course, read when it is first asked for.
pub struct ListedLesson {
    pub front: FrontMatter,
    lesson: LazyLock<Arc<Lesson>, Read>,
}

type Read = Box<dyn FnOnce() -> Arc<Lesson> + Send>;

impl ListedLesson {
    pub fn lesson(&self) -> &Arc<Lesson> {
        &self.lesson
    }
}

impl fmt::Debug for ListedLesson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ListedLesson").field(&self.front.id).finish()
    }
}

impl From<Arc<Lesson>> for ListedLesson {
    fn from(lesson: Arc<Lesson>) -> Self {
        let front = lesson.front.clone();
        Self { front, lesson: LazyLock::new(Box::new(|| lesson)) }
    }
}

impl From<Course> for Outline {
    fn from(course: Course) -> Self {
        let Course { id, title, grading, modules, lessons, .. } = course;
        let listed = |lesson| Arc::new(ListedLesson::from(Arc::new(lesson)));
        Self { id, title, grading, modules, lessons: lessons.into_iter().map(listed).collect() }
    }
}

impl Outline {
    /// The outline of a course that is compiled in, whose lessons a test reads; none if `course.toml` or front matter
    /// has an error. Nothing in it is due.
    ///
    /// With a sheet its lessons have that learner's numbers. `registry` knows their labs.
    pub fn of_sound(
        files: &CourseFiles,
        sheet: Option<&Sheet>,
        registry: &'static Registry,
    ) -> Option<Self> {
        let file = files.get(COURSE_FILE)?;
        let (manifest, _) = manifest_draft(&file.name, &file.bytes);
        let manifest = manifest?;
        let mut lessons = Vec::new();
        let mut modules = Vec::new();
        for ListedModule { id, title, about, lessons: listed, due: _ } in manifest.modules {
            let first = lessons.len();
            for listed in listed {
                let file = files.get(&ListedModule::path_of(&listed.value))?.clone();
                let front = front_matter(&file.name, &file.bytes)?;
                let sheet = sheet.cloned();
                #[expect(clippy::expect_used, reason = "compiled in and read by a test")]
                let read = move || {
                    let read = parse_bytes(&file.name, &file.bytes).lesson;
                    let mut lesson = read.expect("a lesson of a sound course reads");
                    lesson.derive_ranges(registry);
                    Arc::new(sheet.map_or_else(|| lesson.clone(), |sheet| lesson.drawn(&sheet)))
                };
                let lesson = LazyLock::new(Box::new(read) as Read);
                lessons.push(Arc::new(ListedLesson { front, lesson }));
            }
            modules.push(Module { id, title, about, lessons: first..lessons.len() });
        }
        let grading = GradingRules::default();
        Some(Self { id: manifest.id, title: manifest.title, grading, modules, lessons })
    }
}
