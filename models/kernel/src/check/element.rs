//! Elements of arrays and pointers, and addresses.

use super::convert::{arithmetic, converted};
use super::{Checked, Checker, Meaning};
use crate::source::Place;
use crate::syntax::{self, ExprKind};
use crate::typed::{Expr, Kind, Memory, Operation};
use crate::types::{Access, Scalar, Type};

impl Checker {
    /// The address of an element: `a[i]`, also of a row of an array of arrays.
    pub(super) fn element(&mut self, expr: &syntax::Expr) -> Checked<Expr> {
        let ExprKind::Index(base, index) = &expr.kind else {
            return self.value(expr);
        };
        let place = expr.place;
        // A row of an array of arrays stays an address; what is a number already has no elements.
        let base = if let ExprKind::Index(..) = &base.kind {
            self.element(base).map(loaded)
        } else {
            self.expr(base)
        };
        let index = self.value(index);
        let (base, index) = (base?, index?);
        let Some(scalar) = index.ty.scalar().filter(|scalar| !scalar.is_real()) else {
            return self.tell(
                index.place,
                format!("an index is a whole number, this is a {}", index.ty),
                "write (int)x",
            );
        };
        let index = converted(index, scalar, scalar.promoted());
        match base.ty {
            Type::Pointer { .. } => {
                Ok(Expr { place, ty: base.ty, kind: Kind::Offset(Box::new(base), Box::new(index)) })
            }
            Type::Array { of, extents, access } => {
                let inner = extents.inner();
                let stride = inner.elements() as i64;
                let scalar = scalar.promoted();
                let index = scaled(index, stride, scalar, place);
                // The rows chosen so far and this one are one sum, so that there is one address.
                let (base, index) = if let Kind::Offset(first, before) = base.kind {
                    let one = before.ty.scalar().unwrap_or(scalar);
                    let ty = one.meeting(scalar);
                    let before = converted(*before, one, ty);
                    let index = converted(index, scalar, ty);
                    let sum = arithmetic(Operation::Add, ty, before, index, place);
                    (*first, sum)
                } else {
                    let ty = Type::Pointer { to: of, access };
                    (Expr { ty, ..base }, index)
                };
                let ty = if inner.list().is_empty() {
                    Type::Pointer { to: of, access }
                } else {
                    Type::Array { of, extents: inner, access }
                };
                Ok(Expr { place, ty, kind: Kind::Offset(Box::new(base), Box::new(index)) })
            }
            ty @ (Type::Void | Type::Scalar(_)) => self.tell(
                place,
                format!("a {ty} has no elements"),
                "only arrays and pointers are indexed",
            ),
        }
    }

    pub(super) fn address(&mut self, operand: &syntax::Expr, place: Place) -> Checked<Expr> {
        if let ExprKind::Name(name) = &operand.kind
            && let Some(Meaning::Variable(index)) = self.meaning(name)
            && let Type::Scalar(to) = self.variables[index].ty
        {
            self.variables[index].in_memory = Memory::Local;
            return Ok(Expr {
                place,
                ty: Type::Pointer { to, access: Access::Mutable },
                kind: Kind::Local(index),
            });
        }
        let element = if let ExprKind::Index(..) = &operand.kind {
            self.element(operand)?
        } else {
            self.expr(operand)?
        };
        if let Kind::Load(address) = element.kind {
            return Ok(Expr { place, ..*address });
        }
        if let (Type::Pointer { .. }, Kind::Offset(..)) = (element.ty, &element.kind) {
            return Ok(Expr { place, ..element });
        }
        self.tell(place, "this has no address", "'&' takes a variable or an element")
    }
}

/// What lies at an address: a number, or still an array of them.
pub(super) fn loaded(address: Expr) -> Expr {
    match address.ty {
        Type::Pointer { to, .. } => {
            Expr { place: address.place, ty: Type::Scalar(to), kind: Kind::Load(Box::new(address)) }
        }
        Type::Void | Type::Scalar(_) | Type::Array { .. } => address,
    }
}

pub(super) fn scaled(index: Expr, stride: i64, scalar: Scalar, place: Place) -> Expr {
    if stride == 1 {
        return index;
    }
    let stride = Expr { place, ty: Type::Scalar(scalar), kind: Kind::Whole(stride) };
    arithmetic(Operation::Multiply, scalar, index, stride, place)
}
