//! Templates of structures. Each list of arguments that a text uses becomes a structure of its own, which stands before
//! the function or declaration that uses it first; what is never used is left out.
//!
//! A structure that has nothing but conversions, such as `SharedMemory<T>` of the CUDA samples, becomes the function
//! that `SharedMemory<float>()` calls.

use crate::diagnostic::{Diagnostic, Place};
use crate::lexer::{Lexeme, Token};
use crate::parser::items::{Item, behind, behind_angle, items, mark, word};
use crate::parser::member::behind_function;
use crate::parser::spelling::Spelling;
use crate::parser::template::{Param, bracketed, params, parts, substituted};
use std::collections::{BTreeMap, BTreeSet};

/// Structures that the templates of a text may become.
pub(super) const MOST: usize = 100;

/// Words of all of them together.
pub(super) const MOST_TOKENS: usize = 100_000;

/// Words that a list of arguments and one argument of it may have.
const LONGEST: [usize; 2] = [256, 16];

/// How deep arguments and fields may name further ones.
pub(super) const DEEPEST: usize = 16;

#[derive(Default)]
struct Template {
    params: Vec<Param>,
    /// From `struct` on.
    general: Vec<Lexeme>,
    /// `template <> struct S<float>`, by its arguments.
    special: BTreeMap<String, Vec<Lexeme>>,
}

/// A function that is written for the structures which exist.
pub(super) struct Lifted {
    pub(super) name: String,
    /// Of each argument of its template the name, the words, and whether it is a type.
    pub(super) params: Vec<(String, Vec<Lexeme>, bool)>,
    /// The structures' names and arguments in it.
    pub(super) uses: Vec<(String, Vec<Vec<Lexeme>>)>,
    pub(super) function: Vec<Lexeme>,
    /// What it has been written for.
    pub(super) written: BTreeSet<String>,
}

impl Lifted {
    fn is_named(&self, name: &str) -> bool {
        self.name == name
    }
}

pub(super) struct Writer<'d> {
    templates: BTreeMap<String, Template>,
    pub(super) spelling: Spelling,
    /// Names of the structures that exist, by the template and its arguments.
    made: BTreeMap<String, String>,
    /// The templates and arguments of these.
    pub(super) instances: Vec<(String, Vec<Vec<Lexeme>>)>,
    /// Functions that are written where they are called, and how many were.
    pub(super) lifted: Vec<Lifted>,
    pub(super) functions: usize,
    /// Names of the others.
    pub(super) plain: BTreeSet<String>,
    out: Vec<Lexeme>,
    /// Arguments of the function's own template.
    pub(super) open: Vec<String>,
    pub(super) depth: usize,
    /// Words of all structures and functions so far.
    pub(super) words: usize,
    diagnostics: &'d mut Vec<Diagnostic>,
}

