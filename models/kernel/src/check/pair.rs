//! `atomicAdd` on `half2` and `__nv_bfloat162`: two atomics, as CUDA promises it of each half alone.

use crate::check::record::{duplicate, part, sequence};
use crate::check::{Checked, Checker};
use crate::diagnostic::Place;
use crate::typed_ast::{Atomic, Expr, Kind};
use crate::types::{Scalar, Type};

impl Checker<'_> {
    /// What is added to may be such a pair: then the sum, else the arguments again.
    pub(super) fn pair_sum(
        &mut self,
        atomic: Atomic,
        values: Vec<Expr>,
        place: Place,
    ) -> Checked<Result<Expr, Vec<Expr>>> {
        let [address, value] = values.as_slice() else { return Ok(Err(values)) };
        let Type::Pointer { record: Some(record), to, .. } = address.ty else {
            return Ok(Err(values));
        };
        let is_pair = matches!(record.elements(), Some((Scalar::Half | Scalar::Bfloat16, 2)));
        if !is_pair || atomic != Atomic::Add || value.ty.record() != Some(record) {
            return Ok(Err(values));
        }
        let mut done = Vec::new();
        let mut values = values.into_iter();
        let (Some(address), Some(value)) = (values.next(), values.next()) else {
            return Err(crate::check::Reported);
        };
        let value = self.lasting(value, &mut done);
        let address = self.lasting(address, &mut done);
        let ty = Type::Scalar(to);
        for at in 0..2 {
            let value = part(duplicate(&value), to, at, place);
            let value = Expr { place, ty, kind: Kind::Load(Box::new(value)) };
            let address = part(duplicate(&address), to, at, place);
            done.push(Expr {
                place,
                ty,
                kind: Kind::Atomic(atomic, Box::new(address), vec![value]),
            });
        }
        let none = Expr { place, ty: Type::Scalar(Scalar::Int), kind: Kind::Whole(0) };
        let kind = Kind::Convert(Box::new(sequence(done, none)));
        Ok(Ok(Expr { place, ty: Type::Void, kind }))
    }
}
