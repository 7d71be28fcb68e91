//! Statements.

use super::parser::{Lost, Parsed, Parser, outside};
use super::{Declaration, Statement, StatementKind, Storage};
use crate::source::Token;

impl Parser {
    /// A block in braces; after a mistake it goes on at the next statement.
    pub(super) fn block(&mut self, of: &str) -> Parsed<Vec<Statement>> {
        self.need("{", of)?;
        let mut statements = Vec::new();
        while !self.is("}") {
            if *self.token() == Token::End {
                return self.lose(format!("the block of {of} never ends"), "close it with }");
            }
            let before = self.place();
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(Lost) => self.skip_statement(before),
            }
        }
        self.advance();
        Ok(statements)
    }

    fn skip_statement(&mut self, before: crate::source::Place) {
        if self.place() == before && !self.is("}") {
            self.advance();
        }
        let mut depth = 0_usize;
        while *self.token() != Token::End {
            match self.mark() {
                "{" => depth += 1,
                "}" if depth == 0 => return,
                "}" => {
                    depth -= 1;
                    if depth == 0 {
                        self.advance();
                        return;
                    }
                }
                ";" if depth == 0 => {
                    self.advance();
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }

    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        self.nested(Self::bare_statement)
    }

    fn bare_statement(&mut self) -> Parsed<Statement> {
        let place = self.place();
        let kind = match self.token().clone() {
            Token::Mark("{") => StatementKind::Block(self.block("this block")?),
            Token::Mark(";") => {
                self.advance();
                StatementKind::Empty
            }
            Token::Name(word) => self.word(&word)?,
            Token::Mark(_)
            | Token::Integer { .. }
            | Token::Double(_)
            | Token::Float(_)
            | Token::End => self.plain()?,
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
                    return self.lose(
                        "'while' is missing after the body of do",
                        "write do { .. } while (condition);",
                    );
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
                let value = if self.is(";") { None } else { Some(self.expression()?) };
                self.need(";", "return")?;
                Ok(StatementKind::Return(value))
            }
            "else" => self.lose("else without an if", "give the if a block in braces"),
            "extern" | "__shared__" | "static" => self.shared(word),
            _ if self.at_type() && *self.ahead(1) != Token::Mark("(") => {
                Ok(StatementKind::Declare(self.declaration(Storage::Local)?))
            }
            _ => match outside(word) {
                Some((message, help)) => self.lose(message, help),
                None => self.plain(),
            },
        }
    }

    fn shared(&mut self, word: &str) -> Parsed<StatementKind> {
        let storage = match word {
            "extern" => Storage::Dynamic,
            "static" => {
                return self.lose(
                    "static variables are not part of this",
                    "write __shared__ for what a block shares",
                );
            }
            _ => Storage::Shared,
        };
        if storage == Storage::Dynamic {
            self.advance();
        }
        if !self.take_name("__shared__") {
            return self.lose(
                "extern stands only before __shared__",
                "write extern __shared__ float tile[];",
            );
        }
        Ok(StatementKind::Declare(self.declaration(storage)?))
    }

    fn declaration(&mut self, storage: Storage) -> Parsed<Declaration> {
        let plain = self.plain_type()?;
        let ty = self.stars(plain)?;
        let (name, place) = self.name("a variable")?;
        let names = self.declarators(plain, ty, name, place)?;
        Ok(Declaration { storage, names })
    }

    fn condition(&mut self, of: &str) -> Parsed<super::Expr> {
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

    /// An expression with its semicolon.
    fn plain(&mut self) -> Parsed<StatementKind> {
        let expression = self.expression()?;
        self.need(";", "the statement")?;
        Ok(StatementKind::Expr(expression))
    }
}
