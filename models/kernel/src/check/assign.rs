//! Assignments, steps and arithmetic with addresses.

use super::convert::converted;
use super::element::loaded;
use super::expression::{compared, operation};
use super::{Checked, Checker, Meaning};
use crate::source::Place;
use crate::syntax::{self, Binary, Direction, ExprKind, When};
use crate::typed::{Change, Expr, Fate, Kind, Target, Yields};
use crate::types::{Access, Scalar, Type};

impl Checker {
    pub(super) fn assign(
        &mut self,
        operator: Option<Binary>,
        target: &syntax::Expr,
        value: &syntax::Expr,
        place: Place,
    ) -> Checked<Expr> {
        let target = self.target(target);
        let value = self.value(value);
        let ((target, ty), value) = (target?, value?);
        match operator {
            None => {
                let value = self.convert(value, ty)?;
                Ok(Expr { place, ty, kind: Kind::Assign(target, Box::new(value)) })
            }
            Some(operator) => self.update(operator, target, ty, value, Yields::New, place),
        }
    }

    pub(super) fn step(
        &mut self,
        up: Direction,
        when: When,
        target: &syntax::Expr,
        place: Place,
    ) -> Checked<Expr> {
        let (target, ty) = self.target(target)?;
        if ty == Type::Scalar(Scalar::Bool) {
            return self.tell(place, "a bool is not counted up or down", "write = true or = false");
        }
        let one = Expr { place, ty: Type::Scalar(Scalar::Int), kind: Kind::Whole(1) };
        let operator = match up {
            Direction::Up => Binary::Add,
            Direction::Down => Binary::Subtract,
        };
        let yields = match when {
            When::Before => Yields::New,
            When::After => Yields::Old,
        };
        self.update(operator, target, ty, one, yields, place)
    }

    fn update(
        &mut self,
        operator: Binary,
        target: Target,
        ty: Type,
        value: Expr,
        yields: Yields,
        place: Place,
    ) -> Checked<Expr> {
        let mark = operator.mark();
        let finished = |change, value| {
            Ok(Expr { place, ty, kind: Kind::Update(target, change, Box::new(value), yields) })
        };
        let scalar = match (ty, value.ty) {
            (Type::Scalar(scalar), Type::Scalar(_)) => scalar,
            (Type::Pointer { .. }, Type::Scalar(by))
                if !by.is_real() && matches!(operator, Binary::Add | Binary::Subtract) =>
            {
                let value = self.reach(value, by, operator, place);
                return finished(Change::Advance, value);
            }
            _ => {
                return self.tell(place, format!("'{mark}=' takes no {ty} and {}", value.ty), "");
            }
        };
        let from = value.ty.scalar().unwrap_or(scalar);
        let meeting = if operator.is_shift() { scalar.promoted() } else { scalar.meeting(from) };
        let whole = operator.is_shift() || operator.is_bitwise() || operator == Binary::Remainder;
        if whole && (meeting.is_real() || from.is_real()) {
            return self.tell(
                place,
                format!("'{mark}=' takes whole numbers, here are {scalar} and {from}"),
                "",
            );
        }
        let count = if from.is_wide() { Scalar::Int } else { from.promoted() };
        let value = converted(value, from, if operator.is_shift() { count } else { meeting });
        finished(Change::Arithmetic(operation(operator), meeting), value)
    }

    /// Elements to go, negative for back: a pointer knows only one direction.
    fn reach(&mut self, by: Expr, scalar: Scalar, operator: Binary, place: Place) -> Expr {
        if operator != Binary::Subtract {
            return converted(by, scalar, scalar.promoted());
        }
        let by = converted(by, scalar, Scalar::Long);
        let ty = Type::Scalar(Scalar::Long);
        let kind = if let Kind::Whole(known) = by.kind {
            Kind::Whole(known.wrapping_neg())
        } else {
            Kind::Negate(Box::new(by))
        };
        Expr { place, ty, kind }
    }

    /// What may be assigned to, and its type.
    fn target(&mut self, expr: &syntax::Expr) -> Checked<(Target, Type)> {
        if let ExprKind::Name(name) = &expr.kind {
            match self.meaning(name) {
                Some(Meaning::Constant(..)) => {
                    return self.tell(
                        expr.place,
                        format!("'{name}' is const"),
                        "leave out const to change it",
                    );
                }
                Some(Meaning::Variable(index))
                    if !matches!(self.variables[index].ty, Type::Array { .. }) =>
                {
                    self.variables[index].fate = Fate::Changed;
                    return Ok((Target::Variable(index), self.variables[index].ty));
                }
                Some(Meaning::Variable(_) | Meaning::Shared(_)) | None => {}
            }
        }
        let place = expr.place;
        let target = if let ExprKind::Index(..) = &expr.kind {
            self.element(expr).map(loaded)?
        } else {
            self.expr(expr)?
        };
        if let Kind::Special(..) | Kind::WarpSize = target.kind {
            return self.tell(
                place,
                "this is given and cannot be assigned to",
                "copy it into a variable",
            );
        }
        let Kind::Load(address) = target.kind else {
            return self.tell(
                place,
                "this cannot be assigned to",
                "assign to a variable or an element",
            );
        };
        if let Type::Pointer { access: Access::Constant, .. } = address.ty {
            return self.tell(
                place,
                "this is const",
                "leave out const where it is declared, to write there",
            );
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
            (Type::Pointer { to, .. }, Type::Pointer { to: other, .. }) if to == other => {
                if operator == Binary::Subtract {
                    let kind = Kind::Distance(Box::new(left), Box::new(right));
                    return Ok(Expr { place, ty: Type::Scalar(Scalar::Long), kind });
                }
                if operator.is_comparison() {
                    return Ok(compared(operator, left, right, place));
                }
            }
            (Type::Pointer { .. }, Type::Scalar(by)) if !by.is_real() => {
                if matches!(operator, Binary::Add | Binary::Subtract) {
                    let by = self.reach(right, by, operator, place);
                    return Ok(Expr {
                        place,
                        ty: left.ty,
                        kind: Kind::Offset(Box::new(left), Box::new(by)),
                    });
                }
                if matches!(operator, Binary::Equal | Binary::NotEqual) {
                    let null = self.convert(right, left.ty)?;
                    return Ok(compared(operator, left, null, place));
                }
            }
            (Type::Scalar(by), Type::Pointer { .. })
                if !by.is_real() && operator == Binary::Add =>
            {
                let by = converted(left, by, by.promoted());
                return Ok(Expr {
                    place,
                    ty: right.ty,
                    kind: Kind::Offset(Box::new(right), Box::new(by)),
                });
            }
            _ => {}
        }
        let message = format!("'{mark}' takes no {} and {}", left.ty, right.ty);
        self.tell(place, message, "")
    }
}
