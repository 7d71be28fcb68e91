//! Functions are checked when they are first needed; a template once for each list of arguments.

use crate::ast;
use crate::ast::{Base, TemplateArgument, TemplateKind, TemplateParam};
use crate::check::declare::number;
use crate::check::{Checked, Checker, DEEPEST_CALLS, Meaning, Number};
use crate::diagnostic::Place;
use crate::typed_ast::{Index, Variable};
use crate::types::{Access, Scalar, Type};
use std::mem::replace;

/// Templates with their arguments that a text may use.
const MOST: usize = 200;

/// Expressions that may have been checked before another template is.
const MOST_CHECKED: usize = 400_000;

/// How deep expressions may nest before a function begins to be checked, so that no text exhausts the stack.
const DEEPEST: u32 = 300;

/// What a complaint says before the call that a template is written for, and of how many calls it says so.
const CALLED: &str = "from the call of";
const MOST_CALLS_TOLD: usize = 4;

/// What an argument of a template stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bound {
    /// A type, and whether it was const.
    Type(Type, Access),
    Value(Scalar, Number),
    Function(String),
}

pub(super) struct Instance {
    source: usize,
    pub(super) bound: Vec<Bound>,
    /// None while it is being checked.
    index: Option<Index>,
}

/// What is known of the function being checked.
#[derive(Default)]
pub(super) struct FunctionState {
    /// Variables that no text names.
    pub(super) hidden: Vec<Index>,
    pub(super) variables: Vec<Variable>,
    pub(super) local_bytes: u32,
    pub(super) name: String,
    pub(super) result: Type,
    /// Whether the result is an address that stands for what lies there.
    pub(super) refers: bool,
    /// The argument through which it gives a record.
    pub(super) gives: Option<Index>,
    pub(super) loops: u32,
    pub(super) height: u32,
    /// Its number in the text, and what its template is given.
    pub(super) source: usize,
    pub(super) bindings: Vec<Bound>,
}

