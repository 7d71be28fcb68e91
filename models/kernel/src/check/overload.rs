//! Which function a call means: by the types of its arguments, from which those of a template are deduced.

use crate::ast;
use crate::ast::{Base, ExprKind, Function, Param, Passing, TemplateArgument, TypeName};
use crate::check::instance::Bound;
use crate::check::passing::address_of;
use crate::check::record::access;
use crate::check::{Checked, Checker, Reported};
use crate::diagnostic::Place;
use crate::typed_ast::Expr;
use crate::types::{Access, Extents, Record, Scalar, Type};

/// A function, what its template is given, and how far the arguments are from what it takes.
pub(super) struct Choice {
    pub(super) source: usize,
    pub(super) bound: Vec<Bound>,
    cost: u32,
}

impl Checker<'_> {
    /// Functions of a name that stand before the one that is walked through; one that a template was given stands before
    /// its caller.
    pub(super) fn candidates(&self, name: &str) -> Vec<usize> {
        let given = |bound: &Bound| matches!(bound, Bound::Function(function) if function == name);
        let is_given = self.current.bindings.iter().any(given);
        let is_known = |(source, function): &(usize, &Function)| {
            let is_ahead = function.declared <= self.current.source;
            function.name == name
                && function.special.is_none()
                && (is_ahead || is_given || *source == self.current.source)
                && !(function.is_missing() && self.is_written_elsewhere(*source))
        };
        self.sources.iter().enumerate().filter(is_known).map(|(source, _)| source).collect()
    }

    /// Whether another function has the body of one that is declared, or declares it before.
    fn is_written_elsewhere(&self, source: usize) -> bool {
        self.sources.iter().enumerate().any(|(at, other)| {
            other.is_same_as(&self.sources[source]) && (!other.is_missing() || at < source)
        })
    }

    /// The one of some functions that takes the values best; none if none does.
    pub(super) fn chosen(
        &mut self,
        candidates: &[usize],
        given: &[TemplateArgument],
        values: &[Expr],
        place: Place,
    ) -> Checked<Option<Choice>> {
        let mut best: Option<Choice> = None;
        let mut is_tie = false;
        for source in candidates {
            let before = self.diagnostics.len();
            let found = self.fitting(*source, given, values, place);
            // What does not fit is no mistake as long as another one does.
            if candidates.len() > 1 || self.is_builtin(&self.sources[*source].name) {
                self.diagnostics.truncate(before);
            }
            let Ok(found) = found else { continue };
            match best.as_ref().map(|best| found.cost.cmp(&best.cost)) {
                None | Some(std::cmp::Ordering::Less) => {
                    best = Some(found);
                    is_tie = false;
                }
                Some(std::cmp::Ordering::Equal) => is_tie = true,
                Some(std::cmp::Ordering::Greater) => {}
            }
        }
        if is_tie {
            let name = &self.sources[candidates[0]].name;
            let message = format!("several functions '{name}' take these arguments equally well");
            return self.refuse(place, message, "cast them to the types of the one that is meant");
        }
        Ok(best)
    }

    /// # Errors
    /// It does not take the values; why is told.
    fn fitting(
        &mut self,
        source: usize,
        given: &[TemplateArgument],
        values: &[Expr],
        place: Place,
    ) -> Checked<Choice> {
        let function = &self.sources[source];
        let (params, name) = (&function.params, &function.name);
        let is_complete = values.len() <= params.len()
            && params[values.len()..].iter().all(|param| param.default.is_some());
        if !is_complete || given.len() > function.template.len() {
            let message =
                format!("{name} takes {} arguments, here are {}", params.len(), values.len());
            return self.refuse(place, message, "");
        }
        let bound = self.deduced_bound(function, given, values, place)?;
        // A function that is no template is preferred.
        let mut cost = u32::from(!function.template.is_empty());
        // What may be changed goes rather to a function that may change it.
        for (value, param) in values.iter().zip(params) {
            let is_constant = param.ty.passing == Passing::Reference
                && param.ty.access == Access::Constant
                && param.ty.pointer.is_none();
            let may_change = |address: Type| access(address) == Access::Mutable;
            cost += 2 * u32::from(is_constant && address_of(value).is_some_and(may_change));
        }
        let outer = std::mem::replace(&mut self.current.bindings, bound.clone());
        let types: Vec<_> =
            params.iter().map(|param| self.param_type(param.ty, param.place)).collect();
        self.current.bindings = outer;
        for ((value, param), ty) in values.iter().zip(params).zip(types) {
            let is_changed = param.ty.passing == Passing::Reference
                && param.ty.access == Access::Mutable
                && param.ty.pointer.is_none();
            let from = taken_as(value.ty, param);
            cost += match distance(value, from, ty?, is_changed) {
                Some(distance) => 4 * distance,
                None => {
                    let message = format!("'{}' of {name} takes no {}", param.name, value.ty);
                    return self.refuse(value.place, message, "");
                }
            };
        }
        Ok(Choice { source, bound, cost })
    }

    /// The type of an argument, without its reference.
    fn param_type(&mut self, ty: TypeName, place: Place) -> Checked<Type> {
        self.type_of(TypeName { passing: Passing::Value, ..ty }, place, "an argument")
    }

    /// What the template of a function stands for in a call.
    fn deduced_bound(
        &mut self,
        function: &Function,
        given: &[TemplateArgument],
        values: &[Expr],
        place: Place,
    ) -> Checked<Vec<Bound>> {
        let mut deduced: Vec<Option<Bound>> = vec![None; function.template.len()];
        for (param, value) in function.params.iter().zip(values) {
            unify(param.ty, taken_as(value.ty, param), &mut deduced);
        }
        let mut bound = Vec::new();
        for (at, param) in function.template.iter().enumerate() {
            let next = match (given.get(at), deduced[at].take(), &param.default) {
                (Some(argument), ..) => self.bound(param, argument, place)?,
                (None, Some(deduced), _) => deduced,
                (None, None, Some(default)) => {
                    // A default knows the arguments before it, and no names of the caller.
                    let outer = std::mem::replace(&mut self.current.bindings, bound.clone());
                    let next = self.bound(param, default, place);
                    self.current.bindings = outer;
                    next?
                }
                (None, None, None) => {
                    let message = format!("nothing says what '{}' is", param.name);
                    let help = format!("write {}<..>(..) with its arguments", function.name);
                    return self.refuse(place, message, help);
                }
            };
            bound.push(next);
        }
        Ok(bound)
    }
}

