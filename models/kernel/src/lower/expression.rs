//! Expressions: each leaves its value in a register.
//!
//! What runs for some lanes only: `&&`, `||` and `?:`.

use crate::bytecode::{BranchKind, InitialValue, Instr, Reg, VariableHome, address};
use crate::lower::memory::element;
use crate::lower::{Lowering, Reconvergence};
use crate::typed_ast::{Expr, Kind, Special};
use crate::types::{Scalar, Type};

impl Lowering<'_> {
    /// An expression in void context.
    pub(super) fn effect(&mut self, expr: &Expr) {
        match (&expr.kind, expr.ty) {
            (Kind::Convert(inner), Type::Void) => self.effect(inner),
            _ => {
                self.value(expr);
            }
        }
    }

    pub(super) fn value(&mut self, expr: &Expr) -> Reg {
        self.value_into(expr, None)
    }

    /// The value of an expression; in the wanted register if it has to be computed, else where it is.
    ///
    /// Only the last instruction writes the wanted register: it may be an operand of the ones before.
    pub(super) fn value_into(&mut self, expr: &Expr, wanted: Option<Reg>) -> Reg {
        let ty = expr.ty;
        let before = self.at;
        let instr = match &expr.kind {
            Kind::Whole(value) => return self.constant(ty, *value),
            Kind::Real(value) => {
                return self.preset(match ty {
                    Type::Scalar(Scalar::Float) => InitialValue::Narrow((*value as f32).to_bits()),
                    Type::Void | Type::Scalar(_) | Type::Pointer { .. } | Type::Array { .. } => {
                        InitialValue::Wide(value.to_bits())
                    }
                });
            }
            Kind::WarpSize => return self.preset(InitialValue::Narrow(32)),
            Kind::Special(special, axis) => {
                let axis = axis.index();
                return self.preset(match special {
                    Special::ThreadIdx => InitialValue::ThreadIdx(axis),
                    Special::BlockIdx => InitialValue::BlockIdx(axis),
                    Special::BlockDim => InitialValue::BlockDim(axis),
                    Special::GridDim => InitialValue::GridDim(axis),
                });
            }
            Kind::Shared(index) => {
                let offset = self.program.shared[*index].offset;
                return self.preset(InitialValue::Wide(address::shared(offset)));
            }
            Kind::Local(index) => {
                return match self.homes[*index].home {
                    VariableHome::Local(offset) => {
                        self.preset(InitialValue::Wide(address::local(offset)))
                    }
                    VariableHome::Register(reg) => reg,
                };
            }
            Kind::Variable(index) => return self.read_home(*index, ty),
            Kind::Comma(left, right) => {
                self.effect(left);
                return self.value_into(right, wanted);
            }
            Kind::Assign(target, value) => {
                self.at = expr.place;
                return self.assign(target, value);
            }
            Kind::Update(target, change, value, yields) => {
                self.at = expr.place;
                return self.update(ty, target, *change, value, *yields);
            }
            Kind::Call(function, arguments) => return self.call(*function, arguments, ty, expr),
            Kind::Convert(inner) => {
                let of = self.value(inner);
                self.at = expr.place;
                let (from, to) = match (inner.ty, ty) {
                    (Type::Scalar(from), Type::Scalar(to)) => (from, to),
                    (Type::Pointer { .. }, Type::Scalar(to)) => (Scalar::UnsignedLong, to),
                    _ => return of,
                };
                if same_bits(from, to) {
                    return of;
                }
                let into = wanted.unwrap_or_else(|| self.register(ty));
                self.convert_into(from, to, into, of);
                return into;
            }
            Kind::And(left, right) => return self.shortcut(left, right, expr, Shortcut::And),
            Kind::Or(left, right) => return self.shortcut(left, right, expr, Shortcut::Or),
            Kind::Conditional(condition, yes, no) => return self.choice(condition, yes, no, expr),
            Kind::Load(address) => {
                let at = self.at(address);
                let into = wanted.unwrap_or_else(|| self.register(ty));
                Instr::Load { ty: ty.scalar().unwrap_or(Scalar::Int), into, at }
            }
            Kind::Offset(..) => {
                let at = self.at(expr);
                let into = wanted.unwrap_or_else(|| self.register(ty));
                Instr::Offset { into, at, bytes: element(ty) }
            }
            Kind::Distance(left, right) => {
                let bytes = element(left.ty);
                let (left, right) = (self.value(left), self.value(right));
                let into = wanted.unwrap_or_else(|| self.register(ty));
                Instr::Distance { into, left, right, bytes }
            }
            Kind::Negate(of) => {
                let reg = self.value(of);
                let into = wanted.unwrap_or_else(|| self.register(ty));
                Instr::Negate(ty.scalar().unwrap_or(Scalar::Int), into, reg)
            }
            Kind::Complement(of) => {
                let reg = self.value(of);
                let into = wanted.unwrap_or_else(|| self.register(ty));
                Instr::Complement(ty.scalar().unwrap_or(Scalar::Int), into, reg)
            }
            Kind::Not(of) => {
                let reg = self.value(of);
                let into = wanted.unwrap_or_else(|| self.register(ty));
                Instr::Not(into, reg)
            }
            Kind::Arithmetic(operation, left, right) => {
                let (left, right) = self.pair(left, right);
                let into = wanted.unwrap_or_else(|| self.register(ty));
                Instr::Arithmetic(*operation, ty.scalar().unwrap_or(Scalar::Int), into, left, right)
            }
            Kind::Compare(comparison, left, right) => {
                let scalar = left.ty.scalar().unwrap_or(Scalar::UnsignedLong);
                let (left, right) = self.pair(left, right);
                let into = wanted.unwrap_or_else(|| self.register(ty));
                Instr::Compare(*comparison, scalar, into, left, right)
            }
            Kind::Math(math, arguments) => {
                let of = arguments.first().and_then(|a| a.ty.scalar()).unwrap_or(Scalar::Float);
                let mut registers = [0; 3];
                for (register, argument) in registers.iter_mut().zip(arguments) {
                    *register = self.value(argument);
                }
                let into = wanted.unwrap_or_else(|| self.register(ty));
                Instr::Math(*math, of, into, registers)
            }
            Kind::Atomic(atomic, address, operands) => {
                let mut registers = [0; 2];
                for (register, operand) in registers.iter_mut().zip(operands) {
                    *register = self.value(operand);
                }
                let at = self.at(address);
                let into = wanted.unwrap_or_else(|| self.register(ty));
                Instr::Atomic {
                    atomic: *atomic,
                    ty: ty.scalar().unwrap_or(Scalar::Int),
                    into,
                    at,
                    operands: registers,
                }
            }
            Kind::Shuffle(shuffle, arguments) => {
                let registers: Vec<Reg> =
                    arguments.iter().map(|argument| self.value(argument)).collect();
                let into = wanted.unwrap_or_else(|| self.register(ty));
                let ty = ty.scalar().unwrap_or(Scalar::Int);
                // The checker has counted the arguments.
                let operands = [registers[0], registers[1], registers[2]];
                let width = registers.get(3).copied();
                Instr::Shuffle { shuffle: *shuffle, ty, into, operands, width }
            }
            Kind::Vote(vote, arguments) => {
                let registers: Vec<Reg> =
                    arguments.iter().map(|argument| self.value(argument)).collect();
                let into = wanted.unwrap_or_else(|| self.register(ty));
                // The checker has counted the arguments.
                Instr::Vote { vote: *vote, into, mask: registers[0], value: registers[1] }
            }
            Kind::Barrier => {
                self.at = expr.place;
                self.emit(Instr::Barrier);
                return 0;
            }
            Kind::WarpBarrier(mask) => {
                let mask = mask.as_ref().map(|mask| self.value(mask));
                self.at = expr.place;
                self.emit(Instr::WarpBarrier(mask));
                return 0;
            }
        };
        self.at = expr.place;
        self.emit(instr);
        self.at = before;
        self.result(instr)
    }

    fn result(&self, instr: Instr) -> Reg {
        if let Instr::Arithmetic(_, _, into, ..)
        | Instr::Compare(_, _, into, ..)
        | Instr::Negate(_, into, _)
        | Instr::Complement(_, into, _)
        | Instr::Not(into, _)
        | Instr::Math(_, _, into, _)
        | Instr::Offset { into, .. }
        | Instr::Distance { into, .. }
        | Instr::Load { into, .. }
        | Instr::Atomic { into, .. }
        | Instr::Shuffle { into, .. }
        | Instr::Vote { into, .. } = instr
        {
            into
        } else {
            0
        }
    }

    /// Two operands; the first is copied if evaluating the second may change the variable it was read from.
    fn pair(&mut self, left: &Expr, right: &Expr) -> (Reg, Reg) {
        let mut one = self.value(left);
        if matches!(left.kind, Kind::Variable(_)) && right.changes_values() {
            let kept = self.register(left.ty);
            self.move_to(left.ty, kept, one);
            one = kept;
        }
        (one, self.value(right))
    }

    fn constant(&mut self, ty: Type, value: i64) -> Reg {
        let float = |x: f32| InitialValue::Narrow(x.to_bits());
        self.preset(match ty {
            Type::Scalar(Scalar::Float) => float(value as f32),
            Type::Scalar(Scalar::Double) => InitialValue::Wide((value as f64).to_bits()),
            Type::Void | Type::Scalar(_) | Type::Pointer { .. } | Type::Array { .. } => {
                if ty.is_wide() {
                    InitialValue::Wide(value as u64)
                } else {
                    InitialValue::Narrow(value as u32)
                }
            }
        })
    }

    pub(super) fn convert_into(&mut self, from: Scalar, to: Scalar, into: Reg, of: Reg) {
        if same_bits(from, to) {
            self.move_to(Type::Scalar(to), into, of);
        } else {
            self.emit(Instr::Convert { from, to, into, of });
        }
    }

    /// A helper, written out: its arguments and variables get homes of their own.
    fn call(&mut self, function: usize, arguments: &[Expr], ty: Type, expr: &Expr) -> Reg {
        let values: Vec<Reg> = arguments.iter().map(|argument| self.value(argument)).collect();
        self.at = expr.place;
        let callee = &self.program.functions[function];
        let into = if ty == Type::Void { 0 } else { self.register(ty) };
        let homes = std::mem::take(&mut self.homes);
        let caller = std::mem::replace(&mut self.function, function);
        let first = self.shown.len();
        self.enter(callee);
        for (index, (value, variable)) in values.iter().zip(&callee.variables).enumerate() {
            self.write_home(index, variable.ty, *value);
        }
        self.calls.push((ty != Type::Void).then_some(into));
        self.emit(Instr::CallEnter);
        self.reconvergences.push(Reconvergence::default());
        self.statements(&callee.body);
        let end = self.here();
        self.meet(end);
        self.reconvergences.pop();
        self.calls.pop();
        self.at = expr.place;
        self.leave(first);
        self.homes = homes;
        self.function = caller;
        self.emit_skip(Instr::CallEnd { skip: 0 });
        into
    }
}

