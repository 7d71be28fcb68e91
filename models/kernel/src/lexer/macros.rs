//! `#define`: names, also with arguments, that stand for tokens.
//!
//! A name in the tokens it stands for is left alone while it is replaced, as in C++. What is replaced is bounded in the
//! tokens that come of it and in its nesting, so that no text grows without end.

use crate::diagnostic::{Diagnostic, Place};
use crate::lexer::scanner::Scanner;
use crate::lexer::{Lexeme, Token};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

/// Tokens a text may have once its names are replaced, each replacement counted as well.
pub(super) const MOST_TOKENS: usize = 200_000;

/// How deep replacements nest, in what they stand for and in their arguments.
const DEEPEST: usize = 64;

/// What a name stands for.
pub(super) struct Macro {
    /// None for a plain name; `...` is the name `__VA_ARGS__`.
    params: Option<Vec<String>>,
    body: Vec<Token>,
    is_predefined: bool,
}

/// What a text defines, over the constants of C's headers.
#[derive(Default)]
pub(super) struct Macros {
    /// None for a name that the text undefines.
    own: BTreeMap<String, Option<Arc<Macro>>>,
    done: usize,
    /// The complaint that ended replacing.
    stopped: Option<Diagnostic>,
}

/// What is left to be looked at: a token, or the end of what a name stood for.
#[derive(Clone)]
enum Task {
    Token(Lexeme),
    End(Rc<str>),
}

/// Names of C's headers and the compiler that stand for constants, which a text may define anew.
static PREDEFINED: LazyLock<BTreeMap<&str, Arc<Macro>>> = LazyLock::new(|| {
    let rows = include_str!("constants.txt").lines().filter_map(|line| line.split_once(' '));
    let finite = rows.map(|(name, value)| (name, Scanner::new(value, Vec::new()).tokens()));
    let float = |name, value| (name, vec![Token::Float(value)]);
    let double = |name, value| (name, vec![Token::Double(value)]);
    let others = [
        float("INFINITY", f32::INFINITY),
        float("HUGE_VALF", f32::INFINITY),
        float("CUDART_INF_F", f32::INFINITY),
        float("NAN", f32::NAN),
        float("CUDART_NAN_F", f32::NAN),
        double("HUGE_VAL", f64::INFINITY),
        double("CUDART_INF", f64::INFINITY),
    ];
    let known = |body| Arc::new(Macro { params: None, body, is_predefined: true });
    finite.chain(others).map(|(name, body)| (name, known(body))).collect()
});

