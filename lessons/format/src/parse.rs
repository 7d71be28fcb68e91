//! From the bytes of a lesson file to a lesson, or to everything that is wrong with it.

mod characters;
mod directive;
mod fields;
mod front;
mod inclusion;
mod kernel;
mod keys;
mod question;
mod rules;
mod split;
pub(crate) mod translation;
mod tree;
mod vary;

use mlsys_lab::Registry;
use split::{Segment, source_of};

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{FrontMatter, Lesson};
use crate::validate::validate;

pub use directive::MAX_DIRECTIVES;
pub use fields::FORMAT;
pub(crate) use front::manifest_draft;
pub(crate) use question::TYPED;
pub use split::MAX_FILE_BYTES;

/// What came of a lesson file.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The lesson, unless there is an error.
    pub lesson: Option<Lesson>,
    /// Errors and warnings in file order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a lesson file without looking at the labs there are; `file` is the name that messages begin with.
pub fn parse(file: &str, text: &str) -> Parsed {
    parse_bytes(file, text.as_bytes())
}

/// Reads a lesson file from arbitrary bytes.
pub fn parse_bytes(file: &str, bytes: &[u8]) -> Parsed {
    let (draft, diagnostics) = draft(file, bytes);
    Parsed::new(draft, diagnostics)
}

/// Reads a lesson file and compares it with the labs there are; all errors of both kinds in file order.
pub fn read(file: &str, bytes: &[u8], registry: &Registry) -> Parsed {
    let (mut draft, mut diagnostics) = draft(file, bytes);
    if let Some(draft) = &mut draft {
        diagnostics.extend(validate(draft, registry));
        draft.derive_ranges(registry);
    }
    Parsed::new(draft, diagnostics)
}

impl Parsed {
    fn new(draft: Option<Lesson>, mut diagnostics: Vec<Diagnostic>) -> Self {
        diagnostics.sort_by_key(|d| (d.code == Code::TooManyProblems, d.line, d.column));
        let lesson = draft.filter(|_| !diagnostics.iter().any(Diagnostic::is_error));
        Self { lesson, diagnostics }
    }
}

/// The front matter of a lesson file, if nothing is wrong with it; the rest of the file is not looked at.
pub(crate) fn front_matter(file: &str, bytes: &[u8]) -> Option<FrontMatter> {
    let end = bytes.windows(5).position(|window| window == b"\n+++\n")? + 5;
    let source = source_of(file, &bytes[..end], "lesson").ok()?;
    let mut problems = Problems::new(&source);
    let front = front::read(&source, &mut problems);
    problems.into_diagnostics().is_empty().then_some(front.matter)
}

/// As much of a lesson as can be read; its errors make it unfit for use but not for finding more errors.
fn draft(file: &str, bytes: &[u8]) -> (Option<Lesson>, Vec<Diagnostic>) {
    let source = match source_of(file, bytes, "lesson") {
        Ok(source) => source,
        Err(diagnostic) => return (None, vec![*diagnostic]),
    };
    let mut problems = Problems::new(&source);
    let front = front::read(&source, &mut problems);
    let mut directives = directive::Directives::default();
    let mut blocks = Vec::new();
    for segment in split::split(&source, front.end, &mut problems) {
        match segment {
            Segment::Prose(place) => blocks.extend(directive::prose(&source, place, &mut problems)),
            Segment::Directive(fence) => blocks.extend(directives.read(&fence, &mut problems)),
        }
    }
    let diagnostics = problems.into_diagnostics();
    let lesson = Lesson {
        front: front.matter,
        blocks,
        included: None,
        sheet: None,
        unread: directives.into_unread(),
        source,
    };
    (Some(lesson), diagnostics)
}
