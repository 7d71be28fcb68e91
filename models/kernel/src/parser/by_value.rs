//! Structures and vectors that a kernel takes by value, written out as arguments of their own: of `float2 v` those are
//! `v_x` and `v_y`, from which the kernel makes its `v`. A structure that holds addresses is never made: in every function
//! that takes one, `int *g_rows` stands for `g.rows`.

use crate::lexer::{Lexeme, words};
use crate::parser::items::{behind, mark, word};
use crate::parser::member::behind_function;
use crate::types::Record;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Fields of a structure, and structures among the arguments of a kernel, that are written out.
const MOST: usize = 64;

/// Tokens of a text in which addresses are written out.
const MOST_TOKENS: usize = 200_000;

/// How deep structures with addresses may hold others.
const DEEPEST: usize = 4;

#[derive(Clone)]
struct Field {
    name: String,
    /// The words and stars before its name.
    ty: String,
    /// Elements, if it is an array of a number of them that is written out.
    elements: Option<u64>,
}

struct Shape {
    names: Vec<String>,
    fields: Vec<Field>,
    tokens: Range<usize>,
    /// Whether it is taken apart, which no array in it can be.
    has_address: bool,
}

/// Structures in the order of the text, and which of them a name means.
#[derive(Default)]
struct Shapes {
    list: Vec<Shape>,
    named: BTreeMap<String, usize>,
}

impl Shapes {
    fn get(&self, name: &str) -> Option<&Shape> {
        self.named.get(name).map(|at| &self.list[*at])
    }

    fn holds_address(&self, name: &str) -> bool {
        self.get(name).is_some_and(|shape| shape.has_address)
    }
}

/// An argument that is a structure or a vector by value.
struct Argument {
    name: String,
    ty: String,
    tokens: Range<usize>,
}

pub(super) fn written_out(mut tokens: Vec<Lexeme>) -> Vec<Lexeme> {
    for _ in 0..DEEPEST {
        let shapes = shapes(&tokens);
        if !shapes.list.iter().any(|shape| shape.has_address) {
            break;
        }
        let Some(out) = addresses_written_out(&tokens, &shapes) else { break };
        tokens = without_unused(out);
    }
    numbers_written_out(tokens)
}

/// The structures outside of functions with plain declarations as fields.
fn shapes(tokens: &[Lexeme]) -> Shapes {
    let mut shapes = Shapes::default();
    let mut at = 0;
    while at < tokens.len() {
        let open = at + 1 + usize::from(!word(tokens, at + 1).is_empty());
        if !matches!(word(tokens, at), "struct" | "class") || mark(tokens, open) != "{" {
            at = if mark(tokens, at) == "{" { behind(tokens, at) } else { at + 1 };
            continue;
        }
        let begin = at - usize::from(at > 0 && word(tokens, at - 1) == "typedef");
        at = behind(tokens, open);
        let Some(fields) = fields(tokens, open + 1..at - 1) else { continue };
        let has_array = fields.iter().any(|field| field.elements.is_some());
        let has_address = !has_array
            && fields.iter().any(|field| {
                let mut inner = field.ty.split(' ');
                field.ty.contains('*') || inner.any(|word| shapes.holds_address(word))
            });
        let mut names = vec![word(tokens, open - 1).to_owned()];
        if mark(tokens, at) != ";" {
            names.push(word(tokens, at).to_owned());
            at += 1;
        }
        names.retain(|name| !matches!(name.as_str(), "" | "struct"));
        let number = shapes.list.len();
        shapes.named.extend(names.iter().map(|name| (name.clone(), number)));
        shapes.list.push(Shape { names, fields, tokens: begin..at + 1, has_address });
    }
    shapes
}

