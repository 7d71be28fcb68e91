//! Which part of a text is read: all of it, or of a whole file the chosen kernel and what it reaches.

use crate::diagnostic::{Diagnostic, Place};
use crate::lexer::Lexeme;
use crate::parser::groups::written_out;
use crate::parser::headers::included;
use crate::parser::items::{Item, ItemKind, items, kernels, plain, reached, word};
use crate::parser::template::instantiated;
use crate::parser::{by_value, statics, structures};

/// The tokens that are read, and whether they were chosen out of a whole file. Complaints about what is left out are dropped; `choice` names the kernel, or is empty.
pub(super) fn selected(
    tokens: Vec<Lexeme>,
    choice: &[Lexeme],
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Lexeme>, bool) {
    let tokens = written_out(plain(tokens));
    let Some(items) = items(&tokens) else { return (tokens, false) };
    let known = kernels(&tokens, &items);
    let is_file = known.len() > 1 || items.iter().any(|item| item.kind == ItemKind::Host);
    if known.is_empty() {
        return (tokens, false);
    }
    let chosen = match word(choice, 0) {
        "" => known.first().filter(|_| known.len() == 1),
        wanted => known.iter().find(|(name, _)| *name == wanted),
    };
    let Some((name, chosen)) = chosen else {
        diagnostics.push(undecided(&tokens, &known, word(choice, 0)));
        return (tokens.last().cloned().into_iter().collect(), is_file);
    };
    let index = items.iter().position(|item| std::ptr::eq(item, *chosen)).unwrap_or_default();
    let (kernel, refused) = match instantiated(&tokens, chosen, name, choice) {
        Ok(kernel) => (kernel, None),
        Err(refused) => (Vec::new(), Some(refused)),
    };
    let read = if is_file {
        let read = reached(&tokens, &items, index, &kernel);
        let is_read = |one: &Diagnostic| {
            read.iter().any(|index| {
                let range = &items[*index].tokens;
                let place = |at: usize| tokens.get(at).map_or_else(Place::default, |one| one.place);
                (place(range.start)..=place(range.end)).contains(&one.place)
            })
        };
        diagnostics.retain(is_read);
        // A texture outside of functions is a variable of the host; the kernel has one of its own by that name.
        let is_texture =
            |item: &usize| word(&tokens, items[*item].tokens.start) == "cudaTextureObject_t";
        read.into_iter().filter(|item| !is_texture(item)).collect()
    } else {
        (0..items.len()).collect::<Vec<_>>()
    };
    diagnostics.extend(refused);
    let mut out = Vec::new();
    for item in read {
        if item == index {
            out.extend_from_slice(&kernel);
        } else {
            out.extend_from_slice(&tokens[items[item].tokens.clone()]);
        }
    }
    out.extend(tokens.last().cloned());
    let declared = items.iter().flat_map(|item| item.names.iter().map(String::as_str)).collect();
    let out = statics::written_out(structures::written_out(out, diagnostics));
    (by_value::written_out(included(out, &declared)), is_file)
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
