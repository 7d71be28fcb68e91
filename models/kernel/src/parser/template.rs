//! A kernel that is a template: its arguments come from `#pragma kernel name<float, 32>`, from an explicit instantiation,
//! from a launch in the same text, or from their defaults, and stand in its tokens from then on.

use crate::diagnostic::Diagnostic;
use crate::lexer::{Lexeme, Token};
use crate::parser::items::{Item, behind_angle, mark, word};
use std::collections::BTreeMap;
use std::ops::Range;

/// Uses of a template that are looked at.
const MOST_USES: usize = 64;

/// Tokens that an argument of a template may have.
const LONGEST: usize = 16;

pub(super) struct Param {
    pub(super) name: String,
    pub(super) is_type: bool,
    pub(super) default: Option<Vec<Lexeme>>,
}

/// The tokens of a kernel, without its template head.
///
/// # Errors
/// Nothing says with which arguments.
pub(super) fn instantiated(
    tokens: &[Lexeme],
    kernel: &Item,
    name: &str,
    choice: &[Lexeme],
) -> Result<Vec<Lexeme>, Diagnostic> {
    let Range { start, end } = kernel.tokens;
    if word(tokens, start) != "template" {
        return Ok(tokens[start..end].to_vec());
    }
    let head = behind_angle(tokens, start + 1);
    let params = params(&tokens[..head], start + 2..head - 1);
    let chosen = arguments(choice, 1);
    let mut given = None;
    // In the text, the first use whose arguments are known there.
    let uses = (0..tokens.len()).filter(|at| {
        word(tokens, *at) == name && mark(tokens, at + 1) == "<" && !kernel.tokens.contains(at)
    });
    for at in uses.take(MOST_USES) {
        let launch = mark(tokens, behind_angle(tokens, at + 1));
        let found = arguments(tokens, at + 1).filter(|list| {
            matches!(launch, "<<<" | "(")
                && list.iter().zip(&params).all(|(one, param)| is_known(one, param))
        });
        given = given.or(found);
    }
    let usual: Vec<_> = params.iter().map(|one| if one.is_type { "float" } else { "32" }).collect();
    let usual = format!("{name}<{}>", usual.join(", "));
    let mut given = chosen.or(given).unwrap_or_default().into_iter();
    let mut bound: BTreeMap<String, Vec<Lexeme>> = BTreeMap::new();
    for param in params {
        let Some(argument) = given.next().or(param.default) else {
            let name = format!("'{name}' is a template, and nothing says what '{}' is", param.name);
            let help = format!("write #pragma kernel {usual}, or launch it in the text");
            return Err(Diagnostic::new(tokens[start].place, name, help));
        };
        let argument = substituted(&argument, &bound);
        if argument.len() > LONGEST {
            let message = format!("'{}' is bound to more than {LONGEST} tokens", param.name);
            return Err(Diagnostic::new(
                tokens[start].place,
                message,
                "name it with using or const",
            ));
        }
        let argument =
            if param.is_type || argument.len() == 1 { argument } else { bracketed(argument) };
        bound.insert(param.name, argument);
    }
    Ok(substituted(&tokens[head..end], &bound))
}

pub(super) fn bracketed(argument: Vec<Lexeme>) -> Vec<Lexeme> {
    let place = argument.first().map(|one| one.place).unwrap_or_default();
    let mark = |mark| Lexeme { token: Token::Mark(mark), place };
    std::iter::once(mark("(")).chain(argument).chain([mark(")")]).collect()
}

/// The tokens with names replaced by what they are bound to, at the places of the names.
pub(super) fn substituted(tokens: &[Lexeme], bound: &BTreeMap<String, Vec<Lexeme>>) -> Vec<Lexeme> {
    let mut out = Vec::with_capacity(tokens.len());
    for (at, lexeme) in tokens.iter().enumerate() {
        let is_member = at > 0 && matches!(mark(tokens, at - 1), "." | "->");
        match bound.get(word(tokens, at)).filter(|_| !is_member) {
            Some(list) => {
                let moved = |one: &Lexeme| Lexeme { token: one.token.clone(), place: lexeme.place };
                out.extend(list.iter().map(moved));
            }
            None => out.push(lexeme.clone()),
        }
    }
    out
}

/// Whether an argument is a type, or a number, without names of the function it stands in.
fn is_known(argument: &[Lexeme], param: &Param) -> bool {
    let is_name = |at: usize| !matches!(word(argument, at), "" | "true" | "false" | "sizeof");
    param.is_type || !(0..argument.len()).any(is_name)
}

/// The arguments between the angles that open at a place.
fn arguments(tokens: &[Lexeme], open: usize) -> Option<Vec<Vec<Lexeme>>> {
    if mark(tokens, open) != "<" {
        return None;
    }
    let close = behind_angle(tokens, open) - 1;
    Some(parts(tokens, open + 1..close))
}

/// What stands between commas.
pub(super) fn parts(tokens: &[Lexeme], range: Range<usize>) -> Vec<Vec<Lexeme>> {
    let mut parts = vec![Vec::new()];
    let mut depth = 0_usize;
    for at in range {
        match mark(tokens, at) {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(tokens[at].clone());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

pub(super) fn params(tokens: &[Lexeme], range: Range<usize>) -> Vec<Param> {
    let param = |part: Vec<Lexeme>| {
        let equals = (0..part.len()).find(|at| mark(&part, *at) == "=");
        let head = equals.unwrap_or(part.len());
        let name = (0..head).rev().map(|at| word(&part, at)).find(|word| !word.is_empty());
        Param {
            name: name.unwrap_or_default().to_owned(),
            is_type: matches!(word(&part, 0), "typename" | "class"),
            default: equals.map(|at| part[at + 1..].to_vec()),
        }
    };
    parts(tokens, range).into_iter().map(param).collect()
}
