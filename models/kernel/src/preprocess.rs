//! `#define` constants: names that stand for tokens.

use crate::diagnostic::{Diagnostic, MOST_BYTES, Place};
use crate::lexer::{Lexeme, MacroKind, Piece, Scanner, Token};
use std::collections::BTreeMap;

/// Tokens a text may have once its names are replaced: names that stand for names that double are stopped here.
const MOST_TOKENS: usize = 200_000;

/// How deep names may stand for names.
const DEEPEST: usize = 64;

/// The tokens of a text with its constants put in, ending with [`Token::End`], and what is wrong with it.
pub(crate) fn tokens(text: &str) -> (Vec<Lexeme>, Vec<Diagnostic>) {
    let begin = Place { line: 1, column: 1 };
    if text.len() > MOST_BYTES {
        let message =
            format!("a kernel's text has at most {MOST_BYTES} bytes, this one has {}", text.len());
        return (Vec::new(), vec![Diagnostic::new(begin, message, "")]);
    }
    let mut scanner = Scanner::new(text);
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
            Piece::Directive { place, tokens, touching } => {
                defines.directive(place, &tokens, touching)
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
    meanings: BTreeMap<String, Vec<Token>>,
    out: Vec<Lexeme>,
    diagnostics: Vec<Diagnostic>,
    /// Names replaced so far: a name that stands for two that stand for two grows without leaving a token.
    replaced: usize,
}

impl Defines {
    fn put(&mut self, token: &Token, place: Place, depth: usize) {
        let meaning = match token {
            Token::Name(name) => self.meanings.get(name).cloned(),
            Token::Integer { .. }
            | Token::Double(_)
            | Token::Float(_)
            | Token::Mark(_)
            | Token::End => None,
        };
        match meaning {
            Some(meaning) if depth < DEEPEST && self.out.len() + self.replaced < MOST_TOKENS => {
                self.replaced += 1;
                for token in &meaning {
                    self.put(token, place, depth + 1);
                }
            }
            Some(_) => self.diagnostics.push(Diagnostic::new(
                place,
                format!("{token} stands for itself, or for too much"),
                "a #define stands for a constant",
            )),
            None => self.out.push(Lexeme { token: token.clone(), place }),
        }
    }

    fn directive(&mut self, place: Place, tokens: &[Lexeme], touching: MacroKind) {
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
            ("define", Some(Token::Name(_))) if touching == MacroKind::Bracket => complain(
                "a #define that takes arguments is not part of this".into(),
                "write a __device__ function",
            ),
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