/// The tokens of a text with structures in place of their templates.
pub(super) fn written_out(tokens: Vec<Lexeme>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Lexeme> {
    let Some(items) = items(&tokens) else { return tokens };
    let (templates, others): (Vec<&Item>, _) =
        items.iter().partition(|item| structure(&tokens[item.tokens.clone()]).is_some());
    if templates.is_empty() {
        return tokens;
    }
    let mut writer = Writer {
        templates: BTreeMap::new(),
        spelling: Spelling::of(&tokens, &items),
        made: BTreeMap::new(),
        instances: Vec::new(),
        lifted: Vec::new(),
        functions: 0,
        plain: BTreeSet::new(),
        out: Vec::new(),
        open: Vec::new(),
        depth: 0,
        words: 0,
        diagnostics,
    };
    for item in templates {
        writer.declare(&tokens[item.tokens.clone()]);
    }
    for item in others {
        let own = &tokens[item.tokens.clone()];
        if writer.lifts(item, own) {
            continue;
        }
        writer.plain.extend(item.names.iter().cloned());
        let head = if word(own, 0) == "template" { behind_angle(own, 1) } else { 0 };
        let open = params(own, 2.min(head)..head.saturating_sub(1));
        writer.open = open.into_iter().map(|param| param.name).collect();
        writer.write(own);
    }
    let mut out = writer.out;
    out.extend(tokens.last().cloned());
    out
}

/// Of a template of a structure where `struct` and its name stand; nothing for other declarations.
fn structure(tokens: &[Lexeme]) -> Option<(usize, usize)> {
    if word(tokens, 0) != "template" || mark(tokens, tokens.len() - 1) != ";" {
        return None;
    }
    let begin = behind_angle(tokens, 1);
    let mut name = begin + 1;
    while matches!(word(tokens, name), "__align__" | "alignas") {
        name = behind(tokens, name + 1);
    }
    let is_structure = matches!(word(tokens, begin), "struct" | "class");
    (is_structure && !word(tokens, name).is_empty()).then_some((begin, name))
}

impl Writer<'_> {
    pub(super) fn complain(&mut self, place: Place, message: String, help: &str) {
        self.diagnostics.push(Diagnostic::new(place, message, help));
    }

    /// Arguments as a text that tells them apart.
    pub(super) fn key(&self, arguments: &[Vec<Lexeme>]) -> String {
        let words = arguments.iter().map(|one| self.spelling.written(one));
        words.collect::<Vec<_>>().join(", ")
    }

    fn declare(&mut self, tokens: &[Lexeme]) {
        let Some((begin, name)) = structure(tokens) else { return };
        if mark(tokens, name + 1) == "<" && begin > 3 {
            let message = "a template for some arguments of another is not part of this";
            let help = "write template <> struct with all of them, for each use";
            return self.complain(tokens[name].place, message.to_owned(), help);
        }
        if mark(tokens, name + 1) == "<" {
            let close = behind_angle(tokens, name + 1);
            let arguments = self.key(&parts(tokens, name + 2..close - 1));
            let without = [&tokens[begin..=name], &tokens[close..]].concat();
            let template = self.templates.entry(word(tokens, name).to_owned()).or_default();
            template.special.insert(arguments, without);
        } else if mark(tokens, name + 1) == "{" {
            let template = self.templates.entry(word(tokens, name).to_owned()).or_default();
            template.params = params(tokens, 2..begin - 1);
            template.general = tokens[begin..].to_vec();
        }
    }

    pub(super) fn has_template(&self, name: &str) -> bool {
        self.templates.contains_key(name)
    }

    /// Writes a declaration, and before it what it uses.
    pub(super) fn write(&mut self, tokens: &[Lexeme]) {
        let own = self.text(tokens);
        self.write_called(&own);
        self.out.extend(own);
    }

    /// Some tokens with the names of structures in place of templates and their arguments.
    pub(super) fn text(&mut self, tokens: &[Lexeme]) -> Vec<Lexeme> {
        let mut out = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while at < tokens.len() {
            let name = word(tokens, at);
            let is_function = self.lifted.iter().any(|lifted| lifted.is_named(name));
            let is_template =
                mark(tokens, at + 1) == "<" && (is_function || self.has_template(name));
            let close = if is_template {
                let window = &tokens[at + 1..tokens.len().min(at + LONGEST[0])];
                at + 1 + behind_angle(window, 0)
            } else {
                at + 1
            };
            if !is_template || !mark(tokens, close - 1).starts_with('>') {
                out.push(tokens[at].clone());
                at += 1;
                continue;
            }
            let mut inner = tokens[at + 2..close - 1].to_vec();
            // A `>>` closes this list and the last one in it.
            if mark(tokens, close - 1) == ">>" {
                inner.push(Lexeme { token: Token::Mark(">"), place: tokens[close - 1].place });
            }
            let place = tokens[at].place;
            let made = if self.is_open(name, &inner, place) {
                None
            } else if is_function {
                Some(self.called_with(name, &inner, place))
            } else {
                self.structure(name, &inner, place)
            };
            // Where that is refused any type will do.
            let made = made.unwrap_or_else(|| "int".to_owned());
            out.push(Lexeme { token: Token::Name(made), place });
            at = close;
        }
        out
    }

    /// Refuses arguments that are those of the function's own template.
    fn is_open(&mut self, name: &str, inner: &[Lexeme], place: Place) -> bool {
        let is_in = |open: &&String| (0..inner.len()).any(|at| word(inner, at) == *open);
        let Some(open) = self.open.iter().find(is_in) else { return false };
        let message = format!(
            "'{name}' depends on '{open}', an argument of this function's template, which nothing says here"
        );
        self.complain(place, message, "write the function for the type that it is called with");
        true
    }

    /// The structure that a template is for some arguments; it is written if it is new.
    fn structure(&mut self, name: &str, inner: &[Lexeme], place: Place) -> Option<String> {
        if self.depth >= DEEPEST || self.made.len() >= MOST || self.words > MOST_TOKENS {
            let message = format!(
                "'{name}' becomes more than {MOST} structures, {MOST_TOKENS} tokens, or {DEEPEST} in each other"
            );
            self.complain(place, message, "write the structures that are used");
            return None;
        }
        self.depth += 1;
        let inner = self.text(inner);
        self.depth -= 1;
        let given = parts(&inner, 0..inner.len());
        let template = self.templates.get(name)?;
        let mut bound: BTreeMap<String, Vec<Lexeme>> = BTreeMap::new();
        let mut arguments = Vec::new();
        for (number, param) in template.params.iter().enumerate() {
            let default = || param.default.as_ref().map(|list| substituted(list, &bound));
            let Some(argument) = given.get(number).cloned().or_else(default) else { break };
            arguments.push(argument.clone());
            let is_word = param.is_type || argument.len() == 1;
            let argument = if is_word { argument } else { bracketed(argument) };
            bound.insert(param.name.clone(), argument);
        }
        let is_known = |(argument, param): (&Vec<Lexeme>, &Param)| {
            let is_number =
                matches!(argument.as_slice(), [Lexeme { token: Token::Integer { .. }, .. }])
                    || matches!(word(argument, 0), "true" | "false");
            argument.len() <= LONGEST[1]
                && (template.special.is_empty() || param.is_type || is_number)
        };
        if !arguments.iter().zip(&template.params).all(is_known) {
            let message = format!(
                "an argument of '{name}' is no single number, or longer than {} tokens",
                LONGEST[1]
            );
            self.complain(place, message, "name its type with using, or write the number");
            return None;
        }
        let (known, all) = (arguments.len(), template.params.len());
        if known < all || given.len() > all {
            let message =
                format!("'{name}' is a template with {all} arguments, here are {}", given.len());
            self.complain(place, message, "write one for each");
            return None;
        }
        let given = arguments.clone();
        let arguments = self.key(&arguments);
        let full = format!("{name}<{arguments}>");
        if let Some(made) = self.made.get(&full) {
            return Some(made.clone());
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut made: String = full.trim_end_matches('>').chars().map(plain).collect();
        if made.len() > 60 {
            made = format!("{name}_{}", self.made.len());
        }
        while self.made.values().any(|other| *other == made) {
            made.push('_');
        }
        self.made.insert(full, made.clone());
        self.instances.push((name.to_owned(), given));
        let list = template.special.get(&arguments).unwrap_or(&template.general);
        if list.is_empty() {
            self.complain(
                place,
                format!("'{name}<{arguments}>' has no fields in this text"),
                "write it as a structure",
            );
            return None;
        }
        let mut list = substituted(list, &bound);
        // In itself its name stands for it also without arguments.
        for at in 0..list.len() {
            if word(&list, at) == name && mark(&list, at + 1) != "<" {
                list[at].token = Token::Name(made.clone());
            }
        }
        self.words += list.len();
        self.depth += 1;
        // The structure stands outside of the function that uses it.
        let open = std::mem::take(&mut self.open);
        let list = self.text(&list);
        self.open = open;
        self.depth -= 1;
        self.out.extend(converting(&list, &made).unwrap_or(list));
        Some(made)
    }
}

/// Of a structure that has nothing but conversions the first, as a function.
fn converting(structure: &[Lexeme], name: &str) -> Option<Vec<Lexeme>> {
    let open = (0..structure.len()).find(|at| mark(structure, *at) == "{")?;
    let close = behind(structure, open) - 1;
    let mut function = None;
    let mut at = open + 1;
    while at < close {
        if matches!(word(structure, at), "public" | "private") && mark(structure, at + 1) == ":" {
            at += 2;
            continue;
        }
        let end = behind_function(structure, at);
        let operator = (at..end).find(|at| word(structure, *at) == "operator")?;
        let arguments = (operator..end).find(|at| mark(structure, *at) == "(")?;
        let body = (arguments..end).find(|at| mark(structure, *at) == "{")?;
        if word(structure, operator + 1).is_empty() {
            return None;
        }
        function.get_or_insert((operator + 1..arguments, body..end));
        at = end;
    }
    let (result, body) = function?;
    let place = structure[result.start].place;
    let name_of = |name: &str| Lexeme { token: Token::Name(name.to_owned()), place };
    let mut out = vec![name_of("__device__")];
    out.extend_from_slice(&structure[result]);
    out.push(name_of(name));
    out.extend(["(", ")"].map(|mark| Lexeme { token: Token::Mark(mark), place }));
    out.extend_from_slice(&structure[body]);
    Some(out)
}
