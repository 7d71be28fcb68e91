//! Characters to tokens: comments, line splices, numbers, texts, and the lines of directives.

use crate::diagnostic::{Diagnostic, Place};
use crate::lexer::{Lexeme, Suffix, Token};

/// What stands for a token that cannot be read.
pub(super) const ZERO: Token = Token::Integer { value: 0, suffix: Suffix::None, base: 10 };

/// Operators and brackets, the longest first.
const MARKS: [&str; 52] = [
    "<<<", ">>>", "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
    "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "##", "+", "-", "*", "/", "%", "=",
    "<", ">", "!", "~", "&", "|", "^", "?", ":", ";", ",", ".", "(", ")", "[", "]", "{", "}", "#",
    "@",
];

/// A piece of the text: a token, or a directive with its own tokens.
pub(super) enum Piece {
    Token(Lexeme),
    /// `#word` and the rest of its line; `touching` tells whether a bracket touches the second word.
    Directive {
        place: Place,
        tokens: Vec<Lexeme>,
        touching: bool,
    },
}

pub(super) struct Scanner<'a> {
    rest: &'a str,
    /// Of each line splice ahead, the last first, how many bytes are left behind it.
    splices: Vec<usize>,
    place: Place,
    /// Whether only blanks stood before on this line.
    fresh: bool,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'a> Scanner<'a> {
    /// Of a text whose splices were taken out, with their places.
    pub(super) fn new(rest: &'a str, splices: Vec<usize>) -> Self {
        let place = Place { line: 1, column: 1 };
        let mut scanner = Self { rest, splices, place, fresh: true, diagnostics: Vec::new() };
        scanner.cross_splices();
        scanner
    }
}

impl Scanner<'_> {
    pub(super) fn pieces(&mut self) -> Vec<Piece> {
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

    /// The tokens of a line.
    pub(super) fn tokens(&mut self) -> Vec<Token> {
        std::iter::from_fn(|| self.next(true)).map(|lexeme| lexeme.token).collect()
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
                self.fresh = false;
                return Some(Lexeme { token: self.quoted(c, place), place });
            } else if c == '#' && !self.fresh && !directive {
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

    /// A text in double quotes, or a character in single ones, which is a number.
    fn quoted(&mut self, quote: char, place: Place) -> Token {
        let mut inner = String::new();
        self.step();
        loop {
            match self.rest.chars().next() {
                None | Some('\n') => {
                    self.complain(place, format!("the closing {quote} is missing"), "");
                    break;
                }
                Some(c) if c == quote => {
                    self.step();
                    break;
                }
                Some(c) => {
                    self.step();
                    inner.push(c);
                    if let (true, Some(next)) = (c == '\\', self.rest.chars().next()) {
                        self.step();
                        inner.push(next);
                    }
                }
            }
        }
        if quote == '"' {
            return Token::Text(inner);
        }
        let value = character(&inner);
        if value.is_none() {
            self.complain(place, format!("'{inner}' is no character"), "write 'a' or '\\n'");
        }
        Token::Integer { value: value.unwrap_or(0), suffix: Suffix::None, base: 10 }
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
        let is_here = |mark: &&&str| mark.starts_with(c) && self.rest.starts_with(**mark);
        if let Some(mark) = MARKS.iter().find(is_here) {
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
                "write 42, 42u, 42ll, 0x2a, 1.5f or 1.5",
            );
            ZERO
        })
    }
}

/// The number of a character as it stands between single quotes.
fn character(inner: &str) -> Option<u64> {
    let mut chars = inner.chars();
    let value = match (chars.next()?, chars.as_str()) {
        ('\\', rest) => match rest {
            "n" => 10,
            "t" => 9,
            "r" => 13,
            "0" => 0,
            "\\" | "'" | "\"" => u64::from(rest.as_bytes()[0]),
            _ => u64::from_str_radix(rest.strip_prefix('x')?, 16).ok().filter(|x| *x < 128)?,
        },
        (c, "") if c.is_ascii() => u64::from(u32::from(c)),
        _ => return None,
    };
    Some(value)
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
        ("ul", Suffix::UnsignedLong),
        ("lu", Suffix::UnsignedLong),
        ("ll", Suffix::Long),
        ("l", Suffix::Long),
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
