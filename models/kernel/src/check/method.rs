//! Functions of structures: `this`, its fields without it, constructors, and calls of a structure.

use crate::ast::{Base, Function};
use crate::check::overload::described;
use crate::check::{Checked, Checker, Meaning};
use crate::diagnostic::Place;
use crate::typed_ast::Expr;
use crate::types::{Record, Type};

impl Checker<'_> {
    /// The structure that a name stands for in the function at hand, if it stands for one.
    fn record_of(&self, name: &str) -> Option<Record> {
        match self.meaning(name)? {
            Meaning::Variable(index) => self.current.variables[index].ty.record(),
            Meaning::Reference(index) => match self.current.variables[index].ty {
                Type::Pointer { record, .. } => record,
                Type::Void | Type::Scalar(_) | Type::Array { .. } => None,
            },
            Meaning::Shared(index) => self.shared[index].ty.record(),
            Meaning::Global(_, ty) => ty.record(),
            Meaning::Constant(..) | Meaning::Rows(..) => None,
        }
    }

    /// Whether a name is a field of `this`, which no argument and no variable hides.
    pub(super) fn is_own_field(&self, name: &str) -> bool {
        let is_hidden = || self.scopes.iter().skip(1).any(|scope| scope.contains_key(name));
        let own = self.record_of("this").and_then(|record| record.number());
        let own = own.and_then(|number| self.records.get(number));
        own.is_some_and(|info| info.has_field(name)) && !is_hidden()
    }

    /// The function that a call without an object means, and the object.
    pub(super) fn method_of(
        &mut self,
        name: String,
        place: Place,
    ) -> Checked<(String, Option<Expr>)> {
        let call = "operator()";
        if self.record_of(&name).is_some() && !self.candidates(call).is_empty() {
            self.objects.insert(place);
            return Ok((call.to_owned(), Some(self.name(&name, place)?)));
        }
        let method = format!(".{name}");
        let Some(record) = self.record_of("this") else { return Ok((name, None)) };
        let is_own = |function: &Function| {
            let this = function.params.first();
            this.is_some_and(|this| this.ty.base == Base::Record(record))
        };
        if self.candidates(&method).iter().any(|source| is_own(&self.sources[*source])) {
            return Ok((method, Some(self.name("this", place)?)));
        }
        Ok((name, None))
    }

    /// The name of the constructors of a structure, if it has some.
    fn constructor(&self, record: Record) -> Option<String> {
        let name = self.records.get(record.number()?)?.name();
        let constructor = format!("{name}::{name}");
        (!self.candidates(&constructor).is_empty()).then_some(constructor)
    }

    /// Whether a variable of a structure begins with what a constructor without arguments gives.
    pub(super) fn begins_made(&self, record: Record) -> bool {
        let Some(name) = self.constructor(record) else { return false };
        let takes_none =
            |source: &usize| self.sources[*source].params.iter().all(|one| one.default.is_some());
        self.candidates(&name).iter().any(takes_none)
    }

    /// What a constructor makes of some values.
    ///
    /// # Errors
    /// It has none, and the values come back; or none takes them.
    pub(super) fn constructed_of(
        &mut self,
        record: Record,
        values: Vec<Expr>,
        place: Place,
    ) -> Checked<Result<Expr, Vec<Expr>>> {
        let is_copy = values.len() == 1 && values[0].ty.record() == Some(record);
        let Some(name) = self.constructor(record).filter(|_| !is_copy) else {
            return Ok(Err(values));
        };
        let candidates = self.candidates(&name);
        match self.chosen(&candidates, &[], &values, place)? {
            Some(choice) => {
                let index = self.instance(choice.source, choice.bound, place)?;
                self.helper(index, values, place).map(Ok)
            }
            None if candidates.len() == 1 => Err(crate::check::Reported),
            None => {
                let message = format!("no constructor takes {}", described(&name, &values));
                self.refuse(place, message, "write the types that one of them takes")
            }
        }
    }
}
