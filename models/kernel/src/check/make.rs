//! New records: from values, from other records, and the variables that begin with them.

use crate::ast;
use crate::ast::{Declarator, ExprKind, Initial};
use crate::check::record::{part, sequence};
use crate::check::{Checked, Checker, Reported};
use crate::diagnostic::Place;
use crate::typed_ast::{Expr, Index, Kind, Stmt, StmtKind, Target};
use crate::types::{Access, Extents, Record, Scalar, Type};

impl Checker<'_> {
    /// A new record of some values: `make_float4(a, b, c, d)`.
    pub(super) fn made(
        &mut self,
        record: Record,
        values: Vec<Expr>,
        place: Place,
    ) -> Checked<Expr> {
        let info = self.record(record, place)?;
        let extents = Extents::new(&[]).of_records(record, info.numbers);
        let ty = Type::Array { of: info.unit, extents, access: Access::Mutable };
        let kept = self.hidden("value", ty, place);
        let fills = self.filled(kept, record, values, place)?;
        Ok(sequence(fills, Expr { place, ty, kind: Kind::Local(kept) }))
    }

    /// The same, or a value that is one already.
    pub(super) fn made_of(
        &mut self,
        record: Record,
        values: Vec<Expr>,
        place: Place,
    ) -> Checked<Expr> {
        let mut values = match self.constructed_of(record, values, place)? {
            Ok(made) => return Ok(made),
            Err(values) => values,
        };
        match values.pop_if(|value| value.ty.record() == Some(record)) {
            Some(value) if values.is_empty() => Ok(value),
            Some(value) => self.refuse(value.place, "too many values", ""),
            None => self.made(record, values, place),
        }
    }

    /// A value where a record may be wanted, of which a list in braces gives the numbers.
    pub(super) fn wanted(&mut self, value: &ast::Expr, record: Option<Record>) -> Checked<Expr> {
        let ExprKind::List(list) = &value.kind else { return self.value(value) };
        let values: Vec<_> = list.iter().map(|value| self.value(value)).collect();
        let values = values.into_iter().collect::<Checked<Vec<Expr>>>()?;
        match record {
            Some(record) => self.made_of(record, values, value.place),
            None => self.refuse(
                value.place,
                "nothing here says which type a list in braces has",
                "write the type before it: V{a, b}",
            ),
        }
    }

    /// `float(x)` and `float()`: a number of one value, or 0.
    pub(super) fn constructed(
        &mut self,
        ty: Type,
        mut values: Vec<Expr>,
        place: Place,
    ) -> Checked<Expr> {
        let zero = Expr { place, ty: Type::Scalar(Scalar::Int), kind: Kind::Whole(0) };
        let value = values.pop().unwrap_or(zero);
        if !values.is_empty() {
            return self.refuse(place, format!("a {ty} has one value"), "");
        }
        self.cast(value, ty)
    }

    /// Assignments of values to the numbers of a record, in order; one value goes everywhere, and what is left is 0.
    fn filled(
        &mut self,
        index: Index,
        record: Record,
        values: Vec<Expr>,
        place: Place,
    ) -> Checked<Vec<Expr>> {
        let leaves = self.leaves(record, place)?;
        if values.len() > leaves.len() {
            let message = format!("{} values do not fit into {}", values.len(), leaves.len());
            return self.refuse(place, message, "");
        }
        self.copies += leaves.len();
        let ty = self.current.variables[index].ty;
        let is_dim = record.to_string() == "dim3";
        let mut values = values.into_iter();
        let mut fills = Vec::new();
        for (of, offset) in leaves {
            let rest =
                Expr { place, ty: Type::Scalar(Scalar::Int), kind: Kind::Whole(i64::from(is_dim)) };
            let value = values.next().unwrap_or(rest);
            let value = self.convert(value, Type::Scalar(of))?;
            let address = part(Expr { place, ty, kind: Kind::Local(index) }, of, offset, place);
            let kind = Kind::Assign(Target::Memory(Box::new(address)), Box::new(value));
            fills.push(Expr { place, ty: Type::Scalar(of), kind });
        }
        Ok(fills)
    }

    /// `float4 v = value;` and `P p = {1, 2};`
    pub(super) fn declared_record(
        &mut self,
        name: &Declarator,
        ty: Type,
        initial: &Initial,
        out: &mut Vec<Stmt>,
    ) -> Checked<StmtKind> {
        let place = name.place;
        let list = initial.values();
        let mut values = Vec::new();
        for value in list {
            values.push(self.value(value)?);
        }
        let index = self.local(name, ty)?;
        // A record of the same type, or its numbers.
        if let Some(value) =
            values.pop_if(|value| list.len() == 1 && value.ty.record() == ty.record())
        {
            out.push(Stmt { place, kind: StmtKind::Declare(index, None) });
            return self.kept_in(index, value, place);
        }
        let Some(record) = ty.record() else { return Err(Reported) };
        match self.constructed_of(record, values, place)? {
            Ok(made) => {
                out.push(Stmt { place, kind: StmtKind::Declare(index, None) });
                self.kept_in(index, made, place)
            }
            Err(values) => self.declared_list(index, ty, values, place, out),
        }
    }

    fn declared_list(
        &mut self,
        index: Index,
        ty: Type,
        values: Vec<Expr>,
        place: Place,
        out: &mut Vec<Stmt>,
    ) -> Checked<StmtKind> {
        let Some(record) = ty.record() else { return Err(Reported) };
        out.push(Stmt { place, kind: StmtKind::Declare(index, None) });
        let fills = self.filled(index, record, values, place)?;
        Ok(StmtKind::Expr(sequence(fills, Expr { place, ty, kind: Kind::Local(index) })))
    }

    /// The statement that puts a record into a new variable.
    pub(super) fn kept(&mut self, index: Index, value: Expr, place: Place) -> Checked<StmtKind> {
        self.current.hidden.push(index);
        self.kept_in(index, value, place)
    }

    pub(super) fn kept_in(&mut self, index: Index, value: Expr, place: Place) -> Checked<StmtKind> {
        self.current.variables[index].has_value = true;
        let target = Expr { place, ty: self.current.variables[index].ty, kind: Kind::Local(index) };
        Ok(StmtKind::Expr(self.copied(target, value, place)?))
    }
}
