//! `course.toml`: what a course is and which lessons it has.

use super::fields::Fields;
use super::problems::Problems;
use super::text_of;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{CourseId, LessonId, ListedModule, Manifest};
use crate::source::{Located, Place, Source, shortened};

/// As much of a manifest as can be read; its errors make it unfit for use but not for finding more errors.
pub(crate) fn draft(file: &str, bytes: &[u8]) -> (Option<Manifest>, Vec<Diagnostic>) {
    let text = match text_of(file, bytes, "course.toml") {
        Ok(text) => text,
        Err(diagnostic) => return (None, vec![*diagnostic]),
    };
    let source = Source { file: file.to_owned(), text };
    let mut problems = Problems::new(&source);
    let manifest = manifest(&source, &mut problems);
    let mut diagnostics = problems.into_diagnostics();
    diagnostics.sort_by_key(|d| (d.code == Code::TooManyProblems, d.line, d.column));
    (manifest, diagnostics)
}

fn manifest(source: &Source, problems: &mut Problems<'_>) -> Option<Manifest> {
    let body = Place::new(0, source.text.len());
    let mut fields = Fields::read(body, Place::default(), "the course", problems)?;
    fields.require(&[
        ("format", "format = 1"),
        ("id", "id = \"my-course\""),
        ("title", "title = \"...\""),
        ("about", "about = \"...\""),
        ("module", "[[module]] with id = \"...\", title = \"...\" and lessons = [\"module/name\"]"),
    ]);
    fields.format("course");
    let id = fields.line("id").and_then(|text| course_id(&text, &mut fields));
    let title = fields.line("title");
    let about = fields.line("about");
    let license = fields.line("license");
    let authors = fields.texts("authors").unwrap_or_default();
    let modules = fields.tables("module", module);
    let mut seen: Vec<&str> = Vec::new();
    for (module, place) in &modules {
        if seen.contains(&module.id.as_str()) {
            let message = format!("the module `{}` is there twice", shortened(&module.id));
            let help = "give one of the two another id, or make one of them";
            fields.error(Code::DuplicateId, *place, message, help);
        }
        seen.push(&module.id);
    }
    fields.finish();
    Some(Manifest {
        source: source.clone(),
        id: id.unwrap_or_default(),
        title: title.map_or_else(String::new, |title| title.value),
        about: about.map_or_else(String::new, |about| about.value),
        license: license.map(|license| license.value),
        authors: authors.into_iter().map(|author| author.value).collect(),
        modules: modules.into_iter().map(|(module, _)| module).collect(),
    })
}

fn course_id(text: &Located<String>, fields: &mut Fields<'_, '_>) -> Option<CourseId> {
    let id: Option<CourseId> = text.value.parse().ok();
    if id.is_none() {
        let help = "write lower-case letters, digits and hyphens, such as \"ml-systems-2027\"";
        fields.error(Code::BadId, text.place, "this is not a course id", help);
    }
    id
}

/// One `[[module]]`, with the place of its id.
fn module(fields: &mut Fields<'_, '_>) -> Option<(ListedModule, Place)> {
    fields.require(&[
        ("id", "id = \"...\""),
        ("title", "title = \"...\""),
        ("lessons", "lessons = [\"module/name\"]"),
    ]);
    let id = fields.line("id");
    let title = fields.line("title");
    let about = fields.line("about");
    let lessons = fields.texts("lessons").unwrap_or_default();
    let lessons = lessons.into_iter().filter(|listed| is_listable(listed, fields)).collect();
    let id = id?;
    Some((
        ListedModule {
            id: id.value,
            title: title.map_or_else(String::new, |title| title.value),
            about: about.map_or_else(String::new, |about| about.value),
            lessons,
        },
        id.place,
    ))
}

/// Whether a text names a lesson: by its id, or by the path of a file that lies in the course's folder.
fn is_listable(listed: &Located<String>, fields: &mut Fields<'_, '_>) -> bool {
    let text = listed.value.as_str();
    let (message, help) = if !text.ends_with(".md") {
        if text.parse::<LessonId>().is_ok() {
            return true;
        }
        (
            "this is neither a lesson id nor the path of a lesson file",
            "write \"module/name\", or a path within the course that ends in .md",
        )
    } else if crate::course::is_inside(text) {
        return true;
    } else {
        (
            "this path leads out of the course's folder",
            "write a path within it, with / between folders, such as \"gpu/warps.md\"",
        )
    };
    fields.error(Code::BadValue, listed.place, message, help);
    false
}