impl Macros {
    fn meaning(&self, name: &str) -> Option<&Arc<Macro>> {
        self.own.get(name).map_or_else(|| PREDEFINED.get(name), Option::as_ref)
    }

    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.meaning(name).is_some()
    }

    pub(super) fn undefine(&mut self, name: &str) {
        self.own.insert(name.to_owned(), None);
    }

    pub(super) fn stopped(self) -> Option<Diagnostic> {
        self.stopped
    }

    /// `#define name` and the rest of its line; `touching` tells whether a bracket touches the name.
    ///
    /// # Errors
    /// What is wrong, and what to write.
    pub(super) fn define(
        &mut self,
        tokens: &[Lexeme],
        touching: bool,
    ) -> Result<(), (String, &'static str)> {
        let Some(Token::Name(name)) = tokens.first().map(|lexeme| &lexeme.token) else {
            let help = "write #define TILE 32";
            return Err(("#define wants a name and what it stands for".to_owned(), help));
        };
        let mut rest = tokens[1..].iter().map(|lexeme| lexeme.token.clone());
        let mut params = None;
        if touching {
            rest.next();
            let mut names = Vec::new();
            loop {
                match rest.next() {
                    Some(Token::Name(param)) => names.push(param),
                    Some(Token::Mark("...")) => names.push("__VA_ARGS__".to_owned()),
                    Some(Token::Mark(",")) => {}
                    Some(Token::Mark(")")) => break,
                    _ => {
                        let message = format!("the arguments of #define {name} do not end");
                        return Err((message, "write #define SQUARE(x) ((x) * (x))"));
                    }
                }
            }
            params = Some(names);
        }
        let new = Arc::new(Macro { params, body: rest.collect(), is_predefined: false });
        let old = self.meaning(name).cloned();
        self.own.insert(name.clone(), Some(Arc::clone(&new)));
        match old {
            Some(old)
                if !old.is_predefined && (old.params != new.params || old.body != new.body) =>
            {
                let help = "keep one of them, or write #undef between";
                Err((format!("'{name}' is defined twice"), help))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The tokens with their names replaced.
    pub(super) fn replaced(&mut self, input: Vec<Lexeme>) -> Vec<Lexeme> {
        self.expand(input, &mut Vec::new(), 0)
    }

    fn is_bounded(&mut self, name: &str, place: Place, depth: usize) -> bool {
        if self.stopped.is_none() && (depth > DEEPEST || self.done > MOST_TOKENS) {
            let message = format!("'{name}' stands for too much");
            let help = "what all #defines stand for is bounded: see docs/kernels.md";
            self.stopped = Some(Diagnostic::new(place, message, help));
        }
        self.stopped.is_none()
    }

    fn expand(
        &mut self,
        input: Vec<Lexeme>,
        active: &mut Vec<Rc<str>>,
        depth: usize,
    ) -> Vec<Lexeme> {
        let outer = active.len();
        let mut out = Vec::new();
        let mut tasks: Vec<Task> = input.into_iter().rev().map(Task::Token).collect();
        while let Some(task) = tasks.pop() {
            let lexeme = match task {
                Task::Token(lexeme) => lexeme,
                Task::End(name) => {
                    if let Some(at) = active.iter().rposition(|known| *known == name) {
                        active.remove(at);
                    }
                    continue;
                }
            };
            self.done += 1;
            let Token::Name(name) = &lexeme.token else {
                out.push(lexeme);
                continue;
            };
            let meaning = self.meaning(name).cloned();
            let meaning = meaning.filter(|_| !active.iter().any(|known| **known == **name));
            let Some(meaning) =
                meaning.filter(|_| self.is_bounded(name, lexeme.place, depth.max(active.len())))
            else {
                out.push(lexeme);
                continue;
            };
            let body = match &meaning.params {
                None => meaning.body.clone(),
                Some(params) => {
                    let (given, looked_at) = arguments(&mut tasks, params);
                    self.done += looked_at;
                    let Some(given) = given else {
                        out.push(lexeme);
                        continue;
                    };
                    self.substituted(&meaning, params, given, active, depth)
                }
            };
            self.done += body.len();
            let name: Rc<str> = name.as_str().into();
            active.push(Rc::clone(&name));
            tasks.push(Task::End(name));
            let place = lexeme.place;
            let body = body.into_iter().rev();
            tasks.extend(body.map(|token| Task::Token(Lexeme { token, place })));
        }
        active.truncate(outer);
        out
    }

    /// A body with its arguments put in: their own names are replaced before, but not next to `#` and `##`.
    fn substituted(
        &mut self,
        meaning: &Macro,
        params: &[String],
        given: Vec<Vec<Lexeme>>,
        active: &mut Vec<Rc<str>>,
        depth: usize,
    ) -> Vec<Token> {
        let plain = |list: &[Lexeme]| list.iter().map(|one| one.token.clone()).collect::<Vec<_>>();
        let raw: Vec<Vec<Token>> = given.iter().map(|list| plain(list)).collect();
        let full: Vec<Vec<Token>> =
            given.into_iter().map(|list| plain(&self.expand(list, active, depth + 1))).collect();
        let param = |token: &Token| {
            let Token::Name(name) = token else { return None };
            params.iter().position(|param| param == name)
        };
        let body = &meaning.body;
        let mut out: Vec<Token> = Vec::new();
        let mut at = 0;
        while let Some(token) = body.get(at) {
            at += 1;
            if self.done + out.len() > MOST_TOKENS {
                break;
            }
            if *token == Token::Mark("##") {
                let right = body.get(at);
                at += 1;
                let right = match right.and_then(param) {
                    Some(index) => raw[index].clone(),
                    None => right.cloned().into_iter().collect(),
                };
                paste(&mut out, right);
            } else if let (Token::Mark("#"), Some(index)) = (token, body.get(at).and_then(param)) {
                at += 1;
                let words: Vec<String> = raw[index].iter().map(Token::written).collect();
                out.push(Token::Text(words.join(" ").replace('\\', "\\\\").replace('"', "\\\"")));
            } else if let Some(index) = param(token) {
                let pasted = body.get(at) == Some(&Token::Mark("##"));
                out.extend(if pasted { raw[index].clone() } else { full[index].clone() });
            } else {
                out.push(token.clone());
            }
        }
        out
    }
}

/// The last token and the first of some others become one.
fn paste(out: &mut Vec<Token>, right: Vec<Token>) {
    let mut right = right.into_iter();
    let Some(first) = right.next() else { return };
    let written = out.pop().map_or_else(String::new, |left| left.written()) + &first.written();
    out.extend(Scanner::new(&written, Vec::new()).tokens());
    out.extend(right);
}

/// The arguments behind a name, with the tasks in between taken; none if no bracket follows, or it never closes. With the
/// number of tasks that were looked at.
fn arguments(tasks: &mut Vec<Task>, params: &[String]) -> (Option<Vec<Vec<Lexeme>>>, usize) {
    let mut list = vec![Vec::new()];
    let mut depth = 0;
    let mut ends = Vec::new();
    let mut close = None;
    let mut looked_at = 0;
    for (at, task) in tasks.iter().enumerate().rev() {
        looked_at += 1;
        let Task::Token(lexeme) = task else {
            ends.push(task.clone());
            continue;
        };
        let mark = if let Token::Mark(mark) = lexeme.token { mark } else { "" };
        match mark {
            "(" if depth == 0 => {
                depth = 1;
                continue;
            }
            _ if depth == 0 => break,
            "(" | "[" | "{" => depth += 1,
            ")" if depth == 1 => {
                close = Some(at);
                break;
            }
            ")" | "]" | "}" => depth -= 1,
            "," if depth == 1
                && params.get(list.len() - 1).is_some_and(|param| param != "__VA_ARGS__") =>
            {
                list.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = list.last_mut() {
            last.push(lexeme.clone());
        }
    }
    let Some(close) = close else { return (None, looked_at) };
    tasks.truncate(close);
    tasks.extend(ends.into_iter().rev());
    list.resize(params.len(), Vec::new());
    (Some(list), looked_at)
}