/// What an argument of a type says of the template's.
fn unify(param: TypeName, ty: Type, deduced: &mut [Option<Bound>]) {
    let Base::Param(number) = param.base else { return };
    let Some(slot) = deduced.get_mut(number).filter(|slot| slot.is_none()) else { return };
    *slot = match (param.pointer, ty) {
        (None, Type::Void) => None,
        (None, Type::Array { of, extents, access }) => {
            // A copy of a constant is none.
            let access = if param.passing == Passing::Reference { access } else { Access::Mutable };
            Some(Bound::Type(Type::Array { of, extents, access: Access::Mutable }, access))
        }
        (None, ty) => Some(Bound::Type(ty, Access::Mutable)),
        (Some(_), Type::Pointer { to, access, record }) => {
            let access = if param.access == Access::Constant { Access::Mutable } else { access };
            let ty = match record {
                // The number of its numbers is looked up where the type is used.
                Some(record) => {
                    let extents = Extents::new(&[]).of_records(record, 0);
                    Type::Array { of: to, extents, access: Access::Mutable }
                }
                None => Type::Scalar(to),
            };
            Some(Bound::Type(ty, access))
        }
        (Some(_), Type::Void | Type::Scalar(_) | Type::Array { .. }) => None,
    };
}

/// The type of an array's value: the address of its first element.
fn decayed(ty: Type) -> Type {
    match ty {
        Type::Array { of, extents, access } if extents.dimensions() == 1 => {
            Type::Pointer { to: of, access, record: extents.record() }
        }
        Type::Void | Type::Scalar(_) | Type::Pointer { .. } | Type::Array { .. } => ty,
    }
}

/// The type of a value as one argument takes it: of rows, `float a[][8]`, the address of the first number.
fn taken_as(ty: Type, param: &Param) -> Type {
    match ty {
        Type::Array { of, extents, access }
            if !param.row.is_empty() && extents.record().is_none() =>
        {
            Type::pointer(of, access)
        }
        Type::Void | Type::Scalar(_) | Type::Pointer { .. } | Type::Array { .. } => decayed(ty),
    }
}

