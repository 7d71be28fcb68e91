//! Values of a closed form's expressions.
//!
//! A scope gives names their values: what a row binds, then the lab's definitions (`let` and metrics), then its
//! parameters and constants. A row that binds a parameter therefore evaluates every definition anew with it, and
//! `run.NAME` is the value that the run itself has. Definitions refer only to earlier ones, and a formula knows which
//! of them it needs: they are computed in order, each once in a scope, so that no stack grows with them.
//!
//! Whole numbers are exact up to 64 bits and become floating-point beyond; a metric of type `int` then refuses them.
//! An optional parameter that is not set, or a field that a table lacks, is unset, and so is whatever is computed of
//! it. Arithmetic on lists is entry by entry.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use mlsys_expr::{BinaryOp, Expr, Function, Node, Span, UnaryOp};
use mlsys_lab::params::Origin;
use mlsys_lab::schema::Type;
use mlsys_lab::{Params, Value};

use super::functions::{self, EvaluationError, MAX_TEXT, compare, is_true, size};
use super::model::{Form, Formula, Piece, Start, Template};

/// Most nodes and list entries that one run evaluates.
const MAX_WORK: u64 = 20_000_000;

#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// A parameter that is needed is not set.
    Unset(String),
    /// The formula makes no sense: a mistake in the file.
    Wrong { error: EvaluationError, span: Span },
    /// The file asks for more work than is allowed.
    Exhausted,
}

/// A value; `None` where it is unset.
pub(super) type Found = Result<Option<Value>, Fault>;

/// A lab, its parameters, and the work that is left.
pub(super) struct Context<'a> {
    pub(super) form: &'a Form,
    pub(super) params: &'a Params,
    simulated: &'a BTreeMap<String, Value>,
    work: Cell<u64>,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        form: &'a Form,
        params: &'a Params,
        simulated: &'a BTreeMap<String, Value>,
    ) -> Self {
        let work = match form.start {
            Start::Parameters => MAX_WORK,
            Start::Simulation => u64::MAX,
        };
        Self { form, params, simulated, work: Cell::new(work) }
    }

    fn spend(&self, work: usize) -> Result<(), Fault> {
        let left = self.work.get().checked_sub(work as u64).ok_or(Fault::Exhausted)?;
        self.work.set(left);
        Ok(())
    }

    fn parameter(&self, name: &str) -> Option<Found> {
        let declared = self.form.params.get(name)?;
        let value = self.params.get(name).cloned();
        Some(match (value, declared.ty) {
            (None, _) if !declared.optional => Err(Fault::Unset(name.to_owned())),
            (Some(Value::Int(x)), Type::Float) => Ok(Some(Value::Float(x as f64))),
            (Some(Value::Float(x)), Type::Int) => Ok(Some(Value::Int(x as i64))),
            (value, _) => Ok(value),
        })
    }
}

pub(super) struct Scope<'a> {
    pub(super) context: &'a Context<'a>,
    bound: Vec<(&'a str, Option<Value>)>,
    definitions: RefCell<Vec<Option<Found>>>,
    base: Option<&'a Scope<'a>>,
}

impl<'a> Scope<'a> {
    pub(super) fn of_run(context: &'a Context<'a>) -> Self {
        let definitions = RefCell::new(vec![None; context.form.definitions.len()]);
        Self { context, bound: Vec::new(), definitions, base: None }
    }