/// Whether a conversion changes nothing in the register.
fn same_bits(from: Scalar, to: Scalar) -> bool {
    use Scalar::{Bool, Int, Long, Unsigned, UnsignedLong};
    matches!(
        (from, to),
        (Bool | Int | Unsigned, Int | Unsigned) | (Long | UnsignedLong, Long | UnsignedLong)
    ) || from == to
}

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
        if self.require_harmless(right) {
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
            BranchKind::Predicate,
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
        if self.require_harmless(yes) && self.require_harmless(no) {
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
            BranchKind::Predicate,
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
    pub(super) fn require_harmless(&self, expr: &Expr) -> bool {
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
                home.slot.is_none() && matches!(home.home, VariableHome::Register(_))
            }
            Kind::Convert(inner) => {
                let from = inner.ty.scalar();
                // A number that does not fit into a whole one is a fault.
                let narrowing = from.is_some_and(Scalar::is_real)
                    && expr.ty.scalar().is_some_and(|to| !to.is_real() && to != Scalar::Bool);
                !narrowing && self.require_harmless(inner)
            }
            Kind::Not(a) | Kind::Complement(a) => self.require_harmless(a),
            Kind::Negate(a) => !signed && self.require_harmless(a),
            Kind::Arithmetic(operation, a, b) => {
                use crate::typed_ast::Operation as Op;
                let real = expr.ty.scalar().is_some_and(Scalar::is_real);
                let safe = match operation {
                    Op::And | Op::Or | Op::Xor => true,
                    Op::Add | Op::Subtract | Op::Multiply => !signed,
                    Op::Divide => real,
                    Op::Remainder => false,
                    Op::Left | Op::Right => matches!(b.kind, Kind::Whole(_)),
                };
                safe && self.require_harmless(a) && self.require_harmless(b)
            }
            Kind::Compare(_, a, b) | Kind::And(a, b) | Kind::Or(a, b) => {
                self.require_harmless(a) && self.require_harmless(b)
            }
            Kind::Math(_, arguments) => {
                !signed && arguments.iter().all(|argument| self.require_harmless(argument))
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
