//! Formulas and texts with formulas, and the names that they may use.

use std::collections::BTreeSet;

use mlsys_expr::nearest::nearest;
use mlsys_expr::{Dialect, Expr, parse};

use super::super::Mistake;
use super::super::model::{Form, Formula, Piece, Template};
use super::problems::{Problems, Text, parsed};

pub(super) struct Names<'f> {
    form: &'f Form,
    pub(super) local: Vec<String>,
}

impl<'f> Names<'f> {
    pub(super) fn new(form: &'f Form) -> Self {
        Self { form, local: Vec::new() }
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        let local = self.local.iter().map(String::as_str);
        let form = self.form;
        let known = form.params.keys().chain(form.index.keys()).chain(form.data.keys());
        local.chain(known.map(String::as_str))
    }

    fn knows(&self, name: &str) -> bool {
        let local = |name: &str| self.local.iter().any(|local| local == name);
        if local(name) || super::known(self.form, name) {
            return true;
        }
        match name.split_once('.') {
            Some(("run", rest)) => super::known(self.form, rest),
            Some(("given" | "set", rest)) => self.form.params.contains_key(rest),
            Some((first, _)) => local(first) || self.form.simulated.contains(first),
            None => name == "own" && !self.local.is_empty(),
        }
    }

    /// Checks the names of an expression and finds the definitions that it needs.
    pub(super) fn resolve(&self, expr: Expr, text: &Text, problems: &mut Problems<'_>) -> Formula {
        let mut needs = BTreeSet::new();
        for (name, span) in expr.names() {
            let name = name.as_str();
            if !self.knows(name) {
                let help = match nearest(name, self.all()) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => {
                        "names are those of parameters, `[let]`, metrics and `[data]`".to_owned()
                    }
                };
                let message = format!("nothing is called `{name}`");
                problems.add(Mistake::UnknownName, text.within(span), message, help);
            }
            let name = name.strip_prefix("run.").unwrap_or(name);
            if let Some(&index) = self.form.index.get(name) {
                needs.insert(index);
                if let Some(definition) = self.form.definitions.get(index) {
                    needs.extend(definition.formula.needs.iter().copied());
                }
            }
        }
        Formula { source: text.value.clone(), expr, needs: needs.into_iter().collect() }
    }
}

pub(super) fn formula(
    text: &Text,
    names: &mut Names<'_>,
    problems: &mut Problems<'_>,
) -> Option<Formula> {
    let expr = parsed(text, problems)?;
    Some(names.resolve(expr, text, problems))
}

/// Reads a text in which formulas stand in braces; `{{` is a brace.
pub(super) fn template(
    text: &Text,
    names: &mut Names<'_>,
    problems: &mut Problems<'_>,
) -> Template {
    let (mut pieces, mut words) = (Vec::new(), String::new());
    let source = text.value.as_str();
    let mut at = 0;
    while let Some(c) = source.get(at..).and_then(|rest| rest.chars().next()) {
        let next = at + c.len_utf8();
        let twice = source.get(next..).is_some_and(|rest| rest.starts_with(c));
        match c {
            '{' | '}' if twice => {
                words.push(c);
                at = next + 1;
            }
            '{' => {
                let Some(end) = closing(source, next) else {
                    let place = text.part(at..source.len()).place;
                    let help = "close it with `}`, or write `{{` for a brace";
                    problems.add(Mistake::Expression, place, "this brace is not closed", help);
                    break;
                };
                if !words.is_empty() {
                    pieces.push(Piece::Words(std::mem::take(&mut words)));
                }
                pieces.extend(formula(&text.part(next..end), names, problems).map(Piece::Value));
                at = end + 1;
            }
            c => {
                words.push(c);
                at = next;
            }
        }
    }
    if !words.is_empty() {
        pieces.push(Piece::Words(words));
    }
    Template { pieces }
}

/// Where the brace that was opened before `from` is closed, leaving out those in quoted texts.
fn closing(source: &str, from: usize) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in source.get(from..)?.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '}' if !quoted => return Some(from + at),
            _ => {}
        }
    }
    None
}

/// A formula of a constant, for defaults.
pub(super) fn constant(source: &str) -> Option<Formula> {
    let expr = parse(source, Dialect::ClosedForm).ok()?;
    Some(Formula { source: source.to_owned(), expr, needs: Vec::new() })
}
