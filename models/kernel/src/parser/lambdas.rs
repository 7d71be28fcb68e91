//! Functions without a name that see the variables around them, `auto f = [&](int i) { .. };`, written out where they are
//! called: a block in place of a statement, or the value of their one `return`.

use crate::diagnostic::Diagnostic;
use crate::lexer::{Lexeme, Token};
use crate::parser::is_type_word;
use crate::parser::items::{behind, mark, word};
use crate::parser::template::{bracketed, parts, substituted};
use std::collections::{BTreeMap, BTreeSet};

/// Tokens of a text in which they are written out.
const MOST_TOKENS: usize = 200_000;

struct Param {
    /// The words before the name.
    ty: Vec<Lexeme>,
    name: String,
}

impl Param {
    /// Whether a variable of its own holds the argument.
    fn is_copied(&self) -> bool {
        !self.ty.iter().any(|one| one.token == Token::Mark("&"))
    }
}

struct Lambda {
    params: Vec<Param>,
    /// What it does, without its braces; of one that gives a value, that.
    body: Vec<Lexeme>,
    /// The type of its value, if it has one: what stands behind `->`, or nothing.
    value: Option<Vec<Lexeme>>,
    /// How deep the braces are that it stands in.
    depth: usize,
    /// Names that its body declares.
    own: BTreeSet<String>,
    /// Names that other variables have got since, and how deep the braces are around these.
    hidden: BTreeMap<String, usize>,
}

struct Writer<'d> {
    out: Vec<Lexeme>,
    known: BTreeMap<String, Lambda>,
    depth: usize,
    /// Calls so far: each gives its variables names of their own.
    calls: usize,
    diagnostics: &'d mut Vec<Diagnostic>,
}

