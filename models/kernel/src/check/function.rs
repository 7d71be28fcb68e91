//! A function as a whole: its value, its arguments, its body.

use super::{Checker, Meaning, Told};
use crate::syntax::{self, Role, StatementKind};
use crate::typed::{Born, Function};
use crate::types::Type;

impl Checker {
    pub(super) fn function(&mut self, function: &syntax::Function) {
        self.name.clone_from(&function.name);
        self.result = Type::Void;
        self.variables = Vec::new();
        self.local_bytes = 0;
        self.loops = 0;
        self.height = 0;
        if let Ok(ty) = self.type_of(function.result, function.place, "a function's value") {
            self.result = ty;
        }
        if function.role == Role::Kernel && self.result != Type::Void {
            self.complain(
                function.place,
                "a kernel returns nothing",
                "write __global__ void, and a buffer for the result",
            );
        }
        let body = self.scoped(|checker| {
            for param in &function.params {
                let ty = match checker.type_of(param.ty, param.place, "an argument") {
                    Ok(Type::Void) => {
                        checker.complain(
                            param.place,
                            format!("'{}' has no type", param.name),
                            "void is no argument's type",
                        );
                        continue;
                    }
                    Ok(ty) => ty,
                    Err(Told) => continue,
                };
                let index = checker.variable(&param.name, param.place, ty, Born::WithValue);
                checker.declare(&param.name, param.place, Meaning::Variable(index));
            }
            checker.statements(&function.body)
        });
        if self.result != Type::Void && !function.body.last().is_some_and(returns) {
            self.complain(
                function.place,
                format!("'{}' may end without a value", function.name),
                "end it with return",
            );
        }
        if self.height > DEEPEST_CALLS {
            self.complain(
                function.place,
                format!("calls nest more than {DEEPEST_CALLS} deep"),
                "write some of them out",
            );
        }
        self.functions.push(Function {
            name: function.name.clone(),
            result: self.result,
            params: function.params.len(),
            variables: std::mem::take(&mut self.variables),
            body,
            height: self.height,
        });
        self.places.push(function.place);
    }
}

/// How deep helpers may call helpers.
pub(super) const DEEPEST_CALLS: u32 = 16;

/// Whether every way through a statement returns.
pub(super) fn returns(statement: &syntax::Statement) -> bool {
    if let StatementKind::Block(statements) = &statement.kind {
        statements.last().is_some_and(returns)
    } else if let StatementKind::If(_, then, Some(otherwise)) = &statement.kind {
        returns(then) && returns(otherwise)
    } else {
        matches!(statement.kind, StatementKind::Return(_))
    }
}
