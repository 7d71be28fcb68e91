//! Expressions of a symbolic thread: their values, and the accesses that they make.

use crate::diagnostic::Place;
use crate::math::Math;
use crate::proof::executor::Executor;
use crate::proof::polynomial::{Formula, Polynomial};
use crate::proof::state::{Array, Checked, Site, State, Touch, Value, undecided};
use crate::proof::symbols::Scope;
use crate::typed_ast::{
    Comparison, CompoundOp, Expr, Kind, Operation, Special, Target, YieldedValue,
};
use crate::types::{Scalar, Type};

impl Executor<'_> {
    pub(super) fn evaluate(&mut self, state: &mut State, expr: &Expr) -> Checked<Value> {
        let value = self.plain(state, expr)?;
        // Offsets count numbers, not vectors or structures.
        let record = match expr.ty {
            Type::Pointer { record, .. } => record,
            Type::Array { extents, .. } => extents.record(),
            Type::Void | Type::Scalar(_) => None,
        };
        Ok(if record.is_some() { Value::Other } else { value })
    }

    fn plain(&mut self, state: &mut State, expr: &Expr) -> Checked<Value> {
        let place = expr.place;
        Ok(match &expr.kind {
            Kind::Whole(value) => match expr.ty {
                Type::Scalar(Scalar::Bool) => Value::Truth(Formula::truth(*value != 0)),
                Type::Pointer { .. } => Value::Other,
                Type::Void | Type::Scalar(_) | Type::Array { .. } => {
                    Value::Whole(Polynomial::constant(*value))
                }
            },
            Kind::Real(_) => Value::Other,
            Kind::Variable(index) if self.variable(*index).in_memory => self.unknown(expr.ty),
            Kind::Variable(index) => {
                if state.variables[*index] == Value::Other {
                    state.variables[*index] = self.unknown(expr.ty);
                }
                state.variables[*index].clone()
            }
            Kind::Special(special, axis) => {
                let of = match special {
                    Special::ThreadIdx => &self.model.thread,
                    Special::BlockIdx => &self.model.block,
                    Special::BlockDim => &self.model.block_dim,
                    Special::GridDim => &self.model.grid_dim,
                };
                Value::Whole(of[*axis as usize].clone())
            }
            Kind::WarpSize => Value::Whole(Polynomial::constant(32)),
            Kind::Shared(index) => Value::Address(Array::Shared(*index), Polynomial::default()),
            Kind::Global(index) => {
                let parameter = self.program.own_params() + index;
                Value::Address(Array::Global(parameter), Polynomial::default())
            }
            Kind::Together(_, address) => {
                self.evaluate(state, address)?;
                Value::Other
            }
            Kind::Local(index) => {
                Value::Address(Array::Local(self.function, *index), Polynomial::default())
            }
            Kind::Load(address) => {
                let address = self.evaluate(state, address)?;
                self.touch(state, &address, Touch::Read, place)?;
                self.unknown(expr.ty)
            }
            Kind::Offset(base, by) => {
                let base = self.evaluate(state, base)?;
                let offset = self.index(state, by)?;
                match base {
                    Value::Address(array, start) => Value::Address(array, start.plus(&offset)),
                    Value::Whole(_) | Value::Truth(_) | Value::Other => Value::Other,
                }
            }
            Kind::Distance(left, right) => {
                match (self.evaluate(state, left)?, self.evaluate(state, right)?) {
                    (Value::Address(one, from), Value::Address(other, to)) if one == other => {
                        Value::Whole(from.minus(&to))
                    }
                    _ => self.unknown(expr.ty),
                }
            }
            Kind::Convert(of) => {
                let value = self.evaluate(state, of)?;
                self.converted(state, value, of.ty, expr.ty)
            }
            Kind::Negate(of) => {
                let value = self.evaluate(state, of)?;
                let zero = Value::Whole(Polynomial::default());
                self.arithmetic(state, Operation::Subtract, zero, value, expr.ty)
            }
            Kind::Complement(of) => {
                let value = self.evaluate(state, of)?;
                let ones = Value::Whole(Polynomial::constant(-1));
                self.arithmetic(state, Operation::Subtract, ones, value, expr.ty)
            }
            Kind::Not(of) => Value::Truth(self.condition(state, of)?.negated()),
            Kind::Arithmetic(operation, left, right) => {
                let (a, b) = (self.evaluate(state, left)?, self.evaluate(state, right)?);
                self.arithmetic(state, *operation, a, b, expr.ty)
            }
            Kind::Row(begin, index, bound) => {
                let begin = self.evaluate(state, begin)?;
                let by = self.evaluate(state, index)?;
                let inside = self.canonical(state, by.clone(), index.ty);
                let row = Value::Address(Array::Row(bound.numbers() as i64), inside);
                self.touch(state, &row, Touch::Read, place)?;
                self.arithmetic(state, Operation::Add, begin, by, expr.ty)
            }
            Kind::Compare(comparison, left, right) => {
                let (a, b) = (self.evaluate(state, left)?, self.evaluate(state, right)?);
                Value::Truth(self.compared(state, *comparison, a, b, left.ty))
            }
            Kind::And(left, right) => {
                let first = self.condition(state, left)?;
                let second = self.guarded(state, first.clone(), right)?;
                Value::Truth(first.and(self.truth(second)))
            }
            Kind::Or(left, right) => {
                let first = self.condition(state, left)?;
                let second = self.guarded(state, first.negated(), right)?;
                Value::Truth(first.or(self.truth(second)))
            }
            Kind::Conditional(condition, yes, no) => {
                let holds = self.condition(state, condition)?;
                let values = vec![
                    self.guarded(state, holds.clone(), yes)?,
                    self.guarded(state, holds.negated(), no)?,
                ];
                self.symbols.either(&[holds.clone(), holds.negated()], values)
            }
            Kind::Comma(left, right) => {
                self.evaluate(state, left)?;
                self.evaluate(state, right)?
            }
            Kind::Assign(target, value) => {
                let address = self.target(state, target)?;
                let value = self.evaluate(state, value)?;
                self.assign(state, target, address.as_ref(), value.clone(), Touch::Write, place)?;
                value
            }
            Kind::Update(target, operation, by, yields) => {
                let address = self.target(state, target)?;
                let old = match (target, &address) {
                    (Target::Variable(index), _) => state.variables[*index].clone(),
                    (Target::Memory(_), Some(address)) => {
                        self.touch(state, address, Touch::Read, place)?;
                        self.unknown(expr.ty)
                    }
                    (Target::Memory(_), None) => self.unknown(expr.ty),
                };
                let new = match operation {
                    CompoundOp::Arithmetic(operation, meeting) => {
                        let value = self.evaluate(state, by)?;
                        let meeting = Type::Scalar(*meeting);
                        let before = self.converted(state, old.clone(), expr.ty, meeting);
                        let after = self.arithmetic(state, *operation, before, value, meeting);
                        self.converted(state, after, meeting, expr.ty)
                    }
                    CompoundOp::Advance => {
                        let offset = self.index(state, by)?;
                        match old.clone() {
                            Value::Address(array, start) => {
                                Value::Address(array, start.plus(&offset))
                            }
                            Value::Whole(_) | Value::Truth(_) | Value::Other => Value::Other,
                        }
                    }
                };
                self.assign(state, target, address.as_ref(), new.clone(), Touch::Write, place)?;
                match yields {
                    YieldedValue::New => new,
                    YieldedValue::Old => old,
                }
            }
            Kind::Call(index, arguments) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.evaluate(state, argument)?);
                }
                let value = self.call(state, *index, values, place)?;
                if value == Value::Other { self.unknown(expr.ty) } else { value }
            }
            Kind::Math(math, arguments) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.evaluate(state, argument)?);
                }
                self.mathematics(state, *math, values, expr.ty)
            }
            Kind::Atomic(_, address, arguments) => {
                let address = self.evaluate(state, address)?;
                for argument in arguments {
                    self.evaluate(state, argument)?;
                }
                self.touch(state, &address, Touch::Atomic, place)?;
                self.unknown(expr.ty)
            }
            Kind::Shuffle(_, arguments) | Kind::Vote(_, arguments) => {
                for argument in arguments {
                    self.evaluate(state, argument)?;
                }
                self.unknown(expr.ty)
            }
            Kind::Barrier => {
                state.epoch = state.epoch.plus_number(1);
                Value::Other
            }
            // Less is ordered than at a barrier of the block; a proof that does without holds with it too.
            Kind::WarpBarrier(mask) => {
                if let Some(mask) = mask {
                    self.evaluate(state, mask)?;
                }
                Value::Other
            }
        })
    }

    pub(super) fn condition(&mut self, state: &mut State, expr: &Expr) -> Checked<Formula> {
        let value = self.evaluate(state, expr)?;
        Ok(self.truth(value))
    }

    fn truth(&mut self, value: Value) -> Formula {
        match value {
            Value::Truth(holds) => holds,
            Value::Whole(number) => Formula::different(&number, &Polynomial::default()),
            Value::Address(..) | Value::Other => Formula::Either,
        }
    }

    /// An expression that only threads with a condition evaluate.
    fn guarded(&mut self, state: &mut State, holds: Formula, expr: &Expr) -> Checked<Value> {
        let with_barrier = self.has_barrier_in(expr);
        let changes = |e: &Expr| {
            matches!(
                e.kind,
                Kind::Assign(Target::Variable(_), _) | Kind::Update(Target::Variable(_), ..)
            )
        };
        if with_barrier || expr.any(&changes) {
            let sentence =
                "an operand that not all threads evaluate changes a variable or has a barrier";
            return undecided(expr.place, sentence);
        }
        let mut inside = state.under(holds);
        self.evaluate(&mut inside, expr)
    }

    /// A number of elements that an address is moved by.
    fn index(&mut self, state: &mut State, by: &Expr) -> Checked<Polynomial> {
        let value = self.evaluate(state, by)?;
        Ok(self.canonical(state, value, by.ty))
    }

    fn target(&mut self, state: &mut State, target: &Target) -> Checked<Option<Value>> {
        match target {
            Target::Variable(_) => Ok(None),
            Target::Memory(address) => self.evaluate(state, address).map(Some),
        }
    }

    fn assign(
        &mut self,
        state: &mut State,
        target: &Target,
        address: Option<&Value>,
        value: Value,
        touch: Touch,
        place: Place,
    ) -> Checked<()> {
        match (target, address) {
            (Target::Variable(index), _) => state.variables[*index] = value,
            (Target::Memory(_), Some(address)) => self.touch(state, address, touch, place)?,
            (Target::Memory(_), None) => {}
        }
        Ok(())
    }

    fn touch(&mut self, state: &State, address: &Value, touch: Touch, place: Place) -> Checked<()> {
        let Value::Address(array, index) = address else {
            return undecided(
                place,
                "this address is not followed: it was loaded, converted or chosen, or is that of a vector or structure",
            );
        };
        if !index.is_moderate() {
            return undecided(place, "the index is too long a formula");
        }
        if self.recording {
            let (path, epoch) = (state.path.clone(), state.epoch.clone());
            let site = Site { place, touch, array: *array, index: index.clone(), path, epoch };
            if self.sites.last() != Some(&site) {
                self.sites.push(site);
            }
        }
        Ok(())
    }

    /// A value of which nothing is known.
    pub(super) fn unknown(&mut self, ty: Type) -> Value {
        match ty.scalar() {
            Some(Scalar::Bool) => Value::Truth(Formula::Either),
            Some(scalar) if !scalar.is_real() => {
                let symbol = if scalar.is_signed() {
                    self.symbols.whole(Scope::Thread)
                } else {
                    self.symbols.natural(Scope::Thread)
                };
                let number = Polynomial::symbol(symbol);
                if scalar.is_small() {
                    let values = 1 << (8 * scalar.bytes());
                    let least = if scalar.is_signed() { -values / 2 } else { 0 };
                    let inside = number.plus_number(-least);
                    self.symbols.know(symbol, Formula::NotNegative(inside.clone()));
                    let end = Polynomial::constant(values);
                    self.symbols.know(symbol, Formula::less(&inside, &end));
                }
                Value::Whole(number)
            }
            Some(_) | None => Value::Other,
        }
    }

    fn mathematics(&mut self, state: &State, math: Math, values: Vec<Value>, ty: Type) -> Value {
        if ty.scalar().is_none_or(Scalar::is_real) {
            return Value::Other;
        }
        let numbers: Vec<Polynomial> =
            values.into_iter().map(|value| self.canonical(state, value, ty)).collect();
        let at_most = |a: &Polynomial, b: &Polynomial| Formula::at_most(a, b);
        let zero = Polynomial::default();
        match (math, numbers.as_slice()) {
            (Math::Min, [a, b]) => {
                let ways = [at_most(a, b), at_most(a, b).negated()];
                self.symbols.either(&ways, vec![Value::Whole(a.clone()), Value::Whole(b.clone())])
            }
            (Math::Max, [a, b]) => {
                let ways = [at_most(b, a), at_most(b, a).negated()];
                self.symbols.either(&ways, vec![Value::Whole(a.clone()), Value::Whole(b.clone())])
            }
            (Math::Abs, [a]) => {
                let ways = [at_most(&zero, a), at_most(&zero, a).negated()];
                let minus = Value::Whole(zero.minus(a));
                self.symbols.either(&ways, vec![Value::Whole(a.clone()), minus])
            }
            _ => self.unknown(ty),
        }
    }

    fn compared(
        &mut self,
        state: &State,
        comparison: Comparison,
        left: Value,
        right: Value,
        ty: Type,
    ) -> Formula {
        let (a, b) = match (&left, &right) {
            (Value::Address(one, from), Value::Address(other, to)) if one == other => {
                (from.clone(), to.clone())
            }
            _ if ty.scalar().is_some_and(|scalar| !scalar.is_real()) => {
                (self.canonical(state, left, ty), self.canonical(state, right, ty))
            }
            _ => return Formula::Either,
        };
        match comparison {
            Comparison::Equal => Formula::equal(&a, &b),
            Comparison::NotEqual => Formula::different(&a, &b),
            Comparison::Less => Formula::less(&a, &b),
            Comparison::LessEqual => Formula::at_most(&a, &b),
        }
    }
}
