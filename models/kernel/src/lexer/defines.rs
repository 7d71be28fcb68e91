//! `#define` constants: names that stand for tokens.

use crate::diagnostic::{Diagnostic, Place};
use crate::lexer::{Lexeme, Token};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Tokens a text may have once its names are replaced: names that stand for names that double are stopped here.
const MOST_TOKENS: usize = 200_000;

const DEEPEST: usize = 64;

#[derive(Default)]
pub(super) struct Defines {
    meanings: BTreeMap<String, Rc<[Token]>>,
    pub(super) out: Vec<Lexeme>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Names replaced so far: a name that stands for two that stand for two grows without leaving a token.
    replaced: usize,
}

impl Defines {
    pub(super) fn new(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics, ..Self::default() }
    }

    pub(super) fn put(&mut self, token: &Token, place: Place, depth: usize) {
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

    pub(super) fn directive(&mut self, place: Place, tokens: &[Lexeme]) {
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
