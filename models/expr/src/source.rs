//! Sources: their limits, the dialects, and places in them.

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

/// Which part of the language a place understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Answers and checks: dotted names, series, text, every operator.
    Lesson,
    /// Computation graphs: what has a derivative, plain names.
    Graph,
    /// Patterns over threads: integers as in C, plain names, `xor` and `if`.
    Pattern,
    /// Labs that are data: numbers, texts, lists and unset values, dotted names, `if`, tables.
    ClosedForm,
}

impl Dialect {
    pub(crate) const fn place(self) -> &'static str {
        match self {
            Dialect::Lesson => "a lesson's expression",
            Dialect::Graph => "a computation graph",
            Dialect::Pattern => "a pattern over threads",
            Dialect::ClosedForm => "a lab's formula",
        }
    }
}

/// A range of bytes in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
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
