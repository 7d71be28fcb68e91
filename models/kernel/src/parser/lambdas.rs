//! Functions without a name that see the variables around them, `auto f = [&](int i) { .. };`, written out where they are
//! called: a block in place of a statement, or the value of their one `return`.

use crate::diagnostic::{Diagnostic, Place};
use crate::lexer::{Lexeme, Token, words};
use crate::parser::is_type_word;
use crate::parser::items::{behind, inside, mark, word};
use crate::parser::template::{bracketed, parts, substituted};
use std::collections::{BTreeMap, BTreeSet};

/// Tokens that are written for all calls together.
const MOST_TOKENS: usize = 200_000;

/// How deep one may stand in the other, or in an argument of the other.
const DEEPEST: usize = 16;

/// Functions of a text, and arguments of each.
const MOST: usize = 100;
const MOST_PARAMS: usize = 16;

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
    /// Declarations and calls so far: each call gives its variables names of their own.
    declared: usize,
    calls: usize,
    /// Tokens that were written for them.
    written: usize,
    /// Bodies and arguments that are being written.
    open: usize,
    diagnostics: &'d mut Vec<Diagnostic>,
}

/// The tokens with each call of such a function written out.
pub(super) fn written_out(tokens: Vec<Lexeme>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Lexeme> {
    if !(0..tokens.len()).any(|at| begins(&tokens, at)) {
        return tokens;
    }
    let (out, known) = (Vec::with_capacity(tokens.len()), BTreeMap::new());
    let mut writer =
        Writer { out, known, depth: 0, declared: 0, calls: 0, written: 0, open: 0, diagnostics };
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
            "}" => self.leave(),
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

    /// Forgets what stands in a block that ends.
    fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        let depth = self.depth;
        self.known.retain(|_, one| one.depth <= depth);
        for lambda in self.known.values_mut() {
            lambda.hidden.retain(|_, declared| *declared <= depth);
        }
    }

    fn complain(&mut self, at: &Lexeme, message: &str, help: &str) {
        self.diagnostics.push(Diagnostic::new(at.place, message, help));
    }

    /// What is written for some tokens, in a place of its own; nothing if that nests too deep, which is told.
    fn apart(&mut self, tokens: &[Lexeme]) -> Option<Vec<Lexeme>> {
        if self.open >= DEEPEST {
            if let Some(first) = tokens.first() {
                let message = format!("functions without a name nest more than {DEEPEST} deep");
                self.complain(first, &message, "write a __device__ function");
            }
            return None;
        }
        let outer = std::mem::take(&mut self.out);
        (self.open, self.depth) = (self.open + 1, self.depth + 1);
        self.write(tokens);
        self.open -= 1;
        self.leave();
        Some(std::mem::replace(&mut self.out, outer))
    }

    /// Keeps a function, and leaves its declaration out.
    fn declared(&mut self, tokens: &[Lexeme], at: usize) -> usize {
        let name = word(tokens, at + 1).to_owned();
        let close = behind(tokens, at + 3);
        let end = |from: usize| (from..tokens.len()).find(|at| mark(tokens, *at) == "{");
        // Where brackets do not match a `{` may stand among the arguments.
        let arguments = behind(tokens, close);
        let is_body = |open: &usize| *open >= arguments && mark(tokens, close) == "(";
        let Some(open) = end(close).filter(is_body) else {
            self.complain(
                &tokens[at + 3],
                "a function without a name takes arguments",
                "write [&](int i) { .. }",
            );
            return tokens.len();
        };
        self.declared += 1;
        let params = parts(tokens, close + 1..arguments - 1);
        if self.declared > MOST || params.len() > MOST_PARAMS {
            let message = format!(
                "more than {MOST} functions without a name, or more than {MOST_PARAMS} arguments"
            );
            self.complain(&tokens[at + 3], &message, "write a __device__ function");
            return behind(tokens, open);
        }
        let seen = parts(tokens, at + 4..close - 1);
        if !seen.iter().all(|one| mark(one, 0) == "&") {
            let message = "a function without a name that keeps copies is not part of this";
            self.complain(&tokens[at + 3], message, "write [&]");
        }
        let params = params.into_iter().filter_map(|mut words| {
            let name = words.pop()?.token.written();
            Some(Param { ty: words, name })
        });
        let after = behind(tokens, open);
        let body = inside(tokens, open, after);
        // `{ return; }` does nothing.
        let is_bare_return = body.len() == 2 && word(body, 0) == "return";
        let body = if is_bare_return { &body[..0] } else { body };
        let returns = (0..body.len()).filter(|at| word(body, *at) == "return").count();
        let is_one_statement =
            (0..body.len()).find(|at| mark(body, *at) == ";").map(|at| at + 1) == Some(body.len());
        let is_value = word(body, 0) == "return" && is_one_statement;
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
        let Some(body) = self.apart(body) else { return after };
        let (params, depth, hidden) = (params.collect(), self.depth, BTreeMap::new());
        let own = (0..body.len()).filter(|at| is_declared(&body, *at));
        let own = own.map(|at| word(&body, at).to_owned()).collect();
        self.known.insert(name, Lambda { params, body, value, depth, own, hidden });
        after + usize::from(mark(tokens, after) == ";")
    }

    fn called(&mut self, tokens: &[Lexeme], at: usize) -> usize {
        let close = behind(tokens, at + 1);
        // The arguments may call such functions as well.
        let (name, place) = (word(tokens, at), tokens[at].place);
        let Some(inner) = self.apart(inside(tokens, at + 1, close)) else {
            self.out.extend(words("0", place));
            return close;
        };
        let given = parts(&inner, 0..inner.len());
        let Some(lambda) = self.known.get(name) else { return close };
        self.calls += 1;
        self.written += lambda.body.len() + inner.len();
        let before = at.checked_sub(1).map_or(";", |before| mark(tokens, before));
        let is_behind = matches!(before, ";" | "{" | "}" | ")" | ":");
        let is_statement = is_behind || at > 0 && word(tokens, at - 1) == "else";
        let refused = if let Some(hidden) = lambda.hidden() {
            Some((format!("another variable is called {hidden} here"), "rename one of them"))
        } else if given.len() != lambda.params.len() {
            let wanted = lambda.params.len();
            Some((format!("'{name}' takes {wanted} arguments, here are {}", given.len()), ""))
        } else if lambda.value.is_none() && !(is_statement && mark(tokens, close) == ";") {
            Some((format!("'{name}' gives no value"), "call it as a statement"))
        } else if self.written > MOST_TOKENS {
            Some((format!("'{name}' is called too often"), "write a __device__ function"))
        } else if let Some(param) = lambda.repeated(&given) {
            let message = format!("'{param}' is used twice, and its argument is more than a value");
            Some((message, "give the argument a variable"))
        } else {
            None
        };
        if let Some((message, help)) = refused {
            self.complain(&tokens[at], &message, help);
            self.out.extend(words("0", place));
            return close;
        }
        match &lambda.value {
            Some(ty) => {
                self.out.extend(lambda.value(ty, given));
                close
            }
            None => {
                self.out.extend(lambda.block(given, self.calls, place));
                close + 1
            }
        }
    }
}

