//! Directives: `#define`, `#if` and their kin. `#include` and `#pragma` are passed over: what the headers of CUDA and C
//! declare is there without them.

use crate::diagnostic::{Diagnostic, Place};
use crate::lexer::macros::Macros;
use crate::lexer::scanner::Piece;
use crate::lexer::{Lexeme, Token, Tokens};
use crate::operators::{Binary, Infix, Sides, infix};
use crate::typed_ast::{Comparison, Operation};

/// How deep `#if` may nest, and the brackets and operators of its condition.
const DEEPEST: usize = 64;

/// A `#if` that is open.
struct Group {
    place: Place,
    /// Whether the part at hand is read, and whether any part was.
    is_read: bool,
    was_read: bool,
    /// Whether what lies around it is read.
    outer: bool,
}

struct Reader {
    macros: Macros,
    groups: Vec<Group>,
    /// Tokens since the last directive, names not yet replaced.
    waiting: Vec<Lexeme>,
    out: Vec<Lexeme>,
    choice: Vec<Lexeme>,
    diagnostics: Vec<Diagnostic>,
    /// From and to where nothing is read.
    skipped: Vec<(Place, Place)>,
}

/// The tokens that are left once every directive is carried out, and what is wrong; `found` is what the scanner
/// complained of, which does not count where nothing is read.
pub(super) fn carried_out(pieces: Vec<Piece>, found: Vec<Diagnostic>, end: Place) -> Tokens {
    let mut reader = Reader {
        macros: Macros::default(),
        groups: Vec::new(),
        waiting: Vec::new(),
        out: Vec::new(),
        choice: Vec::new(),
        diagnostics: Vec::new(),
        skipped: Vec::new(),
    };
    for piece in pieces {
        match piece {
            Piece::Token(lexeme) if reader.reads() => reader.waiting.push(lexeme),
            Piece::Token(_) => {}
            Piece::Directive { place, tokens, touching } => {
                reader.directive(place, &tokens, touching);
            }
        }
    }
    reader.replace_names();
    if let Some(open) = reader.groups.pop() {
        reader.skipped.extend((!open.is_read).then_some((open.place, end)));
        reader.complain(open.place, "this #if never ends".to_owned(), "close it with #endif");
    }
    let Reader { macros, out, choice, mut diagnostics, skipped, .. } = reader;
    let counts =
        |one: &Diagnostic| !skipped.iter().any(|(from, to)| *from < one.place && one.place < *to);
    diagnostics.extend(found.into_iter().filter(counts));
    diagnostics.extend(macros.stopped());
    Tokens { list: out, choice, diagnostics }
}

impl Reader {
    fn reads(&self) -> bool {
        self.groups.last().is_none_or(|group| group.is_read)
    }

    fn complain(&mut self, place: Place, message: String, help: &str) {
        self.diagnostics.push(Diagnostic::new(place, message, help));
    }

    fn replace_names(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let replaced = self.macros.replaced(waiting);
        self.out.extend(replaced);
    }

    fn directive(&mut self, place: Place, tokens: &[Lexeme], touching: bool) {
        self.replace_names();
        let word = match tokens.first().map(|lexeme| &lexeme.token) {
            Some(Token::Name(word)) => word.as_str(),
            Some(_) | None => "",
        };
        let rest = tokens.get(1..).unwrap_or(&[]);
        let name = match rest.first().map(|lexeme| &lexeme.token) {
            Some(Token::Name(name)) => Some(name.as_str()),
            Some(_) | None => None,
        };
        let is_defined = name.is_some_and(|name| self.macros.is_defined(name));
        match word {
            "if" | "ifdef" | "ifndef" => {
                let outer = self.reads();
                let holds = outer
                    && match word {
                        "ifdef" => is_defined,
                        "ifndef" => !is_defined,
                        _ => self.condition(place, rest),
                    };
                if self.groups.len() >= DEEPEST {
                    let message = format!("#if nests more than {DEEPEST} deep");
                    self.complain(place, message, "leave some of them out");
                    return;
                }
                self.groups.push(Group { place, is_read: holds, was_read: holds, outer });
            }
            "else" | "elif" | "endif" => {
                let Some(open) = self.groups.pop() else {
                    let message = format!("there is no #if before this #{word}");
                    return self.complain(place, message, "write #if before it, or leave it out");
                };
                self.skipped.extend((!open.is_read).then_some((open.place, place)));
                if word == "endif" {
                    return;
                }
                let is_open = open.outer && !open.was_read;
                let is_read = is_open && (word == "else" || self.condition(place, rest));
                let was_read = open.was_read || is_read || word == "else";
                self.groups.push(Group { place, is_read, was_read, outer: open.outer });
            }
            _ if !self.reads() => {}
            "define" => {
                if let Err((message, help)) = self.macros.define(rest, touching) {
                    self.complain(place, message, help);
                }
            }
            "undef" => match name {
                Some(name) => self.macros.undefine(name),
                None => self.complain(place, "#undef wants a name".to_owned(), "write #undef TILE"),
            },
            "error" => {
                let words: Vec<String> = rest.iter().map(|one| one.token.written()).collect();
                self.complain(place, format!("#error {}", words.join(" ")), "");
            }
            "pragma" if name == Some("kernel") => {
                self.choice = self.macros.replaced(rest[1..].to_vec());
            }
            // Unrolling changes no result, so that the wish may be ignored.
            "pragma" | "include" | "warning" | "line" | "" => {}
            other => self.complain(
                place,
                format!("#{other} is not part of this"),
                "there are #define, #undef, #if, #ifdef, #ifndef, #elif, #else, #endif; #pragma and #include are ignored",
            ),
        }
    }

