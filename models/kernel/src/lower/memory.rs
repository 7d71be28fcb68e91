//! Homes of variables, addresses, and what is assigned to.

use crate::bytecode::{
    Address, Array, IndexOperand, InitialValue, Instr, MaskOp, Reg, Row, RowEnd, VariableHome,
    address,
};
use crate::lower::{Lowering, Residence};
use crate::typed_ast::{CompoundOp, Expr, Kind, Part, Target, Variable, YieldedValue};
use crate::types::{Scalar, Type};

impl Lowering<'_> {
    pub(super) fn home(&mut self, variable: &Variable) -> VariableHome {
        if !variable.in_memory {
            return VariableHome::Register(self.register(variable.ty));
        }
        let (elements, bytes) = if let Type::Array { of, extents, .. } = variable.ty {
            (extents.elements().min(u64::from(u32::MAX / 16)) as usize, of.bytes())
        } else {
            (1, variable.ty.scalar().map_or(8, Scalar::bytes))
        };
        let offset = self.code.local.next_multiple_of(variable.alignment as usize);
        self.code.local = (offset + elements * bytes as usize).min(u32::MAX as usize / 2);
        VariableHome::Local(offset as u32)
    }

    /// Where an array begins and ends, for the accesses that name it.
    pub(super) fn array(&mut self, variable: &Variable, home: VariableHome) -> Option<u16> {
        let (Type::Array { .. }, VariableHome::Local(begin)) = (variable.ty, home) else {
            return None;
        };
        let number = u16::try_from(self.code.arrays.len()).ok()?;
        let bytes = begin..self.code.local as u32;
        self.code.arrays.push(Array { name: variable.name.clone(), bytes });
        Some(number)
    }

    pub(super) fn local_at(&mut self, offset: u32) -> Address {
        let pointer = self.preset(InitialValue::Wide(address::local(offset)));
        Address {
            pointer,
            index: IndexOperand::Nothing,
            uniform: true,
            part: Part::Whole,
            array: None,
        }
    }

    pub(super) fn zero(&mut self, scalar: Scalar) -> Reg {
        self.preset(if scalar.is_wide() { InitialValue::Wide(0) } else { InitialValue::Narrow(0) })
    }

    pub(super) fn move_to(&mut self, ty: Type, into: Reg, from: Reg) {
        self.emit(if ty.is_wide() { Instr::MoveWide(into, from) } else { Instr::Move(into, from) });
    }

    pub(super) fn write_home(&mut self, index: usize, ty: Type, from: Reg) {
        match self.homes[index].home {
            VariableHome::Register(into) => {
                if into != from {
                    self.move_to(ty, into, from);
                }
                self.learn(index);
            }
            VariableHome::Local(offset) => {
                let at = self.local_at(offset);
                let ty = ty.scalar().unwrap_or(Scalar::UnsignedLong);
                self.emit(Instr::Store { ty, from, at });
            }
        }
    }

    /// Emits what happens to the slot of a variable, if it has one.
    pub(super) fn note(&mut self, slot: Option<Reg>, op: fn(Reg) -> MaskOp) {
        if let Some(slot) = slot {
            self.emit_mask(op(slot));
        }
    }

    fn learn(&mut self, index: usize) {
        self.note(self.homes[index].slot, MaskOp::Learn);
    }

    /// The register with a variable's value.
    pub(super) fn read_home(&mut self, index: usize, ty: Type) -> Reg {
        match self.homes[index].home {
            VariableHome::Register(reg) => {
                self.note(self.homes[index].slot, MaskOp::Expect);
                reg
            }
            VariableHome::Local(offset) => {
                let at = self.local_at(offset);
                let into = self.register(ty);
                let ty = ty.scalar().unwrap_or(Scalar::UnsignedLong);
                self.emit(Instr::Load { ty, into, at });
                into
            }
        }
    }

    /// An address as an access takes it: the last index is added on the way.
    pub(super) fn address_of(&mut self, address: &Expr) -> Address {
        self.offset(address, RowEnd::Excluded)
    }

    /// The same of an address that may be that of the end of a row.
    pub(super) fn offset(&mut self, address: &Expr, end: RowEnd) -> Address {
        if let Kind::Offset(base, index) = &address.kind {
            let mut inner = self.address_of(base);
            // One index waits for the access, an earlier one is added here.
            if !matches!(inner.index, IndexOperand::Nothing) {
                let into = self.wide.take();
                self.emit(Instr::Offset { into, at: inner, bytes: element(base.ty) });
                let index = IndexOperand::Nothing;
                inner = Address {
                    pointer: into,
                    index,
                    uniform: false,
                    part: Part::Whole,
                    array: inner.array,
                };
            }
            if matches!(index.kind, Kind::Whole(0)) {
                return inner;
            }
            let by = if let Kind::Row(begin, index, bound) = &index.kind {
                let name = self.name_of(base);
                let into = self.register(index.ty);
                self.row(into, begin, index, Row { name, bound: *bound, end })
            } else {
                self.value(index)
            };
            self.at = address.place;
            return Address { index: IndexOperand::new(index.ty, by), ..inner };
        }
        if let Kind::Together(part, inner) = &address.kind {
            return Address { part: *part, uniform: false, ..self.address_of(inner) };
        }
        let fixed = if let Kind::Variable(index) = &address.kind {
            self.homes[*index].uniform
        } else {
            matches!(address.kind, Kind::Shared(_) | Kind::Global(_) | Kind::Local(_))
        };
        Address {
            pointer: self.value(address),
            index: IndexOperand::Nothing,
            uniform: fixed,
            part: Part::Whole,
            array: if let Kind::Shared(index) = address.kind {
                u16::try_from(index).ok()
            } else if let Kind::Local(index) = address.kind {
                self.homes[index].array
            } else {
                None
            },
        }
    }

    fn name_of(&self, address: &Expr) -> String {
        let name = if let Kind::Shared(index) = address.kind {
            &self.program.shared[index].name
        } else if let Kind::Local(index) = address.kind {
            &self.program.functions[self.function].variables[index].name
        } else if let Kind::Global(index) = address.kind {
            &self.program.globals[index].param.name
        } else {
            "an array"
        };
        name.to_owned()
    }

    /// The sum of where a row begins and an index into it.
    pub(super) fn row(&mut self, into: Reg, begin: &Expr, index: &Expr, row: Row) -> Reg {
        let ((begin, by), ty) = (self.pair(begin, index), index.ty.scalar().unwrap_or(Scalar::Int));
        let known = self.code.rows.iter().position(|known| *known == row);
        let number = known.unwrap_or_else(|| {
            self.code.rows.push(row);
            self.code.rows.len() - 1
        });
        self.at = index.place;
        self.emit(Instr::Row { ty, into, begin, index: by, row: number as u16 });
        into
    }

    /// A value that is to last while an address is worked out, which may change the variable it was read from.
    fn value_before(&mut self, value: &Expr, address: &Expr) -> Reg {
        let from = self.value(value);
        let variables = &self.program.functions[self.function].variables;
        let own = |(residence, variable): (&Residence, &Variable)| {
            residence.home.register() == Some(from)
                && variable.ty.is_wide() == value.ty.is_wide()
                && variable.is_changed
        };
        if !address.changes_values() || !self.homes.iter().zip(variables).any(own) {
            return from;
        }
        let kept = self.register(value.ty);
        self.move_to(value.ty, kept, from);
        kept
    }

    pub(super) fn assign(&mut self, target: &Target, value: &Expr) -> Reg {
        match target {
            Target::Variable(index) => {
                let into = self.homes[*index].home.register();
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
                let at = self.address_of(address);
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
        change: CompoundOp,
        value: &Expr,
        yields: YieldedValue,
    ) -> Reg {
        let place = self.at;
        let (operand, old, home) = match target {
            Target::Variable(index) => {
                let operand = self.value(value);
                (operand, self.read_home(*index, ty), None)
            }
            Target::Memory(address) => {
                let operand = self.value_before(value, address);
                let at = self.address_of(address);
                let into = self.register(ty);
                self.at = place;
                self.emit(Instr::Load { ty: ty.scalar().unwrap_or(Scalar::Int), into, at });
                (operand, into, Some(at))
            }
        };
        let mut kept = old;
        if let (YieldedValue::Old, Target::Variable(_)) = (yields, target) {
            kept = self.register(ty);
            self.move_to(ty, kept, old);
        }
        self.at = place;
        // The variable's own register takes the result where nothing has to be converted back.
        let own = match target {
            Target::Variable(index) => self.homes[*index].home.register(),
            Target::Memory(_) => None,
        };
        let new = match (change, ty) {
            (CompoundOp::Advance, _) => {
                let into = own.unwrap_or_else(|| self.register(ty));
                let index = IndexOperand::new(value.ty, operand);
                let at =
                    Address { pointer: old, index, uniform: false, part: Part::Whole, array: None };
                self.emit(Instr::Offset { into, at, bytes: element(ty) });
                into
            }
            (CompoundOp::Arithmetic(operation, scalar), Type::Scalar(own_scalar))
                if scalar == own_scalar =>
            {
                let into = own.unwrap_or_else(|| self.register(ty));
                self.emit(Instr::Arithmetic(operation, scalar, into, old, operand));
                into
            }
            (CompoundOp::Arithmetic(operation, scalar), _) => {
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
            (Target::Variable(index), _) if own == Some(new) => self.learn(*index),
            (Target::Variable(index), _) => self.write_home(*index, ty, new),
            (Target::Memory(_), Some(at)) => {
                self.emit(Instr::Store { ty: ty.scalar().unwrap_or(Scalar::Int), from: new, at });
            }
            (Target::Memory(_), None) => {}
        }
        match yields {
            YieldedValue::New => new,
            YieldedValue::Old => kept,
        }
    }
}

/// Bytes of what a pointer points to.
pub(super) fn element(ty: Type) -> u32 {
    ty.element().map_or(1, Scalar::bytes)
}
