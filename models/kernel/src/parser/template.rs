//! A kernel that is a template: its arguments come from `#pragma kernel name<float, 32>`, from an explicit instantiation,
//! from a launch in the same text, or from their defaults, and stand in its tokens from then on.

use crate::diagnostic::Diagnostic;
use crate::lexer::{Lexeme, Token};
use crate::parser::generic::MOST as MOST_PARAMS;
use crate::parser::items::{Item, ItemKind, behind, behind_angle, mark, word};
use std::collections::BTreeMap;
use std::ops::Range;

/// Uses of a kernel, and of the templates that hand their arguments on to it, which are looked at together.
const MOST_USES: usize = 64;

/// Tokens of all arguments of a use in which constants are looked up.
const LONGEST_LIST: usize = 256;

/// Tokens that an argument of a template may have.
const LONGEST: usize = 16;

/// Tokens from the name of a kernel to the arguments of its launch.
const LONGEST_LAUNCH: usize = 100;

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
    items: &[Item],
    kernel: &Item,
    name: &str,
    choice: &[Lexeme],
) -> Result<Vec<Lexeme>, Diagnostic> {
    let Range { start, end } = kernel.tokens;
    if word(tokens, start) != "template" {
        return Ok(tokens[start..end].to_vec());
    }
    let (head, params) = head(tokens, kernel);
    let (own, tags) = without_tags(&tokens[head..end]);
    let usual: Vec<_> = params.iter().map(|one| if one.is_type { "float" } else { "32" }).collect();
    let usual = format!("{name}<{}>", usual.join(", "));
    let mut left = MOST_USES;
    let given = arguments(choice, 1).or_else(|| used(tokens, items, kernel, &params, &mut left));
    let mut given = given.unwrap_or_default().into_iter();
    let mut bound: BTreeMap<String, Vec<Lexeme>> = BTreeMap::new();
    for param in params {
        let tag = || tags.iter().find(|(tag, _)| *tag == param.name);
        let tagged = || tag().and_then(|(_, argument)| tag_at_launch(tokens, name, *argument));
        let Some(argument) = given.next().or_else(tagged).or(param.default) else {
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
    Ok(substituted(&own, &bound))
}

/// Where the head of a template ends, and its arguments.
fn head(tokens: &[Lexeme], item: &Item) -> (usize, Vec<Param>) {
    let start = item.tokens.start;
    let head = behind_angle(tokens, start + 1);
    (head, params(&tokens[..head], start + 2..head - 1))
}

/// The arguments that the first use of a template gives, of those that are known outside of functions. A use in another
/// template takes that one's arguments from its own uses.
fn used(
    tokens: &[Lexeme],
    items: &[Item],
    template: &Item,
    params: &[Param],
    left: &mut usize,
) -> Option<Vec<Vec<Lexeme>>> {
    let name = template.names.first()?;
    let uses = (0..tokens.len()).filter(|at| {
        word(tokens, *at) == *name
            && mark(tokens, at + 1) == "<"
            && !template.tokens.contains(at)
            && matches!(mark(tokens, behind_angle(tokens, at + 1)), "<<<" | "(")
    });
    for at in uses {
        *left = left.checked_sub(1)?;
        let mut list = arguments(tokens, at + 1)?;
        let around = items.partition_point(|item| item.tokens.end <= at);
        let outer = items.get(around).filter(|item| word(tokens, item.tokens.start) == "template");
        if let Some(outer) = outer {
            let (_, outer_params) = head(tokens, outer);
            let is_handed_on =
                |one: &Lexeme| outer_params.iter().any(|own| one.token.is_name(&own.name));
            if list.iter().flatten().any(is_handed_on) {
                let Some(given) = used(tokens, items, outer, &outer_params, left) else {
                    continue;
                };
                let names = outer_params.into_iter().map(|param| param.name);
                let bound = names.zip(given).collect();
                list = list.iter().map(|one| substituted(one, &bound)).collect();
            }
        }
        if let Some(around) = items.get(around)
            && list.iter().map(Vec::len).sum::<usize>() <= LONGEST_LIST
        {
            let own = &tokens[around.tokens.start..at];
            list = list.iter().map(|one| with_constants(one, own)).collect();
        }
        if params.len() <= MOST_PARAMS
            && list.iter().zip(params).all(|(one, param)| is_known(one, param, items))
        {
            return Some(list);
        }
    }
    None
}

/// An argument with the numbers of constants that stand before a launch in its function: `const int BM = 128;`.
fn with_constants(argument: &[Lexeme], before: &[Lexeme]) -> Vec<Lexeme> {
    let constant = |name: &Lexeme| {
        let is_declared = |at: &usize| {
            let begin = at.saturating_sub(3);
            before[*at].token == name.token
                && matches!(mark(before, at + 1), "=" | "{")
                && (begin..*at).any(|at| matches!(word(before, at), "const" | "constexpr"))
        };
        let at = (0..before.len()).rev().find(is_declared)?;
        let value = before.get(at + 2).filter(|_| matches!(mark(before, at + 3), ";" | "}"))?;
        value.token.whole().map(|_| value.clone())
    };
    let is_name = |one: &&Lexeme| matches!(one.token, Token::Name(_));
    let bound = |one: &Lexeme| Some((one.token.written(), vec![constant(one)?]));
    substituted(argument, &argument.iter().filter(is_name).filter_map(bound).collect())
}

/// A kernel without its arguments of type `bool_constant<N>`, which tell what N is, and where they stood.
fn without_tags(kernel: &[Lexeme]) -> (Vec<Lexeme>, Vec<(String, usize)>) {
    let is_tag = |at: &usize| word(kernel, *at) == "bool_constant" && mark(kernel, at + 1) == "<";
    let body = (0..kernel.len()).find(|at| mark(kernel, *at) == "{").unwrap_or(kernel.len());
    let Some(first) = (0..body).find(is_tag) else { return (kernel.to_vec(), Vec::new()) };
    let open = (0..first).rev().find(|at| mark(kernel, *at) == "(").unwrap_or(first);
    let close = behind(kernel, open) - 1;
    let (mut kept, mut tags) = (Vec::new(), Vec::new());
    for (number, part) in parts(kernel, open + 1..close).into_iter().enumerate() {
        if word(&part, 0) == "bool_constant" {
            tags.push((word(&part, 2).to_owned(), number));
        } else {
            let comma = Lexeme { token: Token::Mark(","), place: kernel[open].place };
            kept.extend((!kept.is_empty()).then_some(comma));
            kept.extend(part);
        }
    }
    ([&kernel[..=open], &kept, &kernel[close..]].concat(), tags)
}

/// What the argument of type `bool_constant` says in the first launch of a kernel.
fn tag_at_launch(tokens: &[Lexeme], kernel: &str, argument: usize) -> Option<Vec<Lexeme>> {
    let at = (0..tokens.len()).find(|at| {
        let is_plain = mark(tokens, at + 1) == "<<<";
        word(tokens, *at) == kernel && (is_plain || mark(tokens, at + 1) == "<")
    })?;
    let open = (at..tokens.len().min(at + LONGEST_LAUNCH))
        .find(|at| mark(tokens, *at) == ">>>")
        .filter(|at| mark(tokens, at + 1) == "(")?;
    let given = parts(tokens, open + 2..behind(tokens, open + 1) - 1);
    let given = given.get(argument)?;
    let value = |tokens: &[Lexeme], at: usize| {
        let value = arguments(tokens, at + 1)?.into_iter().next()?;
        matches!(word(&value, 0), "true" | "false").then_some(value)
    };
    if word(given, 0) == "bool_constant" {
        return value(given, 0);
    }
    let name = word(given, 0);
    let is_declared = |at: &usize| {
        word(tokens, *at) == "bool_constant" && word(tokens, behind_angle(tokens, at + 1)) == name
    };
    value(tokens, (0..tokens.len()).find(is_declared)?)
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

/// Whether an argument is a type, a function of the device, or a number without names of the function it stands in.
fn is_known(argument: &[Lexeme], param: &Param, items: &[Item]) -> bool {
    let is_name = |at: usize| !matches!(word(argument, at), "" | "true" | "false" | "sizeof");
    let is_helper = |one: &Lexeme| {
        let is_named = |item: &Item| item.names.iter().any(|name| one.token.is_name(name));
        items.iter().any(|item| item.kind == ItemKind::Helper && is_named(item))
    };
    let is_function = matches!(argument, [one] if is_helper(one));
    param.is_type || is_function || !(0..argument.len()).any(is_name)
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