impl Lambda {
    /// A name that it sees and that means another variable by now.
    fn hidden(&self) -> Option<&Token> {
        let is_hidden = |one: &&Token| {
            let Token::Name(name) = one else { return false };
            let is_own = self.params.iter().any(|param| param.name == *name);
            !is_own && !self.own.contains(name) && self.hidden.contains_key(name)
        };
        self.body.iter().map(|one| &one.token).find(is_hidden)
    }

    /// Of one that gives a value, an argument that would be computed more than once and may change something.
    fn repeated(&self, given: &[Vec<Lexeme>]) -> Option<&str> {
        let is_plain = |one: &Lexeme| {
            !matches!(one.token, Token::Mark("(" | "=" | "++" | "--" | "+=" | "-=" | "*="))
        };
        let uses = |name: &str| self.body.iter().filter(|one| one.token.is_name(name)).count();
        let mut pairs = self.params.iter().zip(given).filter(|_| self.value.is_some());
        let found =
            pairs.find(|(param, argument)| uses(&param.name) > 1 && !argument.iter().all(is_plain));
        found.map(|(param, _)| param.name.as_str())
    }

    /// Its value for some arguments, of a type if it has one of its own.
    fn value(&self, ty: &[Lexeme], given: Vec<Vec<Lexeme>>) -> Vec<Lexeme> {
        let argument = |(param, given): (&Param, Vec<Lexeme>)| {
            let is_auto = param.ty.iter().any(|one| one.token.is_name("auto"));
            let is_converted = param.is_copied() && !is_auto;
            let ty = if is_converted { &param.ty[..] } else { &[] };
            (param.name.clone(), converted(ty, given))
        };
        let bound = self.params.iter().zip(given).map(argument).collect();
        converted(ty, substituted(&self.body, &bound))
    }

    /// Its statements for some arguments, with variables of its own for these.
    fn block(&self, given: Vec<Vec<Lexeme>>, call: usize, place: Place) -> Vec<Lexeme> {
        let token = |token: Token| Lexeme { token, place };
        let mut block = words("{", place);
        let mut bound = BTreeMap::new();
        for (param, argument) in self.params.iter().zip(given) {
            let own = token(Token::Name(format!("{}__{call}", param.name)));
            block.extend(param.ty.iter().cloned());
            block.extend([own.clone(), token(Token::Mark("="))]);
            block.extend(bracketed(argument));
            block.extend(words(";", place));
            bound.insert(param.name.clone(), vec![own]);
        }
        block.extend(substituted(&self.body, &bound));
        block.extend(words("}", place));
        block
    }
}

/// `(x)`, or `((T)(x))` of a type T.
fn converted(ty: &[Lexeme], value: Vec<Lexeme>) -> Vec<Lexeme> {
    let value = bracketed(value);
    if ty.is_empty() { value } else { bracketed([bracketed(ty.to_vec()), value].concat()) }
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
