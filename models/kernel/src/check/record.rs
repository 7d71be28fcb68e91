//! Records: the vectors of CUDA and structures of numbers. In memory a record is an array of numbers of its largest type;
//! a value is the address of one, and assigning copies number by number.

use crate::ast;
use crate::ast::{Declarator, RecordDeclaration};
use crate::check::alignment::vector_alignment;
use crate::check::fold::{arithmetic, loaded};
use crate::check::{Checked, Checker, Reported};
use crate::diagnostic::Place;
use crate::typed_ast::{Expr, Kind, Operation, Part, Target};
use crate::types::{Access, Extents, Record, Scalar, Type};

/// Numbers that a record may hold.
const MOST_NUMBERS: u32 = 128;

/// Numbers of records that a text may copy.
pub(super) const MOST_COPIES: usize = 20_000;

#[derive(Clone, Debug)]
pub(super) struct RecordInfo {
    name: String,
    /// The largest type of its numbers, and how many of that size it takes.
    pub(super) unit: Scalar,
    pub(super) numbers: u32,
    /// In bytes: a power of two.
    pub(super) alignment: u32,
    fields: Vec<Field>,
    /// Bytes that one access moves, if a single one moves it all.
    together: Option<u32>,
}

#[derive(Clone, Debug)]
struct Field {
    name: String,
    ty: Type,
    /// In numbers of its own type.
    offset: u32,
}

impl RecordInfo {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn has_field(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }
}

