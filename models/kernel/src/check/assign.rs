//! Assignments, steps, conversions and arithmetic with addresses.

use crate::ast;
use crate::ast::ExprKind;
use crate::check::fold::{arithmetic, compared, converted, loaded, scaled};
use crate::check::{Checked, Checker, Meaning};
use crate::diagnostic::Place;
use crate::operators::Binary;
use crate::typed_ast::{Comparison, CompoundOp, Expr, Kind, Operation, Target, YieldedValue};
use crate::types::{Access, Scalar, Type};

impl Checker<'_> {
    /// Refuses `out[i] == 2;` as a statement, which is valid and does nothing.
    pub(super) fn require_used(&mut self, expr: &ast::Expr) -> Checked<()> {
        if let ExprKind::Binary(Binary::Compare(..), ..) = &expr.kind {
            let message = "what is compared here is not used";
            return self.refuse(expr.place, message, "to assign, write =");
        }
        Ok(())
    }

    pub(super) fn condition(&mut self, expr: &ast::Expr) -> Checked<Expr> {
        use ExprKind::{Assign, Bool, Double, Float, Integer};
        if let Assign(None, _, value) = &expr.kind
            && matches!(value.kind, Integer { .. } | Bool(_) | Float(_) | Double(_))
        {
            let message = "'=' assigns, so that this is always the same";
            return self.refuse(expr.place, message, "to compare, write ==");
        }
        let value = self.value(expr)?;
        self.truth(value)
    }

    pub(super) fn assign(
        &mut self,
        operator: Option<Operation>,
        target: &ast::Expr,
        value: &ast::Expr,
        place: Place,
    ) -> Checked<Expr> {
        let target = self.target(target);
        let wanted = target.as_ref().ok().and_then(|(_, ty)| ty.record());
        let value = self.wanted(value, wanted);
        let ((target, ty), value) = (target?, value?);
        if let (Some(_), Target::Memory(address)) = (ty.record(), &target) {
            if let Some(operator) = operator {
                let name = format!("operator{}=", Binary::Arithmetic(operator).mark());
                if !self.candidates(&name).is_empty()
                    && let Target::Memory(target) = target
                {
                    return self.operator(&name, vec![*target, value], place);
                }
                let message = format!(
                    "'{}=' takes no {ty} and {}",
                    name.trim_start_matches("operator").trim_end_matches('='),
                    value.ty
                );
                return self.refuse(place, message, "write its parts: v.x += 1.0f;");
            }
            if value.ty.record() != ty.record() {
                let message = format!("a {} does not go into a {ty} so", value.ty);
                return self.refuse(place, message, "write its parts: v.x = 1.0f;");
            }
            let address = Expr { place: address.place, ty, kind: Kind::Whole(0) };
            let Target::Memory(target) = target else { return Ok(address) };
            return self.copied(*target, value, place);
        }
        match operator {
            None => {
                let value = self.convert(value, ty)?;
                Ok(Expr { place, ty, kind: Kind::Assign(target, Box::new(value)) })
            }
            Some(operator) => self.update(operator, target, ty, value, YieldedValue::New, place),
        }
    }

    pub(super) fn step(
        &mut self,
        operation: Operation,
        yields: YieldedValue,
        target: &ast::Expr,
        place: Place,
    ) -> Checked<Expr> {
        let (target, ty) = self.target(target)?;
        if ty == Type::Scalar(Scalar::Bool) {
            let message = "a bool is not counted up or down";
            return self.refuse(place, message, "write = true or = false");
        }
        let one = Expr { place, ty: Type::Scalar(Scalar::Int), kind: Kind::Whole(1) };
        self.update(operation, target, ty, one, yields, place)
    }

    fn update(
        &mut self,
        operator: Operation,
        target: Target,
        ty: Type,
        value: Expr,
        yields: YieldedValue,
        place: Place,
    ) -> Checked<Expr> {
        let mark = Binary::Arithmetic(operator).mark();
        let finished = |change, value| {
            Ok(Expr { place, ty, kind: Kind::Update(target, change, Box::new(value), yields) })
        };
        let scalar = match (ty, value.ty) {
            (Type::Scalar(scalar), Type::Scalar(_)) => scalar,
            (Type::Pointer { .. }, Type::Scalar(by))
                if !by.is_real() && matches!(operator, Operation::Add | Operation::Subtract) =>
            {
                let value = self.reach(value, by, operator, ty, place);
                return finished(CompoundOp::Advance, value);
            }
            _ => {
                return self.refuse(place, format!("'{mark}=' takes no {ty} and {}", value.ty), "");
            }
        };
        let from = value.ty.scalar().unwrap_or(scalar);
        let common_type =
            if operator.is_shift() { scalar.promote() } else { scalar.common_type(from) };
        if operator.is_whole() && (common_type.is_real() || from.is_real()) {
            let message = format!("'{mark}=' takes whole numbers, here are {scalar} and {from}");
            return self.refuse(place, message, "");
        }
        let count = if from.is_wide() { Scalar::Int } else { from.promote() };
        let value = converted(value, from, if operator.is_shift() { count } else { common_type });
        finished(CompoundOp::Arithmetic(operator, common_type), value)
    }

    /// Elements to go, negative for back: a pointer knows only one direction.
    fn reach(
        &mut self,
        by: Expr,
        scalar: Scalar,
        operator: Operation,
        pointer: Type,
        place: Place,
    ) -> Expr {
        let numbers = i64::from(self.numbers(pointer));
        if operator != Operation::Subtract {
            let scalar_by = converted(by, scalar, scalar.promote());
            return scaled(scalar_by, numbers, scalar.promote(), place);
        }
        let by = converted(by, scalar, Scalar::Long);
        let by = scaled(by, numbers, Scalar::Long, place);
        let ty = Type::Scalar(Scalar::Long);
        let kind = if let Kind::Whole(known) = by.kind {
            Kind::Whole(known.wrapping_neg())
        } else {
            Kind::Negate(Box::new(by))
        };
        Expr { place, ty, kind }
    }

    /// What may be assigned to, and its type.
    fn target(&mut self, expr: &ast::Expr) -> Checked<(Target, Type)> {
        if let ExprKind::Name(name) = &expr.kind {
            match self.meaning(name) {
                Some(Meaning::Constant(..)) => {
                    let message = format!("'{name}' is const");
                    return self.refuse(expr.place, message, "leave out const to change it");
                }
                Some(Meaning::Variable(index))
                    if !matches!(self.current.variables[index].ty, Type::Array { .. }) =>
                {
                    self.current.variables[index].is_changed = true;
                    return Ok((Target::Variable(index), self.current.variables[index].ty));
                }
                Some(
                    Meaning::Variable(_)
                    | Meaning::Reference(_)
                    | Meaning::Rows(..)
                    | Meaning::Shared(_)
                    | Meaning::Global(..),
                )
                | None => {}
            }
        }
        let place = expr.place;
        let target = if let ExprKind::Index(..) = &expr.kind {
            self.element(expr).map(loaded)?
        } else {
            self.expr(expr)?
        };
        if let Kind::Special(..) | Kind::WarpSize = target.kind {
            let message = "this is given and cannot be assigned to";
            return self.refuse(place, message, "copy it into a variable");
        }
        if let (Some(_), Type::Array { access, .. }) = (target.ty.record(), target.ty) {
            if access == Access::Constant {
                let help = "leave out const where it is declared, to write there";
                return self.refuse(place, "this is const", help);
            }
            let ty = target.ty;
            return Ok((Target::Memory(Box::new(target)), ty));
        }
        let Kind::Load(address) = target.kind else {
            let message = "this cannot be assigned to";
            return self.refuse(place, message, "assign to a variable or an element");
        };
        if let Type::Pointer { access: Access::Constant, .. } = address.ty {
            let message = "this is const";
            let help = "leave out const where it is declared, to write there";
            return self.refuse(place, message, help);
        }
        Ok((Target::Memory(address), target.ty))
    }

    /// Operators of which one side at least is an address.
    pub(super) fn pointers(
        &mut self,
        operator: Binary,
        left: Expr,
        right: Expr,
        place: Place,
    ) -> Checked<Expr> {
        let mark = operator.mark();
        match (left.ty, right.ty) {
            (Type::Pointer { to, record, .. }, Type::Pointer { to: other, record: second, .. })
                if to == other && record == second =>
            {
                match operator {
                    Binary::Arithmetic(Operation::Subtract) => {
                        let numbers = i64::from(self.numbers(left.ty));
                        let kind = Kind::Distance(Box::new(left), Box::new(right));
                        let ty = Type::Scalar(Scalar::Long);
                        let apart = Expr { place, ty, kind };
                        let by = Expr { place, ty, kind: Kind::Whole(numbers) };
                        return Ok(if numbers == 1 {
                            apart
                        } else {
                            arithmetic(Operation::Divide, Scalar::Long, apart, by, place)
                        });
                    }
                    Binary::Compare(comparison, sides) => {
                        return Ok(compared(comparison, sides, left, right, place));
                    }
                    Binary::Arithmetic(_) => {}
                }
            }
            (Type::Pointer { .. }, Type::Scalar(by)) if !by.is_real() => match operator {
                Binary::Arithmetic(operation @ (Operation::Add | Operation::Subtract)) => {
                    let by = self.reach(right, by, operation, left.ty, place);
                    let ty = left.ty;
                    return Ok(Expr {
                        place,
                        ty,
                        kind: Kind::Offset(Box::new(left), Box::new(by)),
                    });
                }
                Binary::Compare(comparison @ (Comparison::Equal | Comparison::NotEqual), sides) => {
                    let null = self.convert(right, left.ty)?;
                    return Ok(compared(comparison, sides, left, null, place));
                }
                Binary::Arithmetic(_) | Binary::Compare(..) => {}
            },
            (Type::Scalar(by), Type::Pointer { .. })
                if !by.is_real() && operator == Binary::Arithmetic(Operation::Add) =>
            {
                let ty = right.ty;
                let by = self.reach(left, by, Operation::Add, ty, place);
                return Ok(Expr { place, ty, kind: Kind::Offset(Box::new(right), Box::new(by)) });
            }
            _ => {}
        }
        let message = format!("'{mark}' takes no {} and {}", left.ty, right.ty);
        self.refuse(place, message, "")
    }

    /// As a condition: whether it is not zero.
    pub(super) fn truth(&mut self, expr: Expr) -> Checked<Expr> {
        match expr.ty {
            Type::Scalar(Scalar::Bool) => Ok(expr),
            Type::Scalar(_) | Type::Pointer { .. } => {
                self.convert(expr, Type::Scalar(Scalar::Bool))
            }
            Type::Void | Type::Array { .. } => {
                let message = format!("a {} is neither true nor false", expr.ty);
                self.refuse(expr.place, message, "compare it with something")
            }
        }
    }

    /// To another type without being asked, as C does between numbers.
    pub(super) fn convert(&mut self, expr: Expr, ty: Type) -> Checked<Expr> {
        let place = expr.place;
        match (expr.ty, ty) {
            (from, to) if from == to => Ok(expr),
            (Type::Scalar(from), Type::Scalar(to)) => Ok(converted(expr, from, to)),
            (Type::Pointer { .. }, Type::Scalar(Scalar::Bool)) => {
                Ok(Expr { place, ty, kind: Kind::Convert(Box::new(expr)) })
            }
            (
                Type::Pointer { to: from, access, record: one },
                Type::Pointer { to, access: wanted, record: other },
            ) => {
                if from != to || one != other {
                    self.refuse(
                        place,
                        format!("a {} is no {ty}", expr.ty),
                        format!("if that is meant, write ({ty})"),
                    )
                } else if access == Access::Constant && wanted == Access::Mutable {
                    self.refuse(
                        place,
                        format!("a {} may not be written through a {ty}", expr.ty),
                        format!("make it const {ty}"),
                    )
                } else {
                    Ok(Expr { ty, ..expr })
                }
            }
            (Type::Scalar(_), Type::Pointer { .. }) if matches!(expr.kind, Kind::Whole(0)) => {
                Ok(Expr { place, ty, kind: Kind::Whole(0) })
            }
            (from, to) => self.refuse(place, format!("a {from} is no {to}"), ""),
        }
    }

    /// To another type because it was asked for.
    pub(super) fn cast(&mut self, expr: Expr, ty: Type) -> Checked<Expr> {
        match (expr.ty, ty) {
            // Reading the same bytes as another type is what such a cast means here as on the device.
            (
                Type::Pointer { access: Access::Constant, .. },
                Type::Pointer { access: Access::Mutable, .. },
            ) => self.refuse(
                expr.place,
                "a cast that makes const writable is not part of this",
                "leave out const where it is declared",
            ),
            // Numbers of the same type in other groups: the address as it is.
            (Type::Pointer { to: from, .. }, Type::Pointer { to, .. }) if from == to => {
                Ok(Expr { ty, ..expr })
            }
            (Type::Pointer { .. }, Type::Pointer { .. }) => {
                Ok(Expr { place: expr.place, ty, kind: Kind::Convert(Box::new(expr)) })
            }
            (_, Type::Void) => {
                Ok(Expr { place: expr.place, ty, kind: Kind::Convert(Box::new(expr)) })
            }
            (Type::Pointer { .. }, Type::Scalar(Scalar::Long | Scalar::UnsignedLong))
            | (Type::Scalar(Scalar::Long | Scalar::UnsignedLong), Type::Pointer { .. }) => {
                self.has_numbered_addresses = true;
                Ok(Expr { place: expr.place, ty, kind: Kind::Convert(Box::new(expr)) })
            }
            (Type::Pointer { .. }, Type::Scalar(scalar)) if scalar != Scalar::Bool => self.refuse(
                expr.place,
                format!("an address does not go into {scalar}"),
                "cast it to uintptr_t, or subtract two pointers to count the elements between them",
            ),
            _ => self.convert(expr, ty),
        }
    }

    /// Two numbers brought to the type in which they meet.
    pub(super) fn common_operands(
        &mut self,
        left: Expr,
        right: Expr,
        place: Place,
        mark: &str,
    ) -> Checked<(Scalar, Expr, Expr)> {
        let (Some(one), Some(other)) = (left.ty.scalar(), right.ty.scalar()) else {
            let message = format!("'{mark}' takes no {} and {}", left.ty, right.ty);
            return self.refuse(place, message, "it takes numbers");
        };
        let ty = one.common_type(other);
        Ok((ty, converted(left, one, ty), converted(right, other, ty)))
    }
}
