//! Alignments of types, and those that `__align__` and `alignas` give.

use crate::ast;
use crate::check::{Checked, Checker, known};
use crate::types::{Record, Scalar, Type};

impl Checker<'_> {
    /// Where a variable or a field of a type may begin: at multiples of this many bytes.
    pub(super) fn alignment(&self, ty: Type) -> u32 {
        let (of, record) = match ty {
            Type::Void => return 1,
            Type::Pointer { .. } => return 8,
            Type::Scalar(of) => return of.bytes(),
            Type::Array { of, extents, .. } => (of, extents.record()),
        };
        let declared = record.and_then(Record::number).and_then(|number| self.records.get(number));
        match (record.and_then(Record::elements), declared) {
            (Some((unit, numbers)), _) => vector_alignment(unit, numbers),
            (None, Some(info)) => info.alignment,
            (None, None) => of.bytes(),
        }
    }

    /// The alignment that a declaration gives, which is not less than that of the type.
    pub(super) fn aligned(
        &mut self,
        given: Option<&ast::Expr>,
        least: u32,
        most: u32,
    ) -> Checked<u32> {
        let Some(given) = given else { return Ok(least) };
        let value = self.value(given)?;
        let bytes = known(&value).and_then(|bytes| u32::try_from(bytes).ok());
        match bytes.filter(|bytes| bytes.is_power_of_two() && *bytes <= most) {
            Some(bytes) => Ok(bytes.max(least)),
            None => {
                let message = format!("an alignment is a power of two of at most {most} bytes");
                self.refuse(given.place, message, "write __align__(16)")
            }
        }
    }
}

/// Of a vector of CUDA: a `float4` is moved as a whole, a `float3` number by number.
///
/// Source: CUDA C++ Programming Guide 13.1, section 5.3.4.1 (built-in vector types).
pub(super) fn vector_alignment(unit: Scalar, numbers: u32) -> u32 {
    unit.bytes() * if numbers == 3 { 1 } else { numbers.min(16 / unit.bytes()) }
}
