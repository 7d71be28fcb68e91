//! What is static in a structure: `static constexpr int size = 4;` and `static __device__ V zero()` become a constant
//! before the structure and a function behind it, `V__size` and `V__zero`, which `V::size` and `V::zero()` mean. So do
//! names for types.

use crate::lexer::{Lexeme, Token};
use crate::parser::is_keyword;
use crate::parser::items::{ItemKind, behind, items, mark, word};
use crate::parser::member::behind_function;
use std::collections::{BTreeMap, BTreeSet};

/// Structures and names for types that are followed from one to the next.
const DEEPEST: usize = 16;

/// The tokens with the static members of structures outside of them.
pub(super) fn written_out(tokens: Vec<Lexeme>) -> Vec<Lexeme> {
    let Some(items) = items(&tokens) else { return tokens };
    let mut out = Vec::with_capacity(tokens.len());
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for item in items {
        let own = &tokens[item.tokens.clone()];
        match structure(own).filter(|_| item.kind == ItemKind::Other) {
            Some((name, open)) => {
                let parts = Parts::of(own, open);
                out.extend(parts.joined(&name));
                known.insert(name, parts.names);
            }
            None => out.extend_from_slice(own),
        }
    }
    out.extend(tokens.last().cloned());
    known.retain(|_, names| !names.is_empty());
    if known.is_empty() { out } else { qualified(&out, &known) }
}

/// The name of a structure that is declared, and where its brace opens.
fn structure(tokens: &[Lexeme]) -> Option<(String, usize)> {
    let mut at = usize::from(word(tokens, 0) == "typedef");
    if !matches!(word(tokens, at), "struct" | "class") {
        return None;
    }
    at += 1;
    while matches!(word(tokens, at), "__align__" | "alignas") {
        at = behind(tokens, at + 1);
    }
    let open = at + usize::from(!word(tokens, at).is_empty());
    let name = Some(word(tokens, at)).filter(|name| !name.is_empty());
    (mark(tokens, open) == "{").then(|| name.map(|name| (name.to_owned(), open)))?
}

/// A structure taken apart.
#[derive(Default)]
struct Parts {
    constants: Vec<Lexeme>,
    structure: Vec<Lexeme>,
    functions: Vec<Lexeme>,
    names: BTreeSet<String>,
}

impl Parts {
    fn of(tokens: &[Lexeme], open: usize) -> Self {
        let close = behind(tokens, open) - 1;
        let mut parts = Self { structure: tokens[..=open].to_vec(), ..Self::default() };
        let mut at = open + 1;
        while at < close {
            if matches!(word(tokens, at), "public" | "private" | "protected")
                && mark(tokens, at + 1) == ":"
            {
                parts.structure.extend_from_slice(&tokens[at..at + 2]);
                at += 2;
                continue;
            }
            let end = behind_function(tokens, at).min(close);
            let member = &tokens[at..end];
            at = end;
            let alias = match word(member, 0) {
                "typedef" => word(member, member.len().saturating_sub(2)),
                "using" if mark(member, 2) == "=" => word(member, 1),
                _ => "",
            };
            if !alias.is_empty() {
                parts.names.insert(alias.to_owned());
                parts.constants.extend_from_slice(member);
                continue;
            }
            let named =
                (0..member.len()).find(|at| matches!(mark(member, at + 1), "(" | "=" | "[" | "{"));
            let head = named.unwrap_or(0);
            let has = |wanted: &str| (0..head).any(|at| word(member, at) == wanted);
            let Some(named) = named.filter(|_| has("static")) else {
                parts.structure.extend_from_slice(member);
                continue;
            };
            let is_function = mark(member, named + 1) == "(";
            let is_value = !is_function && (has("const") || has("constexpr"));
            if !is_value && !is_function {
                parts.structure.extend_from_slice(member);
                continue;
            }
            // Functions of the host are passed over.
            if is_function && !has("__device__") && !has("constexpr") {
                continue;
            }
            parts.names.insert(word(member, named).to_owned());
            let rest = member.iter().filter(|one| one.token != Token::Name("static".to_owned()));
            let into = if is_function { &mut parts.functions } else { &mut parts.constants };
            into.extend(rest.cloned());
        }
        parts.structure.extend_from_slice(&tokens[close..]);
        parts
    }

    /// Constants, structure and functions, with the names that the static ones have outside.
    fn joined(&self, name: &str) -> Vec<Lexeme> {
        let mut all = self.constants.clone();
        all.extend_from_slice(&self.structure);
        all.extend_from_slice(&self.functions);
        for at in 0..all.len() {
            let is_member = at > 0 && matches!(mark(&all, at - 1), "." | "->" | "::");
            if !is_member && self.names.contains(word(&all, at)) {
                all[at].token = Token::Name(format!("{name}__{}", word(&all, at)));
            }
        }
        all
    }
}

/// `V::size`, and `v.size` of a variable `V v`, as the name that it has outside, also where `using W = V;` says what `W`
/// is.
fn qualified(tokens: &[Lexeme], known: &BTreeMap<String, BTreeSet<String>>) -> Vec<Lexeme> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for at in 0..tokens.len() {
        match word(tokens, at) {
            "using" if mark(tokens, at + 2) == "=" && mark(tokens, at + 4) == ";" => {
                names.insert(word(tokens, at + 1), word(tokens, at + 3));
            }
            "typedef" if mark(tokens, at + 3) == ";" => {
                names.insert(word(tokens, at + 2), word(tokens, at + 1));
            }
            _ => {}
        }
    }
    let structure = |name: &str| {
        let mut name = name.to_owned();
        for _ in 0..DEEPEST {
            if known.contains_key(&name) {
                return Some(name);
            }
            name = (*names.get(name.as_str())?).to_owned();
        }
        None
    };
    let mut out = Vec::with_capacity(tokens.len());
    // The variables of the function at hand, and the structure of each.
    let mut variables: BTreeMap<&str, String> = BTreeMap::new();
    let (mut depth, mut at) = (0_usize, 0);
    while at < tokens.len() {
        match mark(tokens, at) {
            "{" => depth += 1,
            "}" if depth <= 1 => {
                depth = 0;
                variables.clear();
            }
            "}" => depth -= 1,
            _ => {}
        }
        let (name, member) = (word(tokens, at), word(tokens, at + 2));
        let is_field = at > 0 && matches!(mark(tokens, at - 1), "." | "->");
        let of = match mark(tokens, at + 1) {
            "::" => structure(name),
            "." | "->" if !is_field => variables.get(name).cloned(),
            mark => {
                let declared = word(tokens, at + 1 + usize::from(matches!(mark, "&" | "*")));
                let is_pair = !name.is_empty() && !declared.is_empty();
                if let Some(of) = is_pair.then(|| structure(name)).flatten() {
                    variables.insert(declared, of);
                } else if is_pair && mark.is_empty() && !is_keyword(name) {
                    variables.remove(declared);
                }
                None
            }
        };
        match of.filter(|of| known[of].contains(member)) {
            Some(of) => {
                let token = Token::Name(format!("{of}__{member}"));
                out.push(Lexeme { token, place: tokens[at].place });
                at += 3;
            }
            None => {
                out.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    out
}
