//! Enumerations: `E::A` becomes the name that the constant has: `A`, or in an `enum class E`, where no other name is known,
//! `E__A`. With a type of its own, `enum E : unsigned char { A };`, `E` is a name for that type.

use crate::lexer::{Lexeme, Token, words};
use crate::parser::items::{behind, inside, mark, word};
use crate::parser::template::parts;
use std::collections::{BTreeMap, BTreeSet};

/// The constants of an enumeration, and whether they are known by its name alone.
struct Enumeration {
    is_scoped: bool,
    constants: BTreeSet<String>,
}

impl Enumeration {
    fn renamed(&self, name: &str, constant: &str) -> Option<String> {
        self.constants.contains(constant).then(|| {
            if self.is_scoped { format!("{name}__{constant}") } else { constant.to_owned() }
        })
    }
}

/// The tokens with each constant under one name.
pub(super) fn written_out(tokens: Vec<Lexeme>) -> Vec<Lexeme> {
    let mut known: BTreeMap<String, Enumeration> = BTreeMap::new();
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let named = |text: String| Lexeme { token: Token::Name(text), place: tokens[at].place };
        if word(&tokens, at) == "enum"
            && let Some((name, enumeration, end)) = declared(&tokens, at, &mut out)
        {
            known.insert(name, enumeration);
            at = end;
        } else if mark(&tokens, at + 1) == "::"
            && let Some(enumeration) = known.get(word(&tokens, at))
            && let Some(constant) = enumeration.renamed(word(&tokens, at), word(&tokens, at + 2))
        {
            out.push(named(constant));
            at += 3;
        } else {
            out.push(tokens[at].clone());
            at += 1;
        }
    }
    out
}

/// Writes the declaration of an enumeration with a name; it ends before its semicolon.
fn declared(
    tokens: &[Lexeme],
    begin: usize,
    out: &mut Vec<Lexeme>,
) -> Option<(String, Enumeration, usize)> {
    let is_scoped = matches!(word(tokens, begin + 1), "class" | "struct");
    let at = begin + 1 + usize::from(is_scoped);
    let name = Some(word(tokens, at)).filter(|name| !name.is_empty())?;
    let open = (at + 1..tokens.len()).find(|at| matches!(mark(tokens, *at), "{" | ";"))?;
    let ty = match mark(tokens, at + 1) {
        "{" => None,
        ":" => Some(&tokens[at + 2..open]),
        _ => return None,
    };
    let end = behind(tokens, open);
    if mark(tokens, open) != "{" || mark(tokens, end) != ";" {
        return None;
    }
    let inner = inside(tokens, open, end);
    let constants = parts(inner, 0..inner.len()).into_iter().map(|part| word(&part, 0).to_owned());
    let enumeration = Enumeration { is_scoped, constants: constants.collect() };
    let place = tokens[begin].place;
    out.extend(words("enum", place));
    if ty.is_none() {
        out.push(tokens[at].clone());
    }
    for lexeme in &tokens[open..end] {
        let renamed = if let Token::Name(constant) = &lexeme.token {
            enumeration.renamed(name, constant)
        } else {
            None
        };
        let token = renamed.map_or_else(|| lexeme.token.clone(), Token::Name);
        out.push(Lexeme { token, place: lexeme.place });
    }
    if let Some(ty) = ty {
        out.extend(words("; typedef", place));
        out.extend_from_slice(ty);
        out.push(tokens[at].clone());
    }
    Some((name.to_owned(), enumeration, end))
}
