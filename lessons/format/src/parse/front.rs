//! The front matter: TOML between two lines of `+++`.

use crate::diagnostic::{Code, Diagnostic, Located, Place, Problems, Source, shortened};
use crate::model::{CourseId, FrontMatter, LessonId, ListedModule, Manifest, Term, is_inside};
use crate::parse::fields::{FORMAT, Fields};
use crate::parse::keys::lesson_id;
use crate::parse::split::{Lines, source_of};
use crate::parse::{inclusion, rules};

/// The front matter and where the body begins.
pub(super) struct Front {
    pub(super) matter: FrontMatter,
    pub(super) end: usize,
}

const EXAMPLE: &str = "begin the file with\n+++\nformat = 1\nid = \"module/name\"\ntitle = \"...\"\nminutes = 20\n+++";

/// The front matter: its TOML after the opening fence, the whole of it, and where the lesson's text begins.
pub(super) struct Fenced {
    pub(super) body: Option<(Place, Place)>,
    pub(super) place: Place,
    pub(super) end: usize,
}

/// Reads it; missing or wrong keys are reported and become blanks, so that the rest can be read too.
pub(super) fn read(source: &Source, problems: &mut Problems<'_>) -> Front {
    let fenced = fenced(source, problems);
    let mut front = Front { matter: blank(fenced.place), end: fenced.end };
    if let Some((body, opening)) = fenced.body {
        matter(body, opening, &mut front.matter, problems);
    }
    front
}

/// Finds the fences; one that is missing is reported.
pub(super) fn fenced(source: &Source, problems: &mut Problems<'_>) -> Fenced {
    let mut lines = Lines { source, at: 0 };
    let first = lines.find(|line| !source.slice(*line).trim().is_empty());
    let Some(opening) = first.filter(|line| source.slice(*line).trim_end() == "+++") else {
        let place = first.unwrap_or(Place::new(0, 0));
        problems.error(Code::FrontMatter, place, "the lesson has no front matter", EXAMPLE);
        return Fenced { body: None, place: Place::default(), end: 0 };
    };
    let closing = lines.find(|line| source.slice(*line).trim_end() == "+++");
    let Some(closing) = closing else {
        problems.error(
            Code::FrontMatter,
            Place::new(opening.start, opening.start + 3),
            "the front matter is never closed",
            "close it with a line of +++",
        );
        // Its end is unknown; assuming the first empty line gives the fewest further errors.
        let mut lines = Lines { source, at: opening.end };
        let end = lines.find(|line| source.slice(*line).trim().is_empty());
        return Fenced {
            body: None,
            place: opening,
            end: end.map_or(source.text.len(), |line| line.end),
        };
    };
    let body = Place::new(opening.end, closing.start);
    let place = Place::new(opening.start, closing.end);
    let opening = Place::new(opening.start, opening.start + 3);
    Fenced { body: Some((body, opening)), place, end: closing.end }
}

fn matter(body: Place, opening: Place, matter: &mut FrontMatter, problems: &mut Problems<'_>) {
    let Some(mut fields) = Fields::read(body, opening, "the front matter", problems) else {
        return;
    };
    fields.require(&[
        ("format", "format = 1"),
        ("id", "id = \"module/name\""),
        ("title", "title = \"...\""),
        ("minutes", "minutes = 20"),
    ]);
    fields.format("lesson");
    if let Some(id) = fields.text("id").and_then(|text| lesson_id(&text, &mut fields)) {
        matter.id = id;
    }
    matter.title = fields.line("title").map_or_else(String::new, |title| title.value);
    matter.minutes = fields.integer("minutes", 1..=600).map_or(0, |minutes| minutes.value as u32);
    for text in fields.texts("requires").into_iter().flatten() {
        let id = lesson_id(&text, &mut fields);
        matter.requires.extend(id.map(|value| Located { value, place: text.place }));
    }
    matter.teaches = fields.strings("teaches");
    matter.terms = terms(&mut fields);
    // TOML integers are signed, and so is the parameter that the seed becomes.
    matter.seed = fields.integer("seed", 0..=i64::MAX as u64).map_or(1, |seed| seed.value);
    fields.finish();
}

/// Longest definition of a term, in characters: what can be read at a glance.
const LONGEST_TERM: usize = 300;

