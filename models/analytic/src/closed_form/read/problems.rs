//! What is wrong with a file so far, and texts that know their place in it.

use std::ops::Range;

use mlsys_expr::{Dialect, Expr, Span, parse};

use super::super::{Mistake, Problem};

/// Most problems that are told of one file.
pub(super) const MAX_PROBLEMS: usize = 60;

pub(super) struct Problems<'s> {
    pub(super) source: &'s str,
    pub(super) found: Vec<Problem>,
}

impl Problems<'_> {
    pub(super) fn add(
        &mut self,
        mistake: Mistake,
        place: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        if self.found.len() < MAX_PROBLEMS {
            let help = Some(help.into()).filter(|help: &String| !help.is_empty());
            self.found.push(Problem { mistake, place, message: message.into(), help });
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) value: String,
    pub(super) place: Range<usize>,
    /// Where its first character stands, if it stands in the file letter by letter.
    pub(super) start: Option<usize>,
}

impl Text {
    /// The part of the file that a part of the text stands in, or all of it where escapes move the letters.
    pub(super) fn within(&self, span: Span) -> Range<usize> {
        match self.start {
            Some(start) => start + span.start..start + span.end.max(span.start),
            None => self.place.clone(),
        }
    }

    pub(super) fn part(&self, range: Range<usize>) -> Self {
        Self {
            value: slice(&self.value, range.clone()).to_owned(),
            place: self.within(Span { start: range.start, end: range.end }),
            start: self.start.map(|start| start + range.start),
        }
    }
}

pub(super) fn parsed(text: &Text, problems: &mut Problems<'_>) -> Option<Expr> {
    match parse(&text.value, Dialect::ClosedForm) {
        Ok(expr) => Some(expr),
        Err(error) => {
            let place = text.within(error.span);
            let help = error.help.unwrap_or_else(String::new);
            problems.add(Mistake::Expression, place, error.message, help);
            None
        }
    }
}

/// A part of a text; nothing where it is cut within a character.
pub(super) fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or("")
}
