//! The course: from its files to its modules and the order of their lessons, or to everything that is wrong with it.

mod inclusion;
mod outline;
mod requirements;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use mlsys_lab::Registry;
use mlsys_lab::nearest::nearest;

use crate::diagnostic::{Code, Diagnostic, Located, Place, Source};
use crate::model::{
    CourseId, GradingRules, Lesson, LessonId, LessonRules, ListedModule, ListedRules, Manifest,
    translated,
};
use crate::parse::{Parsed, manifest_draft, read};

use inclusion::own_rules;
pub use outline::{ListedLesson, Outline};
pub use requirements::between;
use requirements::{Requiring, between_also, disorder};

/// Lessons in the order in which they are best taken, by modules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// Its name, under which progress is kept.
    pub id: CourseId,
    pub title: String,
    pub about: String,
    /// Under which licence it may be used.
    pub license: Option<String>,
    pub authors: Vec<String>,
    /// What its learners' numbers depend on, together with their ids.
    pub salt: String,
    pub grading: GradingRules,
    pub(crate) modules: Vec<Module>,
    pub(crate) lessons: Vec<Lesson>,
}

/// A part of a course.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    pub id: String,
    pub title: String,
    pub about: String,
    /// Its lessons among those of the course.
    pub lessons: Range<usize>,
}

impl Course {
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

/// The file that makes a folder a course.
pub const COURSE_FILE: &str = "course.toml";

/// A file of a course.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CourseFile {
    /// The name that messages about it begin with.
    pub name: String,
    pub bytes: Cow<'static, [u8]>,
}

/// The files of a course by their paths within it, with `/` between folders.
pub type CourseFiles = BTreeMap<String, CourseFile>;

/// What came of the files of a course.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedCourse {
    /// The course without its lessons, unless `course.toml` has an error.
    draft: Option<Course>,
    /// The lessons that are listed and there, by their paths, in order.
    pub lessons: Vec<(String, Parsed)>,
    /// Errors in `course.toml` and between the lessons.
    pub diagnostics: Vec<Diagnostic>,
}

impl ParsedCourse {
    /// The course with the lessons that read, unless `course.toml` has an error.
    pub fn into_course(self) -> Option<Course> {
        let lessons = self.lessons.into_iter().filter_map(|(_, parsed)| parsed.lesson).collect();
        Some(Course { lessons, ..self.draft? })
    }

    /// The id of the course, unless `course.toml` has an error.
    pub fn id(&self) -> Option<&CourseId> {
        self.draft.as_ref().map(|course| &course.id)
    }

    /// Everything that is wrong: with the course, then with each lesson.
    pub fn all_diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        let lessons = self.lessons.iter();
        self.diagnostics.iter().chain(lessons.flat_map(|(_, parsed)| &parsed.diagnostics))
    }
}

/// What a course's `course.toml` says that numbers depend on, together with the learner; empty where it says nothing.
pub fn salt(files: &CourseFiles) -> String {
    let file = files.get(COURSE_FILE);
    let manifest = file.and_then(|file| manifest_draft(&file.name, &file.bytes).0);
    manifest.map_or_else(String::new, |manifest| manifest.salt)
}

