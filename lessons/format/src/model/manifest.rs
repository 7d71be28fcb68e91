//! What a course says of itself, in its `course.toml`.

use super::CourseId;
use crate::diagnostic::{Located, Source};

/// A course: what it is, and its modules with their lessons in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Its text, for messages about it.
    pub source: Source,
    /// Its name, under which progress is kept.
    pub id: CourseId,
    /// Its title.
    pub title: String,
    /// What it is about, in one line.
    pub about: String,
    /// Under which licence it may be used.
    pub license: Option<String>,
    /// Who wrote it.
    pub authors: Vec<String>,
    /// Its parts, in order.
    pub modules: Vec<ListedModule>,
}

/// A part of a course.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedModule {
    /// Its name.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it is about, in one line.
    pub about: String,
    /// Its lessons in order, by id or by the path of their files within the course.
    pub lessons: Vec<Located<String>>,
}

impl ListedModule {
    /// The file of a lesson that is listed, within the course: an id is a file of that name.
    pub fn path_of(listed: &str) -> String {
        if listed.ends_with(".md") { listed.to_owned() } else { format!("{listed}.md") }
    }
}
