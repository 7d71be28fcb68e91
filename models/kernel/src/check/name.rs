//! Numbers, names and parts of names.

use super::element::loaded;
use super::{Checked, Checker, Meaning, Number};
use crate::source::{Place, Suffix};
use crate::syntax::{self, ExprKind};
use crate::typed::{Axis, Expr, Kind, Special};
use crate::types::{Access, Scalar, Type};

impl Checker {
    pub(super) fn integer(
        &mut self,
        place: Place,
        value: u64,
        suffix: Suffix,
        base: u32,
    ) -> Checked<Expr> {
        let fits = |scalar: Scalar| match scalar {
            Scalar::Int => value <= i32::MAX as u64,
            Scalar::Unsigned => value <= u64::from(u32::MAX),
            Scalar::Long => value <= i64::MAX as u64,
            Scalar::Bool | Scalar::UnsignedLong | Scalar::Float | Scalar::Double => true,
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
            None => self.tell(
                place,
                format!("{value} does not fit into 64 signed bits"),
                "write ull behind it",
            ),
        }
    }

    pub(super) fn name(&mut self, name: &str, place: Place) -> Checked<Expr> {
        let meaning = match (self.meaning(name), name) {
            (Some(meaning), _) => meaning,
            (None, "warpSize") => {
                return Ok(Expr { place, ty: Type::Scalar(Scalar::Int), kind: Kind::WarpSize });
            }
            (None, "threadIdx" | "blockIdx" | "blockDim" | "gridDim") => {
                return self.tell(
                    place,
                    format!("'{name}' has three parts"),
                    format!("write {name}.x, .y or .z"),
                );
            }
            (None, _) => {
                let scopes = self.scopes.iter().flat_map(|scope| scope.keys().map(String::as_str));
                let special = ["threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"];
                let near =
                    mlsys_lab::nearest::nearest(name, scopes.chain(special)).map(str::to_owned);
                let help = near.map_or_else(
                    || "declare it before it is used".to_owned(),
                    |near| format!("did you mean '{near}'?"),
                );
                return self.tell(place, format!("'{name}' is not declared"), help);
            }
        };
        Ok(match meaning {
            Meaning::Constant(scalar, number) => {
                let kind = match number {
                    Number::Whole(value) => Kind::Whole(value),
                    Number::Real(value) => Kind::Real(value),
                };
                Expr { place, ty: Type::Scalar(scalar), kind }
            }
            Meaning::Variable(index) => {
                let ty = self.variables[index].ty;
                let kind = match ty {
                    Type::Array { .. } => Kind::Local(index),
                    Type::Void | Type::Scalar(_) | Type::Pointer { .. } => Kind::Variable(index),
                };
                Expr { place, ty, kind }
            }
            Meaning::Shared(index) => {
                let ty = self.shared[index].ty;
                let kind = Kind::Shared(index);
                match ty {
                    Type::Scalar(to) => loaded(Expr {
                        place,
                        ty: Type::Pointer { to, access: Access::Mutable },
                        kind,
                    }),
                    Type::Void | Type::Pointer { .. } | Type::Array { .. } => {
                        Expr { place, ty, kind }
                    }
                }
            }
        })
    }

    pub(super) fn member(
        &mut self,
        of: &syntax::Expr,
        member: &str,
        place: Place,
    ) -> Checked<Expr> {
        let name = if let ExprKind::Name(name) = &of.kind {
            Some(name.as_str()).filter(|name| self.meaning(name).is_none())
        } else {
            None
        };
        let name = name.unwrap_or_default();
        let special = match name {
            "threadIdx" => Special::ThreadIdx,
            "blockIdx" => Special::BlockIdx,
            "blockDim" => Special::BlockDim,
            "gridDim" => Special::GridDim,
            _ => return self.tell(
                place,
                format!(
                    "only threadIdx, blockIdx, blockDim and gridDim have parts, here is .{member}"
                ),
                "structures are not part of this",
            ),
        };
        let axis = match member {
            "x" => Axis::X,
            "y" => Axis::Y,
            "z" => Axis::Z,
            _ => {
                return self.tell(
                    place,
                    format!("{name} has no part '{member}'"),
                    "its parts are x, y and z",
                );
            }
        };
        Ok(Expr { place, ty: Type::Scalar(Scalar::Unsigned), kind: Kind::Special(special, axis) })
    }
}
