//! Templates of functions that name templates of structures with their own arguments: `template <class T> V<T> f(V<T> v)`.
//! The structures that exist say what their arguments can be, and for each of them a function of its own is written
//! before what calls it; calls tell these apart by the types of their arguments. A call that writes its arguments,
//! `f<float>(p)`, means a function with a name of its own.

use crate::diagnostic::Place;
use crate::lexer::{Lexeme, Token};
use crate::parser::items::{Item, ItemKind, behind_angle, mark, word};
use crate::parser::structures::{DEEPEST, Lifted, MOST, MOST_TOKENS, Writer};
use crate::parser::template::{bracketed, params, parts, substituted};
use std::collections::{BTreeMap, BTreeSet};

/// Lists of arguments that are tried for one function.
const MOST_BOUND: usize = 64;

type Bound = BTreeMap<String, Vec<Lexeme>>;

impl Writer<'_> {
    /// Takes in a function that names a structure with an argument of its own template; whether it is one.
    pub(super) fn lifts(&mut self, item: &Item, tokens: &[Lexeme]) -> bool {
        if item.kind != ItemKind::Helper || word(tokens, 0) != "template" {
            return false;
        }
        let head = behind_angle(tokens, 1);
        let words = parts(tokens, 2..head.saturating_sub(1).max(2));
        let params = params(tokens, 2..head.saturating_sub(1).max(2)).into_iter().zip(words);
        let params: Vec<_> =
            params.map(|(param, words)| (param.name, words, param.is_type)).collect();
        let mut uses = Vec::new();
        for at in head..tokens.len() {
            if mark(tokens, at + 1) != "<" || !self.has_template(word(tokens, at)) {
                continue;
            }
            let close = behind_angle(tokens, at + 1);
            let given = parts(tokens, at + 2..close.saturating_sub(1).max(at + 2));
            let is_own = |one: &Lexeme| {
                params.iter().any(|(name, ..)| one.token == Token::Name(name.clone()))
            };
            if given.iter().flatten().any(is_own) {
                uses.push((word(tokens, at).to_owned(), given));
            }
        }
        let Some(name) = item.names.first().filter(|_| !uses.is_empty()) else { return false };
        let function = tokens[head..].to_vec();
        let written = BTreeSet::new();
        let lifted = Lifted { name: name.clone(), params, uses, function, written };
        self.lifted.push(lifted);
        true
    }

    /// Writes the functions that some tokens call, for all structures that exist.
    pub(super) fn write_called(&mut self, tokens: &[Lexeme]) {
        for number in 0..self.lifted.len() {
            let name = self.lifted[number].name.clone();
            let is_call =
                |at: &usize| word(tokens, *at) == name && matches!(mark(tokens, at + 1), "(");
            let Some(at) = (0..tokens.len()).find(is_call) else { continue };
            let place = tokens[at].place;
            for bound in self.bounds(&self.lifted[number]) {
                self.write_lifted(number, &bound, &name, place);
            }
            let is_written = |one: &Lifted| one.name == name && !one.written.is_empty();
            if !self.plain.contains(&name) && !self.lifted.iter().any(is_written) {
                let message = format!("no structure of this text is one that '{name}' takes");
                self.complain(place, message, "declare a variable of it before, or write it out");
            }
        }
    }

    /// The name of the function that `f<float>` means, which is written if it is new.
    pub(super) fn called_with(&mut self, name: &str, inner: &[Lexeme], place: Place) -> String {
        let inner = self.text(inner);
        let given = parts(&inner, 0..inner.len());
        let own: String = format!("{name}_{}", self.key(&given));
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let own: String = own.chars().take(60).map(plain).collect();
        for number in 0..self.lifted.len() {
            let lifted = &self.lifted[number];
            if lifted.name == name && given.len() <= lifted.params.len() {
                let names = lifted.params.iter().map(|(name, ..)| name.clone());
                let bound = names.zip(given.iter().cloned()).collect();
                self.write_lifted(number, &bound, &own, place);
            }
        }
        own
    }

    /// What the structures that exist say of a function's arguments.
    fn bounds(&self, lifted: &Lifted) -> Vec<Bound> {
        let mut bounds = vec![Bound::new()];
        for (template, pattern) in &lifted.uses {
            let known = self.instances.iter().filter(|(name, _)| name == template);
            let found: Vec<Bound> =
                known.filter_map(|(_, given)| self.unified(lifted, pattern, given)).collect();
            let (mut joined, mut seen) = (Vec::new(), BTreeSet::new());
            for (one, other) in bounds.iter().flat_map(|one| found.iter().map(move |o| (one, o))) {
                let agrees = |(name, words): (&String, &Vec<Lexeme>)| {
                    let before = one.get(name);
                    before.is_none_or(|before| {
                        self.spelling.written(before) == self.spelling.written(words)
                    })
                };
                if other.iter().all(agrees) && joined.len() < MOST_BOUND {
                    let mut all = other.clone();
                    all.extend(one.clone());
                    if seen.insert(self.described(&all)) {
                        joined.push(all);
                    }
                }
            }
            bounds = joined;
        }
        bounds
    }

    fn described(&self, bound: &Bound) -> String {
        let words =
            bound.iter().map(|(name, one)| format!("{name} {}", self.spelling.written(one)));
        words.collect::<Vec<_>>().join(", ")
    }

    /// The arguments of a function's template for which a structure in it is the one that exists.
    fn unified(
        &self,
        lifted: &Lifted,
        pattern: &[Vec<Lexeme>],
        given: &[Vec<Lexeme>],
    ) -> Option<Bound> {
        let mut bound = Bound::new();
        for (wanted, given) in pattern.iter().zip(given) {
            let is_open = |one: &Lexeme| {
                let name = lifted.params.iter().map(|(name, ..)| name);
                name.clone().any(|name| one.token == Token::Name(name.clone()))
            };
            match wanted.as_slice() {
                [one] if is_open(one) => {
                    let before = bound.insert(one.token.written(), given.clone());
                    let is_other = |before: Vec<Lexeme>| {
                        self.spelling.written(&before) != self.spelling.written(given)
                    };
                    if before.is_some_and(is_other) {
                        return None;
                    }
                }
                words if words.iter().any(is_open) => {}
                words => {
                    if self.spelling.written(words) != self.spelling.written(given) {
                        return None;
                    }
                }
            }
        }
        Some(bound)
    }

    /// Writes a function for some arguments of its template, under a name.
    fn write_lifted(&mut self, number: usize, bound: &Bound, name: &str, place: Place) {
        let key = format!("{name}: {}", self.described(bound));
        let lifted = &mut self.lifted[number];
        if !lifted.written.insert(key) {
            return;
        }
        self.functions += 1;
        let lifted = &self.lifted[number];
        if self.functions > MOST || self.depth >= DEEPEST || self.words > MOST_TOKENS {
            let message = format!(
                "'{}' becomes more than {MOST} functions, {MOST_TOKENS} tokens, or {DEEPEST} in each other",
                lifted.name
            );
            return self.complain(place, message, "write the functions that are used");
        }
        let is_type = |name: &str| lifted.params.iter().any(|(own, _, ty)| own == name && *ty);
        let bound: Bound = bound
            .iter()
            .map(|(name, words)| {
                let is_word = is_type(name) || words.len() == 1;
                (name.clone(), if is_word { words.clone() } else { bracketed(words.clone()) })
            })
            .collect();
        let rest: Vec<_> =
            lifted.params.iter().filter(|(name, ..)| !bound.contains_key(name)).collect();
        let open: Vec<String> = rest.iter().map(|(name, ..)| name.clone()).collect();
        let mut own = Vec::new();
        if !rest.is_empty() {
            let token = |token| Lexeme { token, place };
            own.push(token(Token::Name("template".to_owned())));
            for (number, (_, words, _)) in rest.iter().enumerate() {
                own.push(token(Token::Mark(if number == 0 { "<" } else { "," })));
                own.extend(substituted(words, &bound));
            }
            own.push(token(Token::Mark(">")));
        }
        let mut function = substituted(&lifted.function, &bound);
        let is_head = |at: &usize| word(&function, *at) == lifted.name;
        if let Some(at) = (0..function.len()).find(is_head) {
            function[at].token = Token::Name(name.to_owned());
        }
        own.extend(function);
        self.words += own.len();
        self.depth += 1;
        let before = std::mem::replace(&mut self.open, open);
        self.write(&own);
        self.open = before;
        self.depth -= 1;
    }
}
