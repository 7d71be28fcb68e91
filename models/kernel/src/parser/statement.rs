//! Declarations and statements.

use crate::ast::{
    Base, Declaration, Declarator, Expr, ExprKind, Initial, Statement, StatementKind, Storage,
    TypeName,
};
use crate::diagnostic::Place;
use crate::lexer::Token;
use crate::parser::expression::boxed;
use crate::parser::{Parsed, Parser, Reported, is_keyword, is_type_word, outside};
use std::rc::Rc;

impl Parser {
    /// The rest of a declaration after its first name, with its semicolon.
    pub(super) fn declarators(
        &mut self,
        plain: TypeName,
        first: TypeName,
        name: String,
        place: Place,
    ) -> Parsed<Vec<Declarator>> {
        let mut names = Vec::new();
        let alignment = self.alignment.take().map(Rc::new);
        let mut next = (name, place, first);
        loop {
            let (name, place, ty) = next;
            let mut extents = Vec::new();
            while self.take("[") {
                let extent = if self.is("]") { None } else { Some(self.conditional()?) };
                extents.push(extent);
                self.need("]", "the extent")?;
            }
            let initial = if self.take("=") {
                Some(if self.is("{") {
                    Initial::List(self.list()?)
                } else {
                    Initial::Value(self.assignment()?)
                })
            } else if self.is("{") && !extents.is_empty() {
                Some(Initial::List(self.list()?))
            } else if let "(" | "{" = self.mark() {
                let close = if self.is("(") { ")" } else { "}" };
                let is_record = matches!(ty.base, Base::Record(_) | Base::Param(_));
                if close == ")" {
                    let words = if is_record && ty.pointer.is_none() { "(" } else { "= (" };
                    self.rewritten.insert(self.at, words.into());
                }
                self.advance();
                Some(Initial::Construct(self.arguments(close)?))
            } else {
                None
            };
            let alignment = alignment.clone();
            names.push(Declarator { name, place, ty, extents, alignment, initial });
            if !self.take(",") {
                break;
            }
            let ty = self.stars(plain)?;
            let (name, place) = self.name("a variable")?;
            next = (name, place, ty);
        }
        self.need(";", "the declaration")?;
        Ok(names)
    }

    /// `{a, b}`, or what else may stand here.
    pub(super) fn list_or(&mut self, other: fn(&mut Self) -> Parsed<Expr>) -> Parsed<Expr> {
        let place = self.place();
        if self.is("{") { Ok(boxed(place, ExprKind::List(self.list()?))) } else { other(self) }
    }

    fn list(&mut self) -> Parsed<Vec<Expr>> {
        self.need("{", "=")?;
        let mut values = Vec::new();
        while !self.is("}") {
            if self.is("{") {
                let message = "lists inside lists are not part of this";
                return self.refuse(message, "write all values in one row");
            }
            values.push(self.assignment()?);
            if !self.take(",") {
                break;
            }
        }
        self.need("}", "the values")?;
        Ok(values)
    }

    /// Skips the unreadable part: past its block or semicolon, or to a stop, which is given the depth of open blocks.
    pub(super) fn skip(&mut self, stops: impl Fn(&Self, usize) -> bool) {
        let mut depth = 0_usize;
        while *self.token() != Token::End && !stops(self, depth) {
            let mark = self.mark();
            self.advance();
            match mark {
                "{" => depth += 1,
                "}" if depth <= 1 => return,
                "}" => depth -= 1,
                ";" if depth == 0 => return,
                _ => {}
            }
        }
    }

