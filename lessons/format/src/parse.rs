//! From the bytes of a lesson file to a lesson, or to everything that is wrong with it.

mod characters;
mod directive;
mod fields;
mod front;
mod kernel;
mod lab;
mod manifest;
mod parts;
mod problems;
mod question;
mod split;
mod translation;
mod tree;
mod withheld;

use mlsys_lab::Registry;

use crate::diagnostic::{Code, Diagnostic};
use crate::model::Block;
use crate::model::{Lesson, Prose};
use crate::source::{Place, Source};
use crate::validate::validate;

use problems::Problems;
use split::Segment;

pub(crate) use manifest::draft as manifest_draft;
pub(crate) use question::{TYPED, TYPES as QUESTION_TYPES};
pub use translation::read_translation;

/// Largest lesson file that is read, in bytes.
pub const MAX_FILE_BYTES: usize = 1 << 20;

/// Most directives in one lesson.
pub const MAX_DIRECTIVES: usize = 200;

/// The version of the format that this program reads.
pub const FORMAT: u32 = 1;

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

/// Reads a lesson file whose bytes may be anything.
pub fn parse_bytes(file: &str, bytes: &[u8]) -> Parsed {
    let (draft, diagnostics) = draft(file, bytes);
    Parsed::new(draft, diagnostics)
}

/// Reads a lesson file and compares it with the labs there are; all errors of both kinds in file order.
pub fn read(file: &str, bytes: &[u8], registry: &Registry) -> Parsed {
    let (draft, mut diagnostics) = draft(file, bytes);
    if let Some(draft) = &draft {
        diagnostics.extend(validate(draft, registry));
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

/// As much of a lesson as can be read; its errors make it unfit for use but not for finding more errors.
fn draft(file: &str, bytes: &[u8]) -> (Option<Lesson>, Vec<Diagnostic>) {
    let text = match text_of(file, bytes, "lesson") {
        Ok(text) => text,
        Err(diagnostic) => return (None, vec![*diagnostic]),
    };
    let source = Source { file: file.to_owned(), text };
    let mut problems = Problems::new(&source);
    let front = front::read(&source, &mut problems);
    let mut directives = directive::Directives::default();
    let mut blocks = Vec::new();
    for segment in split::split(&source, front.end, &mut problems) {
        match segment {
            Segment::Prose(place) => blocks.extend(prose(&source, place, &mut problems)),
            Segment::Directive(fence) => blocks.extend(directives.read(&fence, &mut problems)),
        }
    }
    let diagnostics = problems.into_diagnostics();
    let lesson = Lesson { front: front.matter, blocks, unread: directives.into_unread(), source };
    (Some(lesson), diagnostics)
}

fn prose(source: &Source, place: Place, problems: &mut Problems<'_>) -> Option<Block> {
    let text = source.slice(place);
    characters::warn(place, problems);
    let markdown = characters::harmless(text);
    let blank = markdown.lines().take_while(|line| line.trim().is_empty()).count();
    let shown = markdown.trim_matches('\n').trim_end();
    (!shown.trim().is_empty()).then(|| {
        Block::Prose(Prose { markdown: shown.to_owned(), line: source.line(place.start) + blank })
    })
}

/// The file as text, without a byte order mark, or why it is none.
fn text_of(file: &str, bytes: &[u8], what: &str) -> Result<String, Box<Diagnostic>> {
    let empty = Source { file: file.to_owned(), text: String::new() };
    let refuse = |code, message: String, help: &str| {
        Err(Box::new(empty.error(code, Place::default(), message).help(help)))
    };
    if bytes.len() > MAX_FILE_BYTES {
        let message = format!("the file has {} bytes, and a {what} has at most 1 MiB", bytes.len());
        return refuse(Code::TooLarge, message, "split it into several lessons");
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) if text.contains('\0') => refuse(
            Code::NotText,
            format!("this is a binary file, not a {what}"),
            "a lesson is Markdown text; `mlsys lesson new PATH` writes one to start from",
        ),
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = valid.iter().filter(|&&byte| byte == b'\n').count() + 1;
            let start = valid.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let message = if bytes.contains(&0) {
                format!("this is a binary file, not a {what}")
            } else {
                format!(
                    "the file is not UTF-8 text: line {line} has the byte 0x{:02x} at offset {}",
                    bytes.get(valid.len()).copied().unwrap_or_default(),
                    valid.len() - start,
                )
            };
            refuse(Code::NotText, message, "save it as UTF-8 text")
        }
    }
}