impl Checker<'_> {
    pub(super) fn record(&mut self, record: Record, place: Place) -> Checked<RecordInfo> {
        if let Some((unit, numbers)) = record.elements() {
            let field = |(offset, name): (u32, &str)| Field {
                name: name.to_owned(),
                ty: Type::Scalar(unit),
                offset,
            };
            let fields = (0..numbers).zip(["x", "y", "z", "w"]).map(field).collect();
            let bytes = unit.bytes() * numbers;
            let together = Some(bytes).filter(|_| numbers != 3 && bytes <= 16);
            let name = record.to_string();
            let alignment = vector_alignment(unit, numbers);
            return Ok(RecordInfo { name, unit, numbers, alignment, fields, together });
        }
        match record.number().and_then(|number| self.records.get(number)) {
            Some(info) => Ok(info.clone()),
            None => self.refuse(place, "this structure has a mistake where it is declared", ""),
        }
    }

    /// Numbers that an index of a pointer passes over.
    pub(super) fn numbers(&self, ty: Type) -> u32 {
        let record = match ty {
            Type::Pointer { record, .. } => record,
            Type::Array { extents, .. } => extents.record(),
            Type::Void | Type::Scalar(_) => None,
        };
        let Some(record) = record else { return 1 };
        let declared = record.number().and_then(|number| self.records.get(number));
        record
            .elements()
            .map(|(_, numbers)| numbers)
            .or(declared.map(|info| info.numbers))
            .unwrap_or(1)
    }

    /// `struct P { float x, y; int n[2]; };`
    pub(super) fn define(&mut self, declaration: &RecordDeclaration) {
        let mut info = RecordInfo {
            name: declaration.name.clone(),
            unit: Scalar::Bool,
            numbers: 0,
            alignment: 1,
            fields: Vec::new(),
            together: None,
        };
        let mut bytes = 0_u64;
        for name in &declaration.fields {
            let Ok(ty) = self.field_type(name) else { continue };
            let (of, count) = match ty {
                Type::Array { of, extents, .. } => (of, extents.elements()),
                Type::Void | Type::Scalar(_) | Type::Pointer { .. } => {
                    (ty.element().unwrap_or(Scalar::Int), 1)
                }
            };
            let size = u64::from(of.bytes());
            let least = self.alignment(ty);
            let Ok(alignment) = self.aligned(name.alignment.as_deref(), least, MOST_NUMBERS) else {
                continue;
            };
            info.alignment = info.alignment.max(alignment);
            bytes = bytes.next_multiple_of(alignment.into());
            let offset = (bytes / size) as u32;
            info.fields.push(Field { name: name.name.clone(), ty, offset });
            bytes = bytes.saturating_add(count.saturating_mul(size));
            if of.bytes() > info.unit.bytes() || info.fields.len() == 1 {
                info.unit = of;
            }
        }
        let given = declaration.alignment.as_ref();
        if let Ok(alignment) = self.aligned(given, info.alignment, MOST_NUMBERS) {
            info.alignment = alignment;
        }
        // Without fields it has one byte.
        let bytes = bytes.max(1).next_multiple_of(info.alignment.into());
        let numbers = bytes / u64::from(info.unit.bytes());
        if numbers > u64::from(MOST_NUMBERS) {
            let message = format!("'{}' holds {numbers} numbers", info.name);
            let help = format!(
                "a structure holds at most {MOST_NUMBERS} numbers; pass an array for each field"
            );
            self.complain(declaration.place, message, help);
        }
        info.numbers = numbers.min(MOST_NUMBERS.into()) as u32;
        self.records.push(info);
    }

    fn field_type(&mut self, name: &Declarator) -> Checked<Type> {
        let base = self.type_of(name.ty, name.place, "a field")?;
        if base == Type::Void || name.ty.pointer.is_some() || name.initial.is_some() {
            let message = format!("'{}' cannot be a field", name.name);
            return self.refuse(
                name.place,
                message,
                "a field is a number or an array of numbers, without a value; addresses may stand in a structure that is only passed by value",
            );
        }
        match (self.extents(name)?, base) {
            (None, ty) => Ok(ty),
            (Some(extents), Type::Scalar(of)) => {
                Ok(Type::Array { of, extents, access: Access::Mutable })
            }
            (Some(extents), ty) => {
                let (Some(of), Some(record)) = (ty.element(), ty.record()) else {
                    return Err(Reported);
                };
                let extents = extents.of_records(record, self.numbers(ty));
                Ok(Type::Array { of, extents, access: Access::Mutable })
            }
        }
    }

    /// What lies at an address: a number, or a record.
    pub(super) fn at(&self, address: Expr) -> Expr {
        match address.ty {
            Type::Pointer { to: of, access, record: Some(record) } => {
                let extents = Extents::new(&[]).of_records(record, self.numbers(address.ty));
                Expr { ty: Type::Array { of, extents, access }, ..address }
            }
            Type::Void | Type::Scalar(_) | Type::Pointer { .. } | Type::Array { .. } => {
                loaded(address)
            }
        }
    }

    /// A part of a record: `v.x`.
    pub(super) fn field(&mut self, of: &ast::Expr, member: &str, place: Place) -> Checked<Expr> {
        let value = self.expr(of)?;
        let Some(record) = value.ty.record() else {
            let message = format!("a {} has no parts, here is .{member}", value.ty);
            let help = "threadIdx, blockIdx, blockDim, gridDim, vectors and structures have parts";
            return self.refuse(place, message, help);
        };
        let info = self.record(record, place)?;
        let Some(field) = info.fields.iter().find(|field| field.name == member) else {
            let names: Vec<&str> = info.fields.iter().map(|field| field.name.as_str()).collect();
            let message = format!("{} has no part '{member}'", info.name);
            return self.refuse(place, message, format!("its parts are {}", names.join(", ")));
        };
        let address = part(value, field.ty.element().unwrap_or(info.unit), field.offset, place);
        Ok(match field.ty {
            Type::Array { of, extents, .. } => {
                let access = access(address.ty);
                Expr { ty: Type::Array { of, extents, access }, ..address }
            }
            Type::Void | Type::Scalar(_) | Type::Pointer { .. } => loaded(address),
        })
    }

    /// Types and offsets of all numbers of a record.
    pub(super) fn leaves(&mut self, record: Record, place: Place) -> Checked<Vec<(Scalar, u32)>> {
        let info = self.record(record, place)?;
        let mut leaves = Vec::new();
        for field in &info.fields {
            let of = field.ty.element().unwrap_or(info.unit);
            let extents =
                if let Type::Array { extents, .. } = field.ty { Some(extents) } else { None };
            let inner = match extents.and_then(|extents| extents.record()) {
                Some(inner) => self.leaves(inner, place)?,
                None => vec![(of, 0)],
            };
            let stride = self.numbers(field.ty);
            let numbers = extents.map_or(1, |extents| extents.elements()) as u32;
            for begin in (0..numbers).step_by(stride as usize) {
                // Where a part begins, in numbers of its own type.
                let begin = |part: Scalar| (field.offset + begin) * of.bytes() / part.bytes();
                leaves.extend(inner.iter().map(|(part, at)| (*part, begin(*part) + at)));
            }
        }
        Ok(leaves)
    }

    /// An address that may be written down several times: what has to be worked out is kept before.
    pub(super) fn lasting(&mut self, address: Expr, before: &mut Vec<Expr>) -> Expr {
        let mut address = address;
        while let Kind::Comma(first, rest) = address.kind {
            before.push(*first);
            address = *rest;
        }
        let is_short = |expr: &Expr| {
            matches!(
                expr.kind,
                Kind::Variable(_)
                    | Kind::Local(_)
                    | Kind::Shared(_)
                    | Kind::Global(_)
                    | Kind::Whole(_)
            )
        };
        let lasts = if let Kind::Offset(base, index) = &address.kind {
            is_short(base) && is_short(index)
        } else {
            is_short(&address)
        };
        if lasts {
            return address;
        }
        let (place, ty) = (address.place, address.ty);
        let to = ty.element().unwrap_or(Scalar::Int);
        let pointer = Type::pointer(to, access(ty));
        let kept = self.hidden("address", pointer, place);
        let value = Box::new(Expr { ty: pointer, ..address });
        let kind = Kind::Assign(Target::Variable(kept), value);
        before.push(Expr { place, ty: pointer, kind });
        Expr { place, ty, kind: Kind::Variable(kept) }
    }

    /// Copies a record; its value is the target.
    pub(super) fn copied(&mut self, target: Expr, value: Expr, place: Place) -> Checked<Expr> {
        let Some(record) = target.ty.record().filter(|own| value.ty.record() == Some(*own)) else {
            let message = format!("a {} is no {}", value.ty, target.ty);
            return self.refuse(place, message, "");
        };
        let leaves = self.leaves(record, place)?;
        self.copies += leaves.len();
        if self.copies > MOST_COPIES {
            let message =
                format!("records with more than {MOST_COPIES} numbers together are copied");
            return self.refuse(place, message, "copy in a helper or a loop");
        }
        let together = self.record(record, place)?.together;
        let mut before = Vec::new();
        let value = self.lasting(value, &mut before);
        let target = self.lasting(target, &mut before);
        for (number, (of, offset)) in leaves.into_iter().enumerate() {
            let ty = Type::Scalar(of);
            let moved = |address: &Expr| {
                let address = part(duplicate(address), of, offset, place);
                let Some(bytes) = together.filter(|bytes| *bytes > of.bytes()) else {
                    return address;
                };
                let part = if number == 0 { Part::First(bytes) } else { Part::Rest };
                Expr { place, ty: address.ty, kind: Kind::Together(part, Box::new(address)) }
            };
            let from = loaded(moved(&value));
            let kind = Kind::Assign(Target::Memory(Box::new(moved(&target))), Box::new(from));
            before.push(Expr { place, ty, kind });
        }
        Ok(sequence(before, target))
    }
}

