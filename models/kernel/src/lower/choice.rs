//! What runs for some lanes only: `&&`, `||` and `?:`.

use super::Lowering;
use crate::code::{Home, How, Instr, Reg};
use crate::typed::{Expr, Kind};
use crate::types::Scalar;

impl Lowering<'_> {
    pub(super) fn shortcut(
        &mut self,
        left: &Expr,
        right: &Expr,
        expr: &Expr,
        which: Shortcut,
    ) -> Reg {
        let one = self.value(left);
        self.at = expr.place;
        let into = self.narrow.take();
        if self.harmless(right) {
            let other = self.value(right);
            self.at = expr.place;
            self.emit(match which {
                Shortcut::And => Instr::Both(into, one, other),
                Shortcut::Or => Instr::Either(into, one, other),
            });
            return into;
        }
        self.emit(Instr::Move(into, one));
        let condition = match which {
            Shortcut::And => into,
            Shortcut::Or => {
                let not = self.narrow.take();
                self.emit(Instr::Not(not, into));
                not
            }
        };
        self.branch(
            condition,
            How::Predicate,
            |lowering| {
                let other = lowering.value(right);
                lowering.emit(Instr::Move(into, other));
            },
            None::<fn(&mut Self)>,
        );
        into
    }

    pub(super) fn choice(&mut self, condition: &Expr, yes: &Expr, no: &Expr, expr: &Expr) -> Reg {
        let condition = self.value(condition);
        self.at = expr.place;
        let ty = expr.ty;
        let into = self.register(ty);
        if self.harmless(yes) && self.harmless(no) {
            let (yes, no) = (self.value(yes), self.value(no));
            self.at = expr.place;
            self.emit(if ty.is_wide() {
                Instr::SelectWide(into, condition, yes, no)
            } else {
                Instr::Select(into, condition, yes, no)
            });
            return into;
        }
        self.branch(
            condition,
            How::Predicate,
            |lowering| {
                let value = lowering.value(yes);
                lowering.move_to(ty, into, value);
            },
            Some(|lowering: &mut Self| {
                let value = lowering.value(no);
                lowering.move_to(ty, into, value);
            }),
        );
        into
    }

    /// Whether evaluating may be done for lanes that do not need it: no fault, no access, no change.
    pub(super) fn harmless(&self, expr: &Expr) -> bool {
        let signed = expr.ty.scalar().is_some_and(Scalar::is_signed);
        match &expr.kind {
            Kind::Whole(_)
            | Kind::Real(_)
            | Kind::Special(..)
            | Kind::WarpSize
            | Kind::Shared(_)
            | Kind::Local(_) => true,
            // Reading memory is an access, and a value that may be missing a fault.
            Kind::Variable(index) => {
                let home = self.homes[*index];
                home.slot.is_none() && matches!(home.home, Home::Register(_))
            }
            Kind::Convert(inner) => {
                let from = inner.ty.scalar();
                // A number that does not fit into a whole one is a fault.
                let narrowing = from.is_some_and(Scalar::is_real)
                    && expr.ty.scalar().is_some_and(|to| !to.is_real() && to != Scalar::Bool);
                !narrowing && self.harmless(inner)
            }
            Kind::Not(a) | Kind::Complement(a) => self.harmless(a),
            Kind::Negate(a) => !signed && self.harmless(a),
            Kind::Arithmetic(operation, a, b) => {
                use crate::typed::Operation as Op;
                let real = expr.ty.scalar().is_some_and(Scalar::is_real);
                let safe = match operation {
                    Op::And | Op::Or | Op::Xor => true,
                    Op::Add | Op::Subtract | Op::Multiply => !signed,
                    Op::Divide => real,
                    Op::Remainder => false,
                    Op::Left | Op::Right => matches!(b.kind, Kind::Whole(_)),
                };
                safe && self.harmless(a) && self.harmless(b)
            }
            Kind::Compare(_, a, b) | Kind::And(a, b) | Kind::Or(a, b) => {
                self.harmless(a) && self.harmless(b)
            }
            Kind::Math(_, arguments) => {
                !signed && arguments.iter().all(|argument| self.harmless(argument))
            }
            Kind::Load(_)
            | Kind::Offset(..)
            | Kind::Distance(..)
            | Kind::Conditional(..)
            | Kind::Comma(..)
            | Kind::Assign(..)
            | Kind::Update(..)
            | Kind::Call(..)
            | Kind::Atomic(..)
            | Kind::Shuffle(..)
            | Kind::Vote(..)
            | Kind::Barrier
            | Kind::WarpBarrier(_) => false,
        }
    }
}

#[derive(Clone, Copy)]
pub(super) enum Shortcut {
    And,
    Or,
}
