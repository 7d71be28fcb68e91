//! Walking over tokens: what the parts of the parser share, and types.

mod async_copies;
mod by_value;
mod enums;
mod expression;
mod generic;
mod group_calls;
mod groups;
mod headers;
mod item;
mod items;
mod lambdas;
mod lifted;
mod member;
mod namespaces;
mod record;
mod select;
mod spelling;
mod statement;
mod statics;
mod structures;
mod switch;
mod template;
mod type_name;

use crate::ast::{Body, Expr, Function, RecordDeclaration, TypeName, Unit};
use crate::diagnostic::{Diagnostic, Place};
use crate::lexer::Written;
use crate::lexer::{Lexeme, Token, Tokens};
use crate::parser::select::Selection;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// How deep brackets, blocks and operators may nest, so that no text exhausts the stack.
const DEEPEST: u32 = 200;

/// An error was already reported: parsing resumes at the next statement.
pub(super) struct Reported;

pub(super) type Parsed<T> = Result<T, Reported>;

pub(super) struct Parser {
    tokens: Vec<Lexeme>,
    at: usize,
    depth: u32,
    /// Names that are declared, and whether each is a function's.
    declared: BTreeMap<String, bool>,
    /// Names for types.
    types: BTreeMap<String, TypeName>,
    /// Names of functions that are templates.
    templates: BTreeSet<String>,
    /// Whether a `>` closes the arguments of a template.
    in_angles: bool,
    /// Whether the function at hand is a template.
    is_template: bool,
    /// Of functions that were declared ahead, how many stood before.
    ahead: BTreeMap<String, usize>,
    /// Tokens that a second compiler is given other words for, by their number.
    rewritten: BTreeMap<usize, Cow<'static, str>>,
    /// Whether a text counts as true, as in `assert(x > 0 && "x")`.
    in_ignored: bool,
    records: Vec<RecordDeclaration>,
    /// What `__align__` says of the declaration at hand.
    alignment: Option<Expr>,
    /// Functions of structures, until they stand among the others.
    members: Vec<Function>,
    /// Functions and declarations that do not read at all.
    lost_items: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Reads a text, with all that is wrong with it.
///
/// # Errors
/// What is missing is named elsewhere, so that the rest says nothing.
pub(crate) fn parse(text: &str) -> Result<(Unit, Vec<Diagnostic>), Vec<Diagnostic>> {
    let Tokens { list, choice, mut diagnostics } = Tokens::of(text);
    let Selection { tokens, host_variables } = Selection::of(list, &choice, &mut diagnostics);
    let mut parser = Parser {
        tokens,
        at: 0,
        depth: 0,
        declared: BTreeMap::new(),
        types: BTreeMap::new(),
        templates: BTreeSet::new(),
        in_angles: false,
        is_template: false,
        ahead: BTreeMap::new(),
        rewritten: BTreeMap::new(),
        in_ignored: false,
        records: Vec::new(),
        alignment: None,
        members: Vec::new(),
        lost_items: 0,
        diagnostics,
    };
    let mut unit = parser.unit();
    unit.records = std::mem::take(&mut parser.records);
    parser.declared.extend(unit.functions.iter().map(|function| (function.name.clone(), true)));
    unit.host_variables = host_variables;
    let Parser { tokens, declared, rewritten, diagnostics, lost_items, .. } = parser;
    unit.written = Written { tokens, declared, rewritten };
    // A mistake in the body of a function says nothing of the others.
    let broken = unit.functions.iter().any(|function| matches!(function.body, Body::Broken));
    let is_whole = lost_items == 0 && (diagnostics.is_empty() || broken);
    if is_whole { Ok((unit, diagnostics)) } else { Err(diagnostics) }
}

impl Parser {
    pub(super) fn token(&self) -> &Token {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, by: usize) -> &Token {
        self.tokens.get(self.at + by).map_or(&Token::End, |lexeme| &lexeme.token)
    }

