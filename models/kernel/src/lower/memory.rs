//! Homes of variables, addresses, and what is assigned to.

use crate::bytecode::{At, Base, By, Home, Instr, Preset, Reg, address};
use crate::lower::expression::has_effect;
use crate::lower::{Lowering, Residence};
use crate::typed_ast::{Change, Expr, Fate, Kind, Target, Variable, Yields};
use crate::types::{Scalar, Type};

impl Lowering<'_> {
    pub(super) fn local_at(&mut self, offset: u32) -> At {
        let pointer = self.preset(Preset::Wide(address::local(offset)));
        At { pointer, index: By::Nothing, base: Base::Uniform }
    }

    pub(super) fn zero(&mut self, scalar: Scalar) -> Reg {
        self.preset(if scalar.is_wide() { Preset::Wide(0) } else { Preset::Narrow(0) })
    }

    pub(super) fn move_to(&mut self, ty: Type, into: Reg, from: Reg) {
        self.emit(if ty.is_wide() { Instr::MoveWide(into, from) } else { Instr::Move(into, from) });
    }

    /// Writes a variable.
    pub(super) fn write_home(&mut self, index: usize, ty: Type, from: Reg) {
        match self.homes[index].home {
            Home::Register(into) => {
                if into != from {
                    self.move_to(ty, into, from);
                }
                self.learn(index);
            }
            Home::Local(offset) => {
                let at = self.local_at(offset);
                let ty = ty.scalar().unwrap_or(Scalar::UnsignedLong);
                self.emit(Instr::Store { ty, from, at });
            }
        }
    }

    fn learn(&mut self, index: usize) {
        if let Some(slot) = self.homes[index].slot {
            self.emit(Instr::Learn(slot));
        }
    }

    /// The register with a variable's value.
    pub(super) fn read_home(&mut self, index: usize, ty: Type) -> Reg {
        match self.homes[index].home {
            Home::Register(reg) => {
                if let Some(slot) = self.homes[index].slot {
                    self.emit(Instr::Expect(slot));
                }
                reg
            }
            Home::Local(offset) => {
                let at = self.local_at(offset);
                let into = self.register(ty);
                self.emit(Instr::Load {
                    ty: ty.scalar().unwrap_or(Scalar::UnsignedLong),
                    into,
                    at,
                });
                into
            }
        }
    }

    /// An address as an access takes it: the last index is added on the way.
    pub(super) fn at(&mut self, address: &Expr) -> At {
        if let Kind::Offset(base, index) = &address.kind {
            let inner = self.at(base);
            return self.further(inner, base, index, address);
        }
        let fixed = if let Kind::Variable(index) = &address.kind {
            self.homes[*index].uniform
        } else {
            matches!(address.kind, Kind::Shared(_) | Kind::Local(_))
        };
        At {
            pointer: self.value(address),
            index: By::Nothing,
            base: if fixed { Base::Uniform } else { Base::Any },
        }
    }

    /// An address some elements on; one index waits for the access, an earlier one is added here.
    fn further(&mut self, mut inner: At, base: &Expr, index: &Expr, address: &Expr) -> At {
        if !matches!(inner.index, By::Nothing) {
            let bytes = element(base.ty);
            let into = self.wide.take();
            self.emit(Instr::Offset { into, at: inner, bytes });
            inner = At { pointer: into, index: By::Nothing, base: Base::Any };
        }
        if matches!(index.kind, Kind::Whole(0)) {
            return inner;
        }
        let by = self.value(index);
        let index = match index.ty.scalar() {
            Some(Scalar::Unsigned) => By::Unsigned(by),
            Some(Scalar::Long | Scalar::UnsignedLong) => By::Long(by),
            Some(Scalar::Bool | Scalar::Int | Scalar::Float | Scalar::Double) | None => By::Int(by),
        };
        self.at = address.place;
        At { index, ..inner }
    }

    /// A value that is to last while an address is worked out, which may change the variable it was read from.
    fn value_before(&mut self, value: &Expr, address: &Expr) -> Reg {
        let from = self.value(value);
        let variables = &self.program.functions[self.function].variables;
        let own = |(residence, variable): (&Residence, &Variable)| match residence.home {
            Home::Register(reg) => {
                reg == from
                    && variable.ty.is_wide() == value.ty.is_wide()
                    && variable.fate == Fate::Changed
            }
            Home::Local(_) => false,
        };
        if !has_effect(address) || !self.homes.iter().zip(variables).any(own) {
            return from;
        }
        let kept = self.register(value.ty);
        self.move_to(value.ty, kept, from);
        kept
    }

    pub(super) fn assign(&mut self, target: &Target, value: &Expr) -> Reg {
        match target {
            Target::Variable(index) => {
                let into = match self.homes[*index].home {
                    Home::Register(reg) => Some(reg),
                    Home::Local(_) => None,
                };
                let from = self.value_into(value, into);
                if into == Some(from) {
                    self.learn(*index);
                } else {
                    self.write_home(*index, value.ty, from);
                }
                from
            }
            Target::Memory(address) => {
                let place = self.at;
                let from = self.value_before(value, address);
                let at = self.at(address);
                self.at = place;
                self.emit(Instr::Store { ty: value.ty.scalar().unwrap_or(Scalar::Int), from, at });
                from
            }
        }
    }

    /// `x += y`, `x++` and their kin.
    pub(super) fn update(
        &mut self,
        ty: Type,
        target: &Target,
        change: Change,
        value: &Expr,
        yields: Yields,
    ) -> Reg {
        let place = self.at;
        let (operand, old, home) = match target {
            Target::Variable(index) => {
                let operand = self.value(value);
                (operand, self.read_home(*index, ty), None)
            }
            Target::Memory(address) => {
                let operand = self.value_before(value, address);
                let at = self.at(address);
                let into = self.register(ty);
                self.at = place;
                self.emit(Instr::Load { ty: ty.scalar().unwrap_or(Scalar::Int), into, at });
                (operand, into, Some(at))
            }
        };
        let kept = match (yields, target) {
            (Yields::Old, Target::Variable(_)) => {
                let kept = self.register(ty);
                self.move_to(ty, kept, old);
                kept
            }
            (Yields::Old, Target::Memory(_)) | (Yields::New, _) => old,
        };
        self.at = place;
        // The variable's own register takes the result where nothing has to be converted back.
        let own = match target {
            Target::Variable(index) => match self.homes[*index].home {
                Home::Register(reg) => Some(reg),
                Home::Local(_) => None,
            },
            Target::Memory(_) => None,
        };
        let new = match (change, ty) {
            (Change::Advance, _) => {
                let into = own.unwrap_or_else(|| self.register(ty));
                let index = match value.ty.scalar() {
                    Some(Scalar::Unsigned) => By::Unsigned(operand),
                    Some(Scalar::Long | Scalar::UnsignedLong) => By::Long(operand),
                    Some(_) | None => By::Int(operand),
                };
                let at = At { pointer: old, index, base: Base::Any };
                self.emit(Instr::Offset { into, at, bytes: element(ty) });
                into
            }
            (Change::Arithmetic(operation, scalar), Type::Scalar(own_scalar))
                if scalar == own_scalar =>
            {
                let into = own.unwrap_or_else(|| self.register(ty));
                self.emit(Instr::Arithmetic(operation, scalar, into, old, operand));
                into
            }
            (Change::Arithmetic(operation, scalar), _) => {
                let own_scalar = ty.scalar().unwrap_or(scalar);
                let wide = self.register(Type::Scalar(scalar));
                self.convert_into(own_scalar, scalar, wide, old);
                let result = self.register(Type::Scalar(scalar));
                self.emit(Instr::Arithmetic(operation, scalar, result, wide, operand));
                let into = own.unwrap_or_else(|| self.register(ty));
                self.convert_into(scalar, own_scalar, into, result);
                into
            }
        };
        match (target, home) {
            (Target::Variable(index), _) => {
                if own == Some(new) {
                    self.learn(*index);
                } else {
                    self.write_home(*index, ty, new);
                }
            }
            (Target::Memory(_), Some(at)) => {
                self.emit(Instr::Store { ty: ty.scalar().unwrap_or(Scalar::Int), from: new, at });
            }
            (Target::Memory(_), None) => {}
        }
        match yields {
            Yields::New => new,
            Yields::Old => kept,
        }
    }
}

/// Bytes of what a pointer points to.
pub(super) fn element(ty: Type) -> u32 {
    match ty {
        Type::Pointer { to, .. } | Type::Array { of: to, .. } => to.bytes(),
        Type::Void | Type::Scalar(_) => 1,
    }
}