    /// The same names, of which some stand for something else.
    pub(super) fn with(
        &self,
        base: &'a Scope<'a>,
        bound: impl IntoIterator<Item = (&'a str, Option<Value>)>,
    ) -> Self {
        let mut all = self.bound.clone();
        all.extend(bound);
        let definitions = RefCell::new(vec![None; self.context.form.definitions.len()]);
        Self { context: self.context, bound: all, definitions, base: Some(base) }
    }

    /// Whether the file may come from anywhere, so that what it draws is limited.
    pub(super) fn is_bounded(&self) -> bool {
        self.context.form.start == Start::Parameters
    }

    pub(super) fn value(&self, formula: &Formula) -> Found {
        self.prepare(&formula.needs)?;
        self.evaluate(&formula.expr)
    }

    /// Whether a condition holds; an unset one does not.
    pub(super) fn holds(&self, condition: &Formula) -> Result<bool, Fault> {
        Ok(self.value(condition)?.is_some_and(|value| is_true(&value)))
    }

    /// The value of a formula as a number, if it is one.
    pub(super) fn number(&self, formula: &Formula) -> Result<Option<f64>, Fault> {
        Ok(self.value(formula)?.and_then(|value| value.as_f64()))
    }

    /// The value of a template: of `{x}` alone that of x, else a text.
    pub(super) fn fill(&self, template: &Template) -> Found {
        if let [Piece::Value(formula)] = template.pieces.as_slice() {
            return self.value(formula);
        }
        self.text(template).map(|text| Some(Value::Text(text)))
    }

    pub(super) fn text(&self, template: &Template) -> Result<String, Fault> {
        self.written(template, Value::to_string)
    }

    /// The text of a template, with its values as `say` writes them.
    pub(super) fn written(
        &self,
        template: &Template,
        say: impl Fn(&Value) -> String,
    ) -> Result<String, Fault> {
        let mut text = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Words(words) => text.push_str(words),
                Piece::Value(formula) => {
                    if let Some(value) = self.value(formula)? {
                        text.push_str(&say(&value));
                    }
                }
            }
            if text.len() > MAX_TEXT {
                return Err(Fault::Exhausted);
            }
        }
        Ok(text)
    }

    pub(super) fn named(&self, name: &str) -> Found {
        if let Some(&index) = self.context.form.index.get(name) {
            let needs: &[usize] = &self.context.form.definitions[index].formula.needs;
            self.prepare(needs)?;
            self.prepare(&[index])?;
        }
        self.lookup(name, Span { start: 0, end: 0 })
    }

    pub(super) fn prepare(&self, needs: &[usize]) -> Result<(), Fault> {
        for &index in needs {
            let Some(definition) = self.context.form.definitions.get(index) else { continue };
            let known = self.definitions.borrow().get(index).is_some_and(Option::is_some);
            if known || self.bound.iter().any(|(name, _)| *name == definition.name) {
                continue;
            }
            let found = match (self.evaluate(&definition.formula.expr), definition.metric) {
                (Ok(Some(Value::Int(x))), Some(Type::Float)) => Ok(Some(Value::Float(x as f64))),
                (found, _) => found,
            };
            if let Err(Fault::Exhausted) = found {
                return Err(Fault::Exhausted);
            }
            if let Some(place) = self.definitions.borrow_mut().get_mut(index) {
                *place = Some(found);
            }
        }
        Ok(())
    }

    pub(super) fn lookup(&self, name: &str, span: Span) -> Found {
        let Context { form, params, simulated, .. } = self.context;
        let bound = |name: &str| self.bound.iter().rev().find(|(bound, _)| *bound == name);
        if let Some((_, value)) = bound(name) {
            return Ok(value.clone());
        }
        match name.split_once('.') {
            Some(("run", rest)) => return self.base.unwrap_or(self).named(rest),
            Some(("set", rest)) => {
                return Ok(Some(Value::Bool(params.origin(rest) == Some(&Origin::Set))));
            }
            Some(("given", rest)) => return self.context.parameter(rest).unwrap_or(Ok(None)),
            Some((first, rest)) if form.simulated.contains(first) => {
                return Ok(simulated.get(first).and_then(|record| record.at(rest)).cloned());
            }
            Some((first, rest)) => {
                if let Some((_, record)) = bound(first) {
                    return Ok(record.as_ref().and_then(|record| record.at(rest)).cloned());
                }
            }
            None => {}
        }
        if let Some(&index) = form.index.get(name) {
            let found = self.definitions.borrow().get(index).cloned().flatten();
            let missing = || Err(wrong(EvaluationError::NotComputed(name.to_owned()), span));
            return found.unwrap_or_else(missing);
        }
        if form.simulated.contains(name) {
            return Ok(simulated.get(name).cloned());
        }
        if let Some(found) = self.context.parameter(name) {
            return found;
        }
        match form.data.get(name) {
            Some(value) => Ok(Some(value.clone())),
            None => Err(wrong(EvaluationError::UnknownName(name.to_owned()), span)),
        }
    }

    pub(super) fn evaluate(&self, expr: &Expr) -> Found {
        self.context.spend(1)?;
        let span = expr.span;
        match &expr.node {
            Node::Number(x) if x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0 => {
                Ok(Some(Value::Int(*x as i64)))
            }
            Node::Number(x) => Ok(Some(Value::Float(*x))),
            Node::Text(text) => Ok(Some(Value::Text(text.clone()))),
            Node::Bool(truth) => Ok(Some(Value::Bool(*truth))),
            Node::Name(name) => {
                let found = self.lookup(name.as_str(), span)?;
                self.context.spend(found.as_ref().map_or(0, size))?;
                Ok(found)
            }
            Node::Unary(UnaryOp::Not, operand) => {
                let value = self.evaluate(operand)?;
                Ok(Some(Value::Bool(!value.as_ref().is_some_and(is_true))))
            }
            Node::Unary(UnaryOp::Negate, operand) => match self.evaluate(operand)? {
                None => Ok(None),
                Some(value) => self.arithmetic(BinaryOp::Subtract, Value::Int(0), value, span),
            },
            Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let left = self.evaluate(left)?.as_ref().is_some_and(is_true);
                if left == (*op == BinaryOp::Or) {
                    return Ok(Some(Value::Bool(left)));
                }
                let right = self.evaluate(right)?.as_ref().is_some_and(is_true);
                Ok(Some(Value::Bool(right)))
            }
            Node::Binary(op, left, right) => {
                let (Some(left), Some(right)) = (self.evaluate(left)?, self.evaluate(right)?)
                else {
                    return Ok(None);
                };
                if op.is_comparison() {
                    let holds = compare(*op, &left, &right);
                    holds.map(|holds| Some(Value::Bool(holds))).map_err(|error| wrong(error, span))
                } else {
                    self.arithmetic(*op, left, right, span)
                }
            }
            Node::Call(function, arguments) => self.call(*function, arguments, span),
        }
    }

    fn arithmetic(&self, op: BinaryOp, left: Value, right: Value, span: Span) -> Found {
        let one = |left: &Value, right: &Value| {
            functions::arithmetic(op, left, right).map_err(|error| wrong(error, span))
        };
        let all: Result<Vec<Value>, Fault> = match (&left, &right) {
            (Value::Array(a), Value::Array(b)) if a.len() != b.len() => {
                return Err(wrong(EvaluationError::DifferentLengths(a.len(), b.len()), span));
            }
            (Value::Array(a), Value::Array(b)) => a.iter().zip(b).map(|(a, b)| one(a, b)).collect(),
            (Value::Array(list), other) => list.iter().map(|value| one(value, other)).collect(),
            (other, Value::Array(list)) => list.iter().map(|value| one(other, value)).collect(),
            (left, right) => return one(left, right).map(Some),
        };
        let all = all?;
        self.context.spend(all.len())?;
        Ok(Some(Value::Array(all)))
    }

    fn call(&self, function: Function, arguments: &[Expr], span: Span) -> Found {
        match (function, arguments) {
            (Function::If, [condition, yes, no @ ..]) => {
                let holds = self.evaluate(condition)?.as_ref().is_some_and(is_true);
                return match (holds, no.first()) {
                    (true, _) => self.evaluate(yes),
                    (false, Some(no)) => self.evaluate(no),
                    (false, None) => Ok(None),
                };
            }
            (Function::IsSet, [argument]) => {
                return match self.evaluate(argument) {
                    Ok(value) => Ok(Some(Value::Bool(value.is_some()))),
                    Err(Fault::Unset(_)) => Ok(Some(Value::Bool(false))),
                    Err(fault) => Err(fault),
                };
            }
            (Function::Default, [first, second]) => {
                return match self.evaluate(first)? {
                    Some(value) => Ok(Some(value)),
                    None => self.evaluate(second),
                };
            }
            _ => {}
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match self.evaluate(argument)? {
                Some(value) => values.push(value),
                // A list leaves out what is unset.
                None if function == Function::List => {}
                None => return Ok(None),
            }
        }
        self.context.spend(values.iter().map(size).sum())?;
        let found = functions::apply(function, &values).map_err(|error| wrong(error, span))?;
        self.context.spend(found.as_ref().map_or(0, size))?;
        Ok(found)
    }
}

fn wrong(error: EvaluationError, span: Span) -> Fault {
    Fault::Wrong { error, span }
}