    /// How many tokens lie behind.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn place(&self) -> Place {
        let last = self.tokens.last();
        self.tokens.get(self.at).or(last).map_or_else(Place::default, |lexeme| lexeme.place)
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.token(), Token::Mark(found) if *found == mark)
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        matches!(self.token(), Token::Name(found) if found == name)
    }

    /// The name here, or nothing.
    pub(super) fn token_word(&self) -> String {
        if let Token::Name(name) = self.token() { name.clone() } else { String::new() }
    }

    pub(super) fn mark(&self) -> &'static str {
        if let Token::Mark(mark) = self.token() { mark } else { "" }
    }

    pub(super) fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len());
    }

    pub(super) fn take(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn take_name(&mut self, name: &str) -> bool {
        let found = self.is_name(name);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn need(&mut self, mark: &str, after: &str) -> Parsed<()> {
        if self.take(mark) {
            return Ok(());
        }
        // A forgotten semicolon is missed where the line before ends, and the next line reads as if it were there.
        let forgotten = match (mark, self.at.checked_sub(1).and_then(|at| self.tokens.get(at))) {
            (";", Some(previous)) if previous.place.line < self.place().line => {
                Some(previous.place)
            }
            _ => None,
        };
        let found = self.token().to_string();
        let message = format!("'{mark}' is missing after {after}; here is {found}");
        self.complain(forgotten.unwrap_or_else(|| self.place()), message, "");
        if forgotten.is_some() { Ok(()) } else { Err(Reported) }
    }

    pub(super) fn complain(
        &mut self,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.diagnostics.push(Diagnostic::new(place, message, help));
    }

    pub(super) fn refuse<T>(
        &mut self,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Parsed<T> {
        self.complain(self.place(), message, help);
        Err(Reported)
    }

    /// Goes one level deeper, or refuses.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            // The rest would only be refused for the same reason.
            let lost =
                self.refuse(format!("this is nested more than {DEEPEST} deep"), "name parts of it");
            self.at = self.tokens.len();
            return lost;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    pub(super) fn name(&mut self, of: &str) -> Parsed<(String, Place)> {
        let place = self.place();
        let token = self.token().clone();
        if let Token::Name(name) = &token
            && !is_keyword(name)
        {
            self.advance();
            self.declared.insert(name.clone(), false);
            return Ok((name.clone(), place));
        }
        self.refuse(format!("the name of {of} is missing; here is {token}"), "")
    }
}

const TYPE_WORDS: [&str; 17] = [
    "void",
    "bool",
    "int",
    "unsigned",
    "signed",
    "long",
    "float",
    "double",
    "const",
    "constexpr",
    "volatile",
    "size_t",
    "char",
    "short",
    "auto",
    "register",
    "typename",
];

fn is_type_word(name: &str) -> bool {
    TYPE_WORDS.contains(&name)
}

pub(super) fn is_keyword(name: &str) -> bool {
    let is_other = matches!(
        name,
        "if" | "else"
            | "for"
            | "while"
            | "do"
            | "break"
            | "continue"
            | "return"
            | "true"
            | "false"
            | "sizeof"
            | "switch"
            | "case"
            | "goto"
            | "struct"
            | "class"
            | "template"
            | "typedef"
            | "using"
            | "namespace"
            | "enum"
            | "union"
    );
    is_other || is_type_word(name)
}

/// What a word of C++ that is not part of the language should be instead.
pub(super) fn outside(word: &str) -> Option<(&'static str, &'static str)> {
    static TABLE: LazyLock<BTreeMap<&str, (&str, &str)>> = LazyLock::new(|| {
        let rows = include_str!("parser/outside.txt").lines();
        let rows = rows.filter_map(|line| line.split_once(" | "));
        let rows = rows.filter_map(|(words, text)| Some((words, text.split_once(" | ")?)));
        rows.flat_map(|(words, texts)| words.split_whitespace().map(move |word| (word, texts)))
            .collect()
    });
    TABLE.get(word).copied()
}
