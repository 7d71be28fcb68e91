//! Types and numbers as they are written, and what they mean here.

use crate::ast::{Base, Passing, TypeName};
use crate::check::instance::Bound;
use crate::check::{Checked, Checker, Reported};
use crate::diagnostic::Place;
use crate::lexer::Suffix;
use crate::typed_ast::{Expr, Kind};
use crate::types::{Access, Extents, Scalar, Type};

impl Checker<'_> {
    /// A written type as the type of something that is no array.
    pub(super) fn type_of(&mut self, ty: TypeName, place: Place, of: &str) -> Checked<Type> {
        if ty.passing == Passing::Reference {
            let message = format!("a reference is not part of this as {of}");
            return self.refuse(place, message, "pass a pointer: float *x");
        }
        match (ty.base, ty.pointer) {
            (Base::Param(param), pointer) => {
                let (bound, access) = self.bound_type(param, place)?;
                let constant = [access, ty.access].contains(&Access::Constant);
                let access = if constant { Access::Constant } else { Access::Mutable };
                let base = match (bound, bound.record()) {
                    (_, Some(record)) => Base::Record(record),
                    (Type::Scalar(scalar), None) => Base::Scalar(scalar),
                    (Type::Void, None) => Base::Void,
                    (bound, None) if pointer.is_none() => return Ok(bound),
                    (_, None) => {
                        let message = "pointers to pointers are not part of this";
                        return self.refuse(place, message, "keep all in one array");
                    }
                };
                self.type_of(TypeName { base, access, ..ty }, place, of)
            }
            (Base::Function, _) => self.refuse(
                place,
                format!("a function is not part of this as {of}"),
                "name it in the arguments of a template",
            ),
            (Base::Record(record), pointer) => {
                let info = self.record(record, place)?;
                let (to, access) = (info.unit, ty.access);
                let extents = Extents::new(&[]).of_records(record, info.numbers);
                Ok(match pointer {
                    Some(_) => Type::Pointer { to, access, record: Some(record) },
                    None => Type::Array { of: to, extents, access },
                })
            }
            (Base::Scalar(scalar), None) => Ok(Type::Scalar(scalar)),
            (Base::Scalar(to), Some(_)) => Ok(Type::pointer(to, ty.access)),
            (Base::Void, None) => Ok(Type::Void),
            (Base::Auto, _) => self.refuse(
                place,
                format!("auto stands for no type as {of}"),
                "write the type; auto x = value; takes that of the value",
            ),
            (Base::Void, Some(_)) => self.refuse(
                place,
                format!("void* is not part of this as {of}"),
                "point to what is there: float *",
            ),
        }
    }

    /// The type that an argument of the template at hand stands for.
    pub(super) fn bound_type(&mut self, param: usize, place: Place) -> Checked<(Type, Access)> {
        match self.current.bindings.get(param) {
            Some(Bound::Type(ty, access)) => Ok((*ty, *access)),
            Some(Bound::Value(..) | Bound::Function(_)) | None => {
                self.complain(place, "this type is not known here", "");
                Err(Reported)
            }
        }
    }

    /// The type of a number without a point: the first that holds it.
    pub(super) fn integer(
        &mut self,
        place: Place,
        value: u64,
        suffix: Suffix,
        base: u32,
    ) -> Checked<Expr> {
        let fits = |scalar: Scalar| {
            let most = [
                (Scalar::Int, i32::MAX as u64),
                (Scalar::Unsigned, u64::from(u32::MAX)),
                (Scalar::Long, i64::MAX as u64),
            ];
            most.iter().all(|(of, most)| *of != scalar || value <= *most)
        };
        // A decimal number never becomes unsigned by itself; one in another base may.
        let candidates: &[Scalar] = match (suffix, base) {
            (Suffix::None, 10) => &[Scalar::Int, Scalar::Long],
            (Suffix::None, _) => {
                &[Scalar::Int, Scalar::Unsigned, Scalar::Long, Scalar::UnsignedLong]
            }
            (Suffix::Unsigned, _) => &[Scalar::Unsigned, Scalar::UnsignedLong],
            (Suffix::Long, 10) => &[Scalar::Long],
            (Suffix::Long, _) => &[Scalar::Long, Scalar::UnsignedLong],
            (Suffix::UnsignedLong, _) => &[Scalar::UnsignedLong],
        };
        match candidates.iter().find(|scalar| fits(**scalar)) {
            Some(scalar) => {
                Ok(Expr { place, ty: Type::Scalar(*scalar), kind: Kind::Whole(value as i64) })
            }
            None => self.refuse(
                place,
                format!("{value} does not fit into 64 signed bits"),
                "write ull behind it",
            ),
        }
    }
}
