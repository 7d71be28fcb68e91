//! Expressions: each leaves its value in a register.

use crate::bytecode::{
    BranchKind, InitialValue, Instr, MaskOp, Reg, Row, RowEnd, VariableHome, address,
};
use crate::lower::Lowering;
use crate::lower::memory::element;
use crate::typed_ast::{Expr, Kind, Special};
use crate::types::{Scalar, Type};

impl Lowering<'_> {
    pub(super) fn effect(&mut self, expr: &Expr) {
        match (&expr.kind, expr.ty) {
            (Kind::Convert(inner), Type::Void) => self.effect(inner),
            (Kind::Atomic(atomic, ..), ty) => {
                self.value(expr);
                let is_whole = ty.scalar().is_some_and(|scalar| !scalar.is_real());
                if is_whole && atomic.commutes() {
                    self.code.ordered_atomics -= 1;
                }
            }
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
        let scalar = ty.scalar().unwrap_or(Scalar::Int);
        let into = |lowering: &mut Self| wanted.unwrap_or_else(|| lowering.register(ty));
        let (instr, into) = match &expr.kind {
            Kind::Whole(value) => return self.constant(ty, *value),
            Kind::Real(value) => {
                return self.preset(if !ty.is_wide() {
                    InitialValue::Narrow((*value as f32).to_bits())
                } else {
                    InitialValue::Wide(value.to_bits())
                });
            }
            Kind::WarpSize => return self.preset(InitialValue::Narrow(32)),
            Kind::Special(special, axis) => {
                let axis = *axis as usize;
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
            Kind::Global(index) => {
                return self.preset(InitialValue::WideParam(self.program.own_params() + index));
            }
            Kind::Local(index) => {
                return match self.homes[*index].home {
                    VariableHome::Local(offset) => {
                        self.preset(InitialValue::Wide(address::local(offset)))
                    }
                    VariableHome::Register(reg) => reg,
                };
            }
            Kind::Together(_, inner) => return self.value_into(inner, wanted),
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
                let into = into(self);
                self.convert_into(from, to, into, of);
                return into;
            }
            Kind::And(left, right) | Kind::Or(left, right) => {
                return self.shortcut(left, right, expr);
            }
            Kind::Conditional(condition, yes, no) => return self.choice(condition, yes, no, expr),
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
            Kind::Load(address) => {
                let (at, into) = (self.address_of(address), into(self));
                (Instr::Load { ty: scalar, into, at }, into)
            }
            Kind::Row(begin, index, bound) => {
                let row = Row { name: "an array".to_owned(), bound: *bound, end: RowEnd::Excluded };
                let into = into(self);
                return self.row(into, begin, index, row);
            }
            Kind::Offset(..) => {
                let (at, into) = (self.offset(expr, RowEnd::Included), into(self));
                (Instr::Offset { into, at, bytes: element(ty) }, into)
            }
            Kind::Distance(left, right) => {
                let bytes = element(left.ty);
                let (left, right, into) = (self.value(left), self.value(right), into(self));
                (Instr::Distance { into, left, right, bytes }, into)
            }
            Kind::Negate(of) => {
                let (of, into) = (self.value(of), into(self));
                (Instr::Negate(scalar, into, of), into)
            }
            Kind::Complement(of) => {
                let (of, into) = (self.value(of), into(self));
                (Instr::Complement(scalar, into, of), into)
            }
            Kind::Not(of) => {
                let (of, into) = (self.value(of), into(self));
                (Instr::Not(into, of), into)
            }
            Kind::Arithmetic(operation, left, right) => {
                let ((left, right), into) = (self.pair(left, right), into(self));
                (Instr::Arithmetic(*operation, scalar, into, left, right), into)
            }
            Kind::Compare(comparison, left, right) => {
                let of = left.ty.scalar().unwrap_or(Scalar::UnsignedLong);
                let ((left, right), into) = (self.pair(left, right), into(self));
                (Instr::Compare(*comparison, of, into, left, right), into)
            }
            Kind::Math(math, arguments) => {
                let of = arguments.first().and_then(|a| a.ty.scalar()).unwrap_or(Scalar::Float);
                let (registers, into) = (self.values(arguments), into(self));
                (Instr::Math(*math, of, into, registers), into)
            }
            Kind::Atomic(atomic, address, operands) => {
                let [a, b, _] = self.values(operands);
                let (at, into) = (self.address_of(address), into(self));
                self.code.ordered_atomics += 1;
                (Instr::Atomic { atomic: *atomic, ty: scalar, into, at, operands: [a, b] }, into)
            }
            Kind::Shuffle(shuffle, arguments) => {
                let operands = self.values(arguments);
                let width = arguments.get(3).map(|width| self.value(width));
                let into = into(self);
                (Instr::Shuffle { shuffle: *shuffle, ty: scalar, into, operands, width }, into)
            }
            Kind::Vote(vote, arguments) => {
                let ([mask, value, _], into) = (self.values(arguments), into(self));
                (Instr::Vote { vote: *vote, into, mask, value }, into)
            }
        };
        self.at = expr.place;
        self.emit(instr);
        self.at = before;
        into
    }

    /// The values of up to three expressions; the checker has counted them.
    fn values(&mut self, list: &[Expr]) -> [Reg; 3] {
        let mut registers = [0; 3];
        for (register, expr) in registers.iter_mut().zip(list) {
            *register = self.value(expr);
        }
        registers
    }

    /// Two operands; the first is copied if evaluating the second may change the variable it was read from.
    pub(super) fn pair(&mut self, left: &Expr, right: &Expr) -> (Reg, Reg) {
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
            Type::Scalar(Scalar::Half | Scalar::Bfloat16 | Scalar::Float) => float(value as f32),
            Type::Scalar(Scalar::Double) => InitialValue::Wide((value as f64).to_bits()),
            _ if ty.is_wide() => InitialValue::Wide(value as u64),
            Type::Void | Type::Scalar(_) | Type::Pointer { .. } | Type::Array { .. } => {
                InitialValue::Narrow(value as u32)
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
        let first = self.code.shown.len();
        self.enter(callee);
        for (index, (value, variable)) in values.iter().zip(&callee.variables).enumerate() {
            self.write_home(index, variable.ty, *value);
        }
        self.calls.push((ty != Type::Void).then_some(into));
        self.emit_mask(MaskOp::CallEnter);
        self.nested(|lowering| lowering.statements(&callee.body));
        self.calls.pop();
        self.at = expr.place;
        self.leave(first);
        self.homes = homes;
        self.function = caller;
        self.emit_skip(MaskOp::CallEnd);
        into
    }
}

/// Whether a conversion changes nothing in the register.
fn same_bits(from: Scalar, to: Scalar) -> bool {
    use Scalar::{
        Bfloat16, Bool, Char, Float, Half, Int, Long, Short, Unsigned, UnsignedChar, UnsignedLong,
        UnsignedShort,
    };
    matches!(
        (from, to),
        (Bool | Char | UnsignedChar | Short | UnsignedShort | Int | Unsigned, Int | Unsigned)
            | (Half | Bfloat16, Float)
            | (Long | UnsignedLong, Long | UnsignedLong)
    ) || from == to
}

impl Lowering<'_> {
    fn shortcut(&mut self, left: &Expr, right: &Expr, expr: &Expr) -> Reg {
        let is_and = matches!(expr.kind, Kind::And(..));
        let one = self.value(left);
        self.at = expr.place;
        let into = self.narrow.take();
        if self.is_harmless(right) {
            let other = self.value(right);
            self.at = expr.place;
            self.emit(if is_and {
                Instr::Both(into, one, other)
            } else {
                Instr::Either(into, one, other)
            });
            return into;
        }
        self.emit(Instr::Move(into, one));
        let mut condition = into;
        if !is_and {
            condition = self.narrow.take();
            self.emit(Instr::Not(condition, into));
        }
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

    fn choice(&mut self, condition: &Expr, yes: &Expr, no: &Expr, expr: &Expr) -> Reg {
        let condition = self.value(condition);
        self.at = expr.place;
        let ty = expr.ty;
        let into = self.register(ty);
        if self.is_harmless(yes) && self.is_harmless(no) {
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
    fn is_harmless(&self, expr: &Expr) -> bool {
        let signed = expr.ty.scalar().is_some_and(Scalar::is_signed);
        let all = |list: &[&Expr]| list.iter().all(|expr| self.is_harmless(expr));
        match (&expr.kind, expr.ty.scalar()) {
            (
                Kind::Whole(_)
                | Kind::Real(_)
                | Kind::Special(..)
                | Kind::WarpSize
                | Kind::Shared(_)
                | Kind::Global(_)
                | Kind::Local(_),
                _,
            ) => true,
            // Reading memory is an access, and a value that may be missing a fault.
            (Kind::Variable(index), _) => {
                let home = self.homes[*index];
                home.slot.is_none() && home.home.register().is_some()
            }
            // A number that does not fit into a whole one is a fault.
            (Kind::Convert(inner), Some(to))
                if inner.ty.scalar().is_some_and(Scalar::is_real)
                    && !to.is_real()
                    && to != Scalar::Bool =>
            {
                false
            }
            (Kind::Convert(a) | Kind::Not(a) | Kind::Complement(a), _) => all(&[a]),
            (Kind::Negate(a), _) => !signed && all(&[a]),
            (Kind::Arithmetic(operation, a, b), scalar) => {
                use crate::typed_ast::Operation as Op;
                let safe = match operation {
                    Op::And | Op::Or | Op::Xor => true,
                    Op::Add | Op::Subtract | Op::Multiply => !signed,
                    Op::Divide => scalar.is_some_and(Scalar::is_real),
                    Op::Remainder => false,
                    Op::Left | Op::Right => matches!(b.kind, Kind::Whole(_)),
                };
                safe && all(&[a, b])
            }
            (Kind::Compare(_, a, b) | Kind::And(a, b) | Kind::Or(a, b), _) => all(&[a, b]),
            (Kind::Math(_, arguments), _) => {
                !signed && arguments.iter().all(|argument| self.is_harmless(argument))
            }
            (_, _) => false,
        }
    }
}