/// How much a value has to change to be an argument: nothing, a promotion, a conversion; none if it cannot.
fn distance(value: &Expr, from: Type, to: Type, is_changed: bool) -> Option<u32> {
    if is_changed && (address_of(value).is_none() || from != to) {
        let is_same_record = from.record().is_some() && from.record() == to.record();
        return (is_same_record && access(from) == Access::Mutable).then_some(0);
    }
    match (from, to) {
        (Type::Scalar(from), Type::Scalar(to)) if from == to => Some(0),
        (Type::Scalar(from), Type::Scalar(to)) => {
            let promoted = from.promote() == to
                || (from.is_real() && from < to && to == Scalar::Double)
                || (matches!(from, Scalar::Half | Scalar::Bfloat16) && to == Scalar::Float);
            Some(if promoted { 1 } else { 2 })
        }
        (
            Type::Pointer { to: one, access: from, record },
            Type::Pointer { to: other, access: to, record: second },
        ) if one == other && record == second => match (from, to) {
            (Access::Constant, Access::Mutable) => None,
            (Access::Mutable, Access::Constant) => Some(1),
            _ => Some(0),
        },
        (Type::Scalar(_), Type::Pointer { .. })
            if matches!(value.kind, crate::typed_ast::Kind::Whole(0)) =>
        {
            Some(2)
        }
        (Type::Pointer { .. }, Type::Scalar(Scalar::Bool)) => Some(2),
        (from, to) => (from.record().is_some() && from.record() == to.record()).then_some(0),
    }
}

/// The name and the types of a call, for a complaint.
pub(super) fn described(name: &str, values: &[Expr]) -> String {
    let types: Vec<String> = values.iter().map(|value| value.ty.to_string()).collect();
    format!("{name}({})", types.join(", "))
}

impl Checker<'_> {
    /// `a + b` of records, by the text's own function.
    pub(super) fn operator(
        &mut self,
        name: &str,
        values: Vec<Expr>,
        place: Place,
    ) -> Checked<Expr> {
        let candidates = self.candidates(name);
        match self.chosen(&candidates, &[], &values, place)? {
            Some(Choice { source, bound, .. }) => {
                let index = self.instance(source, bound, place)?;
                self.helper(index, values, place)
            }
            None if candidates.len() == 1 => Err(Reported),
            None => {
                let message = format!("no function takes {}", described(name, &values));
                self.refuse(place, message, "write one, or use its parts: v.x + w.x")
            }
        }
    }

    /// The record that all functions of a name take as one of their arguments.
    fn taken(&self, candidates: &[usize], at: usize) -> Option<Record> {
        let mut records = candidates.iter().map(|source| {
            let ty = self.sources[*source].params.get(at)?.ty;
            if let (Base::Record(record), None) = (ty.base, ty.pointer) {
                Some(record)
            } else {
                None
            }
        });
        let first = records.next()??;
        records.all(|record| record == Some(first)).then_some(first)
    }

    /// A call of one of the text's own functions; none if none of them takes the values and another may.
    pub(super) fn own_call(
        &mut self,
        name: &str,
        object: Option<Expr>,
        given: &[TemplateArgument],
        arguments: &[ast::Expr],
        place: Place,
    ) -> Checked<Result<Expr, Vec<Expr>>> {
        let candidates = self.candidates(name);
        let skipped = usize::from(object.is_some());
        let values = arguments.iter().enumerate().map(|(at, argument)| {
            if !matches!(argument.kind, ExprKind::List(_)) {
                return self.expr(argument);
            }
            let record = self.taken(&candidates, at + skipped);
            self.wanted(argument, record)
        });
        let values: Vec<_> = values.collect();
        let values = object.map(Ok).into_iter().chain(values).collect::<Checked<Vec<Expr>>>()?;
        let is_builtin = self.is_builtin(name);
        let alone = match candidates.as_slice() {
            [] => return Ok(Err(values)),
            [one] if !is_builtin && self.sources[*one].template.is_empty() => Some(*one),
            _ => None,
        };
        let (source, bound) = match alone {
            Some(source) => (source, Vec::new()),
            None => match self.chosen(&candidates, given, &values, place)? {
                Some(choice) => (choice.source, choice.bound),
                None if is_builtin => {
                    self.builtins.insert(place);
                    return Ok(Err(values));
                }
                None if candidates.len() == 1 => return Err(Reported),
                None => {
                    let message = format!("no function takes {}", described(name, &values));
                    return self.refuse(
                        place,
                        message,
                        "cast the arguments to what one of them takes",
                    );
                }
            },
        };
        let index = self.instance(source, bound, place)?;
        self.helper(index, values, place).map(Ok)
    }
}
