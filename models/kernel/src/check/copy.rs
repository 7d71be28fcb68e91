//! `memcpy` of a number of bytes that is known: what lies in one variable goes into another as it is, whatever their types.

use crate::ast;
use crate::ast::{ExprKind, Unary};
use crate::check::record::{MOST_COPIES, access, duplicate, part, sequence};
use crate::check::{Checked, Checker, known};
use crate::diagnostic::Place;
use crate::typed_ast::{Expr, Kind, Target};
use crate::types::{Access, Scalar, Type};

/// What bytes are moved as, the most at once first.
const PIECES: [Scalar; 4] =
    [Scalar::UnsignedLong, Scalar::Unsigned, Scalar::UnsignedShort, Scalar::UnsignedChar];

impl Checker<'_> {
    /// `memcpy(&payload, &bits, sizeof(bits))`
    pub(super) fn bytes_copied(&mut self, arguments: &[ast::Expr], place: Place) -> Checked<Expr> {
        let [target, value, bytes] = arguments else {
            let message = format!("memcpy takes 3 arguments, here are {}", arguments.len());
            return self.refuse(place, message, "write memcpy(&x, &y, sizeof(x))");
        };
        let (target, value, bytes) = (self.region(target), self.region(value), self.value(bytes));
        let (target, value, bytes) = (target?, value?, bytes?);
        if access(target.ty) == Access::Constant {
            return self.refuse(target.place, "this is const", "leave out const to write there");
        }
        let is_whole = bytes.ty.scalar().is_some_and(|scalar| !scalar.is_real());
        let Some(count) = known(&bytes).filter(|count| is_whole && *count >= 0) else {
            let message = "a number of bytes must be known before the kernel runs";
            return self.refuse(bytes.place, message, "write sizeof(x), or copy in a loop");
        };
        let element = |ty: Type| ty.element().map_or(1, Scalar::bytes);
        let aligned = element(target.ty).min(element(value.ty));
        let fits =
            |piece: &Scalar| piece.bytes() <= aligned && count % i64::from(piece.bytes()) == 0;
        let of = PIECES.into_iter().find(fits).unwrap_or(Scalar::UnsignedChar);
        let pieces = count as u64 / u64::from(of.bytes());
        self.copies = self.copies.saturating_add(pieces as usize);
        if self.copies > MOST_COPIES {
            let message = format!("more than {MOST_COPIES} numbers together are copied");
            return self.refuse(place, message, "copy in a helper or a loop");
        }
        let mut moved = Vec::new();
        let value = self.lasting(value, &mut moved);
        let target = self.lasting(target, &mut moved);
        for at in 0..pieces as u32 {
            let from = part(duplicate(&value), of, at, place);
            let from = Expr { place, ty: Type::Scalar(of), kind: Kind::Load(Box::new(from)) };
            let into = Target::Memory(Box::new(part(duplicate(&target), of, at, place)));
            let kind = Kind::Assign(into, Box::new(from));
            moved.push(Expr { place, ty: Type::Scalar(of), kind });
        }
        let none = Expr { place, ty: Type::Scalar(Scalar::Int), kind: Kind::Whole(0) };
        let kind = Kind::Convert(Box::new(sequence(moved, none)));
        Ok(Expr { place, ty: Type::Void, kind })
    }

    /// Where some bytes begin: a pointer, an array, or `&` before a variable or an array.
    fn region(&mut self, argument: &ast::Expr) -> Checked<Expr> {
        let place = argument.place;
        let checked = if let ExprKind::Unary(Unary::Address, operand) = &argument.kind {
            let is_element = matches!(operand.kind, ExprKind::Index(..));
            let checked = if is_element { self.element(operand)? } else { self.expr(operand)? };
            match checked.ty {
                Type::Array { extents, .. } if extents.dimensions() > 0 => checked,
                Type::Array { .. } | Type::Pointer { .. } | Type::Scalar(_) | Type::Void => {
                    return self.addressed(checked, place);
                }
            }
        } else {
            self.expr(argument)?
        };
        match checked.ty {
            Type::Pointer { .. } => Ok(checked),
            Type::Array { of, extents, access } if extents.dimensions() > 0 => {
                Ok(Expr { ty: Type::pointer(of, access), ..checked })
            }
            ty @ (Type::Array { .. } | Type::Scalar(_) | Type::Void) => {
                self.refuse(place, format!("memcpy takes addresses, this is a {ty}"), "write &x")
            }
        }
    }
}
