//! Variables, arrays and constants.

use crate::ast::{Base, Declaration, Declarator, Initial, Passing, Storage};
use crate::check::{Checked, Checker, MOST_LOCAL, MOST_STATIC_SHARED, Meaning, Number, Reported};
use crate::diagnostic::Place;
use crate::typed_ast::{Expr, Global, Index, Kind, Param, Shared, Stmt, StmtKind, Variable};
use crate::types::{Access, Extents, Scalar, Type};

/// Elements that a variable outside of functions may have.
const MOST_GLOBAL: u64 = 1 << 20;

/// Bytes that a variable may be aligned to.
const MOST_ALIGNMENT: u32 = 1024;

impl Checker<'_> {
    pub(super) fn variable(&mut self, name: &str, place: Place, ty: Type) -> Index {
        self.current.variables.push(Variable {
            name: name.to_owned(),
            place,
            ty,
            alignment: self.alignment(ty),
            in_memory: matches!(ty, Type::Array { .. }),
            has_value: false,
            is_changed: false,
        });
        self.current.variables.len() - 1
    }

    pub(super) fn declaration(&mut self, declaration: &Declaration, out: &mut Vec<Stmt>) {
        for name in &declaration.names {
            // The complaint is kept; the name stands all the same, so that its uses are no mistakes of their own.
            match self.declarator(declaration.storage, name, out) {
                Ok(Some(kind)) => out.push(Stmt { place: name.place, kind }),
                Ok(None) => {}
                Err(Reported) => {
                    if self.scopes.last().is_some_and(|scope| !scope.contains_key(&name.name)) {
                        let scalar = match name.ty.base {
                            Base::Scalar(scalar) => scalar,
                            Base::Void
                            | Base::Auto
                            | Base::Record(_)
                            | Base::Param(_)
                            | Base::Function => Scalar::Int,
                        };
                        let ty = if name.extents.is_empty() && name.ty.pointer.is_none() {
                            Type::Scalar(scalar)
                        } else {
                            Type::pointer(scalar, Access::Mutable)
                        };
                        let index = self.variable(&name.name, name.place, ty);
                        self.declare(&name.name, name.place, Meaning::Variable(index));
                    }
                }
            }
        }
    }

    fn declarator(
        &mut self,
        storage: Storage,
        name: &Declarator,
        out: &mut Vec<Stmt>,
    ) -> Checked<Option<StmtKind>> {
        let place = name.place;
        if name.ty.passing == Passing::Reference {
            return self.reference(name).map(Some);
        }
        if name.ty.base == Base::Auto {
            return self.deduced(storage, name).map(Some);
        }
        let base = self.type_of(name.ty, place, "a variable")?;
        let Some(scalar) = base.element() else {
            let message = format!("'{}' has no type", name.name);
            return self.refuse(place, message, "void is no variable's type");
        };
        let extents =
            if storage == Storage::Dynamic { self.dynamic(name)? } else { self.extents(name)? };
        let ty = match (extents, name.ty.pointer) {
            (None, _) => base,
            (Some(extents), None) => {
                let extents = match base.record() {
                    Some(record) => extents.of_records(record, self.numbers(base)),
                    None => extents,
                };
                Type::Array { of: scalar, extents, access: name.ty.access }
            }
            // Addresses are not kept in memory: what the launch gives is converted to another type.
            (Some(extents), Some(_)) if storage == Storage::Dynamic => {
                Type::Array { of: Scalar::UnsignedLong, extents, access: Access::Mutable }
            }
            (Some(_), Some(_)) => {
                let message = "arrays of pointers are not part of this";
                return self.refuse(place, message, "keep all in one array and compute the index");
            }
        };
        if storage != Storage::Local {
            let element = ty.element().unwrap_or(scalar);
            return self.shared(storage, name, ty, u64::from(element.bytes())).map(|()| None);
        }
        if let (Some(_), Some(initial)) = (ty.record(), &name.initial) {
            return self.declared_record(name, ty, initial, out).map(Some);
        }
        if let (Some(record), None) = (ty.record(), &name.initial)
            && self.begins_made(record)
            && name.name != "this"
        {
            return self.declared_record(name, ty, &Initial::Construct(Vec::new()), out).map(Some);
        }
        let constant = name.ty.access == Access::Constant && name.ty.pointer.is_none();
        match &name.initial {
            None if constant => self.refuse(
                place,
                format!("'{}' is const and has no value", name.name),
                "write = value",
            ),
            None => {
                let index = self.local(name, ty)?;
                Ok(Some(StmtKind::Declare(index, None)))
            }
            Some(Initial::Value(_) | Initial::Construct(_)) if matches!(ty, Type::Array { .. }) => {
                let message = "an array's values stand in braces";
                self.refuse(place, message, "write = {0} for zeros")
            }
            Some(initial @ (Initial::Value(_) | Initial::Construct(_))) => {
                let values: Vec<_> = initial.values().iter().map(|one| self.value(one)).collect();
                let values = values.into_iter().collect::<Checked<Vec<Expr>>>()?;
                let value = match <[Expr; 1]>::try_from(values) {
                    Ok([value]) => self.convert(value, base)?,
                    Err(values) => self.constructed(base, values, place)?,
                };
                if let (true, Type::Scalar(scalar), Some(number)) =
                    (constant, base, number(&value.kind))
                {
                    self.declare(&name.name, place, Meaning::Constant(scalar, number));
                    return Ok(None);
                }
                let index = self.local(name, ty)?;
                self.current.variables[index].has_value = true;
                Ok(Some(StmtKind::Declare(index, Some(value))))
            }
            Some(Initial::List(values)) => {
                let Type::Array { extents, .. } = ty else {
                    let message = format!("'{}' is no array", name.name);
                    return self.refuse(place, message, "write = value");
                };
                if values.len() as u64 > extents.elements() {
                    let message = format!("{} values do not fit into {ty}", values.len());
                    return self.refuse(place, message, "");
                }
                let mut list = Vec::new();
                for value in values {
                    let value = self.value(value)?;
                    list.push(self.convert(value, Type::Scalar(scalar))?);
                }
                let index = self.local(name, ty)?;
                self.current.variables[index].has_value = true;
                Ok(Some(StmtKind::Fill(index, list)))
            }
        }
    }

    /// `auto x = value;`
    fn deduced(&mut self, storage: Storage, name: &Declarator) -> Checked<StmtKind> {
        let values = name.initial.as_ref().map_or(&[][..], Initial::values);
        let (Storage::Local, [], [value]) = (storage, name.extents.as_slice(), values) else {
            let message = format!("the type of '{}' is not known", name.name);
            return self.refuse(
                name.place,
                message,
                "auto takes it from a first value: auto x = 1;",
            );
        };
        let value = self.value(value)?;
        if value.ty.record().is_some() {
            let index = self.local(name, value.ty)?;
            return self.kept(index, value, name.place);
        }
        if name.ty.pointer.is_some() && !matches!(value.ty, Type::Pointer { .. }) {
            let message = format!("a {} is no pointer", value.ty);
            return self.refuse(value.place, message, "write auto without the star");
        }
        let index = self.local(name, value.ty)?;
        self.current.variables[index].has_value = true;
        Ok(StmtKind::Declare(index, Some(value)))
    }

    pub(super) fn local(&mut self, name: &Declarator, ty: Type) -> Checked<Index> {
        let index = self.variable(&name.name, name.place, ty);
        self.declare(&name.name, name.place, Meaning::Variable(index));
        let least = self.current.variables[index].alignment;
        self.current.variables[index].alignment =
            self.aligned(name.alignment.as_deref(), least, MOST_ALIGNMENT)?;
        if let Type::Array { of, extents, .. } = ty {
            let bytes = extents.elements().saturating_mul(of.bytes().into());
            let bytes = bytes.saturating_add(self.current.local_bytes.into());
            self.current.local_bytes = bytes.min(u64::from(u32::MAX)) as u32;
            if self.current.local_bytes > MOST_LOCAL {
                return self.refuse(
                    name.place,
                    format!(
                        "the arrays of one thread take {bytes} bytes, and there are {MOST_LOCAL}"
                    ),
                    "make them smaller, or use __shared__",
                );
            }
        }
        Ok(index)
    }

    fn shared(
        &mut self,
        storage: Storage,
        name: &Declarator,
        ty: Type,
        element: u64,
    ) -> Checked<()> {
        if name.initial.is_some() {
            let message = "shared memory has no first value";
            let help = "let the threads write it, then __syncthreads()";
            return self.refuse(name.place, message, help);
        }
        if let Type::Pointer { .. } = ty {
            let message = "pointers in shared memory are not part of this";
            return self.refuse(name.place, message, "keep an index there");
        }
        let bytes = match (storage, ty) {
            (Storage::Dynamic, _) => 0,
            (_, Type::Array { extents, .. }) => extents.elements().saturating_mul(element),
            (_, Type::Void | Type::Scalar(_) | Type::Pointer { .. }) => element,
        };
        let offset = self.static_bytes.next_multiple_of(16);
        let end = bytes.saturating_add(offset.into());
        if end > u64::from(MOST_STATIC_SHARED) {
            return self.refuse(
                name.place,
                format!("the __shared__ arrays take {end} bytes, and a kernel may declare {MOST_STATIC_SHARED}"),
                "make the tile smaller, or ask for it at launch: extern __shared__ float tile[]; and dynamic_shared_bytes",
            );
        }
        if bytes > 0 {
            self.static_bytes = end as u32;
        }
        self.shared.push(Shared { name: name.name.clone(), ty, offset, bytes: bytes as u32 });
        self.declare(&name.name, name.place, Meaning::Shared(self.shared.len() - 1));
        Ok(())
    }

    pub(super) fn constants<'d>(&mut self, declarations: impl Iterator<Item = &'d Declaration>) {
        for declaration in declarations {
            for name in &declaration.names {
                // The complaint is kept; the next name is looked at all the same.
                let _ = self.global(declaration.storage, name);
            }
        }
    }

    /// What is declared outside of functions: constants, and dynamic shared memory.
    pub(super) fn global(&mut self, storage: Storage, name: &Declarator) -> Checked<()> {
        if storage == Storage::Local {
            return self.global_constant(name);
        }
        if let Storage::Global(access) = storage {
            return self.global_variable(name, access);
        }
        self.declarator(storage, name, &mut Vec::new()).map(|_| ())
    }

    /// `__constant__ float w[9];` and `__device__ int n;`
    fn global_variable(&mut self, name: &Declarator, access: Access) -> Checked<()> {
        let place = name.place;
        let ty = self.type_of(name.ty, place, "a variable")?;
        let list = name.initial.as_ref().map_or(&[][..], Initial::values);
        let (of, extents) = match (ty, self.extents(name)?, ty.record()) {
            (Type::Scalar(of), extents, _) => (of, extents),
            (Type::Array { of, .. }, extents, Some(record))
                if list.is_empty() || record.elements().is_some() =>
            {
                let extents = extents.unwrap_or(Extents::new(&[]));
                (of, Some(extents.of_records(record, self.numbers(ty))))
            }
            _ => {
                let message = format!("'{}' holds no numbers", name.name);
                let help = "a variable outside of functions is a number, an array of them, a vector, or a structure without first values";
                return self.refuse(place, message, help);
            }
        };
        let mut initial = Vec::new();
        for value in list {
            let value = self.value(value)?;
            let place = value.place;
            let value = self.convert(value, Type::Scalar(of))?;
            match number(&value.kind) {
                Some(Number::Whole(value)) => initial.push(value as f64),
                Some(Number::Real(value)) => initial.push(value),
                None => {
                    return self.refuse(place, "a first value is a number that is known here", "");
                }
            }
        }
        let elements = extents.map_or(1, |extents| extents.elements());
        if elements > MOST_GLOBAL || initial.len() as u64 > elements {
            let message = format!("'{}' has {elements} elements", name.name);
            let help = format!("at most {MOST_GLOBAL}, and not fewer than it has values");
            return self.refuse(place, message, help);
        }
        let param = Param { name: name.name.clone(), ty: Type::pointer(of, access) };
        self.globals.push(Global { param, elements, initial });
        let ty = extents.map_or(Type::Scalar(of), |extents| Type::Array { of, extents, access });
        let meaning = Meaning::Global(self.globals.len() - 1, ty);
        self.declare(&name.name, place, meaning);
        Ok(())
    }

    /// `const int N = 4;` outside of functions.
    fn global_constant(&mut self, name: &Declarator) -> Checked<()> {
        let values = name.initial.as_ref().map_or(&[][..], Initial::values);
        let [value] = values else { return Err(Reported) };
        let ty = self.type_of(name.ty, name.place, "a constant")?;
        let value = self.value(value)?;
        let place = value.place;
        let value = self.convert(value, ty)?;
        match (ty, number(&value.kind)) {
            (Type::Scalar(scalar), Some(number)) if name.extents.is_empty() => {
                self.declare(&name.name, name.place, Meaning::Constant(scalar, number));
                Ok(())
            }
            _ => self.refuse(
                place,
                format!("'{}' must be a number", name.name),
                "global variables are not part of this: pass a buffer",
            ),
        }
    }
}

pub(super) fn number(kind: &Kind) -> Option<Number> {
    if let Kind::Whole(value) = kind {
        Some(Number::Whole(*value))
    } else if let Kind::Real(value) = kind {
        Some(Number::Real(*value))
    } else {
        None
    }
}
