//! The text of a kernel: places in it, what is wrong with it, and its tokens.

mod complaint;
mod define;
mod scan;
mod token;

pub use complaint::{Complaint, Refused};
pub use token::{Suffix, Token};

pub(super) use define::tokens;
pub(super) use token::Lexeme;

/// Bytes a kernel's text may have.
pub const MOST_BYTES: usize = 64 * 1024;

/// A place in the source, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}