/// Takes the terms that a lesson adds to the glossary; no name may stand for two of them.
pub(super) fn terms(fields: &mut Fields<'_, '_>) -> Vec<Term> {
    let mut names: Vec<String> = Vec::new();
    fields.tables("term", |fields| {
        fields.require(&[
            ("name", "name = \"...\""),
            ("about", "about = \"...\", what it is in a sentence or two"),
        ]);
        let name = fields.line("name");
        let aliases = fields.texts("aliases");
        let about = fields.line("about");
        for spelling in name.iter().chain(aliases.iter().flatten()) {
            let folded = spelling.value.to_lowercase();
            if names.contains(&folded) {
                fields.error(
                    Code::DuplicateId,
                    spelling.place,
                    "a term of this lesson has this name already",
                    "give each name to one term",
                );
            }
            names.push(folded);
        }
        let length = about.as_ref().map_or(0, |about| about.value.chars().count());
        if let Some(about) = about.as_ref().filter(|_| length > LONGEST_TERM) {
            fields.error(
                Code::BadValue,
                about.place,
                format!("this definition has {length} characters"),
                format!("say it in at most {LONGEST_TERM}; the lesson's text has room for more"),
            );
        }
        Some(Term {
            name: name?.value,
            aliases: aliases.into_iter().flatten().map(|alias| alias.value).collect(),
            about: about?.value,
        })
    })
}

fn blank(place: Place) -> FrontMatter {
    FrontMatter {
        format: FORMAT,
        id: LessonId::unread(),
        title: String::new(),
        lang: None,
        minutes: 0,
        requires: Vec::new(),
        teaches: Vec::new(),
        terms: Vec::new(),
        seed: 1,
        place,
    }
}

/// As much of a manifest as can be read; its errors make it unfit for use but not for finding more errors.
pub(crate) fn manifest_draft(file: &str, bytes: &[u8]) -> (Option<Manifest>, Vec<Diagnostic>) {
    let source = match source_of(file, bytes, "course.toml") {
        Ok(source) => source,
        Err(diagnostic) => return (None, vec![*diagnostic]),
    };
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
    let authors = fields.strings("authors");
    let salt = fields.line("salt");
    let grading_place = fields.place_of("grading");
    let grading = fields.table("grading", |fields| Some(rules::read(fields)));
    let modules = fields.tables("module", module);
    let inclusions = fields.tables("lesson", inclusion::read);
    let mut seen: Vec<&str> = Vec::new();
    for (module, place) in &modules {
        if seen.contains(&module.id.as_str()) {
            let message = format!("the module `{}` is there twice", shortened(&module.id));
            let help = "give one of the two another id, or make one of them";
            fields.error(Code::DuplicateId, *place, message, help);
        }
        seen.push(&module.id);
    }
    if let (Some(place), Some(rules)) = (grading_place, &grading)
        && modules.iter().all(|(module, _)| module.due.is_none())
        && inclusions.iter().all(|inclusion| inclusion.due.is_none())
    {
        rules::warn_unused(rules, place, &mut fields);
    }
    fields.finish();
    Some(Manifest {
        source: source.clone(),
        id: id.unwrap_or_else(CourseId::built_in),
        title: title.map_or_else(String::new, |title| title.value),
        about: about.map_or_else(String::new, |about| about.value),
        license: license.map(|license| license.value),
        authors,
        salt: salt.map_or_else(String::new, |salt| salt.value),
        grading: grading.unwrap_or_default(),
        modules: modules.into_iter().map(|(module, _)| module).collect(),
        inclusions,
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
    let mut lessons = fields.texts("lessons");
    lessons.iter_mut().for_each(|lessons| lessons.retain(|listed| is_listable(listed, fields)));
    let due = fields.time("due").map(|due| due.value);
    let id = id?;
    Some((
        ListedModule {
            id: id.value,
            title: title.map_or_else(String::new, |title| title.value),
            about: about.map_or_else(String::new, |about| about.value),
            lessons: lessons.into_iter().flatten().collect(),
            due,
        },
        id.place,
    ))
}

/// Whether a text names a lesson: by its id, or by the path of a file that lies in the course's folder.
fn is_listable(listed: &Located<String>, fields: &mut Fields<'_, '_>) -> bool {
    let text = listed.value.as_str();
    let is_path = text.ends_with(".md");
    let is_listable = if is_path { is_inside(text) } else { text.parse::<LessonId>().is_ok() };
    if !is_listable {
        let (message, help) = if is_path {
            (
                "this path leads out of the course's folder",
                "write a path within it, with / between folders, such as \"gpu/warps.md\"",
            )
        } else {
            (
                "this is neither a lesson id nor the path of a lesson file",
                "write \"module/name\", or a path within the course that ends in .md",
            )
        };
        fields.error(Code::BadValue, listed.place, message, help);
    }
    is_listable
}
