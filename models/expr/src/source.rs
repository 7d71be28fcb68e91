//! Sources: their limits, the dialects, places in them, and the line that an error is about with carets under the place,
//! the one way in which expressions, lesson files and kernels show their errors.
//!
//! annotate-snippets draws the same but decides the whole layout: a bar before each help, another expansion of tabs.
//! The layouts here are documented, and an expression's error has its place in its first line.

use crate::named_enum;

/// Longest source that is read, in bytes.
pub const MAX_BYTES: usize = 4096;

/// Most nodes in one source.
pub const MAX_NODES: usize = 1024;

/// Longest source of several statements that is read, in bytes.
pub const MAX_PROGRAM_BYTES: usize = 1 << 20;

/// Most nodes in all statements of one source; each statement keeps to [`MAX_NODES`] and [`MAX_DEPTH`], so the work is
/// linear and no stack grows with it.
pub const MAX_PROGRAM_NODES: usize = 100_000;

/// Deepest nesting: of parentheses in the source and of nodes in the tree. A chain of n operators is n deep.
pub const MAX_DEPTH: usize = 64;

named_enum! {
    /// Which part of the language a place understands; its name is that place.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Dialect {
        /// Answers and checks: dotted names, series, text, every operator.
        Lesson = "a lesson's expression",
        /// Computation graphs: what has a derivative, plain names.
        Graph = "a computation graph",
        /// Patterns over threads: integers as in C, plain names, `xor` and `if`.
        Pattern = "a pattern over threads",
        /// Labs that are data: numbers, texts, lists and unset values, dotted names, `if`, tables.
        ClosedForm = "a lab's formula",
    }
}

/// A range of bytes in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub(crate) const fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end }
    }

    /// Column of the first character within `source`, counted in characters from 1.
    pub fn column(self, source: &str) -> usize {
        source.char_indices().take_while(|(offset, _)| *offset < self.start).count() + 1
    }
}

/// Characters of a long line that are shown.
const WIDTH: usize = 100;

/// A part of a line that fits a terminal, and the carets for the line below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// As much of the line as fits, harmless to print.
    pub line: String,
    /// Spaces up to the place, then at least one caret.
    pub mark: String,
}

impl Excerpt {
    /// The part of `line` around the `length` characters that begin after `before` characters.
    pub fn new(line: &str, before: usize, length: usize) -> Self {
        let count = line.chars().count();
        let at = before.min(count);
        let start = if at < WIDTH { 0 } else { at - WIDTH / 2 };
        let line: String = line.chars().skip(start).take(WIDTH).map(printable).collect();
        let room = (count - start).min(WIDTH).saturating_sub(at - start);
        let carets = "^".repeat(length.min(room).max(1));
        Self { line, mark: format!("{}{carets}", " ".repeat(at - start)) }
    }
}

/// One column for each character: a tab is a space, and what would move or recolour the terminal is replaced.
fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if steers_terminal(c) => '\u{fffd}',
        c => c,
    }
}

/// Whether a character moves, recolours or reorders what a terminal shows, instead of being shown on it.
pub fn steers_terminal(c: char) -> bool {
    c.is_control() || reorders(c)
}

/// Whether a character reorders the text around it, so that a line reads otherwise than it is.
pub const fn reorders(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_under_the_place() {
        for (line, before, length, shown, mark) in [
            ("a + bc", 4, 2, "a + bc", "    ^^"),
            ("a +", 3, 0, "a +", "   ^"),
            ("é\t\u{1b}?", 3, 1, "é \u{fffd}?", "   ^"),
            ("a + b", 4, 9, "a + b", "    ^"),
            ("", 7, 1, "", "^"),
        ] {
            let expected = Excerpt { line: shown.to_owned(), mark: mark.to_owned() };
            assert_eq!(Excerpt::new(line, before, length), expected);
        }
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let line = format!("{}?{}", "a".repeat(300), "b".repeat(300));
        let excerpt = Excerpt::new(&line, 300, 200);
        assert_eq!(excerpt.line, format!("{}?{}", "a".repeat(50), "b".repeat(49)));
        assert_eq!(excerpt.mark, format!("{}{}", " ".repeat(50), "^".repeat(50)));
    }
}