    /// A block in braces; after a mistake it goes on at the next statement.
    pub(super) fn block(&mut self, of: &str) -> Parsed<Vec<Statement>> {
        self.need("{", of)?;
        let mut statements = Vec::new();
        while !self.is("}") {
            if *self.token() == Token::End {
                return self.refuse(format!("the block of {of} never ends"), "close it with }");
            }
            let before = self.place();
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(Reported) => self.skip_statement(before),
            }
        }
        self.advance();
        Ok(statements)
    }

    fn skip_statement(&mut self, before: Place) {
        if self.place() == before && !self.is("}") {
            self.advance();
        }
        self.skip(|parser, depth| depth == 0 && parser.is("}"));
    }

    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        self.nested(Self::bare_statement)
    }

    fn bare_statement(&mut self) -> Parsed<Statement> {
        let place = self.place();
        let kind = if self.is("{") {
            StatementKind::Block(self.block("this block")?)
        } else if self.take(";") {
            StatementKind::Empty
        } else if let Token::Name(word) = self.token().clone() {
            self.word(&word)?
        } else {
            self.plain()?
        };
        Ok(Statement { place, kind })
    }

    fn word(&mut self, word: &str) -> Parsed<StatementKind> {
        match word {
            "if" => {
                self.advance();
                let condition = self.condition("if")?;
                let then = Box::new(self.statement()?);
                let otherwise =
                    if self.take_name("else") { Some(Box::new(self.statement()?)) } else { None };
                Ok(StatementKind::If(condition, then, otherwise))
            }
            "while" => {
                self.advance();
                let condition = self.condition("while")?;
                Ok(StatementKind::While(condition, Box::new(self.statement()?)))
            }
            "do" => {
                self.advance();
                let body = Box::new(self.statement()?);
                if !self.take_name("while") {
                    let message = "'while' is missing after the body of do";
                    return self.refuse(message, "write do { .. } while (condition);");
                }
                let condition = self.condition("while")?;
                self.need(";", "do .. while")?;
                Ok(StatementKind::DoWhile(body, condition))
            }
            "for" => self.for_loop(),
            "break" | "continue" => {
                self.advance();
                self.need(";", word)?;
                Ok(if word == "break" { StatementKind::Break } else { StatementKind::Continue })
            }
            "return" => {
                self.advance();
                let value = if self.is(";") { None } else { Some(self.list_or(Self::expression)?) };
                self.need(";", "return")?;
                Ok(StatementKind::Return(value))
            }
            "else" => self.refuse("else without an if", "give the if a block in braces"),
            "switch" => self.switch(),
            "typedef" | "using" => {
                self.type_alias()?;
                Ok(StatementKind::Empty)
            }
            "enum"
                if matches!(self.ahead(1), Token::Mark("{"))
                    || matches!(self.ahead(2), Token::Mark("{")) =>
            {
                Ok(StatementKind::Declare(self.enumeration()?))
            }
            _ if self.at_shared() => self.shared(),
            "__align__" | "alignas" => {
                Ok(StatementKind::Declare(self.declaration(Storage::Local)?))
            }
            _ if self.at_type() && *self.ahead(1) != Token::Mark("(") => {
                Ok(StatementKind::Declare(self.declaration(Storage::Local)?))
            }
            _ => match outside(word) {
                Some((message, help)) => self.refuse(message, help),
                None => self.plain(),
            },
        }
    }

    /// Whether `__shared__` stands among the words of a declaration that begins here.
    pub(super) fn at_shared(&self) -> bool {
        let qualifiers = ["extern", "static", "volatile", "const", "__align__", "alignas"];
        let mut ahead = 0;
        loop {
            let token = self.ahead(ahead);
            let name = if let Token::Name(name) = token { name.as_str() } else { "" };
            let is_alignment = matches!(token, Token::Mark("(" | ")") | Token::Integer { .. });
            if name == "__shared__" {
                return true;
            }
            let is_type = is_type_word(name);
            if !(qualifiers.contains(&name) || is_type || is_alignment && ahead > 0) {
                return false;
            }
            ahead += 1;
        }
    }

    /// `__shared__`, with the words that may stand around it, and the declaration.
    pub(super) fn shared_declaration(&mut self) -> Parsed<Declaration> {
        let mut storage = Storage::Shared;
        loop {
            if self.take_name("extern") {
                storage = Storage::Dynamic;
            } else if self.take_name("__shared__")
                || self.at_type() && !self.is_name("const") && !self.is_name("volatile")
            {
                return self.declaration(storage);
            } else if !(self.take_name("static")
                || self.take_name("volatile")
                || self.alignment()?)
            {
                let message = "extern stands only before __shared__";
                return self.refuse(message, "write extern __shared__ float tile[];");
            }
        }
    }

    fn shared(&mut self) -> Parsed<StatementKind> {
        Ok(StatementKind::Declare(self.shared_declaration()?))
    }

    pub(super) fn declaration(&mut self, storage: Storage) -> Parsed<Declaration> {
        let plain = self.plain_type()?;
        let ty = self.stars(plain)?;
        let (name, place) = self.name("a variable")?;
        let names = self.declarators(plain, ty, name, place)?;
        Ok(Declaration { storage, names })
    }

    fn condition(&mut self, of: &str) -> Parsed<Expr> {
        self.need("(", of)?;
        let condition = self.expression()?;
        self.need(")", "the condition")?;
        Ok(condition)
    }

    fn for_loop(&mut self) -> Parsed<StatementKind> {
        self.advance();
        self.need("(", "for")?;
        let place = self.place();
        let first = if self.take(";") {
            None
        } else if self.at_type() {
            let declaration = self.declaration(Storage::Local)?;
            Some(Box::new(Statement { place, kind: StatementKind::Declare(declaration) }))
        } else {
            Some(Box::new(Statement { place, kind: self.plain()? }))
        };
        let condition = if self.is(";") { None } else { Some(self.expression()?) };
        self.need(";", "the condition of for")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.need(")", "the step of for")?;
        let body = Box::new(self.statement()?);
        Ok(StatementKind::For { first, condition, step, body })
    }

    fn plain(&mut self) -> Parsed<StatementKind> {
        let place = self.place();
        // `string s` and `vector<int> v`
        let name = self.token_word();
        let is_template = self.templates.contains(&name) || name.ends_with("_cast");
        let is_type = matches!(self.ahead(1), Token::Name(next) if !is_keyword(next))
            || *self.ahead(1) == Token::Mark("<") && !is_template && self.at_type_after(2);
        if !name.is_empty() && !is_keyword(&name) && is_type {
            self.complain(place, format!("'{name}' is no type"), self.type_help(&name));
            return Err(Reported);
        }
        let expression = self.expression()?;
        self.need(";", "the statement")?;
        Ok(StatementKind::Expr(expression))
    }
}
