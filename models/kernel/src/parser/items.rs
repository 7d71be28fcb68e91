//! The functions and declarations that a text is made of, and which of them the chosen kernel reaches.
//!
//! A text with functions of the host, or with several kernels, is a whole file of a program: of it only the chosen kernel
//! and what it names are read. Every other text is read as a whole, so that all its mistakes are told.

use crate::lexer::{Lexeme, Token};
use crate::parser::is_keyword;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    Kernel,
    /// A function that a kernel may call.
    Helper,
    /// A function of the host, or the declaration of one.
    Host,
    /// A variable of the host, which a kernel cannot reach.
    HostVariable,
    /// A type, a constant, or a variable on the device.
    Other,
}

/// A function or a declaration outside of functions.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) tokens: Range<usize>,
    pub(super) kind: ItemKind,
    /// What it declares; of a function its name alone.
    pub(super) names: Vec<String>,
}

pub(super) fn word(tokens: &[Lexeme], at: usize) -> &str {
    match tokens.get(at).map(|lexeme| &lexeme.token) {
        Some(Token::Name(name)) => name,
        _ => "",
    }
}

pub(super) fn mark(tokens: &[Lexeme], at: usize) -> &'static str {
    match tokens.get(at).map(|lexeme| &lexeme.token) {
        Some(Token::Mark(mark)) => mark,
        _ => "",
    }
}

