//! What `course.toml` says: the course, and its modules with their lessons.

use crate::diagnostic::{Located, Source};
use crate::model::{CourseId, ListedInclusion, ListedRules, Timestamp};

/// A course: what it is, and its modules with their lessons in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Its text, for messages about it.
    pub source: Source,
    /// Its name, under which progress is kept.
    pub id: CourseId,
    pub title: String,
    /// What it is about, in one line.
    pub about: String,
    /// Under which licence it may be used.
    pub license: Option<String>,
    pub authors: Vec<String>,
    /// What its learners' numbers depend on, together with their ids.
    pub salt: String,
    pub grading: ListedRules,
    /// Its parts, in order.
    pub modules: Vec<ListedModule>,
    /// Built-in lessons among those of its parts.
    pub inclusions: Vec<ListedInclusion>,
}

/// A part of a course.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedModule {
    pub id: String,
    pub title: String,
    /// What it is about, in one line.
    pub about: String,
    /// Its lessons in order, by id or by the path of their files within the course.
    pub lessons: Vec<Located<String>>,
    /// When the answers to its lessons are due.
    pub due: Option<Timestamp>,
}

impl ListedModule {
    /// The file of a lesson that is listed, within the course: an id is a file of that name.
    pub fn path_of(listed: &str) -> String {
        if listed.ends_with(".md") { listed.to_owned() } else { format!("{listed}.md") }
    }
}
