//! Statements: masks go down and up again at the places that the text nests.

use super::{Lowering, Meeting, Residence};
use crate::code::{Home, How, Instr, Pc, Reg};
use crate::typed::{Expr, Stmt, StmtKind, Test};
use crate::types::Type;

impl Lowering<'_> {
    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            // Registers of intermediate results end with their statement.
            let (narrow, wide) = (self.narrow.next, self.wide.next);
            self.statement(statement);
            (self.narrow.next, self.wide.next) = (narrow, wide);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        self.at = statement.place;
        match &statement.kind {
            StmtKind::Declare(index, value) => self.declare(*index, value.as_ref()),
            StmtKind::Fill(index, values) => self.fill(*index, values),
            StmtKind::Expr(expr) => self.effect(expr),
            StmtKind::Block(statements) => self.statements(statements),
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.value(condition);
                self.at = statement.place;
                self.branch(
                    condition,
                    How::Branch,
                    |lowering| lowering.statements(then),
                    (!otherwise.is_empty())
                        .then_some(|lowering: &mut Self| lowering.statements(otherwise)),
                );
            }
            StmtKind::Loop { test, step, body } => {
                self.turn(statement, test.as_ref(), step.as_ref(), body)
            }
            StmtKind::Break => self.emit_skip(Instr::Break { skip: 0 }),
            StmtKind::Continue => self.emit_skip(Instr::Continue { skip: 0 }),
            StmtKind::Return(value) => self.give_back(statement, value.as_ref()),
        }
    }

    /// `if`, `&&`, `||` and `?:` alike: lanes go two ways and come together.
    pub(super) fn branch(
        &mut self,
        condition: Reg,
        how: How,
        then: impl FnOnce(&mut Self),
        otherwise: Option<impl FnOnce(&mut Self)>,
    ) {
        let at = self.at;
        let branch = self.emit(Instr::If { condition, otherwise: 0, how });
        self.meetings.push(Meeting::default());
        then(self);
        self.at = at;
        if let Some(otherwise) = otherwise {
            let middle = self.here();
            self.meet(middle);
            let skip = self.emit(Instr::Else { end: 0 });
            let begin = self.here();
            self.patch(branch, begin);
            otherwise(self);
            self.at = at;
            let end = self.here();
            self.meet(end);
            self.patch(skip, end);
        } else {
            let end = self.here();
            self.meet(end);
            self.patch(branch, end);
        }
        self.meetings.pop();
        self.emit_skip(Instr::EndIf { skip: 0 });
    }

    fn turn(
        &mut self,
        statement: &Stmt,
        test: Option<&(Expr, Test)>,
        step: Option<&Expr>,
        body: &[Stmt],
    ) {
        self.emit(Instr::LoopEnter);
        let top = self.here();
        let mut leaves = Vec::new();
        let check = |lowering: &mut Self, condition: &Expr, leaves: &mut Vec<Pc>| {
            lowering.at = condition.place;
            let (narrow, wide) = (lowering.narrow.next, lowering.wide.next);
            let condition = lowering.value(condition);
            leaves.push(lowering.emit(Instr::LoopTest { condition, end: 0 }));
            (lowering.narrow.next, lowering.wide.next) = (narrow, wide);
        };
        if let Some((condition, Test::Before)) = test {
            check(self, condition, &mut leaves);
        }
        self.meetings.push(Meeting::default());
        self.statements(body);
        let next = self.here();
        self.meet(next);
        self.meetings.pop();
        self.at = statement.place;
        leaves.push(self.emit(Instr::LoopNext { end: 0 }));
        if let Some((condition, Test::After)) = test {
            check(self, condition, &mut leaves);
        }
        if let Some(step) = step {
            let (narrow, wide) = (self.narrow.next, self.wide.next);
            self.at = step.place;
            self.effect(step);
            (self.narrow.next, self.wide.next) = (narrow, wide);
        }
        self.at = statement.place;
        self.emit(Instr::LoopBack { top });
        let end = self.here();
        for leave in leaves {
            self.patch(leave, end);
        }
        self.emit_skip(Instr::LoopEnd { skip: 0 });
    }

    fn give_back(&mut self, statement: &Stmt, value: Option<&Expr>) {
        let into = self.calls.last().copied();
        if let Some(value) = value {
            let into = into.flatten();
            let given = self.value_into(value, into);
            if let Some(into) = into.filter(|into| *into != given) {
                self.move_to(value.ty, into, given);
            }
        }
        self.at = statement.place;
        let leave = match into {
            Some(_) => Instr::Return { skip: 0 },
            None => Instr::Exit { skip: 0 },
        };
        self.emit_skip(leave);
    }

    fn declare(&mut self, index: usize, value: Option<&Expr>) {
        let variable = &self.program.functions[self.function].variables[index];
        let Residence { home, slot, mark, .. } = self.homes[index];
        match value {
            None => {
                if let Some(slot) = slot {
                    self.emit(Instr::Forget(slot));
                }
            }
            Some(value) => {
                let into = match home {
                    Home::Register(reg) => Some(reg),
                    Home::Local(_) => None,
                };
                let given = self.value_into(value, into);
                self.at = variable.place;
                if into != Some(given) {
                    self.write_home(index, variable.ty, given);
                }
                // From here on there is a value to show; later assignments change only which.
                if let Some(mark) = mark {
                    self.emit(Instr::Learn(mark));
                }
            }
        }
    }

    fn fill(&mut self, index: usize, values: &[Expr]) {
        let ty = self.program.functions[self.function].variables[index].ty;
        let Type::Array { of, extents, .. } = ty else {
            return;
        };
        for element in 0..extents.elements() {
            let (narrow, wide) = (self.narrow.next, self.wide.next);
            let value = match values.get(element as usize) {
                Some(value) => self.value(value),
                None => self.zero(of),
            };
            if let Home::Local(offset) = self.homes[index].home {
                let at = self.local_at(offset + element as u32 * of.bytes());
                self.emit(Instr::Store { ty: of, from: value, at });
            }
            (self.narrow.next, self.wide.next) = (narrow, wide);
        }
    }
}