/// Behind the bracket that closes the one at a place; the end of the text if none does.
pub(super) fn behind(tokens: &[Lexeme], open: usize) -> usize {
    let mut depth = 0_usize;
    for at in open..tokens.len() {
        match mark(tokens, at) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The tokens between a bracket and the place behind the one that closes it; none where none does and nothing follows.
pub(super) fn inside(tokens: &[Lexeme], open: usize, behind: usize) -> &[Lexeme] {
    tokens.get(open + 1..behind.saturating_sub(1)).unwrap_or_default()
}

/// Tokens of a call that is written out.
pub(super) const LONGEST_CALL: usize = 512;

/// Behind the bracket that closes the one at a place, if that is near.
pub(super) fn behind_call(tokens: &[Lexeme], open: usize) -> Option<usize> {
    let end = tokens.len().min(open + LONGEST_CALL);
    let behind = behind(&tokens[..end], open);
    let is_closed = matches!(mark(tokens, behind - 1), ")" | "]" | "}") && behind > open + 1;
    (is_closed && balanced(&tokens[open..behind])).then_some(behind)
}

/// Whether as many brackets close as open.
fn balanced(tokens: &[Lexeme]) -> bool {
    let signs = (0..tokens.len()).map(|at| match mark(tokens, at) {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    });
    signs.sum::<i64>() == 0
}

/// Tokens between angles; a `<` without its `>` so far is a comparison.
const LONGEST_ANGLES: usize = 4096;

/// Behind the `>` that closes the `<` at a place; the end of the text if none does.
pub(super) fn behind_angle(tokens: &[Lexeme], open: usize) -> usize {
    let end = tokens.len();
    let tokens = &tokens[..end.min(open + LONGEST_ANGLES)];
    let mut depth = 0_usize;
    let mut at = open;
    while at < tokens.len() {
        let closed = match mark(tokens, at) {
            "<" => {
                depth += 1;
                0
            }
            ">" => 1,
            ">>" => 2,
            "(" | "[" | "{" => {
                at = behind(tokens, at);
                continue;
            }
            ";" => return at,
            _ => 0,
        };
        depth = depth.saturating_sub(closed);
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    end
}

/// Takes out what means nothing to a kernel: namespaces, `extern "C"`, attributes, `static_assert`.
pub(super) fn plain(tokens: Vec<Lexeme>) -> Vec<Lexeme> {
    let mut out: Vec<Lexeme> = Vec::with_capacity(tokens.len());
    let opens = |at: usize| word(&tokens, at) == "namespace" && mark(&tokens, at + 2) == "{";
    let named =
        (0..tokens.len()).filter(|at| opens(*at)).map(|at| word(&tokens, at + 1).to_owned());
    let spaces: BTreeSet<String> = named.chain(["std", "cuda"].map(str::to_owned)).collect();
    // Of each open brace whether it is left out.
    let mut braces = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_text = matches!(tokens.get(at + 1).map(|one| &one.token), Some(Token::Text(_)));
        match (word(&tokens, at), mark(&tokens, at)) {
            (space, _) if mark(&tokens, at + 1) == "::" && spaces.contains(space) => at += 2,
            ("extern", _) if is_text => {
                at += 2;
                if mark(&tokens, at) == "{" {
                    braces.push(true);
                    at += 1;
                }
            }
            ("namespace", _) => {
                let named = usize::from(!word(&tokens, at + 1).is_empty());
                if mark(&tokens, at + 1 + named) == "{" {
                    braces.push(true);
                    at += 2 + named;
                } else {
                    at = statement_end(&tokens, at);
                }
            }
            ("using", _) if word(&tokens, at + 1) == "namespace" => at = statement_end(&tokens, at),
            ("constexpr", _) if at > 0 && word(&tokens, at - 1) == "if" => at += 1,
            ("__grid_constant__", _) => at += 1,
            ("static_assert", _) => at = statement_end(&tokens, at),
            ("__attribute__", _) if mark(&tokens, at + 1) == "(" => at = behind(&tokens, at + 1),
            (_, "[") if mark(&tokens, at + 1) == "[" => at = behind(&tokens, at),
            (_, "::") if !is_qualified(&out) => at += 1,
            (_, "}") if braces.pop() == Some(true) => at += 1,
            (_, found) => {
                if found == "{" {
                    braces.push(false);
                }
                out.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    out
}

/// Whether a `::` that follows belongs to the name before it.
fn is_qualified(before: &[Lexeme]) -> bool {
    match before.last().map(|lexeme| &lexeme.token) {
        Some(Token::Name(name)) => !matches!(name.as_str(), "return" | "else" | "case" | "const"),
        Some(Token::Mark(mark)) => *mark == ">",
        _ => false,
    }
}

fn statement_end(tokens: &[Lexeme], from: usize) -> usize {
    let end = (from..tokens.len()).find(|at| mark(tokens, *at) == ";");
    end.map_or(tokens.len(), |end| end + 1)
}

/// The items of a text; none if its braces do not match.
pub(super) fn items(tokens: &[Lexeme]) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    let mut begin = 0;
    let mut at = 0;
    while at < tokens.len() && tokens[at].token != Token::End {
        let is_end = match mark(tokens, at) {
            "}" | ")" | "]" => return None,
            open @ ("(" | "[" | "{") => {
                let before = at.checked_sub(1).map_or("", |before| mark(tokens, before));
                let body = open == "{" && (before == ")" || is_behind_arguments(tokens, begin, at));
                at = behind(tokens, at);
                if at == tokens.len() {
                    return None;
                }
                body
            }
            ";" => {
                at += 1;
                true
            }
            _ => {
                at += 1;
                false
            }
        };
        if is_end {
            items.push(item(tokens, begin..at));
            begin = at;
        }
    }
    (begin == at).then_some(items)
}

/// Whether a brace opens the body of a function whose head ends with a word: `int f() const {`.
fn is_behind_arguments(tokens: &[Lexeme], begin: usize, at: usize) -> bool {
    at >= begin + 2
        && matches!(word(tokens, at - 1), "const" | "noexcept")
        && mark(tokens, at - 2) == ")"
}

fn item(tokens: &[Lexeme], range: Range<usize>) -> Item {
    let head = range.clone().find(|at| mark(tokens, *at) == "{").unwrap_or(range.end);
    let is_template = word(tokens, range.start) == "template";
    let start = if is_template { behind_angle(tokens, range.start + 1) } else { range.start };
    let has = |name: &str| (start..head).any(|at| word(tokens, at) == name);
    let is_type =
        ["struct", "class", "union", "enum", "typedef", "using"].iter().any(|word| has(word));
    let operator = (start..head).find(|at| word(tokens, *at) == "operator");
    let called = if is_type { None } else { operator.or_else(|| called(tokens, start..head)) };
    let is_value = (start..head).any(|at| mark(tokens, at) == "=")
        && operator.is_none()
        && called.is_none_or(|at| {
            (start..at).any(|before| mark(tokens, before) == "=")
                || mark(tokens, behind(tokens, at + 1)) == "="
        });
    match called.filter(|_| !is_value) {
        Some(at) => {
            let kind = if has("__global__") {
                ItemKind::Kernel
            } else if has("__device__") || has("constexpr") {
                ItemKind::Helper
            } else {
                ItemKind::Host
            };
            Item { names: vec![word(tokens, at).to_owned()], kind, tokens: range }
        }
        None => {
            let is_known = is_type || DEVICE_WORDS.iter().any(|word| has(word));
            let kind = if is_known { ItemKind::Other } else { ItemKind::HostVariable };
            Item { names: declared(tokens, range.clone()), kind, tokens: range }
        }
    }
}

/// A declaration with one of these words, outside of functions, means something to a kernel. Of `texture` the parser says
/// what to write instead.
const DEVICE_WORDS: [&str; 8] = [
    "const",
    "constexpr",
    "__constant__",
    "__device__",
    "__managed__",
    "__shared__",
    "operator",
    "texture",
];

/// The name before the arguments of a function.
fn called(tokens: &[Lexeme], head: Range<usize>) -> Option<usize> {
    let mut at = head.start;
    while at < head.end {
        if matches!(word(tokens, at), "__launch_bounds__" | "__align__" | "alignas") {
            at = behind(tokens, at + 1);
        } else if mark(tokens, at) == "[" {
            return None;
        } else if !word(tokens, at).is_empty()
            && (mark(tokens, at + 1) == "(" || is_special(tokens, at))
        {
            return Some(at);
        } else {
            at += 1;
        }
    }
    None
}

/// `f<int>(` in `template <> int f<int>(int x)`.
fn is_special(tokens: &[Lexeme], at: usize) -> bool {
    mark(tokens, at + 1) == "<" && mark(tokens, behind_angle(tokens, at + 1)) == "("
}

/// The names that a declaration outside of functions makes known.
fn declared(tokens: &[Lexeme], range: Range<usize>) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_enum = false;
    let mut at = range.start;
    while at < range.end {
        is_enum |= word(tokens, at) == "enum";
        if word(tokens, at) == "template" && mark(tokens, at + 1) == "<" {
            at = behind_angle(tokens, at + 1);
            continue;
        }
        let next = mark(tokens, at + 1);
        // `template <> struct S<float> { .. };` says what S is.
        let is_special =
            next == "<" && at > 0 && matches!(word(tokens, at - 1), "struct" | "class");
        let is_name = matches!(next, "=" | "[" | ";" | "," | "{" | ":" | "}") || is_special;
        if is_name && !word(tokens, at).is_empty() && !is_keyword(word(tokens, at)) {
            names.push(word(tokens, at).to_owned());
        }
        at = match mark(tokens, at) {
            "{" if !is_enum => behind(tokens, at),
            "(" | "[" => behind(tokens, at),
            _ => at + 1,
        };
    }
    names
}

/// The kernels of some items, by name.
pub(super) fn kernels<'t>(tokens: &'t [Lexeme], items: &'t [Item]) -> Vec<(&'t str, &'t Item)> {
    let is_body = |item: &&Item| mark(tokens, item.tokens.end - 1) == "}";
    let kernels = items.iter().filter(|item| item.kind == ItemKind::Kernel).filter(is_body);
    kernels.filter_map(|item| Some((item.names.first()?.as_str(), item))).collect()
}

/// Which items a kernel reaches, itself included; `own` are its tokens with its template's arguments put in.
pub(super) fn reached(
    tokens: &[Lexeme],
    items: &[Item],
    kernel: usize,
    own: &[Lexeme],
) -> BTreeSet<usize> {
    let mut declaring: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        if matches!(item.kind, ItemKind::Helper | ItemKind::Other) {
            for name in &item.names {
                declaring.entry(name).or_default().push(index);
            }
        }
    }
    let mut reached = BTreeSet::from([kernel]);
    // What an operator stands between is not looked at: all of them are read.
    let operators = declaring.remove("operator").unwrap_or_default();
    reached.extend(operators.iter().copied());
    let mut waiting = vec![kernel];
    waiting.extend(operators);
    while let Some(index) = waiting.pop() {
        let list = if index == kernel { own } else { &tokens[items[index].tokens.clone()] };
        for at in 0..list.len() {
            // Each name is looked at once.
            for other in declaring.remove(word(list, at)).into_iter().flatten() {
                if reached.insert(other) {
                    waiting.push(other);
                }
            }
        }
    }
    reached
}