    /// Whether the condition of a `#if` holds.
    fn condition(&mut self, place: Place, tokens: &[Lexeme]) -> bool {
        let mut known = Vec::new();
        let mut rest = tokens.iter();
        while let Some(lexeme) = rest.next() {
            let is_asked = lexeme.token == Token::Name("defined".to_owned());
            let mut token = lexeme.token.clone();
            if is_asked {
                let mut name = rest.next();
                let bracketed = name.is_some_and(|next| next.token == Token::Mark("("));
                if bracketed {
                    name = rest.next();
                    rest.next();
                }
                let name = name.map(|one| one.token.written()).unwrap_or_default();
                token = number(i64::from(self.macros.is_defined(&name)));
            }
            known.push(Lexeme { token, place });
        }
        let known = self.macros.replaced(known);
        let mut condition = Condition { tokens: &known, at: 0, depth: 0 };
        match condition.ranked(0) {
            Some(value) if condition.at == known.len() => value != 0,
            Some(_) | None => {
                let message = "this condition does not read".to_owned();
                self.complain(place, message, "write whole numbers, names and operators of C");
                false
            }
        }
    }
}

fn number(value: i64) -> Token {
    let suffix = crate::lexer::Suffix::Long;
    Token::Integer { value: value as u64, suffix, base: 10 }
}

/// The condition of a `#if`: whole numbers of 64 bits; names that stand for nothing are 0.
struct Condition<'a> {
    tokens: &'a [Lexeme],
    at: usize,
    depth: usize,
}

impl Condition<'_> {
    fn mark(&self) -> &'static str {
        match self.tokens.get(self.at).map(|lexeme| &lexeme.token) {
            Some(Token::Mark(mark)) => mark,
            Some(_) | None => "",
        }
    }

    fn ranked(&mut self, least: u8) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut left = self.unary()?;
        loop {
            if least == 0 && self.mark() == "?" {
                self.at += 1;
                let yes = self.ranked(0)?;
                if self.mark() != ":" {
                    return None;
                }
                self.at += 1;
                let no = self.ranked(0)?;
                left = if left != 0 { yes } else { no };
                continue;
            }
            let Some((operator, rank)) = infix(self.mark()).filter(|(_, rank)| *rank >= least)
            else {
                self.depth -= 1;
                return Some(left);
            };
            self.at += 1;
            let right = self.ranked(rank + 1)?;
            left = applied(operator, left, right)?;
        }
    }

    fn unary(&mut self) -> Option<i64> {
        let mark = self.mark();
        let token = &self.tokens.get(self.at)?.token;
        self.at += 1;
        match (mark, token) {
            ("(", _) => {
                let value = self.ranked(0)?;
                self.at += 1;
                (self.tokens.get(self.at - 1)?.token == Token::Mark(")")).then_some(value)
            }
            ("!" | "-" | "+" | "~", _) => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return None;
                }
                let value = self.unary()?;
                self.depth -= 1;
                Some(match mark {
                    "!" => i64::from(value == 0),
                    "-" => value.wrapping_neg(),
                    "~" => !value,
                    _ => value,
                })
            }
            (_, Token::Integer { value, .. }) => Some(*value as i64),
            (_, Token::Name(name)) => Some(i64::from(name == "true")),
            (_, _) => None,
        }
    }
}

fn applied(operator: Infix, left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        Infix::AndAlso => i64::from(left != 0 && right != 0),
        Infix::OrElse => i64::from(left != 0 || right != 0),
        Infix::Binary(Binary::Compare(comparison, sides)) => {
            let (left, right) = match sides {
                Sides::AsWritten => (left, right),
                Sides::Swapped => (right, left),
            };
            i64::from(match comparison {
                Comparison::Equal => left == right,
                Comparison::NotEqual => left != right,
                Comparison::Less => left < right,
                Comparison::LessEqual => left <= right,
            })
        }
        Infix::Binary(Binary::Arithmetic(operation)) => match operation {
            Operation::Add => left.wrapping_add(right),
            Operation::Subtract => left.wrapping_sub(right),
            Operation::Multiply => left.wrapping_mul(right),
            Operation::Divide => left.checked_div(right)?,
            Operation::Remainder => left.checked_rem(right)?,
            Operation::And => left & right,
            Operation::Or => left | right,
            Operation::Xor => left ^ right,
            Operation::Left => left.checked_shl(u32::try_from(right).ok()?)?,
            Operation::Right => left.checked_shr(u32::try_from(right).ok()?)?,
        },
    })
}
