//! Namespaces that declare one name each: `a::f` and `b::f` become `a__f` and `b__f`. All other names are read without
//! their namespace.

use crate::lexer::{Lexeme, Token};
use crate::parser::items::{items, mark, word};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The tokens with the names told apart that more than one namespace declares.
pub(super) fn told_apart(tokens: Vec<Lexeme>) -> Vec<Lexeme> {
    let blocks = blocks(&tokens);
    let mut declaring: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (space, range) in &blocks {
        let mut inner = tokens[range.clone()].to_vec();
        inner.extend(tokens.last().cloned());
        for name in items(&inner).into_iter().flatten().flat_map(|item| item.names) {
            declaring.entry(name).or_default().insert(space);
        }
    }
    declaring.retain(|_, spaces| spaces.len() > 1);
    if declaring.is_empty() {
        return tokens;
    }
    let is_shared =
        |space: &str, name: &str| declaring.get(name).is_some_and(|spaces| spaces.contains(space));
    let mut out = Vec::with_capacity(tokens.len());
    let mut around = blocks.iter().peekable();
    let mut at = 0;
    while at < tokens.len() {
        around.next_if(|(_, range)| range.end <= at);
        let (first, place) = (word(&tokens, at), tokens[at].place);
        let named = |space: &str, name: &str| Lexeme {
            token: Token::Name(format!("{space}__{name}")),
            place,
        };
        let is_member = at > 0 && matches!(mark(&tokens, at - 1), "." | "->" | "::");
        let own = around.peek().filter(|(_, range)| range.contains(&at));
        if mark(&tokens, at + 1) == "::" && is_shared(first, word(&tokens, at + 2)) {
            out.push(named(first, word(&tokens, at + 2)));
            at += 3;
        } else if let Some((space, _)) = own.filter(|(space, _)| is_shared(space, first))
            && !is_member
        {
            out.push(named(space, first));
            at += 1;
        } else {
            out.push(tokens[at].clone());
            at += 1;
        }
    }
    out
}

/// The innermost namespaces with a name, and what stands in them, in the order of the text.
fn blocks(tokens: &[Lexeme]) -> Vec<(&str, Range<usize>)> {
    let mut blocks: Vec<(&str, Range<usize>)> = Vec::new();
    // Of each open brace where a namespace in it begins, if it is one that holds no other.
    let mut open: Vec<Option<usize>> = Vec::new();
    for at in 0..tokens.len() {
        match mark(tokens, at) {
            "{" => {
                let name = at.checked_sub(1).map_or("", |before| word(tokens, before));
                let is_namespace =
                    !name.is_empty() && at > 1 && word(tokens, at - 2) == "namespace";
                if is_namespace && let Some(outer) = open.last_mut() {
                    *outer = None;
                }
                open.push(is_namespace.then_some(at));
            }
            "}" => {
                if let Some(begin) = open.pop().flatten() {
                    blocks.push((word(tokens, begin - 1), begin + 1..at));
                }
            }
            _ => {}
        }
    }
    blocks
}
