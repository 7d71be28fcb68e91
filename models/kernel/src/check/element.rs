//! Elements of arrays, and addresses.

use crate::ast;
use crate::ast::ExprKind;
use crate::check::fold::{arithmetic, converted, loaded, scaled};
use crate::check::{Checked, Checker, known};
use crate::diagnostic::Place;
use crate::typed_ast::{Expr, Kind, Operation, RowBound};
use crate::types::{Access, Extents, Scalar, Type};

const SUBSCRIPT: &str = "operator[]";

impl Checker<'_> {
    /// The address of an element: `a[i]`, also of a row of an array of arrays.
    pub(super) fn element(&mut self, expr: &ast::Expr) -> Checked<Expr> {
        let ExprKind::Index(base, index) = &expr.kind else { return self.value(expr) };
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
            let message = format!("an index is a whole number, this is a {}", index.ty);
            return self.refuse(index.place, message, "write (int)x");
        };
        let index = converted(index, scalar, scalar.promote());
        match base.ty {
            Type::Pointer { to, access, record } => {
                let numbers = self.numbers(base.ty);
                let index = scaled(index, i64::from(numbers), scalar.promote(), place);
                let ty = match record {
                    None => base.ty,
                    Some(record) => Type::Array {
                        of: to,
                        extents: Extents::new(&[]).of_records(record, numbers),
                        access,
                    },
                };
                Ok(Expr { place, ty, kind: Kind::Offset(Box::new(base), Box::new(index)) })
            }
            Type::Array { extents, .. }
                if extents.dimensions() == 0 && !self.candidates(SUBSCRIPT).is_empty() =>
            {
                let value = self.operator(SUBSCRIPT, vec![base, index], place)?;
                // A reference is the address that is asked for.
                Ok(if let Kind::Load(address) = value.kind { *address } else { value })
            }
            Type::Array { extents, .. } if extents.dimensions() == 0 => {
                self.refuse(place, format!("a {} has no elements", base.ty), "write .x")
            }
            Type::Array { of, extents, access } => {
                let inner = extents.inner();
                let stride = inner.elements() as i64;
                let scalar = scalar.promote();
                let bound = self.row_bound(&base, extents);
                let index = scaled(index, stride, scalar, place);
                // The rows chosen so far and this one are one sum, so that there is one address.
                let (base, index) = if let Kind::Offset(first, before) = base.kind {
                    let one = before.ty.scalar().unwrap_or(scalar);
                    let ty = one.common_type(scalar);
                    let before = converted(*before, one, ty);
                    let index = converted(index, scalar, ty);
                    (*first, in_row(before, index, bound, place))
                } else {
                    let zero = Expr { place, ty: index.ty, kind: Kind::Whole(0) };
                    let index =
                        if bound.is_some() { in_row(zero, index, bound, place) } else { index };
                    let ty = Type::pointer(of, access);
                    (Expr { ty, ..base }, index)
                };
                let ty = if inner.list().is_empty() {
                    Type::pointer(of, access)
                } else {
                    Type::Array { of, extents: inner, access }
                };
                Ok(Expr { place, ty, kind: Kind::Offset(Box::new(base), Box::new(index)) })
            }
            ty @ (Type::Void | Type::Scalar(_)) => self.refuse(
                place,
                format!("a {ty} has no elements"),
                "only arrays and pointers are indexed",
            ),
        }
    }

    /// The bound of an index into an array that is part of a variable; none where the array is the whole
    /// variable: every access is held against its end anyway.
    fn row_bound(&self, base: &Expr, extents: Extents) -> Option<RowBound> {
        let is_part = matches!(base.kind, Kind::Offset(..));
        let root = if let Kind::Offset(root, _) = &base.kind { root } else { base };
        let variable = |ty: Type| ty.extents().map(|extents| extents.elements());
        let whole = if let Kind::Shared(index) = root.kind {
            let shared = &self.shared[index];
            if shared.bytes > 0 { variable(shared.ty) } else { Some(extents.elements()) }
        } else if let Kind::Local(index) = root.kind {
            variable(self.current.variables[index].ty)
        } else if let Kind::Global(index) = root.kind {
            Some(self.globals[index].elements)
        } else {
            None
        };
        let elements = extents.list()[0];
        if elements == Extents::OPEN || (!is_part && whole == Some(extents.elements())) {
            return None;
        }
        let stride = extents.inner().elements() as u32;
        let whole = whole.and_then(|whole| u32::try_from(whole).ok());
        Some(RowBound { elements, stride, whole })
    }

    pub(super) fn address(&mut self, operand: &ast::Expr, place: Place) -> Checked<Expr> {
        let ExprKind::Index(..) = &operand.kind else {
            let value = self.expr(operand)?;
            return self.addressed(value, place);
        };
        let element = self.element(operand)?;
        if let Type::Pointer { .. } = element.ty {
            return Ok(Expr { place, ..element });
        }
        self.addressed(element, place)
    }

    /// The address of what was checked.
    pub(super) fn addressed(&mut self, element: Expr, place: Place) -> Checked<Expr> {
        if let (Kind::Variable(index), Type::Scalar(to)) = (&element.kind, element.ty) {
            let index = *index;
            self.current.variables[index].in_memory = true;
            let ty = Type::pointer(to, Access::Mutable);
            return Ok(Expr { place, ty, kind: Kind::Local(index) });
        }
        if let Kind::Load(address) = element.kind {
            return Ok(Expr { place, ..*address });
        }
        if let (Some(_), Type::Array { of, extents, access }) = (element.ty.record(), element.ty) {
            let ty = Type::Pointer { to: of, access, record: extents.record() };
            return Ok(Expr { place, ty, ..element });
        }
        if let (Type::Pointer { .. }, Kind::Offset(..)) = (element.ty, &element.kind) {
            return Ok(Expr { place, ..element });
        }
        self.refuse(place, "this has no address", "'&' takes a variable or an element")
    }
}

/// An index into a row that begins somewhere; a number that is known to be in it is added at once.
fn in_row(begin: Expr, index: Expr, bound: Option<RowBound>, place: Place) -> Expr {
    let ty = index.ty;
    let scalar = ty.scalar().unwrap_or(Scalar::Int);
    match bound {
        Some(bound) if known(&index).is_none_or(|at| at as u64 >= bound.numbers()) => {
            Expr { place, ty, kind: Kind::Row(Box::new(begin), Box::new(index), bound) }
        }
        Some(_) | None => arithmetic(Operation::Add, scalar, begin, index, place),
    }
}
