//! Tokens of the kernel language: from characters, with `#define` constants put in.

use crate::diagnostic::{Diagnostic, MOST_BYTES, Place};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suffix {
    /// Nothing: the smallest of int and long long that holds it.
    None,
    /// `u`.
    Unsigned,
    /// `ll`.
    Long,
    /// `ull`.
    UnsignedLong,
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
            let is_name = |lexeme: &Lexeme| matches!(lexeme.token, Token::Name(_));
            let named = tokens.len() == 2 && tokens.iter().all(is_name);
            touching |= named && self.rest.starts_with('(');
            // `#include <math.h>` and `#error any words` are no tokens of the language.
            if let [Lexeme { token: Token::Name(word), .. }] = tokens.as_slice()
                && word != "define"
            {
                self.skip_line();
                break;
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
        Some(c)
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
            } else if self.rest.starts_with("\\\n") || self.rest.starts_with("\\\r\n") {
                self.skip_line();
                self.step();
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
        self.fresh |= fresh;
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
        Some(digits) if digits.chars().all(plain) => Some(Token::Float(digits.parse().ok()?)),
        None if written.chars().all(plain) => Some(Token::Double(written.parse().ok()?)),
        Some(_) | None => None,
    }
}

// `#define` constants: names that stand for tokens.

/// Tokens a text may have once its names are replaced: names that stand for names that double are stopped here.
const MOST_TOKENS: usize = 200_000;

const DEEPEST: usize = 64;

/// The tokens of a text with its constants put in, ending with [`Token::End`], and what is wrong with it.
pub(super) fn tokens(text: &str) -> (Vec<Lexeme>, Vec<Diagnostic>) {
    let begin = Place { line: 1, column: 1 };
    if text.len() > MOST_BYTES {
        let message =
            format!("a kernel's text has at most {MOST_BYTES} bytes, this one has {}", text.len());
        return (Vec::new(), vec![Diagnostic::new(begin, message, "")]);
    }
    let mut scanner = Scanner { rest: text, place: begin, fresh: true, diagnostics: Vec::new() };
    let pieces = scanner.pieces();
    let mut defines = Defines {
        meanings: BTreeMap::new(),
        out: Vec::new(),
        diagnostics: scanner.diagnostics,
        replaced: 0,
    };
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

struct Defines {
    meanings: BTreeMap<String, Rc<[Token]>>,
    out: Vec<Lexeme>,
    diagnostics: Vec<Diagnostic>,
    /// Names replaced so far: a name that stands for two that stand for two grows without leaving a token.
    replaced: usize,
}

impl Defines {
    fn put(&mut self, token: &Token, place: Place, depth: usize) {
        let meaning = if let Token::Name(name) = token { self.meanings.get(name) } else { None };
        let is_bounded = depth < DEEPEST && self.out.len() + self.replaced < MOST_TOKENS;
        match meaning {
            Some(meaning) if is_bounded => {
                let meaning = Rc::clone(meaning);
                self.replaced += 1;
                for token in &*meaning {
                    self.put(token, place, depth + 1);
                }
            }
            // Told once: from here on no name is replaced.
            Some(_) if self.replaced < MOST_TOKENS => {
                self.replaced = MOST_TOKENS;
                self.diagnostics.push(Diagnostic::new(
                    place,
                    format!("{token} stands for itself, or for too much"),
                    "a #define stands for a constant",
                ));
            }
            Some(_) => {}
            None => self.out.push(Lexeme { token: token.clone(), place }),
        }
    }

    fn directive(&mut self, place: Place, tokens: &[Lexeme]) {
        let mut complain = |message: String, help: &str| {
            self.diagnostics.push(Diagnostic::new(place, message, help));
        };
        let word = match tokens.first().map(|lexeme| &lexeme.token) {
            Some(Token::Name(word)) => word.as_str(),
            Some(_) | None => "",
        };
        match (word, tokens.get(1).map(|lexeme| &lexeme.token)) {
            // Unrolling changes no result, so that the wish may be ignored.
            ("pragma" | "", _) => {}
            ("define", Some(Token::Name(name))) => {
                let meaning = tokens[2..].iter().map(|lexeme| lexeme.token.clone()).collect();
                if self.meanings.insert(name.clone(), meaning).is_some() {
                    complain(format!("'{name}' is defined twice"), "keep one of them");
                }
            }
            ("define", _) => complain(
                "#define wants a name and what it stands for".into(),
                "write #define TILE 32",
            ),
            ("include", _) => complain(
                "#include is not part of this".into(),
                "leave it out: threadIdx, the mathematics and the atomics are there without it",
            ),
            (other, _) => complain(
                format!("#{other} is not part of this"),
                "of the directives there is #define NAME value, and #pragma is ignored",
            ),
        }
    }
}
