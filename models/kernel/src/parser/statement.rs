//! Functions, declarations and statements.

use crate::ast::{
    Declaration, Declarator, Expr, Function, Initial, Param, Role, Statement, StatementKind,
    Storage, TypeName, Unit,
};
use crate::diagnostic::Place;
use crate::lexer::Token;
use crate::parser::{Parsed, Parser, Reported, outside};
use crate::types::Access;

impl Parser {
    pub(super) fn unit(&mut self) -> Unit {
        let mut unit = Unit::default();
        while *self.token() != Token::End {
            let before = self.place();
            if self.item(&mut unit).is_err() {
                // The next function begins at its own word, whatever was left open before it.
                let start = self.position();
                self.skip(|parser, _| {
                    let function = parser.is_name("__global__") || parser.is_name("__device__");
                    function && parser.position() > start
                });
                if self.place() == before {
                    self.advance();
                }
            }
        }
        unit
    }

    fn item(&mut self, unit: &mut Unit) -> Parsed<()> {
        if self.take(";") {
            return Ok(());
        }
        let start = self.place();
        let mut role = None;
        while let Token::Name(word) = self.token() {
            let word = word.clone();
            match word.as_str() {
                "__global__" if role.is_none() => role = Some(Role::Kernel),
                "__device__" if role.is_none() => role = Some(Role::Helper),
                "__global__" | "__device__" => {
                    let message = "a function is either __global__ or __device__";
                    return self.refuse(message, "keep one of them");
                }
                "static" | "inline" | "__forceinline__" | "__noinline__" | "__inline__" => {}
                "extern" => {
                    let message = "extern stands only before __shared__, inside a kernel";
                    return self.refuse(message, "leave it out");
                }
                "__launch_bounds__" => {
                    self.launch_bounds()?;
                    continue;
                }
                "__host__" => {
                    let message = "functions of the host are not part of this";
                    return self.refuse(message, "leave __host__ out: the lab launches the kernel");
                }
                "__shared__" => {
                    return self
                        .refuse("__shared__ stands inside a kernel", "move it into the kernel");
                }
                other => match outside(other) {
                    Some((message, help)) => return self.refuse(message, help),
                    None => break,
                },
            }
            self.advance();
        }
        // `__global__ __launch_bounds__(256) void f` and `void __launch_bounds__(256) f` are both usual.
        let plain = self.plain_type()?;
        let ty = self.stars(plain)?;
        if self.is_name("__launch_bounds__") {
            self.launch_bounds()?;
        }
        let (name, place) = self.name("a function or a constant")?;
        if !self.is("(") {
            if role.is_some() {
                return self.refuse(
                    format!("'(' is missing after '{name}'"),
                    "global variables are not part of this: pass a buffer as an argument",
                );
            }
            let names = self.declarators(plain, ty, name, place)?;
            for declarator in &names {
                if declarator.ty.access == Access::Mutable
                    || !matches!(declarator.initial, Some(Initial::Value(_)))
                {
                    let message =
                        format!("'{}' outside of a function is no constant", declarator.name);
                    let help = "write const int N = 4, or pass a buffer as an argument";
                    self.complain(declarator.place, message, help);
                }
            }
            unit.constants.push(Declaration { storage: Storage::Local, names });
            return Ok(());
        }
        let Some(role) = role else {
            let message = format!("'{name}' is a function of the host");
            let help = "write __global__ before the kernel, __device__ before what it calls";
            self.complain(start, message, help);
            return Err(Reported);
        };
        let params = self.params()?;
        if self.take(";") {
            // A declaration ahead of the definition says nothing new.
            return Ok(());
        }
        let body = self.block("a function")?;
        unit.functions.push(Function { role, name, place, result: ty, params, body });
        Ok(())
    }

    /// Constants, which change nothing that a kernel computes.
    fn launch_bounds(&mut self) -> Parsed<()> {
        self.advance();
        self.need("(", "__launch_bounds__")?;
        self.expression()?;
        self.need(")", "the bounds")
    }

    fn params(&mut self) -> Parsed<Vec<Param>> {
        self.need("(", "the function's name")?;
        let mut params = Vec::new();
        if self.is_name("void") && *self.ahead(1) == Token::Mark(")") {
            self.advance();
        }
        while !self.is(")") {
            let mut ty = self.whole_type()?;
            let (name, place) = self.name("an argument")?;
            if self.take("[") {
                // The extent of an array argument means nothing in C: it is a pointer.
                if !self.is("]") {
                    self.expression()?;
                }
                self.need("]", "the extent")?;
                if self.is("[") || ty.pointer.is_some() {
                    let message = "arrays of arrays are not passed here";
                    return self.refuse(message, "pass a pointer and the width");
                }
                ty.pointer = Some(Access::Mutable);
            }
            params.push(Param { name, place, ty });
            if !self.take(",") {
                break;
            }
        }
        self.need(")", "the arguments")?;
        Ok(params)
    }

    /// The rest of a declaration after its first name, with its semicolon.
    fn declarators(
        &mut self,
        plain: TypeName,
        first: TypeName,
        name: String,
        place: Place,
    ) -> Parsed<Vec<Declarator>> {
        let mut names = Vec::new();
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
            } else if self.is("(") || self.is("{") {
                return self
                    .refuse("this way to give a first value is not part of this", "write = value");
            } else {
                None
            };
            names.push(Declarator { name, place, ty, extents, initial });
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
    fn skip(&mut self, stops: impl Fn(&Self, usize) -> bool) {
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
    fn block(&mut self, of: &str) -> Parsed<Vec<Statement>> {
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
                let value = if self.is(";") { None } else { Some(self.expression()?) };
                self.need(";", "return")?;
                Ok(StatementKind::Return(value))
            }
            "else" => self.refuse("else without an if", "give the if a block in braces"),
            "extern" | "__shared__" | "static" => self.shared(word),
            _ if self.at_type() && *self.ahead(1) != Token::Mark("(") => {
                Ok(StatementKind::Declare(self.declaration(Storage::Local)?))
            }
            _ => match outside(word) {
                Some((message, help)) => self.refuse(message, help),
                None => self.plain(),
            },
        }
    }

    fn shared(&mut self, word: &str) -> Parsed<StatementKind> {
        if word == "static" {
            let message = "static variables are not part of this";
            return self.refuse(message, "write __shared__ for what a block shares");
        }
        let storage = if word == "extern" { Storage::Dynamic } else { Storage::Shared };
        if storage == Storage::Dynamic {
            self.advance();
        }
        if !self.take_name("__shared__") {
            let message = "extern stands only before __shared__";
            return self.refuse(message, "write extern __shared__ float tile[];");
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
        let expression = self.expression()?;
        self.need(";", "the statement")?;
        Ok(StatementKind::Expr(expression))
    }
}
