//! How arguments are passed: values, references, and records, which a function copies or gives back by their address.

use crate::ast;
use crate::ast::{Declarator, Initial, Passing, Role};
use crate::check::record::{access, duplicate, sequence};
use crate::check::{Checked, Checker, Meaning, Reported};
use crate::diagnostic::Place;
use crate::typed_ast::{Expr, Index, Kind, Stmt, StmtKind, Target};
use crate::types::{Access, Extents, Record, Scalar, Type};

/// How a function takes its arguments, and the record that it gives.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) passing: Vec<Passed>,
    pub(super) gives: Option<Record>,
    /// Whether its value is an address that stands for what lies there.
    pub(super) refers: bool,
}

/// An argument: its variable, and what a call hands over.
#[derive(Clone, Copy, Debug)]
pub(super) enum Passed {
    Value,
    /// The address of a record that the function copies.
    Record {
        of: Index,
    },
    /// The address of rows; the number of them means nothing.
    Rows(Extents),
    /// An address; of a constant reference that of a copy, if need be.
    Reference(Access),
}

impl Checker<'_> {
    /// `float &x = a[i];`
    pub(super) fn reference(&mut self, name: &Declarator) -> Checked<StmtKind> {
        let place = name.place;
        let Some(Initial::Value(value)) = &name.initial else {
            let message = format!("the reference '{}' stands for nothing", name.name);
            return self.refuse(place, message, "write = and what it stands for");
        };
        let address = self.address(value, place)?;
        let ty = if name.ty.base == ast::Base::Auto {
            address.ty
        } else {
            self.referred(name.ty, place)?
        };
        let address = self.convert(address, ty)?;
        let index = self.variable(&name.name, place, ty);
        self.current.variables[index].has_value = true;
        self.declare(&name.name, place, Meaning::Reference(index));
        Ok(StmtKind::Declare(index, Some(address)))
    }

    /// The address that a reference is.
    pub(super) fn referred(&mut self, ty: ast::TypeName, place: Place) -> Checked<Type> {
        if ty.pointer.is_some() {
            let message = "references to pointers are not part of this";
            return self.refuse(place, message, "return the pointer, or pass an index");
        }
        let pointer = Some(Access::Mutable);
        self.type_of(ast::TypeName { passing: Passing::Value, pointer, ..ty }, place, "a reference")
    }

    /// Declares an argument.
    pub(super) fn param(&mut self, param: &ast::Param, role: Role) -> Checked<Passed> {
        let place = param.place;
        if param.ty.passing == Passing::Reference {
            let ty = self.referred(param.ty, place)?;
            if role == Role::Kernel {
                return self.refuse(place, "a kernel takes no references", "pass a pointer");
            }
            let index = self.variable(&param.name, place, ty);
            self.declare(&param.name, place, Meaning::Reference(index));
            return Ok(Passed::Reference(access(ty)));
        }
        let ty = self.type_of(param.ty, place, "an argument")?;
        if ty == Type::Void {
            let message = format!("'{}' has no type", param.name);
            return self.refuse(place, message, "void is no argument's type");
        }
        let Some(record) = ty.record() else {
            let index = self.variable(&param.name, place, ty);
            if param.row.is_empty() {
                self.declare(&param.name, place, Meaning::Variable(index));
                return Ok(Passed::Value);
            }
            let mut extents = self.open(param.row.iter(), place)?;
            if let Type::Pointer { record: Some(record), .. } = ty {
                extents = extents.of_records(record, self.numbers(ty));
            }
            self.declare(&param.name, place, Meaning::Rows(index, extents));
            return Ok(Passed::Rows(extents));
        };
        if role == Role::Kernel {
            let message = format!("a kernel takes no {ty} by value here");
            return self.refuse(place, message, "pass its numbers one by one, or a pointer to it");
        }
        let to = ty.element().unwrap_or(Scalar::Int);
        let pointer = Type::Pointer { to, access: Access::Constant, record: Some(record) };
        let of = self.variable(&param.name, place, pointer);
        self.declare(&param.name, place, Meaning::Variable(of));
        Ok(Passed::Record { of })
    }

    /// Copies records that were passed, so that a function changes its own.
    pub(super) fn copied_params(&mut self, passing: &[Passed]) -> Vec<Stmt> {
        if let (Some(record), Some(to)) =
            (self.current.result.record(), self.current.result.element())
        {
            let ty = Type::Pointer { to, access: Access::Mutable, record: Some(record) };
            self.current.gives = Some(self.variable("result", Place::default(), ty));
        }
        let mut body = Vec::new();
        for passed in passing {
            let Passed::Record { of } = *passed else { continue };
            let (name, place) =
                (self.current.variables[of].name.clone(), self.current.variables[of].place);
            let ty = self.current.variables[of].ty;
            let value = self.at(Expr { place, ty, kind: Kind::Variable(of) });
            let Type::Array { of: unit, extents, .. } = value.ty else { continue };
            let ty = Type::Array { of: unit, extents, access: Access::Mutable };
            let own = self.variable(&name, place, ty);
            body.push(Stmt { place, kind: StmtKind::Declare(own, None) });
            if let Ok(kind) = self.kept_in(own, value, place) {
                body.push(Stmt { place, kind });
            }
            if let Some(scope) = self.scopes.last_mut() {
                scope.insert(name, Meaning::Variable(own));
            }
        }
        body
    }

    /// `return a[i];` in a function that returns a reference.
    pub(super) fn given_reference(&mut self, value: &ast::Expr, place: Place) -> Checked<Expr> {
        let address = self.address(value, place)?;
        let mut root = &address;
        while let Kind::Offset(base, _) | Kind::Convert(base) = &root.kind {
            root = base;
        }
        if let Kind::Local(_) = root.kind {
            let message = "this variable ends with the function";
            return self.refuse(place, message, "return its value, or take it as an argument");
        }
        self.convert(address, self.current.result)
    }

    /// `return v;` in a function that gives a record.
    pub(super) fn given_record(&mut self, value: &ast::Expr, place: Place) -> Checked<Expr> {
        let value = self.wanted(value, self.current.result.record())?;
        let Some(index) = self.current.gives else { return Err(Reported) };
        let ty = self.current.variables[index].ty;
        let target = self.at(Expr { place, ty, kind: Kind::Variable(index) });
        self.copied(target, value, place)
    }

    /// A call of a function that gives a record, which then lies in a variable here.
    pub(super) fn called_into(
        &mut self,
        function: Index,
        mut values: Vec<Expr>,
        record: Record,
        place: Place,
    ) -> Checked<Expr> {
        let info = self.record(record, place)?;
        let extents = Extents::new(&[]).of_records(record, info.numbers);
        let (of, access) = (info.unit, Access::Mutable);
        let ty = Type::Array { of, extents, access };
        let kept = self.hidden("result", ty, place);
        let pointer = Type::Pointer { to: of, access, record: Some(record) };
        values.push(Expr { place, ty: pointer, kind: Kind::Local(kept) });
        let call = Expr { place, ty: Type::Void, kind: Kind::Call(function, values) };
        Ok(sequence(vec![call], Expr { place, ty, kind: Kind::Local(kept) }))
    }

    /// What a call hands over for an argument that is no plain value.
    pub(super) fn passed(&mut self, argument: Expr, passed: Passed, ty: Type) -> Checked<Expr> {
        let place = argument.place;
        let address = match passed {
            Passed::Value => {
                let value = self.decayed(argument)?;
                return self.convert(value, ty);
            }
            Passed::Rows(rows) => {
                let Some(given) = argument.ty.extents().filter(|given| {
                    given.dimensions() == rows.dimensions() && given.inner() == rows.inner()
                }) else {
                    let shown = rows.list()[1..rows.dimensions()].iter();
                    let shown: String = shown.map(|extent| format!("[{extent}]")).collect();
                    let message = format!("a {} is no array of rows []{shown}", argument.ty);
                    return self.refuse(place, message, "pass an array with the same rows");
                };
                let (of, access) =
                    (argument.ty.element().unwrap_or(Scalar::Int), access(argument.ty));
                let pointer = Type::Pointer { to: of, access, record: given.record() };
                Expr { ty: pointer, ..argument }
            }
            Passed::Record { .. } => {
                let value = self.decayed(argument)?;
                if value.ty.record().is_none() {
                    let message = format!("a {} is no {ty} without its star", value.ty);
                    return self.refuse(place, message, "");
                }
                Expr {
                    ty: Type::Pointer {
                        to: value.ty.element().unwrap_or(Scalar::Int),
                        access: Access::Constant,
                        record: value.ty.record(),
                    },
                    ..value
                }
            }
            Passed::Reference(Access::Constant) if !is_place(&argument, ty) => {
                let value = self.decayed(argument)?;
                let Type::Pointer { to, record, .. } = ty else { return Err(Reported) };
                if record.is_some() {
                    let ty =
                        Type::Pointer { to, access: Access::Constant, record: value.ty.record() };
                    Expr { ty, ..value }
                } else {
                    let value = self.convert(value, Type::Scalar(to))?;
                    let kept = self.hidden("value", Type::Scalar(to), place);
                    self.current.variables[kept].in_memory = true;
                    let local = Expr {
                        place,
                        ty: Type::pointer(to, Access::Mutable),
                        kind: Kind::Local(kept),
                    };
                    let target = Target::Memory(Box::new(duplicate(&local)));
                    let kind = Kind::Assign(target, Box::new(value));
                    let assign = Expr { place, ty: Type::Scalar(to), kind };
                    sequence(vec![assign], local)
                }
            }
            Passed::Reference(_) => self.addressed(argument, place)?,
        };
        self.convert(address, ty)
    }
}

/// Whether something has an address that a reference of a type may be.
fn is_place(expr: &Expr, ty: Type) -> bool {
    let element = address_of(expr).and_then(Type::element);
    element.is_some() && element == ty.element()
}

/// The type of the address of what was checked, if it has one.
pub(super) fn address_of(expr: &Expr) -> Option<Type> {
    if let Kind::Load(address) = &expr.kind {
        return Some(address.ty);
    }
    match (&expr.kind, expr.ty) {
        (Kind::Variable(_), Type::Scalar(to)) => Some(Type::pointer(to, Access::Mutable)),
        (_, Type::Array { of, extents, access }) => {
            let record = extents.single();
            record.map(|_| Type::Pointer { to: of, access, record })
        }
        _ => None,
    }
}
