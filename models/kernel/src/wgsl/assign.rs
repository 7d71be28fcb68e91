//! Assignments: lines of their own, whose value is then a name.

use super::block::Writer;
use super::expression::{Text, arithmetic, converted, shifts, sign};
use super::pointer::Atomics;
use super::{Told, type_name, walk};
use crate::typed::{Change, Expr, Kind, Target, Yields};
use crate::types::{Scalar, Type};

impl Writer<'_, '_> {
    pub(super) fn assign(&mut self, target: &Target, value: &Expr, expr: &Expr) -> Told<Text> {
        match target {
            Target::Variable(index) => {
                let name = self.locals[*index].clone();
                let value = if let Type::Pointer { .. } = expr.ty {
                    let (root, at) = self.pointer(value)?;
                    self.points_into(*index, root, expr.place)?;
                    at.unwrap_or_else(|| Text::atom("0i"))
                } else {
                    self.value(value)?
                };
                self.line(&format!("{name} = {};", value.text));
                Ok(Text::atom(name))
            }
            Target::Memory(address) => {
                let value = self.value_before(value, address)?;
                let place = self.place(address)?;
                place.store(self, &value);
                Ok(value)
            }
        }
    }

    /// A value that is worked out before the address it goes to, as in C++ since 2017; WGSL does it the other way.
    fn value_before(&mut self, value: &Expr, address: &Expr) -> Told<Text> {
        let text = self.value(value)?;
        let fixed = matches!(value.kind, Kind::Whole(_) | Kind::Real(_));
        // A call is written where its value is used: what it changes must not be read for the address before.
        let calls = walk::any(value, &|e| matches!(e.kind, Kind::Call(..)));
        let reads = walk::any(address, &|e| matches!(e.kind, Kind::Load(_)));
        if fixed || !(walk::has_effect(address) || calls && reads) {
            return Ok(text);
        }
        Ok(self.kept(&text))
    }

    pub(super) fn update(
        &mut self,
        target: &Target,
        change: Change,
        value: &Expr,
        expr: &Expr,
        yields: Yields,
    ) -> Told<Text> {
        let (operation, meeting) = match change {
            Change::Arithmetic(operation, meeting) => (operation, meeting),
            Change::Advance => return self.advance(target, value, expr.place, yields),
        };
        type_name(meeting, expr.place)?;
        let of = expr.ty.scalar().unwrap_or(Scalar::Int);
        let by = value.ty.scalar().unwrap_or(Scalar::Int);
        let result = |old: &Text, value: &Text| -> Told<Text> {
            let old = converted(old.clone(), of, meeting, expr.place)?;
            converted(arithmetic(operation, &old, value, by), meeting, of, expr.place)
        };
        match target {
            Target::Variable(index) => {
                let name = Text::atom(self.locals[*index].clone());
                let value = self.value(value)?;
                let old = match yields {
                    Yields::Old => Some(self.kept(&name)),
                    Yields::New => None,
                };
                if of == meeting && old.is_none() && !shifts(operation) {
                    let sign = sign(operation);
                    self.line(&format!("{} {sign}= {};", name.text, value.text));
                } else {
                    let new = result(&name, &value)?;
                    self.line(&format!("{} = {};", name.text, new.text));
                }
                Ok(old.unwrap_or(name))
            }
            Target::Memory(address) => {
                let value = self.value_before(value, address)?;
                let place = self.place(address)?;
                let plain = place.atomic == Atomics::No;
                if of == meeting && plain && yields == Yields::New && !shifts(operation) {
                    let sign = sign(operation);
                    self.line(&format!("{} {sign}= {};", place.name, value.text));
                    return Ok(place.load());
                }
                let place = place.fixed(self);
                let before = place.load();
                let old = match yields {
                    Yields::Old => self.kept(&before),
                    Yields::New => before,
                };
                let new = result(&old, &value)?;
                place.store(self, &new);
                Ok(match yields {
                    Yields::Old => old,
                    Yields::New => place.load(),
                })
            }
        }
    }
}