/// Reads a course and all its lessons; `built_in` are the files of the built-in course, which it may include.
pub fn read_course(
    files: &CourseFiles,
    built_in: &CourseFiles,
    registry: &Registry,
) -> ParsedCourse {
    let Some(file) = files.get(COURSE_FILE) else {
        let source = Source { file: COURSE_FILE.to_owned(), text: String::new() };
        let message = format!("there is no {COURSE_FILE}");
        let error = source.error(Code::MissingKey, Place::default(), message);
        let error = error.help("`mlsys course new FOLDER` writes a course to start from");
        return ParsedCourse { draft: None, lessons: Vec::new(), diagnostics: vec![error] };
    };
    let (manifest, mut diagnostics) = manifest_draft(&file.name, &file.bytes);
    let Some(manifest) = manifest else {
        return ParsedCourse { draft: None, lessons: Vec::new(), diagnostics };
    };
    let mut reading = Reading {
        files,
        built_in,
        manifest: &manifest,
        registry,
        listed: Vec::new(),
        read: Vec::new(),
        problems: Vec::new(),
    };
    let modules = reading.modules();
    reading.unlisted();
    reading.inclusions();
    reading.leave_out_requirements();
    let Reading { read, problems, .. } = reading;
    let lessons: Vec<&Lesson> =
        read.iter().filter_map(|(_, parsed)| parsed.lesson.as_ref()).collect();
    let is_sound = !diagnostics.iter().any(Diagnostic::is_error);
    diagnostics.extend(problems);
    let unread: Vec<&str> = read
        .iter()
        .filter(|(_, parsed)| parsed.lesson.is_none())
        .filter_map(|(path, _)| path.strip_suffix(".md"))
        .collect();
    let requiring = |lesson| Requiring { lesson, source: manifest.requiring(lesson) };
    let requiring: Vec<_> = lessons.iter().copied().map(requiring).collect();
    let between = between_also(&requiring, &unread, built_in);
    // Lessons in a cycle stand in no right order.
    if !between.iter().any(|problem| problem.code == Code::Cycle) {
        diagnostics.extend(disorder(&requiring));
    }
    diagnostics.extend(between);
    let grading = grading_rules(&manifest, &modules, &lessons, &mut diagnostics);
    let Manifest { id, title, about, license, authors, salt, .. } = manifest;
    let lessons = Vec::new();
    let course = Course { id, title, about, license, authors, salt, grading, modules, lessons };
    ParsedCourse { draft: is_sound.then_some(course), lessons: read, diagnostics }
}

/// How the answers to each lesson count. It is due as `[grading.due]` or its own table says, else as its module does.
fn grading_rules(
    manifest: &Manifest,
    modules: &[Module],
    lessons: &[&Lesson],
    diagnostics: &mut Vec<Diagnostic>,
) -> GradingRules {
    let ListedRules { late, attempts, credit, due: listed } = &manifest.grading;
    let others = LessonRules { due: None, late: *late, attempts: *attempts, credit: *credit };
    let mut rules = GradingRules { others, lessons: BTreeMap::new() };
    let mut is_due = |id: &LessonId, due| {
        rules.lessons.insert(id.clone(), LessonRules { due: Some(due), ..others });
    };
    for (module, Module { lessons: own, .. }) in manifest.modules.iter().zip(modules) {
        let ids = lessons.iter().map(|lesson| &lesson.front.id).skip(own.start).take(own.len());
        ids.for_each(|id| module.due.iter().for_each(|due| is_due(id, *due)));
    }
    for (lesson, time) in listed {
        let mut known = lessons.iter().map(|lesson| lesson.front.id.as_str());
        if !known.clone().any(|id| id == lesson.value.as_str()) {
            let message = format!("there is no lesson `{}` in this course", lesson.value);
            let error = manifest.source.error(Code::UnknownLesson, lesson.place, message);
            diagnostics.push(match nearest(lesson.value.as_str(), known.by_ref()) {
                Some(id) => error.help(format!("did you mean \"{id}\"?")),
                None => error.help("name one of its lessons by its id"),
            });
        }
        is_due(&lesson.value, *time);
    }
    own_rules(manifest, &mut rules, diagnostics);
    rules
}

struct Reading<'a> {
    files: &'a CourseFiles,
    /// The files of the built-in course.
    built_in: &'a CourseFiles,
    manifest: &'a Manifest,
    registry: &'a Registry,
    /// Paths listed so far.
    listed: Vec<String>,
    read: Vec<(String, Parsed)>,
    problems: Vec<Diagnostic>,
}

