//! Tokens of the kernel language: from characters, with `#define` constants put in, and text from them again.

mod defines;

use crate::diagnostic::{Diagnostic, MOST_BYTES, Place};
use crate::lexer::defines::Defines;
use std::collections::BTreeMap;
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
    Mark(&'static str),
    End,
}

impl Token {
    /// As C++ reads it again: the same type, the same value.
    fn written(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::Integer { value, suffix, base } => {
                if *base == 10 {
                    format!("{value}{suffix}")
                } else {
                    format!("{value:#x}{suffix}")
                }
            }
            Self::Double(value) => format!("{value:?}"),
            Self::Float(value) => format!("{value:?}f"),
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

/// What stands for a token that cannot be read.
const ZERO: Token = Token::Integer { value: 0, suffix: Suffix::None, base: 10 };

/// Operators and brackets, the longest first.
const MARKS: [&str; 51] = [
    "<<<", ">>>", "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
    "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "+", "-", "*", "/", "%", "=", "<",
    ">", "!", "~", "&", "|", "^", "?", ":", ";", ",", ".", "(", ")", "[", "]", "{", "}", "#", "@",
];

/// A piece of the text: a token, or a directive with its own tokens.
enum Piece {
    Token(Lexeme),
    /// `#word` and the rest of its line; `touching` tells whether a bracket touches the second word.
    Directive {
        place: Place,
        tokens: Vec<Lexeme>,
        touching: bool,
    },
}

struct Scanner<'a> {
    rest: &'a str,
    /// Of each line splice ahead, the last first, how many bytes are left behind it.
    splices: Vec<usize>,
    place: Place,
    /// Whether only blanks stood before on this line.
    fresh: bool,
    diagnostics: Vec<Diagnostic>,
}

impl Scanner<'_> {
    fn pieces(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while let Some(lexeme) = self.next(false) {
            if lexeme.token == Token::Mark("#") {
                pieces.push(self.directive(lexeme.place));
            } else {
                pieces.push(Piece::Token(lexeme));
            }
        }
        pieces
    }

    fn directive(&mut self, place: Place) -> Piece {
        let mut tokens = Vec::new();
        let mut touching = false;
        while let Some(lexeme) = self.next(true) {
            tokens.push(lexeme);
            if let [word, Lexeme { token: Token::Name(_), .. }] = tokens.as_slice() {
                let is_define = word.token == Token::Name("define".to_owned());
                touching |= is_define && self.rest.starts_with('(');
            }
        }
        Piece::Directive { place, tokens, touching }
    }

    fn skip_line(&mut self) {
        while self.rest.chars().next().is_some_and(|c| c != '\n') {
            self.step();
        }
    }

    fn step(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.place = Place { line: self.place.line + 1, column: 1 };
            self.fresh = true;
        } else {
            self.place.column += 1;
        }
        if c == '\r' && !self.rest.starts_with('\n') {
            let message = "a carriage return without a line feed: compilers disagree on whether a line ends there";
            self.complain(self.place, message, "end lines with \\n or \\r\\n");
        }
        self.cross_splices();
        Some(c)
    }

    fn cross_splices(&mut self) {
        while self.splices.pop_if(|left| *left == self.rest.len()).is_some() {
            self.place = Place { line: self.place.line + 1, column: 1 };
        }
    }

    fn steps(&mut self, count: usize) {
        for _ in 0..count {
            self.step();
        }
    }

    fn complain(&mut self, place: Place, message: impl Into<String>, help: &str) {
        self.diagnostics.push(Diagnostic::new(place, message, help));
    }

    /// The next token; inside a directive, none at the end of the line.
    fn next(&mut self, directive: bool) -> Option<Lexeme> {
        loop {
            let c = self.rest.chars().next()?;
            let place = self.place;
            if c == '\n' && directive {
                return None;
            } else if c.is_ascii_whitespace() {
                self.step();
            } else if self.rest.starts_with("//") {
                self.skip_line();
            } else if self.rest.starts_with("/*") {
                self.comment(place);
            } else if c == '"' || c == '\'' {
                let help = "a kernel works with numbers; write a character as its number";
                self.complain(place, "texts and characters are not part of this", help);
                self.step();
                while self.rest.chars().next().is_some_and(|next| next != '\n') {
                    if self.step() == Some(c) {
                        break;
                    }
                }
                return Some(Lexeme { token: ZERO, place });
            } else if c == '#' && !self.fresh {
                self.complain(place, "'#' stands only at the beginning of a line", "");
                self.step();
            } else {
                self.fresh = false;
                if let Some(token) = self.token(c, place) {
                    return Some(Lexeme { token, place });
                }
            }
        }
    }

    fn comment(&mut self, place: Place) {
        let length = self.rest.find("*/");
        let Some(length) = length else {
            self.complain(place, "this comment never ends", "close it with */");
            self.steps(self.rest.chars().count());
            return;
        };
        let fresh = self.fresh;
        let end = self.rest.len() - length - 2;
        while self.rest.len() > end {
            self.step();
        }
        // A comment is one space, also over several lines.
        self.fresh = fresh;
    }

    fn token(&mut self, c: char, place: Place) -> Option<Token> {
        if c.is_ascii_alphabetic() || c == '_' {
            let other = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
            let length = self.rest.find(other).unwrap_or(self.rest.len());
            let name = self.rest[..length].to_owned();
            self.steps(length);
            return Some(Token::Name(name));
        }
        let second = self.rest.chars().nth(1);
        if c.is_ascii_digit() || (c == '.' && second.is_some_and(|d| d.is_ascii_digit())) {
            return Some(self.number(place));
        }
        if let Some(mark) = MARKS.iter().find(|mark| self.rest.starts_with(**mark)) {
            self.steps(mark.len());
            return Some(Token::Mark(mark));
        }
        self.complain(place, format!("'{}' means nothing here", c.escape_debug()), "remove it");
        self.step();
        None
    }

    fn number(&mut self, place: Place) -> Token {
        let text = self.rest;
        let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
        let mut length = 0;
        let mut previous = ' ';
        for c in text.chars() {
            let sign = (c == '+' || c == '-') && !hexadecimal && matches!(previous, 'e' | 'E');
            if !(c.is_ascii_alphanumeric() || c == '.' || c == '_' || c == '\'' || sign) {
                break;
            }
            previous = c;
            length += c.len_utf8();
        }
        let written = &text[..length];
        self.steps(length);
        let read = if hexadecimal || !written.contains(['.', 'e', 'E']) {
            integer(written)
        } else {
            real(written)
        };
        read.unwrap_or_else(|| {
            self.complain(
                place,
                format!("'{written}' is no number that this language has"),
                "write 42, 42u, 42ll, 0x2a, 1.5f or 1.5; long, with one l, differs between systems",
            );
            ZERO
        })
    }
}

