//! A lesson's body as prose and fenced directives.

use crate::diagnostic::{Code, Diagnostic, Located, Place, Problems, Source};

/// Largest lesson file that is read, in bytes.
pub const MAX_FILE_BYTES: usize = 1 << 20;

/// A part of the body.
pub(super) enum Segment {
    Prose(Place),
    /// A fence with an info string that begins with a brace.
    Directive(Directive),
}

/// A fenced directive, not yet read.
pub(super) struct Directive {
    /// The word in braces.
    pub(super) name: Located<String>,
    /// What follows the braces.
    pub(super) id: Located<String>,
    /// The lines between the fences.
    pub(super) body: Place,
    /// All of it, fences included.
    pub(super) place: Place,
    pub(super) opening: Place,
}

/// A line that opens or closes a fence.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
    /// What follows the marks, trimmed.
    info: Place,
}

impl Fence {
    /// As CommonMark has it: up to three spaces, three or more of one mark, and no backtick after backticks.
    fn parse(line: &str, start: usize) -> Option<Self> {
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let after = text.trim_start_matches(mark);
        let length = text.len() - after.len();
        if indent > 3 || length < 3 || (mark == '`' && after.contains('`')) {
            return None;
        }
        let info = after.trim();
        let info_start = start + indent + length + (after.len() - after.trim_start().len());
        Some(Self { mark, length, info: Place::new(info_start, info_start + info.len()) })
    }

    fn closes(&self, opened: &Self) -> bool {
        self.mark == opened.mark && self.length >= opened.length && self.info.start == self.info.end
    }

    fn is_directive(&self, source: &Source) -> bool {
        source.slice(self.info).starts_with('{')
    }
}

/// Splits the body that begins at a byte.
///
/// A fence that is never closed is an error and is taken to end where the next directive begins, so that one
/// forgotten fence does not hide the errors after it.
pub(super) fn split(source: &Source, start: usize, problems: &mut Problems<'_>) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut prose_from = start;
    let mut lines = Lines { source, at: start };
    while let Some(line) = lines.next() {
        let text = source.slice(line);
        let Some(fence) = Fence::parse(text, line.start) else {
            warn_of_indented_directive(text, line, problems);
            continue;
        };
        let (body, end) = fenced(source, &fence, &mut lines);
        if end.is_none() {
            problems.error(
                Code::UnclosedFence,
                trimmed(text, line),
                "this fence is never closed",
                format!("close it with a line of {}", fence.mark.to_string().repeat(fence.length)),
            );
        }
        let end = end.unwrap_or(body.end);
        if fence.is_directive(source) {
            segments.push(Segment::Prose(Place::new(prose_from, line.start)));
            prose_from = end;
            segments.push(Segment::Directive(Directive {
                body,
                place: Place::new(line.start, end),
                opening: trimmed(text, line),
                ..head(source, fence.info)
            }));
        }
    }
    segments.push(Segment::Prose(Place::new(prose_from, source.text.len())));
    segments
}

/// The lines up to the closing fence, and the end of that fence if there is one.
///
/// A directive that begins before the fence is closed shows that its closing line was forgotten; a fence that is to
/// show a directive has more marks than that directive, as Markdown has it.
fn fenced(source: &Source, opened: &Fence, lines: &mut Lines<'_>) -> (Place, Option<usize>) {
    let start = lines.at;
    while let Some(line) = lines.next() {
        let Some(fence) = Fence::parse(source.slice(line), line.start) else { continue };
        if fence.closes(opened) {
            return (Place::new(start, line.start), Some(line.end));
        }
        let same = fence.mark == opened.mark && fence.length >= opened.length;
        if same && fence.is_directive(source) {
            lines.at = line.start;
            break;
        }
    }
    (Place::new(start, lines.at), None)
}

/// Reads `{name} id`; the other fields are filled in by the caller.
fn head(source: &Source, info: Place) -> Directive {
    let text = source.slice(info);
    let (name_end, rest) = match text.find('}') {
        Some(close) => (close, close + 1),
        None => (text.len(), text.len()),
    };
    let located = |from: usize, to: usize| {
        let raw = text.get(from..to).unwrap_or("");
        let value = raw.trim();
        let start = info.start + from + (raw.len() - raw.trim_start().len());
        Located { value: value.to_owned(), place: Place::new(start, start + value.len()) }
    };
    Directive {
        name: located(1, name_end),
        id: located(rest, text.len()),
        body: Place::default(),
        place: info,
        opening: info,
    }
}

fn warn_of_indented_directive(text: &str, line: Place, problems: &mut Problems<'_>) {
    let inner = text.trim_start();
    if inner.len() < text.len() && (inner.starts_with("```{") || inner.starts_with("~~~{")) {
        problems.error(
            Code::UnknownDirective,
            trimmed(text, line),
            "this directive is indented so far that Markdown takes it for code",
            "begin it in the first column",
        );
    }
}

/// The place of a line without the white space around it.
fn trimmed(text: &str, line: Place) -> Place {
    let start = line.start + (text.len() - text.trim_start().len());
    Place::new(start, start + text.trim().len())
}

/// The lines of a text with their places, line ends included.
pub(super) struct Lines<'s> {
    pub(super) source: &'s Source,
    pub(super) at: usize,
}

impl Iterator for Lines<'_> {
    type Item = Place;

    fn next(&mut self) -> Option<Place> {
        let rest = self.source.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
        let line = Place::new(self.at, self.at + length);
        self.at = line.end;
        Some(line)
    }
}

/// The file as text, without a byte order mark, or why it is none.
pub(super) fn source_of(file: &str, bytes: &[u8], what: &str) -> Result<Source, Box<Diagnostic>> {
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
        Ok(text) => Ok(Source { text: text.to_owned(), ..empty }),
        Err(error) => {
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            let line = valid.iter().filter(|&&byte| byte == b'\n').count() + 1;
            let start = valid.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let message = if bytes.contains(&0) {
                format!("this is a binary file, not a {what}")
            } else {
                format!(
                    "the file is not UTF-8 text: line {line} has the byte 0x{:02x} at offset {}",
                    rest[0],
                    valid.len() - start,
                )
            };
            refuse(Code::NotText, message, "save it as UTF-8 text")
        }
    }
}