impl Checker<'_> {
    /// The number of a function, which is checked now if it was not yet.
    pub(super) fn instance(
        &mut self,
        source: usize,
        bound: Vec<Bound>,
        place: Place,
    ) -> Checked<Index> {
        let (source, bound) = match self.specialised(source, &bound, place) {
            Some(special) => (special, Vec::new()),
            None => (source, bound),
        };
        let function = &self.sources[source];
        let name = &function.name;
        if function.is_missing() {
            let message = format!("'{name}' is declared, and has no body for these arguments");
            return self.refuse(place, message, "write its body behind its arguments");
        }
        let known = self.instances.iter().find(|one| one.source == source && one.bound == bound);
        match known.map(|known| known.index) {
            Some(Some(index)) => return Ok(index),
            Some(None) => {
                let message = format!("'{name}' calls itself: recursion is not part of this");
                return self.refuse(place, message, "write a loop");
            }
            None => {}
        }
        let open = self.instances.iter().filter(|one| one.index.is_none()).count();
        if open > DEEPEST_CALLS as usize || self.nesting > DEEPEST {
            let message = format!("calls nest more than {DEEPEST_CALLS} deep");
            return self.refuse(place, message, "write some of them out");
        }
        let templates = self.instances.iter().filter(|one| !one.bound.is_empty()).count();
        if !bound.is_empty() && (templates >= MOST || self.checked > MOST_CHECKED) {
            let message = format!("'{name}' is one template too many");
            let help = format!(
                "templates become at most {MOST} functions, with {MOST_CHECKED} expressions in them"
            );
            return self.refuse(place, message, help);
        }
        let number = self.instances.len();
        self.instances.push(Instance { source, bound: bound.clone(), index: None });
        let complaints = self.diagnostics.len();
        let state = FunctionState { source, bindings: bound, ..FunctionState::default() };
        let outer = (replace(&mut self.current, state), self.scopes.split_off(1));
        self.function(function);
        self.current = outer.0;
        self.scopes.truncate(1);
        self.scopes.extend(outer.1);
        if !function.template.is_empty() {
            let bound = self.instances[number].bound.iter();
            let told = function.template.iter().zip(bound).map(|(param, bound)| told(param, bound));
            let told = told.collect::<Vec<_>>().join(", ");
            for complaint in &mut self.diagnostics[complaints..] {
                // Of a long chain the innermost calls and the outermost are told.
                if complaint.help.matches(CALLED).count() >= MOST_CALLS_TOLD
                    && let Some((inner, _)) = complaint.help.rsplit_once("; with ")
                {
                    complaint.help = inner.to_owned();
                }
                let stop = if complaint.help.is_empty() { "" } else { "; " };
                complaint.help +=
                    &format!("{stop}with {told} {CALLED} '{name}' in line {}", place.line);
            }
        }
        let index = self.functions.len() - 1;
        self.instances[number].index = Some(index);
        Ok(index)
    }

    /// The function that stands in place of a template for what it is given.
    fn specialised(&mut self, source: usize, bound: &[Bound], place: Place) -> Option<usize> {
        let sources = self.sources;
        let general = &sources[source];
        sources.iter().position(|one| {
            let is_alike = one.name == general.name && one.params.len() == general.params.len();
            let Some(given) = one.special.as_ref().filter(|_| is_alike) else { return false };
            let mut pairs = general.template.iter().zip(given).zip(bound);
            !given.is_empty()
                && given.len() == bound.len()
                && pairs.all(|((param, given), bound)| {
                    self.bound(param, given, place).is_ok_and(|given| given == *bound)
                })
        })
    }

    /// What the template of a function that was checked is given.
    pub(super) fn bound_of(&self, index: Index) -> Vec<Bound> {
        let found = self.instances.iter().find(|one| one.index == Some(index));
        found.map_or_else(Vec::new, |found| found.bound.clone())
    }

    /// Declares the numbers that a template is given.
    pub(super) fn declare_bound(&mut self, function: &ast::Function) {
        for (param, bound) in function.template.iter().zip(self.current.bindings.clone()) {
            if let Bound::Value(scalar, number) = bound {
                self.declare(&param.name, function.place, Meaning::Constant(scalar, number));
            }
        }
    }

    /// A function's name, or the one that an argument of the template stands for.
    pub(super) fn function_name(&self, name: &str) -> String {
        let Some(source) = self.sources.get(self.current.source) else { return name.to_owned() };
        let bound = source.template.iter().zip(&self.current.bindings);
        let found = bound.filter(|(param, _)| param.name == name).find_map(|(_, bound)| {
            if let Bound::Function(function) = bound { Some(function.clone()) } else { None }
        });
        found.unwrap_or_else(|| name.to_owned())
    }

    /// An argument as it is written, in what is known here.
    pub(super) fn bound(
        &mut self,
        param: &TemplateParam,
        argument: &TemplateArgument,
        place: Place,
    ) -> Checked<Bound> {
        match (param.kind, argument) {
            (TemplateKind::Type, TemplateArgument::Type(ty)) => {
                let access = ty.access;
                Ok(Bound::Type(self.type_of(*ty, place, "an argument of a template")?, access))
            }
            (TemplateKind::Value(ty), TemplateArgument::Value(value))
                if ty.base == Base::Function =>
            {
                if let ast::ExprKind::Name(name) = &value.kind {
                    return Ok(Bound::Function(self.function_name(name)));
                }
                self.refuse(value.place, "this is no function", "write its name")
            }
            (TemplateKind::Value(ty), TemplateArgument::Value(value)) => {
                let ty = self.type_of(ty, place, "an argument of a template")?;
                let value = self.value(value)?;
                let place = value.place;
                let value = self.convert(value, ty)?;
                match (ty.scalar(), number(&value.kind)) {
                    (Some(scalar), Some(number)) => Ok(Bound::Value(scalar, number)),
                    _ => self.refuse(
                        place,
                        format!("'{}' must be known before the kernel runs", param.name),
                        "write a number, a constant, or an argument of the template around it",
                    ),
                }
            }
            (TemplateKind::Type, TemplateArgument::Value(value)) => {
                let message = format!("'{}' stands for a type", param.name);
                self.refuse(value.place, message, "write one, such as float")
            }
            (TemplateKind::Value(_), TemplateArgument::Type(_)) => {
                let message = format!("'{}' stands for a number", param.name);
                self.refuse(place, message, "write one, such as 32")
            }
        }
    }
}

fn told(param: &TemplateParam, bound: &Bound) -> String {
    let name = &param.name;
    match bound {
        Bound::Type(ty, _) => format!("{name} = {ty}"),
        Bound::Value(_, Number::Whole(value)) => format!("{name} = {value}"),
        Bound::Value(_, Number::Real(value)) => format!("{name} = {value}"),
        Bound::Function(function) => format!("{name} = {function}"),
    }
}
