//! Statements.

use super::{Checked, Checker, Told};
use crate::syntax::{Statement, StatementKind};
use crate::typed::{Expr, Stmt, StmtKind, Test};
use crate::types::Type;

impl Checker {
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for statement in statements {
            match self.statement(statement, &mut out) {
                Ok(()) | Err(Told) => {}
            }
        }
        out
    }

    /// A statement in a scope of its own, as the body of an if or a loop is.
    fn body(&mut self, statement: &Statement) -> Vec<Stmt> {
        self.scoped(|checker| checker.statements(std::slice::from_ref(statement)))
    }

    fn statement(&mut self, statement: &Statement, out: &mut Vec<Stmt>) -> Checked<()> {
        let place = statement.place;
        let kind = match &statement.kind {
            StatementKind::Declare(declaration) => {
                self.declaration(declaration, out);
                return Ok(());
            }
            StatementKind::Empty => return Ok(()),
            StatementKind::Expr(expr) => StmtKind::Expr(self.expr(expr)?),
            StatementKind::Block(statements) => {
                StmtKind::Block(self.scoped(|checker| checker.statements(statements)))
            }
            StatementKind::If(condition, then, otherwise) => {
                let condition = self.condition(condition);
                let then = self.body(then);
                let otherwise = otherwise.as_ref().map(|body| self.body(body)).unwrap_or_default();
                StmtKind::If(condition?, then, otherwise)
            }
            StatementKind::While(condition, body) => {
                let condition = self.condition(condition);
                let body = self.loop_body(body);
                StmtKind::Loop { test: Some((condition?, Test::Before)), step: None, body }
            }
            StatementKind::DoWhile(body, condition) => {
                let body = self.loop_body(body);
                let condition = self.condition(condition)?;
                StmtKind::Loop { test: Some((condition, Test::After)), step: None, body }
            }
            StatementKind::For { first, condition, step, body } => {
                let statements = self.scoped(|checker| {
                    let mut statements = Vec::new();
                    if let Some(first) = first {
                        match checker.statement(first, &mut statements) {
                            Ok(()) | Err(Told) => {}
                        }
                    }
                    let condition = condition
                        .as_ref()
                        .map(|condition| checker.condition(condition))
                        .transpose();
                    let step = step.as_ref().map(|step| checker.expr(step)).transpose();
                    let body = checker.loop_body(body);
                    let test = condition?.map(|condition| (condition, Test::Before));
                    statements
                        .push(Stmt { place, kind: StmtKind::Loop { test, step: step?, body } });
                    Ok(statements)
                })?;
                StmtKind::Block(statements)
            }
            StatementKind::Break | StatementKind::Continue if self.loops == 0 => {
                return self.tell(
                    place,
                    "there is no loop here",
                    "break and continue stand inside a loop",
                );
            }
            StatementKind::Break => StmtKind::Break,
            StatementKind::Continue => StmtKind::Continue,
            StatementKind::Return(value) => StmtKind::Return(match (value, self.result) {
                (None, Type::Void) => None,
                (Some(_), Type::Void) => {
                    return self.tell(
                        place,
                        format!("'{}' returns nothing", self.name),
                        "write the result into a buffer, or give the function a type",
                    );
                }
                (None, ty) => {
                    return self.tell(
                        place,
                        format!("'{}' returns a {ty}", self.name),
                        "write return value;",
                    );
                }
                (Some(value), ty) => {
                    let value = self.value(value)?;
                    Some(self.convert(value, ty)?)
                }
            }),
        };
        out.push(Stmt { place, kind });
        Ok(())
    }

    fn loop_body(&mut self, body: &Statement) -> Vec<Stmt> {
        self.loops += 1;
        let body = self.body(body);
        self.loops -= 1;
        body
    }

    pub(super) fn condition(&mut self, expr: &crate::syntax::Expr) -> Checked<Expr> {
        let value = self.value(expr)?;
        self.truth(value)
    }
}
