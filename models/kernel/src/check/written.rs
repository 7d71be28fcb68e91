//! Types as they are written, and what they mean here.

use crate::ast::{Base, Passing, TypeName};
use crate::check::instance::Bound;
use crate::check::{Checked, Checker, Reported};
use crate::diagnostic::Place;
use crate::types::{Access, Extents, Type};

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
        match self.bindings.get(param) {
            Some(Bound::Type(ty, access)) => Ok((*ty, *access)),
            Some(Bound::Value(..) | Bound::Function(_)) | None => {
                self.complain(place, "this type is not known here", "");
                Err(Reported)
            }
        }
    }
}