/// The tokens with each call of such a function written out.
pub(super) fn written_out(tokens: Vec<Lexeme>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Lexeme> {
    if !(0..tokens.len()).any(|at| begins(&tokens, at)) {
        return tokens;
    }
    let (out, known) = (Vec::with_capacity(tokens.len()), BTreeMap::new());
    let mut writer = Writer { out, known, depth: 0, calls: 0, diagnostics };
    writer.write(&tokens);
    writer.out
}

/// Whether `auto f = [` stands here.
fn begins(tokens: &[Lexeme], at: usize) -> bool {
    word(tokens, at) == "auto"
        && !word(tokens, at + 1).is_empty()
        && mark(tokens, at + 2) == "="
        && mark(tokens, at + 3) == "["
}

impl Writer<'_> {
    fn write(&mut self, tokens: &[Lexeme]) {
        let mut at = 0;
        while at < tokens.len() {
            at = self.next(tokens, at);
        }
    }

    /// Writes what stands at a place, and tells where it ends.
    fn next(&mut self, tokens: &[Lexeme], at: usize) -> usize {
        match mark(tokens, at) {
            "{" => self.depth += 1,
            "}" => {
                self.depth = self.depth.saturating_sub(1);
                let depth = self.depth;
                self.known.retain(|_, one| one.depth <= depth);
                for lambda in self.known.values_mut() {
                    lambda.hidden.retain(|_, declared| *declared <= depth);
                }
            }
            _ => {}
        }
        if begins(tokens, at) {
            return self.declared(tokens, at);
        }
        let name = word(tokens, at);
        let before = at.checked_sub(1);
        let is_member = before.is_some_and(|at| matches!(mark(tokens, at), "." | "->"));
        if mark(tokens, at + 1) == "(" && self.known.contains_key(name) && !is_member {
            return self.called(tokens, at);
        }
        if is_declared(tokens, at) {
            for lambda in self.known.values_mut() {
                lambda.hidden.entry(name.to_owned()).or_insert(self.depth);
            }
        }
        self.out.push(tokens[at].clone());
        at + 1
    }

    fn complain(&mut self, at: &Lexeme, message: &str, help: &str) {
        self.diagnostics.push(Diagnostic::new(at.place, message, help));
    }

    /// Keeps a function, and leaves its declaration out.
    fn declared(&mut self, tokens: &[Lexeme], at: usize) -> usize {
        let name = word(tokens, at + 1).to_owned();
        let close = behind(tokens, at + 3);
        let end = |from: usize| (from..tokens.len()).find(|at| mark(tokens, *at) == "{");
        let Some(open) = end(close).filter(|_| mark(tokens, close) == "(") else {
            self.complain(
                &tokens[at + 3],
                "a function without a name takes arguments",
                "write [&](int i) { .. }",
            );
            return tokens.len();
        };
        let seen = parts(tokens, at + 4..close - 1);
        if !seen.iter().all(|one| mark(one, 0) == "&") {
            let message = "a function without a name that keeps copies is not part of this";
            self.complain(&tokens[at + 3], message, "write [&]");
        }
        let arguments = behind(tokens, close);
        let params = parts(tokens, close + 1..arguments - 1);
        let params = params.into_iter().filter_map(|mut words| {
            let name = words.pop()?.token.written();
            Some(Param { ty: words, name })
        });
        let after = behind(tokens, open);
        let body = &tokens[open + 1..after - 1];
        let returns = (0..body.len()).filter(|at| word(body, *at) == "return").count();
        let is_value = word(body, 0) == "return" && parts_end(body) == Some(body.len());
        if returns > usize::from(is_value) {
            let message = "a function without a name is either one return, or has none";
            self.complain(&tokens[at + 3], message, "write a __device__ function");
        }
        let ty = (mark(tokens, arguments) == "->").then(|| tokens[arguments + 1..open].to_vec());
        let (body, value) = if is_value {
            (&body[1..body.len() - 1], Some(ty.unwrap_or_default()))
        } else {
            (body, None)
        };
        // What it calls itself is written out once, in a place of its own.
        let outer = std::mem::take(&mut self.out);
        self.write(body);
        let body = std::mem::replace(&mut self.out, outer);
        let (params, depth, hidden) = (params.collect(), self.depth, BTreeMap::new());
        let own = (0..body.len()).filter(|at| is_declared(&body, *at));
        let own = own.map(|at| word(&body, at).to_owned()).collect();
        self.known.insert(name, Lambda { params, body, value, depth, own, hidden });
        after + usize::from(mark(tokens, after) == ";")
    }

    fn called(&mut self, tokens: &[Lexeme], at: usize) -> usize {
        let close = behind(tokens, at + 1);
        // The arguments may call such functions as well.
        let outer = std::mem::take(&mut self.out);
        self.write(&tokens[at + 2..close - 1]);
        let inner = std::mem::replace(&mut self.out, outer);
        let given = parts(&inner, 0..inner.len());
        self.calls += 1;
        let calls = self.calls;
        let before = at.checked_sub(1).map_or(";", |before| mark(tokens, before));
        let is_behind = matches!(before, ";" | "{" | "}" | ")" | ":");
        let is_statement = is_behind || at > 0 && word(tokens, at - 1) == "else";
        let Some(lambda) = self.known.get(word(tokens, at)) else { return close };
        let sees = |one: &Lexeme| {
            let Token::Name(name) = &one.token else { return false };
            let is_own = lambda.params.iter().any(|param| param.name == *name);
            !is_own && !lambda.own.contains(name) && lambda.hidden.contains_key(name)
        };
        let hidden = lambda.body.iter().find(|one| sees(one)).cloned();
        let refused = if let Some(hidden) = hidden {
            Some((
                format!("another variable is called {} here", hidden.token),
                "rename one of them",
            ))
        } else if given.len() != lambda.params.len() {
            let (name, wanted) = (word(tokens, at), lambda.params.len());
            Some((format!("'{name}' takes {wanted} arguments, here are {}", given.len()), ""))
        } else if lambda.value.is_none() && !(is_statement && mark(tokens, close) == ";") {
            Some((format!("'{}' gives no value", word(tokens, at)), "call it as a statement"))
        } else if self.out.len() + lambda.body.len() > MOST_TOKENS {
            Some((
                format!("'{}' is called too often", word(tokens, at)),
                "write a __device__ function",
            ))
        } else {
            None
        };
        if let Some((message, help)) = refused {
            self.complain(&tokens[at], &message, help);
            return close;
        }
        let place = tokens[at].place;
        let token = |token: Token| Lexeme { token, place };
        let marked = |mark: &'static str| token(Token::Mark(mark));
        if let Some(ty) = &lambda.value {
            let uses =
                |name: &str| lambda.body.iter().filter(|one| one.token.is_name(name)).count();
            let mut bound = BTreeMap::new();
            let mut repeated = None;
            for (param, argument) in lambda.params.iter().zip(given) {
                let is_plain = |one: &Lexeme| {
                    !matches!(one.token, Token::Mark("(" | "=" | "++" | "--" | "+=" | "-=" | "*="))
                };
                if uses(&param.name) > 1 && !argument.iter().all(is_plain) {
                    repeated = Some(param.name.clone());
                }
                let is_auto = param.ty.iter().any(|one| one.token.is_name("auto"));
                let argument = bracketed(argument);
                let argument = if is_auto || !param.is_copied() {
                    argument
                } else {
                    bracketed([bracketed(param.ty.clone()), argument].concat())
                };
                bound.insert(param.name.clone(), argument);
            }
            let mut value = bracketed(substituted(&lambda.body, &bound));
            if !ty.is_empty() {
                value = bracketed([bracketed(ty.clone()), value].concat());
            }
            self.out.extend(value);
            if let Some(name) = repeated {
                let message =
                    format!("'{name}' is used twice, and its argument is more than a value");
                self.complain(&tokens[at], &message, "give the argument a variable");
            }
            return close;
        }
        let own = |name: &str| Token::Name(format!("{name}__{calls}"));
        let mut block = vec![marked("{")];
        let mut bound = BTreeMap::new();
        for (param, argument) in lambda.params.iter().zip(given) {
            block.extend(param.ty.iter().cloned());
            block.extend([token(own(&param.name)), marked("=")]);
            block.extend(bracketed(argument));
            block.push(marked(";"));
            bound.insert(param.name.clone(), vec![token(own(&param.name))]);
        }
        block.extend(substituted(&lambda.body, &bound));
        block.push(marked("}"));
        self.out.extend(block);
        close + 1
    }
}

