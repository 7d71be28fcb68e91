//! Which part of a text is read: all of it, or of a whole file the chosen kernel and what it reaches.

use crate::diagnostic::{Diagnostic, Place};
use crate::lexer::Lexeme;
use crate::parser::headers::included;
use crate::parser::items::{Item, ItemKind, items, kernels, plain, reached, word};
use crate::parser::namespaces::told_apart;
use crate::parser::template::instantiated;
use crate::parser::{async_copies, by_value, enums, groups, lambdas, statics, structures};
use std::collections::BTreeSet;

/// Functions and declarations of which the kernel may make use.
const MOST_ITEMS: usize = 2_000;

/// The tokens that are read, and what a file's other variables are named.
pub(super) struct Selection {
    pub(super) tokens: Vec<Lexeme>,
    /// Variables of the host in a whole file.
    pub(super) host_variables: BTreeSet<String>,
}

impl Selection {
    /// Complaints about what is left out are dropped; `choice` names the kernel, or is empty.
    pub(super) fn of(
        tokens: Vec<Lexeme>,
        choice: &[Lexeme],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let all = |tokens| Self { tokens, host_variables: BTreeSet::new() };
        let tokens = plain(told_apart(tokens));
        let Some(items) = items(&tokens) else { return all(written_out(tokens, diagnostics)) };
        let known = kernels(&tokens, &items);
        let is_file = known.len() > 1 || items.iter().any(|item| item.kind == ItemKind::Host);
        if known.is_empty() {
            return all(written_out(tokens, diagnostics));
        }
        let chosen = match word(choice, 0) {
            "" => known.first().filter(|_| known.len() == 1),
            wanted => known.iter().find(|(name, _)| *name == wanted),
        };
        let Some((name, chosen)) = chosen else {
            diagnostics.push(undecided(&tokens, &known, word(choice, 0)));
            return all(tokens.last().cloned().into_iter().collect());
        };
        let index = items.iter().position(|item| std::ptr::eq(item, *chosen)).unwrap_or_default();
        let (kernel, refused) = match instantiated(&tokens, &items, chosen, name, choice) {
            Ok(kernel) => (kernel, None),
            Err(refused) => (Vec::new(), Some(refused)),
        };
        let read = if is_file {
            let read = reached(&tokens, &items, index, &kernel);
            let is_read = |one: &Diagnostic| {
                read.iter().any(|index| {
                    let range = &items[*index].tokens;
                    let place =
                        |at: usize| tokens.get(at).map_or_else(Place::default, |one| one.place);
                    (place(range.start)..=place(range.end)).contains(&one.place)
                })
            };
            diagnostics.retain(is_read);
            read
        } else {
            (0..items.len()).collect()
        };
        diagnostics.extend(refused);
        if read.len() > MOST_ITEMS {
            let message = format!("more than {MOST_ITEMS} functions and declarations are read");
            let place = tokens[chosen.tokens.start].place;
            let help = "leave out what the kernel does not use";
            diagnostics.push(Diagnostic::new(place, message, help));
            return all(tokens.last().cloned().into_iter().collect());
        }
        let mut out = Vec::new();
        // A template is written where it is launched, so that its arguments may name what stands behind it.
        let is_last = word(&tokens, chosen.tokens.start) == "template";
        for item in read {
            if item != index {
                out.extend_from_slice(&tokens[items[item].tokens.clone()]);
            } else if !is_last {
                out.extend_from_slice(&kernel);
            }
        }
        if is_last {
            out.extend(kernel);
        }
        out.extend(tokens.last().cloned());
        let declared =
            items.iter().flat_map(|item| item.names.iter().map(String::as_str)).collect();
        let out = lambdas::written_out(written_out(out, diagnostics), diagnostics);
        let out = structures::written_out(out, diagnostics);
        let out = statics::written_out(enums::written_out(out));
        let out = by_value::written_out(included(out, &declared));
        let is_host = |item: &&Item| is_file && item.kind == ItemKind::HostVariable;
        let host = items.iter().filter(is_host).flat_map(|item| &item.names);
        Self { tokens: out, host_variables: host.cloned().collect() }
    }
}

/// Copies first, which name the groups that share them.
fn written_out(tokens: Vec<Lexeme>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Lexeme> {
    groups::written_out(async_copies::written_out(tokens, diagnostics))
}

fn undecided(tokens: &[Lexeme], known: &[(&str, &Item)], wanted: &str) -> Diagnostic {
    let second = known.get(1).or(known.first()).map(|(_, item)| tokens[item.tokens.start].place);
    let names = known.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let is_one = names.iter().all(|name| Some(name) == names.first());
    let count = names.len();
    let names = names[..if is_one { 1 } else { count }].join(", ");
    let message = match wanted {
        "" if is_one => format!("the text has {count} kernels with one name: {names}"),
        "" => format!("there are {count} kernels: {names}"),
        wanted => format!("there is no kernel '{wanted}'; there are {names}"),
    };
    let help = match wanted {
        "" if is_one => "keep one of them",
        _ => "choose one: #pragma kernel NAME, or the lab's kernel=NAME",
    };
    Diagnostic::new(second.unwrap_or_default(), message, help)
}