impl Reading<'_> {
    /// Reads what each module lists; a module's lessons follow each other.
    fn modules(&mut self) -> Vec<Module> {
        let manifest = self.manifest;
        let mut modules = Vec::new();
        let mut count = 0;
        for module in &manifest.modules {
            let first = count;
            for listed in &module.lessons {
                count += usize::from(self.lesson(listed));
            }
            modules.push(Module {
                id: module.id.clone(),
                title: module.title.clone(),
                about: module.about.clone(),
                lessons: first..count,
            });
        }
        modules
    }

    /// Reads a lesson that is listed; whether it is one of the course.
    fn lesson(&mut self, listed: &Located<String>) -> bool {
        let path = ListedModule::path_of(&listed.value);
        if self.listed.contains(&path) {
            let message = format!("`{}` is listed twice", listed.value);
            self.error(Code::DuplicateId, listed, message, "remove one of the two");
            return false;
        }
        self.listed.push(path.clone());
        if let Some(inclusion) = self.manifest.inclusion(&listed.value) {
            let parsed = self.included(&path, inclusion);
            return self.add(path, parsed, listed);
        }
        let Some(file) = self.files.get(&path) else {
            let message = format!("there is no lesson file {path}");
            let known = self.files.keys().filter(|known| is_lesson_path(known));
            let help = match nearest(&path, known.map(String::as_str)) {
                _ if self.built_in.contains_key(&path) => including(&listed.value),
                Some(known) => format!("did you mean \"{}\"?", known.trim_end_matches(".md")),
                None => {
                    format!("write the file, as with `mlsys lesson new {path}`, or remove the line")
                }
            };
            self.error(Code::MissingLesson, listed, message, &help);
            return false;
        };
        let mut parsed = read(&file.name, &file.bytes, self.registry);
        if let Some(lesson) = &parsed.lesson
            && path == format!("{}.md", listed.value)
            && lesson.front.id.as_str() != listed.value
        {
            let message = format!("this lesson is listed as `{}`", listed.value);
            let place = id_place(lesson);
            let error = lesson.source.error(Code::IdMismatch, place, message);
            let help = format!("write id = \"{}\", or list it as \"{path}\"", listed.value);
            parsed.diagnostics.push(error.help(help));
            parsed.lesson = None;
        }
        self.add(path, parsed, listed)
    }

    /// Takes a lesson that was read; whether it is one of the course.
    fn add(&mut self, path: String, mut parsed: Parsed, listed: &Located<String>) -> bool {
        let twin = parsed.lesson.as_ref().is_some_and(|lesson| {
            let ids = self.read.iter().filter_map(|(_, other)| other.lesson.as_ref());
            ids.into_iter().any(|other| other.front.id == lesson.front.id)
        });
        if twin {
            let message = format!("the lesson in {path} has the id of one above");
            self.error(Code::DuplicateId, listed, message, "give it an id of its own");
            parsed.lesson = None;
        }
        let is_one = parsed.lesson.is_some();
        self.read.push((path, parsed));
        is_one
    }

    /// Lesson files that the course does not list; a translation belongs to its lesson.
    fn unlisted(&mut self) {
        let end = self.manifest.source.text.len();
        for (path, file) in self.files {
            let is_listed = |path: &str| self.listed.iter().any(|listed| listed == path);
            let translates = translated(path).is_some_and(|(lesson, _)| is_listed(&lesson));
            if !is_lesson_path(path)
                || is_listed(path)
                || translates
                || !file.bytes.trim_ascii_start().starts_with(b"+++")
            {
                continue;
            }
            let warning = self.manifest.source.warning(
                Code::UnlistedFile,
                Place::new(end, end),
                format!("the lesson file {path} is not listed, and is no part of the course"),
            );
            self.problems
                .push(warning.help("add it to the lessons of a [[module]], or remove the file"));
        }
    }

    fn error<T>(&mut self, code: Code, at: &Located<T>, message: String, help: &str) {
        let error = self.manifest.source.error(code, at.place, message);
        self.problems.push(error.help(help));
    }
}

/// How a course includes a built-in lesson.
fn including(id: &str) -> String {
    format!("to include the built-in lesson, add [[lesson]] with built_in = \"{id}\"")
}

fn is_lesson_path(path: &str) -> bool {
    path.ends_with(".md")
}

/// Where a lesson names its id.
fn id_place(lesson: &Lesson) -> Place {
    let front = lesson.front.place;
    let id = format!("\"{}\"", lesson.front.id);
    lesson
        .source
        .slice(front)
        .find(&id)
        .map_or(front, |at| Place::new(front.start + at, front.start + at + id.len()))
}
