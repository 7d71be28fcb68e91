//! Tokens of the kernel language.

use std::fmt;

use super::Place;

/// What follows a number's digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suffix {
    /// Nothing: the smallest of int and long long that holds it.
    None,
    /// `u`.
    Unsigned,
    /// `ll`.
    Long,
    /// `ull`.
    UnsignedLong,
}

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// An identifier or a keyword.
    Name(String),
    /// A whole number.
    Integer {
        /// Its value.
        value: u64,
        /// What it was marked as.
        suffix: Suffix,
        /// Whether it was written in base ten, which decides whether it may become unsigned by itself.
        base: u32,
    },
    /// A number with a fraction or an exponent, of type double.
    Double(f64),
    /// The same with an `f` behind it.
    Float(f32),
    /// An operator or a bracket.
    Mark(&'static str),
    /// The end of the text.
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "'{name}'"),
            Self::Integer { value, .. } => write!(f, "'{value}'"),
            Self::Double(value) => write!(f, "'{value}'"),
            Self::Float(value) => write!(f, "'{value}f'"),
            Self::Mark(mark) => write!(f, "'{mark}'"),
            Self::End => f.write_str("the end of the text"),
        }
    }
}

/// A token and where it stands; what a `#define` put there stands where its name was used.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lexeme {
    pub(crate) token: Token,
    pub(crate) place: Place,
}

/// Operators and brackets, the longest first.
pub(super) const MARKS: [&str; 51] = [
    "<<<", ">>>", "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
    "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "+", "-", "*", "/", "%", "=", "<",
    ">", "!", "~", "&", "|", "^", "?", ":", ";", ",", ".", "(", ")", "[", "]", "{", "}", "#", "@",
];
