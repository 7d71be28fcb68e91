//! Whether control comes to the end of a function.

use crate::ast::{Expr, ExprKind, Statement, StatementKind};

/// Whether a function with this last statement ends with a value, or never.
pub(super) fn returns(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Return(_) => true,
        StatementKind::Block(statements) => statements.last().is_some_and(returns),
        StatementKind::If(_, then, Some(otherwise)) => returns(then) && returns(otherwise),
        StatementKind::While(test, body) | StatementKind::DoWhile(body, test) => {
            is_true(test) && !breaks(body)
        }
        StatementKind::For { condition, body, .. } => {
            condition.as_ref().is_none_or(is_true) && !breaks(body)
        }
        StatementKind::If(_, _, None)
        | StatementKind::Declare(_)
        | StatementKind::Empty
        | StatementKind::Expr(_)
        | StatementKind::Break
        | StatementKind::Continue => false,
    }
}

fn is_true(test: &Expr) -> bool {
    matches!(test.kind, ExprKind::Bool(true) | ExprKind::Integer { value: 1.., .. })
}

/// Whether a break leaves the loop of which this is the body.
fn breaks(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Break => true,
        StatementKind::Block(statements) => statements.iter().any(breaks),
        StatementKind::If(_, then, otherwise) => {
            breaks(then) || otherwise.as_ref().is_some_and(|body| breaks(body))
        }
        StatementKind::While(..)
        | StatementKind::DoWhile(..)
        | StatementKind::For { .. }
        | StatementKind::Declare(_)
        | StatementKind::Empty
        | StatementKind::Expr(_)
        | StatementKind::Return(_)
        | StatementKind::Continue => false,
    }
}