pub(super) fn access(ty: Type) -> Access {
    match ty {
        Type::Pointer { access, .. } | Type::Array { access, .. } => access,
        Type::Void | Type::Scalar(_) => Access::Mutable,
    }
}

/// The address of a number of a record.
pub(super) fn part(record: Expr, of: Scalar, offset: u32, place: Place) -> Expr {
    let (unit, access) = (record.ty.element().unwrap_or(of), access(record.ty));
    let plain = Expr { ty: Type::pointer(unit, access), ..record };
    let ty = Type::pointer(of, access);
    let plain =
        if unit == of { plain } else { Expr { place, ty, kind: Kind::Convert(Box::new(plain)) } };
    if offset == 0 {
        return plain;
    }
    // The index so far and this one are one sum.
    let (base, index) = if let Kind::Offset(base, index) = plain.kind {
        (base, Some(*index))
    } else {
        (Box::new(plain), None)
    };
    let scalar = index.as_ref().and_then(|index| index.ty.scalar()).unwrap_or(Scalar::Int);
    let by = Expr { place, ty: Type::Scalar(scalar), kind: Kind::Whole(offset.into()) };
    let index = match index {
        Some(index) => arithmetic(Operation::Add, scalar, index, by, place),
        None => by,
    };
    Expr { place, ty, kind: Kind::Offset(base, Box::new(index)) }
}

/// A short address once more.
pub(super) fn duplicate(address: &Expr) -> Expr {
    let short = |kind: &Kind| {
        if let Kind::Variable(index) = kind {
            Kind::Variable(*index)
        } else if let Kind::Local(index) = kind {
            Kind::Local(*index)
        } else if let Kind::Shared(index) = kind {
            Kind::Shared(*index)
        } else if let Kind::Global(index) = kind {
            Kind::Global(*index)
        } else {
            Kind::Whole(if let Kind::Whole(value) = kind { *value } else { 0 })
        }
    };
    let kind = if let Kind::Offset(base, index) = &address.kind {
        Kind::Offset(Box::new(duplicate(base)), Box::new(duplicate(index)))
    } else {
        short(&address.kind)
    };
    Expr { place: address.place, ty: address.ty, kind }
}

/// What happens before, then a value.
pub(super) fn sequence(before: Vec<Expr>, value: Expr) -> Expr {
    before.into_iter().rev().fold(value, |value, first| Expr {
        place: value.place,
        ty: value.ty,
        kind: Kind::Comma(Box::new(first), Box::new(value)),
    })
}
