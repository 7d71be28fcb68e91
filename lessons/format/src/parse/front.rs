//! The front matter: TOML between two lines of `+++`.

use super::FORMAT;
use super::fields::Fields;
use super::problems::Problems;
use super::split::Lines;
use crate::diagnostic::Code;
use crate::model::{FrontMatter, LessonId, Term};
use crate::source::{Located, Place, Source};

/// The front matter and where the body begins.
pub(super) struct Front {
    pub(super) matter: FrontMatter,
    pub(super) end: usize,
}

const EXAMPLE: &str = "begin the file with\n+++\nformat = 1\nid = \"module/name\"\ntitle = \"...\"\nminutes = 20\n+++";

/// The front matter's fences: what stands between them with the opening one, all of it, and where the body begins.
pub(super) struct Fenced {
    pub(super) body: Option<(Place, Place)>,
    pub(super) place: Place,
    pub(super) end: usize,
}

/// Reads it; what is missing or wrong is reported and stands in as a blank, so that the rest can be read too.
pub(super) fn read(source: &Source, problems: &mut Problems<'_>) -> Front {
    let fenced = fenced(source, problems);
    let matter = fenced.body.and_then(|(body, opening)| matter(body, opening, problems));
    let place = fenced.place;
    Front {
        matter: matter.map_or_else(|| blank(place), |matter| FrontMatter { place, ..matter }),
        end: fenced.end,
    }
}

/// Finds the fences; one that is missing is reported.
pub(super) fn fenced(source: &Source, problems: &mut Problems<'_>) -> Fenced {
    let mut lines = Lines { source, at: 0 };
    let first = lines.find(|line| !source.slice(*line).trim().is_empty());
    let Some(opening) = first.filter(|line| source.slice(*line).trim_end() == "+++") else {
        let place = first.unwrap_or_default();
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
        // Where it was meant to end is anybody's guess; at the first empty line it reads best.
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

fn matter(body: Place, opening: Place, problems: &mut Problems<'_>) -> Option<FrontMatter> {
    let mut fields = Fields::read(body, opening, "the front matter", problems)?;
    fields.require(&[
        ("format", "format = 1"),
        ("id", "id = \"module/name\""),
        ("title", "title = \"...\""),
        ("minutes", "minutes = 20"),
    ]);
    fields.format("lesson");
    let id = fields.text("id").and_then(|text| lesson_id(&text, &mut fields));
    let title = fields.line("title");
    let minutes = fields.integer("minutes", 1..=600);
    let requires = fields.texts("requires").unwrap_or_default();
    let requires = requires
        .iter()
        .filter_map(|text| {
            Some(Located { value: lesson_id(text, &mut fields)?, place: text.place })
        })
        .collect();
    let teaches = fields.texts("teaches").unwrap_or_default();
    let terms = terms(&mut fields);
    // TOML integers are signed, and so is the parameter that the seed becomes.
    let seed = fields.integer("seed", 0..=i64::MAX as u64);
    fields.finish();
    Some(FrontMatter {
        format: FORMAT,
        id: id.unwrap_or_else(LessonId::unread),
        title: title.map_or_else(String::new, |title| title.value),
        lang: None,
        minutes: minutes.map_or(0, |minutes| minutes.value as u32),
        requires,
        teaches: teaches.into_iter().map(|idea| idea.value).collect(),
        terms,
        seed: seed.map_or(1, |seed| seed.value),
        place: body,
    })
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
        let aliases = fields.texts("aliases").unwrap_or_default();
        let about = fields.line("about");
        for spelling in name.iter().chain(&aliases) {
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
            aliases: aliases.into_iter().map(|alias| alias.value).collect(),
            about: about?.value,
        })
    })
}

pub(super) fn lesson_id(text: &Located<String>, fields: &mut Fields<'_, '_>) -> Option<LessonId> {
    match text.value.parse() {
        Ok(id) => Some(id),
        Err(_) => {
            fields.error(
                Code::BadId,
                text.place,
                "this is not a lesson id",
                "write module/name in lower-case letters, digits and hyphens, such as \"systems/training-loop\"",
            );
            None
        }
    }
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