/// None where one is something else, such as a function.
fn fields(tokens: &[Lexeme], range: Range<usize>) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    let mut begin = range.start;
    let mut at = range.start;
    while let Some(next) = (at..range.end).find(|at| matches!(mark(tokens, *at), ";" | "{" | "(")) {
        if matches!(word(tokens, at), "public" | "private" | "protected") {
            (begin, at) = (at + 2, at + 2);
            continue;
        }
        // A function of the structure is no field.
        if mark(tokens, next) != ";" {
            at = behind_function(tokens, next);
            begin = at;
            continue;
        }
        let end = next;
        at = end + 1;
        let mut base = None;
        let mut first = begin;
        let commas = (begin..end).filter(|at| mark(tokens, *at) == ",").chain([end]);
        for comma in commas {
            let name = (first..comma).take_while(|at| mark(tokens, *at) != "[").last()?;
            let elements = match comma - name {
                1 => None,
                4 => Some(tokens[name + 2].token.whole()?),
                _ => return None,
            };
            let mut ty = String::new();
            let stars = (first..name).find(|at| mark(tokens, *at) == "*").unwrap_or(name);
            let plain = base.get_or_insert(first..stars).clone();
            for at in plain.chain(stars..name) {
                ty += match (word(tokens, at), mark(tokens, at)) {
                    ("", "*") => "*",
                    ("", _) => return None,
                    (word, _) => word,
                };
                ty += " ";
            }
            let name = word(tokens, name).to_owned();
            if name.is_empty() || ty.is_empty() {
                return None;
            }
            fields.push(Field { name, ty, elements });
            first = comma + 1;
        }
        begin = end + 1;
    }
    let is_whole = begin == range.end && (1..=MOST).contains(&fields.len());
    is_whole.then_some(fields)
}

/// An argument of a type that is looked for, by value or as a constant reference.
fn argument(tokens: &[Lexeme], begin: usize, is: impl Fn(&str) -> bool) -> Option<Argument> {
    let mut at = begin;
    let mut is_constant = false;
    while matches!(word(tokens, at), "const" | "struct" | "__grid_constant__") {
        is_constant |= word(tokens, at) == "const";
        at += 1;
    }
    let ty = word(tokens, at);
    if !is(ty) {
        return None;
    }
    at += 1;
    if word(tokens, at) == "const" {
        (is_constant, at) = (true, at + 1);
    }
    if mark(tokens, at) == "&" && is_constant {
        at += 1;
    }
    let name = word(tokens, at);
    let is_argument = !name.is_empty() && matches!(mark(tokens, at + 1), "," | ")");
    let (name, ty) = (name.to_owned(), ty.to_owned());
    is_argument.then_some(Argument { name, ty, tokens: begin..at + 1 })
}

/// The names of a text.
fn names(tokens: &[Lexeme]) -> BTreeSet<&str> {
    (0..tokens.len()).map(|at| word(tokens, at)).collect()
}

/// A name that the text does not have.
fn unused(names: &BTreeSet<&str>, mut name: String) -> String {
    while names.contains(name.as_str()) {
        name += "_";
    }
    name
}

