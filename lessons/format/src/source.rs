//! The text of a lesson file and places in it.

use mlsys_expr::Span;

use crate::diagnostic::{Code, Diagnostic, Severity};

/// A range of bytes in a lesson file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value and where it stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub place: Place,
}

/// A lesson file: its name for messages and its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The name messages begin with: a path, or the id of a built-in lesson.
    pub file: String,
    /// The whole text.
    pub text: String,
}

impl Place {
    /// The bytes from `start` up to `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The part of this place that a span of an expression covers. If the text does not stand in the file letter by
    /// letter, as with escapes in it, that is the whole place.
    pub(crate) fn within(self, text: &str, span: Span) -> Self {
        if self.end - self.start == text.len() {
            Self::new(self.start + span.start, self.start + span.end)
        } else {
            self
        }
    }
}

impl Source {
    /// Line and column of a byte, both from 1; columns count characters.
    pub fn locate(&self, byte: usize) -> (usize, usize) {
        let before = self.before(byte);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        // Counting bytes goes many at a time; places are asked for by the hundred in every lesson.
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let column = before.get(line_start..).map_or(0, |text| text.chars().count()) + 1;
        (line, column)
    }

    /// The line a byte stands in, from 1.
    pub fn line(&self, byte: usize) -> usize {
        self.locate(byte).0
    }

    /// The text of a place; empty if the place is not in this file.
    pub fn slice(&self, place: Place) -> &str {
        self.text.get(place.start..place.end).unwrap_or_default()
    }

    /// An error at a place.
    pub fn error(&self, code: Code, place: Place, message: impl Into<String>) -> Diagnostic {
        self.diagnostic(Severity::Error, code, place, message.into())
    }

    /// A warning at a place.
    pub(crate) fn warning(
        &self,
        code: Code,
        place: Place,
        message: impl Into<String>,
    ) -> Diagnostic {
        self.diagnostic(Severity::Warning, code, place, message.into())
    }

    fn diagnostic(
        &self,
        severity: Severity,
        code: Code,
        place: Place,
        message: String,
    ) -> Diagnostic {
        let (line, column) = self.locate(place.start);
        let source_line = self.text.lines().nth(line - 1).unwrap_or_default();
        let rest_of_line = source_line.chars().count().saturating_sub(column - 1);
        let length = self.slice(place).chars().count();
        Diagnostic {
            severity,
            code,
            message: one_line(&message),
            file: self.file.clone(),
            line,
            column,
            length: length.min(rest_of_line).max(1),
            source_line: source_line.to_owned(),
            help: None,
        }
    }

    fn before(&self, byte: usize) -> &str {
        let mut end = byte.min(self.text.len());
        // A place inside a character counts as its first byte.
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        self.text.get(..end).unwrap_or_default()
    }
}

/// Whether a character reorders the text around it, so that a line reads otherwise than it is.
pub(crate) fn reorders(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The beginning of a text that somebody wrote, for a message.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 48;
    if text.chars().count() <= MOST {
        one_line(text)
    } else {
        let start: String = text.chars().take(MOST).collect();
        format!("{}…", one_line(&start))
    }
}

/// A text on one line and harmless to print.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => ' ',
            c if c.is_control() || reorders(c) => '\u{fffd}',
            c => c,
        })
        .collect()
}
