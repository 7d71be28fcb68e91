//! One spelling for each type, so that `S<uint>` and `S<unsigned int>` are the same structure.

use crate::lexer::{Lexeme, Token};
use crate::parser::is_type_word;
use crate::parser::items::{Item, mark, word};
use crate::parser::type_name::{named_scalar, worded_scalar};
use std::collections::BTreeMap;

/// Words that a name for a type may stand for.
const LONGEST: usize = 16;

/// What names for types stand for, as `typedef` and `using` outside of functions say.
#[derive(Default)]
pub(super) struct Spelling {
    names: BTreeMap<String, String>,
}

impl Spelling {
    pub(super) fn of(tokens: &[Lexeme], items: &[Item]) -> Self {
        let mut spelling = Self::default();
        for item in items {
            let own = &tokens[item.tokens.clone()];
            let (name, ty) = match (word(own, 0), own.len()) {
                ("typedef", 4..) => (word(own, own.len() - 2), &own[1..own.len() - 2]),
                ("using", 5..) if mark(own, 2) == "=" => (word(own, 1), &own[3..own.len() - 1]),
                _ => continue,
            };
            let is_plain = |lexeme: &Lexeme| match &lexeme.token {
                Token::Name(name) => !matches!(name.as_str(), "struct" | "enum" | "union"),
                token @ (Token::Integer { .. }
                | Token::Double(_)
                | Token::Float(_)
                | Token::Text(_)
                | Token::Mark(_)
                | Token::End) => *token == Token::Mark("*"),
            };
            if !name.is_empty() && ty.len() <= LONGEST && ty.iter().all(is_plain) {
                let ty = spelling.written(ty);
                spelling.names.insert(name.to_owned(), ty);
            }
        }
        spelling
    }

    /// An argument of a template in its one spelling.
    pub(super) fn written(&self, tokens: &[Lexeme]) -> String {
        let mut out: Vec<String> = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let words = (at..tokens.len()).take_while(|at| is_scalar_word(word(tokens, *at)));
            let end = at + words.count();
            let mut words: Vec<&str> = (at..end).map(|at| word(tokens, at)).collect();
            words.sort_unstable();
            at = end.max(at + 1);
            out.push(match (worded_scalar(&words.join(" ")), &tokens[at - 1].token) {
                (Some(scalar), _) => scalar.to_string(),
                (None, Token::Name(name)) if words.len() < 2 => self.name(name),
                (None, Token::Integer { value, .. }) => value.to_string(),
                (None, token) if words.len() < 2 => token.written(),
                (None, _) => words.join(" "),
            });
        }
        out.join(" ")
    }

    fn name(&self, name: &str) -> String {
        let known = self.names.get(name).cloned();
        let known = known.or_else(|| named_scalar(name).map(|scalar| scalar.to_string()));
        known.unwrap_or_else(|| name.to_owned())
    }
}

fn is_scalar_word(name: &str) -> bool {
    is_type_word(name)
        && !matches!(name, "const" | "constexpr" | "volatile" | "auto" | "register" | "typename")
}
