//! Functions inside a structure. They become functions that take it as `this` and have a point before their name;
//! a constructor makes one and gives it.

use crate::ast::{
    Base, Body, Declaration, Declarator, ExprKind, Function, Param, Passing, Role, Statement,
    StatementKind, Storage, TypeName,
};
use crate::diagnostic::Place;
use crate::lexer::{Lexeme, Token};
use crate::parser::expression::{boxed, this};
use crate::parser::generic::plain;
use crate::parser::items::{behind, mark};
use crate::parser::{Parsed, Parser};
use crate::types::{Access, Record};

impl Parser {
    /// `public:` changes nothing here.
    pub(super) fn access_word(&mut self) -> bool {
        let is_access = matches!(self.token_word().as_str(), "public" | "private" | "protected");
        let found = is_access && *self.ahead(1) == Token::Mark(":");
        if found {
            self.advance();
            self.advance();
        }
        found
    }

    /// Whether a function stands here, and no field.
    pub(super) fn at_member(&self) -> bool {
        let is_end = |token: &&Token| {
            !matches!(token, Token::End | Token::Mark(";" | "{" | "=" | "}" | "["))
        };
        let mut head = (0..).map(|by| self.ahead(by)).take_while(is_end);
        let is_aligned = self.is_name("__align__") || self.is_name("alignas");
        !is_aligned
            && head.any(|token| {
                *token == Token::Mark("(")
                    || matches!(token, Token::Name(name) if name == "operator")
            })
    }

    pub(super) fn member(&mut self, record: Record, owner: &str) -> Parsed<()> {
        let first = self.at;
        let mut is_device = false;
        loop {
            match self.token_word().as_str() {
                "__device__" | "constexpr" => is_device = true,
                "__host__" | "inline" | "__forceinline__" | "__noinline__" | "__inline__"
                | "explicit" => {}
                word @ ("static" | "virtual" | "template" | "friend") => {
                    let message = format!("{word} functions of structures are not part of this");
                    return self.refuse(message, "write a __device__ function outside of it");
                }
                _ => break,
            }
            self.advance();
        }
        if !is_device {
            self.skip_member(first);
            return Ok(());
        }
        let place = self.place();
        let is_constructor = self.is_name(owner) && *self.ahead(1) == Token::Mark("(");
        let own = plain(Base::Record(record));
        let (name, result) = if is_constructor {
            self.advance();
            (format!("{owner}::{owner}"), own)
        } else {
            let ty = self.plain_type()?;
            let mut result = self.stars(ty)?;
            // `return *this;` as a reference gives the same as its value.
            if (result.base, result.pointer) == (Base::Record(record), None) {
                result = own;
            }
            if self.is_name("operator") {
                (self.operator_name()?.0, result)
            } else {
                let (name, _) = self.name("a field or a function")?;
                self.rewritten.insert(self.at - 1, name.clone().into());
                (format!(".{name}"), result)
            }
        };
        let mut params = self.params()?;
        let mut access = Access::Mutable;
        while let "const" | "noexcept" = self.token_word().as_str() {
            access = if self.is_name("const") { Access::Constant } else { access };
            self.advance();
        }
        if self.take("=") {
            // `= default`
            self.advance();
            return self.need(";", "default");
        }
        if self.is(";") {
            let message = "this function has no body here";
            return self.refuse(message, "write its body into the structure");
        }
        let complaints = self.diagnostics.len();
        let body = if is_constructor {
            self.constructor(own, place)?
        } else {
            let passing = Passing::Reference;
            let ty = TypeName { access, passing, ..own };
            params.insert(
                0,
                Param { name: "this".to_owned(), place, ty, row: Vec::new(), default: None },
            );
            self.block("a function")?
        };
        let is_broken = self.diagnostics.len() > complaints;
        self.members.push(Function {
            role: Role::Helper,
            name,
            place,
            result,
            params,
            body: if is_broken { Body::Broken } else { Body::Read(body) },
            template: Vec::new(),
            special: None,
            declared: 0,
        });
        Ok(())
    }

    /// `: x(a), y(b) { .. }`, with the structure that is made as a variable.
    fn constructor(&mut self, own: TypeName, place: Place) -> Parsed<Vec<Statement>> {
        let (name, extents, initial) = ("this".to_owned(), Vec::new(), None);
        let names = vec![Declarator { name, place, ty: own, extents, alignment: None, initial }];
        let declaration = Declaration { storage: Storage::Local, names };
        let mut body = vec![Statement { place, kind: StatementKind::Declare(declaration) }];
        if self.take(":") {
            loop {
                let (name, place) = self.name("a field")?;
                let close = if self.is("{") { "}" } else { ")" };
                if !self.take("{") {
                    self.need("(", "the field")?;
                }
                let mut values = self.arguments(close)?;
                let Some(value) = values.pop().filter(|_| values.is_empty()) else {
                    let message = format!("'{name}' has one value here");
                    return self.refuse(message, "assign it in the body");
                };
                let field = boxed(place, ExprKind::Member(Box::new(this(place)), name));
                let assign = ExprKind::Assign(None, Box::new(field), Box::new(value));
                let kind = StatementKind::Expr(boxed(place, assign));
                body.push(Statement { place, kind });
                if !self.take(",") {
                    break;
                }
            }
        }
        let own = StatementKind::Block(self.block("a function")?);
        let end = StatementKind::Return(Some(this(place)));
        body.extend([own, end].map(|kind| Statement { place, kind }));
        Ok(body)
    }

    /// Passes over a function of the host, which a second compiler is not given.
    fn skip_member(&mut self, first: usize) {
        self.at = behind_function(&self.tokens, self.at);
        self.rewritten.extend((first..self.at).map(|at| (at, "".into())));
    }
}

/// Behind the function of a structure that begins here, with its body.
pub(super) fn behind_function(tokens: &[Lexeme], begin: usize) -> usize {
    let mut at = begin;
    while at < tokens.len() {
        match mark(tokens, at) {
            ";" => return at + 1,
            "(" => at = behind(tokens, at),
            "{" => {
                at = behind(tokens, at);
                // `: x{a}, y{b} {}`
                if !matches!(mark(tokens, at), "," | "{") {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    at
}