/// Where the first statement ends.
fn parts_end(body: &[Lexeme]) -> Option<usize> {
    (0..body.len()).find(|at| mark(body, *at) == ";").map(|at| at + 1)
}

/// Whether a variable is declared here: `x` in `float x` and `const P *x`.
fn is_declared(tokens: &[Lexeme], at: usize) -> bool {
    let is_type = |at: usize| {
        let name = word(tokens, at);
        let is_other = matches!(name, "return" | "else" | "case" | "goto" | "sizeof" | "do");
        !name.is_empty() && !is_other
    };
    let is_begin = |at: usize| {
        let before = at.checked_sub(1);
        before.is_none_or(|at| {
            matches!(mark(tokens, at), ";" | "{" | "}" | "(" | ",")
                || is_type_word(word(tokens, at))
        })
    };
    let Some(before) = at.checked_sub(1).filter(|_| !word(tokens, at).is_empty()) else {
        return false;
    };
    match mark(tokens, before) {
        "*" | "&" => before > 0 && is_type(before - 1) && is_begin(before - 1),
        "," => statement(tokens, before).is_some_and(|begin| {
            is_type(begin) && (is_type(begin + 1) || matches!(mark(tokens, begin + 1), "*" | "&"))
        }),
        _ => is_type(before),
    }
}

/// Tokens between the begin of a declaration and a name in it.
const LONGEST: usize = 200;

/// Where the statement begins in which a comma stands between no brackets.
fn statement(tokens: &[Lexeme], comma: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for at in (comma.saturating_sub(LONGEST)..comma).rev() {
        match mark(tokens, at) {
            ")" | "]" | "}" => depth += 1,
            ";" | "{" if depth == 0 => return Some(at + 1),
            "(" if depth == 0 && word(tokens, at.checked_sub(1)?) == "for" => return Some(at + 1),
            "(" | "[" | "{" => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}
