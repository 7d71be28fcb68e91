//! Tokens of the kernel language: from characters, with directives carried out, and text from them again.

mod directives;
mod macros;
mod scanner;

use crate::diagnostic::{Diagnostic, MOST_BYTES, Place};
use crate::lexer::scanner::Scanner;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

mlsys_lab::named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Suffix {
        /// The smallest of int and long long that holds the number.
        None = "",
        Unsigned = "u",
        Long = "ll",
        UnsignedLong = "ull",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Name(String),
    Integer {
        value: u64,
        suffix: Suffix,
        /// Whether it was written in base ten, which decides whether it may become unsigned by itself.
        base: u32,
    },
    /// A number with a fraction or an exponent, of type double.
    Double(f64),
    /// The same with an `f` behind it.
    Float(f32),
    /// What stands between double quotes, as written.
    Text(String),
    Mark(&'static str),
    End,
}

impl Token {
    pub(super) fn whole(&self) -> Option<u64> {
        if let Self::Integer { value, .. } = self { Some(*value) } else { None }
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        matches!(self, Self::Name(own) if own == name)
    }

    /// As C++ reads it again: the same type, the same value.
    pub(crate) fn written(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::Integer { value, suffix, base } => {
                if *base == 10 {
                    format!("{value}{suffix}")
                } else {
                    format!("{value:#x}{suffix}")
                }
            }
            Self::Double(value) if !value.is_finite() => {
                format!("__longlong_as_double({:#x}ll)", value.to_bits())
            }
            Self::Float(value) if !value.is_finite() => {
                format!("__int_as_float({:#x})", value.to_bits())
            }
            Self::Double(value) => format!("{value:?}"),
            Self::Float(value) => format!("{value:?}f"),
            Self::Text(text) => format!("\"{text}\""),
            Self::Mark(mark) => (*mark).to_owned(),
            Self::End => String::new(),
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::End {
            return f.write_str("the end of the text");
        }
        write!(f, "'{}'", self.written())
    }
}

/// A token and where it stands; what a `#define` put there stands where its name was used.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lexeme {
    pub(crate) token: Token,
    pub(crate) place: Place,
}

/// What the text is written from again.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) tokens: Vec<Lexeme>,
    /// Names that are declared, and whether each is a function's or a type's.
    pub(super) declared: BTreeMap<String, bool>,
    /// Tokens that a second compiler is given other words for, by their number.
    pub(super) rewritten: BTreeMap<usize, Cow<'static, str>>,
}

/// The tokens of some words, all at one place.
pub(super) fn words(text: &str, place: Place) -> Vec<Lexeme> {
    let tokens = Scanner::new(text, Vec::new()).tokens();
    tokens.into_iter().map(|token| Lexeme { token, place }).collect()
}

/// A text after its directives.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// Ending with [`Token::End`].
    pub(super) list: Vec<Lexeme>,
    /// What `#pragma kernel` names: a kernel, perhaps with the arguments of its template.
    pub(super) choice: Vec<Lexeme>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Tokens {
    pub(super) fn of(text: &str) -> Self {
        if text.len() > MOST_BYTES {
            let begin = Place { line: 1, column: 1 };
            let bytes = text.len();
            let message =
                format!("a kernel's text has at most {MOST_BYTES} bytes, this one has {bytes}");
            let diagnostics = vec![Diagnostic::new(begin, message, "")];
            return Self { diagnostics, ..Self::default() };
        }
        tokens(text)
    }
}

fn tokens(text: &str) -> Tokens {
    let (logical, splices) = spliced(text);
    let mut scanner = Scanner::new(&logical, splices);
    let pieces = scanner.pieces();
    let lines = text.lines().count().max(1);
    let last = text.lines().last().map_or(0, |line| line.chars().count());
    let end = Place { line: lines as u32, column: last as u32 + 1 };
    let mut tokens = directives::carried_out(pieces, scanner.diagnostics, end);
    tokens.list.push(Lexeme { token: Token::End, place: end });
    if tokens.list.len() > macros::MOST_TOKENS {
        let message = format!("a kernel's text has at most {} tokens", macros::MOST_TOKENS);
        let diagnostics =
            vec![Diagnostic::new(end, message, "leave out what the kernel does not use")];
        return Tokens { diagnostics, ..Tokens::default() };
    }
    tokens
}

/// The text without its line splices, which C++ takes out before comments and tokens, and the places of these as the
/// scanner wants them.
fn spliced(text: &str) -> (String, Vec<usize>) {
    let mut logical = String::new();
    let mut ends = Vec::new();
    for line in text.split_inclusive('\n') {
        let joined = line.strip_suffix("\\\n").or(line.strip_suffix("\\\r\n"));
        logical.push_str(joined.unwrap_or(line));
        ends.extend(joined.map(|_| logical.len()));
    }
    let left = ends.into_iter().rev().map(|end| logical.len() - end).collect();
    (logical, left)
}

/// Ends each name that a text declares, so that none of them is a word, a macro or a function of another compiler.
const SUFFIX: &str = "_k";

/// The text again, each token on its line: what a second compiler is given. At the places `builtins` a function of CUDA is
/// called although the text declares its name, at `objects` a variable.
pub(super) fn regenerated(
    written: &Written,
    builtins: &BTreeSet<Place>,
    objects: &BTreeSet<Place>,
) -> String {
    let Written { tokens, declared, rewritten } = written;
    let mut text = String::new();
    let mut line = 1;
    let mut before = &Token::End;
    for (at, Lexeme { token, place }) in tokens.iter().enumerate() {
        text.extend((line..place.line).map(|_| '\n'));
        line = place.line;
        let is_called = tokens.get(at + 1).is_some_and(|next| next.token == Token::Mark("("))
            && !rewritten.contains_key(&(at + 1));
        if let Some(words) = rewritten.get(&at) {
            text.push_str(words);
            text.push(' ');
            before = token;
            continue;
        }
        text.push_str(&token.written());
        if let Token::Name(name) = token
            && !matches!(before, Token::Mark("." | "->"))
            && declared
                .get(name)
                .is_some_and(|is_function| *is_function || !is_called || objects.contains(place))
            && !(is_called && builtins.contains(place))
        {
            text.push_str(SUFFIX);
        }
        text.push(' ');
        before = token;
    }
    text
}