fn integer(written: &str) -> Option<Token> {
    let lower = written.to_ascii_lowercase();
    let (digits, base) = if let Some(digits) = lower.strip_prefix("0x") {
        (digits, 16)
    } else if let Some(digits) = lower.strip_prefix("0b") {
        (digits, 2)
    } else if lower.len() > 1 && lower.starts_with('0') && lower.as_bytes()[1].is_ascii_digit() {
        (&lower[1..], 8)
    } else {
        (lower.as_str(), 10)
    };
    let ends = [
        ("ull", Suffix::UnsignedLong),
        ("llu", Suffix::UnsignedLong),
        ("ll", Suffix::Long),
        ("u", Suffix::Unsigned),
        ("", Suffix::None),
    ];
    let (digits, suffix) =
        ends.iter().find_map(|(end, suffix)| Some((digits.strip_suffix(end)?, *suffix)))?;
    if !digits.chars().all(|c| c.is_digit(base)) {
        return None;
    }
    let value = u64::from_str_radix(digits, base).ok()?;
    Some(Token::Integer { value, suffix, base })
}

fn real(written: &str) -> Option<Token> {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    match written.strip_suffix(['f', 'F']) {
        Some(digits) if digits.chars().all(plain) => {
            digits.parse().ok().filter(|value: &f32| value.is_finite()).map(Token::Float)
        }
        None if written.chars().all(plain) => {
            written.parse().ok().filter(|value: &f64| value.is_finite()).map(Token::Double)
        }
        Some(_) | None => None,
    }
}

/// The tokens of a text with its constants put in, ending with [`Token::End`], and what is wrong with it.
pub(super) fn tokens(text: &str) -> (Vec<Lexeme>, Vec<Diagnostic>) {
    let begin = Place { line: 1, column: 1 };
    if text.len() > MOST_BYTES {
        let message =
            format!("a kernel's text has at most {MOST_BYTES} bytes, this one has {}", text.len());
        return (Vec::new(), vec![Diagnostic::new(begin, message, "")]);
    }
    let (logical, splices) = spliced(text);
    let mut scanner =
        Scanner { rest: &logical, splices, place: begin, fresh: true, diagnostics: Vec::new() };
    scanner.cross_splices();
    let pieces = scanner.pieces();
    let mut defines = Defines::new(scanner.diagnostics);
    for piece in pieces {
        match piece {
            Piece::Token(lexeme) => defines.put(&lexeme.token, lexeme.place, 0),
            // A bracket that touches the name makes a `#define` a function.
            Piece::Directive { place, touching: true, .. } => {
                let message = "a #define that takes arguments is not part of this";
                let help = "write a __device__ function";
                defines.diagnostics.push(Diagnostic::new(place, message, help));
            }
            Piece::Directive { place, tokens, touching: false } => {
                defines.directive(place, &tokens)
            }
        }
    }
    let lines = text.lines().count().max(1);
    let last = text.lines().last().map_or(0, |line| line.chars().count());
    let end = Place { line: lines as u32, column: last as u32 + 1 };
    defines.out.push(Lexeme { token: Token::End, place: end });
    (defines.out, defines.diagnostics)
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

/// The text again, each token on its line: what a second compiler is given. `declared` tells of a name whether it is a
/// function's.
pub(super) fn regenerated(tokens: &[Lexeme], declared: &BTreeMap<String, bool>) -> String {
    let mut text = String::new();
    let mut line = 1;
    let mut before = &Token::End;
    for (at, Lexeme { token, place }) in tokens.iter().enumerate() {
        text.extend((line..place.line).map(|_| '\n'));
        line = place.line;
        text.push_str(&token.written());
        let is_called = tokens.get(at + 1).is_some_and(|next| next.token == Token::Mark("("));
        if let Token::Name(name) = token
            && *before != Token::Mark(".")
            && declared.get(name).is_some_and(|is_function| *is_function || !is_called)
        {
            text.push_str(SUFFIX);
        }
        text.push(' ');
        before = token;
    }
    text
}
