//! Functions of CUDA's headers that are written in the language itself, where a text calls them.

use crate::lexer::{Lexeme, words};
use crate::parser::items::word;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Names of which one must stand in a text, and what is then read before it. A text that defines the first name, or the
/// last, has its own.
static HEADERS: LazyLock<Vec<(Vec<&str>, &str)>> = LazyLock::new(|| {
    let rows = include_str!("headers.txt").lines().filter_map(|line| line.split_once(" => "));
    rows.map(|(names, text)| (names.split(' ').collect(), text)).collect()
});

/// The text behind the functions that it calls.
pub(super) fn included(tokens: Vec<Lexeme>, declared: &BTreeSet<&str>) -> Vec<Lexeme> {
    let used: BTreeSet<&str> = (0..tokens.len()).map(|at| word(&tokens, at)).collect();
    let place = tokens.first().map(|first| first.place).unwrap_or_default();
    let mut out = Vec::new();
    for (names, text) in HEADERS.iter() {
        let own = [names.first(), names.last()];
        let is_declared = own.into_iter().flatten().any(|name| declared.contains(name));
        if !is_declared && names.iter().any(|name| *name != "operator" && used.contains(name)) {
            out.extend(words(text, place));
        }
    }
    if out.is_empty() {
        return tokens;
    }
    out.extend(tokens);
    out
}