/// Arguments that hold addresses taken apart, in every function; none if that becomes too long.
fn addresses_written_out(tokens: &[Lexeme], shapes: &Shapes) -> Option<Vec<Lexeme>> {
    let names = names(tokens);
    let mut out = Vec::with_capacity(tokens.len());
    // Of the arguments of the function at hand, the types and names that stand for their fields.
    let mut known: BTreeMap<String, Vec<(Field, String)>> = BTreeMap::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < tokens.len() {
        if out.len() > MOST_TOKENS {
            return None;
        }
        let place = tokens[at].place;
        let before = at.checked_sub(1).map_or("", |before| mark(tokens, before));
        let is_listed = matches!(before, "(" | ",");
        match mark(tokens, at) {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(mark(tokens, at), "}" | ";") {
            known.clear();
        }
        if depth == 0
            && is_listed
            && let Some(Argument { name, ty, tokens: range }) =
                argument(tokens, at, |ty| shapes.holds_address(ty))
            && let Some(Shape { fields, .. }) = shapes.get(&ty)
        {
            let own =
                |field: &Field| (field.clone(), unused(&names, format!("{name}_{}", field.name)));
            let own: Vec<(Field, String)> = fields.iter().map(own).collect();
            let list = own.iter().map(|(field, own)| format!("{}{own}", field.ty));
            out.extend(words(&list.collect::<Vec<_>>().join(", "), place));
            known.insert(name, own);
            at = range.end;
            continue;
        }
        let own = known.get(word(tokens, at)).filter(|_| !matches!(before, "." | "->"));
        let member = own.and_then(|own| {
            let member = word(tokens, at + 2);
            own.iter().find(|(field, _)| mark(tokens, at + 1) == "." && field.name == member)
        });
        match (own, member) {
            (_, Some((_, name))) => {
                out.extend(words(name, place));
                at += 3;
            }
            (Some(own), None) if is_listed && matches!(mark(tokens, at + 1), "," | ")") => {
                let list: Vec<&str> = own.iter().map(|(_, name)| name.as_str()).collect();
                out.extend(words(&list.join(", "), place));
                at += 1;
            }
            _ => {
                out.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    Some(out)
}

/// Leaves out structures with addresses that nothing names any more.
fn without_unused(mut tokens: Vec<Lexeme>) -> Vec<Lexeme> {
    let shapes = shapes(&tokens);
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for at in 0..tokens.len() {
        *uses.entry(word(&tokens, at)).or_default() += 1;
    }
    let is_unused = |shape: &Shape| {
        let own =
            |name: &String| shape.tokens.clone().filter(|at| word(&tokens, *at) == name).count();
        shape.names.iter().all(|name| uses.get(name.as_str()) == Some(&own(name)))
    };
    let unused = shapes.list.iter().filter(|shape| shape.has_address && is_unused(shape));
    let mut is_kept = vec![true; tokens.len()];
    for shape in unused {
        is_kept[shape.tokens.start..shape.tokens.end.min(tokens.len())].fill(false);
    }
    let mut kept = is_kept.into_iter();
    tokens.retain(|_| kept.next() == Some(true));
    tokens
}

/// The arguments of the kernel that are structures of numbers, or vectors, as numbers of which it makes its own.
fn numbers_written_out(mut tokens: Vec<Lexeme>) -> Vec<Lexeme> {
    let shapes = shapes(&tokens);
    let is_kernel = |at: &usize| word(&tokens, *at) == "__global__";
    let Some(mut open) = (0..tokens.len()).find(is_kernel) else { return tokens };
    while open < tokens.len() && mark(&tokens, open) != "(" {
        let is_bounds = word(&tokens, open) == "__launch_bounds__";
        open = if is_bounds { behind(&tokens, open + 1) } else { open + 1 };
    }
    let close = behind(&tokens, open) - 1;
    let is = |ty: &str| Record::vector(ty).is_some() || shapes.get(ty).is_some();
    let arguments = (open + 1..close)
        .filter(|at| matches!(mark(&tokens, at - 1), "(" | ","))
        .filter_map(|at| argument(&tokens, at, is));
    let arguments: Vec<Argument> = arguments.collect();
    if mark(&tokens, close + 1) != "{" || arguments.len() > MOST {
        return tokens;
    }
    let names = names(&tokens);
    let mut made = Vec::new();
    let mut written = Vec::new();
    for Argument { name, ty, tokens: range } in arguments {
        let place = tokens[range.start].place;
        let mut leaves = Vec::new();
        if leaves_of(&shapes, &ty, "", &mut leaves).is_none() {
            continue;
        }
        let mut list = Vec::new();
        let mut own = format!("{ty} {name};");
        for (of, path) in leaves {
            let flat = path.replace(['.', '['], "_").replace(']', "");
            let flat = unused(&names, format!("{name}{flat}"));
            list.push(format!("{of} {flat}"));
            own += &format!(" {name}{path} = {flat};");
        }
        made.extend(words(&own, place));
        written.push((range, words(&list.join(", "), place)));
    }
    tokens.splice(close + 2..close + 2, made);
    for (range, list) in written.into_iter().rev() {
        tokens.splice(range, list);
    }
    tokens
}

/// Types of the numbers of a structure, and what stands behind its name for them.
fn leaves_of(
    shapes: &Shapes,
    ty: &str,
    path: &str,
    leaves: &mut Vec<(String, String)>,
) -> Option<()> {
    if leaves.len() >= MOST || path.len() > 200 {
        return None;
    }
    if let Some((of, count)) = Record::vector(ty).and_then(Record::elements) {
        let parts = ["x", "y", "z", "w"].iter().take(count as usize);
        leaves.extend(parts.map(|part| (of.to_string(), format!("{path}.{part}"))));
        return Some(());
    }
    let Some(shape) = shapes.get(ty) else {
        leaves.push((ty.to_owned(), path.to_owned()));
        return Some(());
    };
    if shape.has_address {
        return None;
    }
    for field in &shape.fields {
        let ty = field.ty.trim().trim_start_matches("struct ");
        let path = format!("{path}.{}", field.name);
        match field.elements {
            None => leaves_of(shapes, ty, &path, leaves)?,
            Some(elements) => {
                for element in 0..elements.min(MOST as u64 + 1) {
                    leaves_of(shapes, ty, &format!("{path}[{element}]"), leaves)?;
                }
            }
        }
    }
    Some(())
}
