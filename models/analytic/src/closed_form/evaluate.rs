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

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a function names the kinds of values that it takes; all others are errors"
)]

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::BTreeMap;

use mlsys_expr::{BinaryOp, Expr, Function, Name, Node, Span, UnaryOp};
use mlsys_lab::params::Origin;
use mlsys_lab::schema::Type;
use mlsys_lab::value::significant;
use mlsys_lab::{LabError, Params, Tables, Value};

use super::model::{Form, Formula, Piece, Start, Template};
use mlsys_lab::steps::{duration, percent};

/// Most entries of a list.
const MAX_LIST: usize = 4096;

/// Longest text that a formula makes, in bytes.
const MAX_TEXT: usize = 4096;

/// Most nodes and list entries that one run evaluates.
const MAX_WORK: u64 = 20_000_000;

/// Why a formula has no value.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// A parameter that is needed is not set.
    Unset(String),
    /// The formula makes no sense: a mistake in the file.
    Wrong { message: String, span: Span },
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

/// What names stand for.
pub(super) struct Scope<'a> {
    context: &'a Context<'a>,
    bound: Vec<(&'a str, Option<Value>)>,
    definitions: RefCell<Vec<Option<Found>>>,
    base: Option<&'a Scope<'a>>,
}

impl<'a> Scope<'a> {
    /// The names of the run itself.
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

    /// The value of a formula.
    pub(super) fn value(&self, formula: &Formula) -> Found {
        self.prepare(&formula.needs)?;
        self.evaluate(&formula.expr)
    }

    /// Whether a condition holds; an unset one does not.
    pub(super) fn holds(&self, condition: &Formula) -> Result<bool, Fault> {
        Ok(self.value(condition)?.is_some_and(|value| truth(&value)))
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

    /// A template with its values put in.
    pub(super) fn text(&self, template: &Template) -> Result<String, Fault> {
        let mut text = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Words(words) => text.push_str(words),
                Piece::Value(formula) => {
                    if let Some(value) = self.value(formula)? {
                        text.push_str(&value.to_string());
                    }
                }
            }
            if text.len() > MAX_TEXT {
                return Err(Fault::Exhausted);
            }
        }
        Ok(text)
    }

    /// The value of a name, as a formula sees it.
    pub(super) fn named(&self, name: &str) -> Found {
        if let Some(&index) = self.context.form.index.get(name) {
            let needs: &[usize] = &self.context.form.definitions[index].formula.needs;
            self.prepare(needs)?;
            self.prepare(&[index])?;
        }
        self.lookup(name, Span { start: 0, end: 0 })
    }

    fn prepare(&self, needs: &[usize]) -> Result<(), Fault> {
        for &index in needs {
            let Some(definition) = self.context.form.definitions.get(index) else {
                continue;
            };
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

    fn lookup(&self, name: &str, span: Span) -> Found {
        let bound = |name: &str| self.bound.iter().rev().find(|(bound, _)| *bound == name);
        if let Some((_, value)) = bound(name) {
            return Ok(value.clone());
        }
        if let Some((first, rest)) = name.split_once('.') {
            if first == "run" {
                return self.base.map_or_else(|| self.named(rest), |base| base.named(rest));
            }
            if first == "set" {
                let set = self.context.params.origin(rest) == Some(&Origin::Set);
                return Ok(Some(Value::Bool(set)));
            }
            if first == "given" {
                return self.context.parameter(rest).unwrap_or(Ok(None));
            }
            if let Some(record) = self.context.simulated.get(first) {
                return Ok(record.at(rest).cloned());
            }
            if let Some((_, record)) = bound(first) {
                return Ok(record.as_ref().and_then(|record| record.at(rest)).cloned());
            }
        }
        if let Some(&index) = self.context.form.index.get(name) {
            let found = self.definitions.borrow().get(index).cloned().flatten();
            return found.unwrap_or_else(|| wrong(format!("`{name}` is not computed yet"), span));
        }
        if self.context.form.simulated.contains(name) {
            return Ok(self.context.simulated.get(name).cloned());
        }
        if let Some(found) = self.context.parameter(name) {
            return found;
        }
        match self.context.form.data.get(name) {
            Some(value) => Ok(Some(value.clone())),
            None => wrong(format!("nothing is called `{name}`"), span),
        }
    }

    fn evaluate(&self, expr: &Expr) -> Found {
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
                Ok(Some(Value::Bool(!value.as_ref().is_some_and(truth))))
            }
            Node::Unary(UnaryOp::Negate, operand) => match self.evaluate(operand)? {
                None => Ok(None),
                Some(value) => self.arithmetic(BinaryOp::Subtract, Value::Int(0), value, span),
            },
            Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let left = self.evaluate(left)?.as_ref().is_some_and(truth);
                if left == (*op == BinaryOp::Or) {
                    return Ok(Some(Value::Bool(left)));
                }
                let right = self.evaluate(right)?.as_ref().is_some_and(truth);
                Ok(Some(Value::Bool(right)))
            }
            Node::Binary(op, left, right) => {
                let (Some(left), Some(right)) = (self.evaluate(left)?, self.evaluate(right)?)
                else {
                    return Ok(None);
                };
                if op.is_comparison() {
                    compare(*op, &left, &right, span).map(|holds| Some(Value::Bool(holds)))
                } else {
                    self.arithmetic(*op, left, right, span)
                }
            }
            Node::Call(function, arguments) => self.call(*function, arguments, span),
        }
    }

    fn arithmetic(&self, op: BinaryOp, left: Value, right: Value, span: Span) -> Found {
        let each = |pairs: Vec<(Value, Value)>| -> Found {
            self.context.spend(pairs.len())?;
            let mut all = Vec::with_capacity(pairs.len());
            for (left, right) in pairs {
                all.push(scalar(op, &left, &right, span)?);
            }
            Ok(Some(Value::Array(all)))
        };
        match (left, right) {
            (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
                each(left.into_iter().zip(right).collect())
            }
            (Value::Array(left), Value::Array(right)) => wrong(
                format!("a list of {} and one of {} do not match", left.len(), right.len()),
                span,
            ),
            (Value::Array(left), right) => {
                each(left.into_iter().map(|left| (left, right.clone())).collect())
            }
            (left, Value::Array(right)) => {
                each(right.into_iter().map(|right| (left.clone(), right)).collect())
            }
            (left, right) => scalar(op, &left, &right, span).map(Some),
        }
    }

    fn call(&self, function: Function, arguments: &[Expr], span: Span) -> Found {
        match (function, arguments) {
            (Function::If, [condition, yes, no @ ..]) => {
                let holds = self.evaluate(condition)?.as_ref().is_some_and(truth);
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
        let found = apply(function, &values).map_err(|message| Fault::Wrong { message, span })?;
        self.context.spend(found.as_ref().map_or(0, size))?;
        Ok(found)
    }
}

/// A function of values that are all there.
fn apply(function: Function, values: &[Value]) -> Result<Option<Value>, String> {
    let whole = |value: &Value| match value {
        Value::Int(x) => Ok(*x),
        _ => Err(format!("`{}` works with whole numbers", function.name())),
    };
    Ok(Some(match (function, values) {
        (Function::Min | Function::Max, values) => {
            let values = match values {
                [Value::Array(list)] => list.as_slice(),
                values => values,
            };
            let better = |a: &Value, b: &Value| match function {
                Function::Min => order(a, b).is_some_and(Ordering::is_lt),
                _ => order(a, b).is_some_and(Ordering::is_gt),
            };
            let mut best: Option<&Value> = None;
            for value in values {
                float(value)?;
                if best.is_none_or(|best| better(value, best) || is_nan(best)) {
                    best = Some(value);
                }
            }
            return Ok(best.cloned());
        }
        (Function::Sum | Function::Mean, [Value::Array(list)]) => {
            let mut sum = Value::Int(0);
            for value in list {
                sum = add(&sum, value)?;
            }
            match function {
                Function::Mean => Value::Float(float(&sum)? / list.len() as f64),
                _ => sum,
            }
        }
        (Function::Len, [Value::Array(list)]) => Value::Int(list.len() as i64),
        (Function::At, [Value::Array(list), index]) => {
            return Ok(usize::try_from(whole(index)?).ok().and_then(|i| list.get(i)).cloned());
        }
        (Function::Count, [Value::Array(list), value]) => {
            Value::Int(list.iter().filter(|one| same(one, value)).count() as i64)
        }
        (Function::IsNumber, [value]) => Value::Bool(value.as_f64().is_some()),
        (Function::Join, [Value::Array(list), Value::Text(between)]) => {
            let texts: Vec<String> = list.iter().map(Value::to_string).collect();
            let text = texts.join(between);
            if text.len() > MAX_TEXT {
                return Err(format!("a text has at most {MAX_TEXT} bytes"));
            }
            Value::Text(text)
        }
        (Function::Column, [Value::Text(table), Value::Text(field)]) => {
            let tables = Tables::builtin();
            let names = tables.names(table).into_iter();
            Value::Array(names.filter_map(|name| tables.field(table, name, field)).collect())
        }
        (Function::AtLeast, [Value::Array(list), least]) => {
            let enough = |value: &&Value| order(value, least).is_some_and(Ordering::is_ge);
            let compare = |a: &&Value, b: &&Value| order(a, b).unwrap_or(Ordering::Equal);
            return Ok(list.iter().filter(enough).min_by(compare).cloned());
        }
        (Function::Sorted, [Value::Array(list)]) => {
            let mut list = list.clone();
            list.sort_by(|a, b| order(a, b).unwrap_or(Ordering::Equal));
            list.dedup_by(|a, b| same(a, b));
            Value::Array(list)
        }
        (Function::Before, [Value::Text(text), Value::Text(mark)]) => {
            Value::from(text.split(mark.as_str()).next().unwrap_or(text))
        }
        (Function::List, values) => Value::Array(values.to_vec()),
        (Function::Range, [from, to]) => {
            let (from, to) = (whole(from)?, whole(to)?);
            if to.saturating_sub(from) >= MAX_LIST as i64 {
                return Err(format!("a list has at most {MAX_LIST} entries"));
            }
            Value::Array((from..=to).map(Value::Int).collect())
        }
        (Function::Div, [Value::Int(_), Value::Int(0)])
        | (Function::DivUp | Function::RoundUp, [Value::Int(_), Value::Int(0)]) => {
            Value::Float(f64::NAN)
        }
        (Function::Div, [Value::Int(a), Value::Int(b)]) => Value::Int(a.wrapping_div(*b)),
        (Function::DivUp, [Value::Int(a), Value::Int(b)]) => Value::Int(div_up(*a, *b)),
        (Function::RoundUp, [Value::Int(a), Value::Int(b)]) => scalar_times(div_up(*a, *b), *b),
        (Function::Div, [a, b]) => Value::Float((float(a)? / float(b)?).trunc()),
        (Function::DivUp, [a, b]) => Value::Float((float(a)? / float(b)?).ceil()),
        (Function::RoundUp, [a, b]) => Value::Float((float(a)? / float(b)?).ceil() * float(b)?),
        (Function::Duration | Function::Percent, [Value::Array(list)]) => {
            let one = |value: &Value| Ok(Value::Text(said(function, float(value)?)));
            Value::Array(list.iter().map(one).collect::<Result<_, String>>()?)
        }
        (Function::Duration | Function::Percent, [x]) => Value::Text(said(function, float(x)?)),
        (Function::Significant, [x, digits]) => {
            let digits = usize::try_from(whole(digits)?).unwrap_or(1).clamp(1, 17);
            Value::Float(significant(float(x)?, digits))
        }
        (Function::Table, [Value::Text(table), Value::Text(entry), Value::Text(field)]) => {
            return Ok(Tables::builtin().field(table, entry, field));
        }
        (Function::Names, [Value::Text(table)]) => {
            Value::Array(Tables::builtin().names(table).into_iter().map(Value::from).collect())
        }
        (Function::Floor | Function::Ceil | Function::Round, [Value::Int(x)]) => Value::Int(*x),
        (Function::Abs, [Value::Int(x)]) if *x != i64::MIN => Value::Int(x.abs()),
        (function, [Value::Array(list)]) => {
            let mut all = Vec::with_capacity(list.len());
            for value in list {
                all.push(of_one(function, value)?);
            }
            Value::Array(all)
        }
        (function, [value]) => of_one(function, value)?,
        (function, _) => {
            return Err(format!("`{}` takes other kinds of values", function.name()));
        }
    }))
}

/// A number in words.
fn said(function: Function, x: f64) -> String {
    if function == Function::Duration { duration(x) } else { percent(x) }
}

fn of_one(function: Function, value: &Value) -> Result<Value, String> {
    let x = function.of_one(float(value)?);
    let x = x.ok_or_else(|| format!("`{}` takes another kind of value", function.name()))?;
    let whole =
        matches!(function, Function::Floor | Function::Ceil | Function::Round) && x.abs() < 9.2e18;
    Ok(if whole { Value::Int(x as i64) } else { Value::Float(x) })
}

fn div_up(a: i64, b: i64) -> i64 {
    let quotient = a.wrapping_div(b);
    quotient + i64::from(a.wrapping_rem(b) != 0 && (a > 0) == (b > 0))
}

fn scalar_times(a: i64, b: i64) -> Value {
    a.checked_mul(b).map_or_else(|| Value::Float(a as f64 * b as f64), Value::Int)
}

fn add(a: &Value, b: &Value) -> Result<Value, String> {
    if let (Value::Int(x), Value::Int(y)) = (a, b)
        && let Some(sum) = x.checked_add(*y)
    {
        return Ok(Value::Int(sum));
    }
    Ok(Value::Float(float(a)? + float(b)?))
}

fn scalar(op: BinaryOp, left: &Value, right: &Value, span: Span) -> Result<Value, Fault> {
    // A text and what stands behind it are joined.
    if op == BinaryOp::Add && (left.as_str().is_some() || right.as_str().is_some()) {
        let text = format!("{left}{right}");
        if text.len() > MAX_TEXT {
            return wrong(format!("a text has at most {MAX_TEXT} bytes"), span);
        }
        return Ok(Value::Text(text));
    }
    if let (Value::Int(a), Value::Int(b)) = (left, right) {
        let exact = match op {
            BinaryOp::Add => a.checked_add(*b),
            BinaryOp::Subtract => a.checked_sub(*b),
            BinaryOp::Multiply => a.checked_mul(*b),
            BinaryOp::Remainder => a.checked_rem(*b),
            BinaryOp::Power => u32::try_from(*b).ok().and_then(|b| a.checked_pow(b)),
            _ => None,
        };
        if let Some(exact) = exact {
            return Ok(Value::Int(exact));
        }
    }
    let number = |value: &Value| float(value).map_err(|message| Fault::Wrong { message, span });
    let (a, b) = (number(left)?, number(right)?);
    Ok(Value::Float(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide => a / b,
        BinaryOp::Remainder => a % b,
        BinaryOp::Power => a.powf(b),
        _ => return wrong(format!("`{op}` gives no number"), span),
    }))
}

/// The order of two numbers, exact for whole ones; `None` where one is no number.
pub(super) fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (a, b) => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// Whether two values are the same; numbers by their size.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    order(a, b).map_or_else(|| a == b, Ordering::is_eq)
}

fn compare(op: BinaryOp, left: &Value, right: &Value, span: Span) -> Result<bool, Fault> {
    match op {
        BinaryOp::Equal => return Ok(same(left, right)),
        BinaryOp::NotEqual => return Ok(!same(left, right)),
        _ => {}
    }
    for value in [left, right] {
        float(value).map_err(|message| Fault::Wrong { message, span })?;
    }
    let order = order(left, right);
    Ok(order.is_some_and(|order| match op {
        BinaryOp::Less => order.is_lt(),
        BinaryOp::LessOrEqual => order.is_le(),
        BinaryOp::Greater => order.is_gt(),
        _ => order.is_ge(),
    }))
}

fn truth(value: &Value) -> bool {
    match value {
        Value::Bool(truth) => *truth,
        Value::Int(x) => *x != 0,
        Value::Float(x) => *x != 0.0,
        Value::Text(_) | Value::Array(_) | Value::Table(_) => true,
    }
}

fn is_nan(value: &Value) -> bool {
    matches!(value, Value::Float(x) if x.is_nan())
}

fn float(value: &Value) -> Result<f64, String> {
    match value {
        Value::Bool(truth) => Ok(f64::from(u8::from(*truth))),
        value => {
            let found = value.type_name();
            value.as_f64().ok_or_else(|| format!("a number is needed, but this is {found}"))
        }
    }
}

/// What it costs to copy a value.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(size).sum::<usize>(),
        Value::Table(entries) => 1 + entries.values().map(size).sum::<usize>(),
        Value::Text(text) => 1 + text.len() / 64,
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => 1,
    }
}

fn wrong<T>(message: String, span: Span) -> Result<T, Fault> {
    Err(Fault::Wrong { message, span })
}

impl Fault {
    /// The error of a run that met it in a formula.
    pub(super) fn error(self, params: &Params, what: &str) -> LabError {
        match self {
            Self::Unset(name) => match params.float(&name) {
                Err(error) => error,
                Ok(_) => LabError::Data(format!("{what}: {name} is not set")),
            },
            Self::Wrong { message, span } => LabError::Data(format!(
                "{what}: {message}, in characters {} to {} of the formula",
                span.start + 1,
                span.end
            )),
            Self::Exhausted => LabError::Data(format!(
                "{what}: the lab's formulas take too much work; draw fewer points or shorter lists"
            )),
        }
    }
}

/// A formula as it stands, and the same with its numbers; of `if` and `default` the branch that is taken.
pub(super) fn written_out(formula: &Formula, scope: &Scope<'_>) -> Result<(String, String), Fault> {
    scope.prepare(&formula.needs)?;
    let mut at = &formula.expr;
    loop {
        at = match &at.node {
            Node::Call(Function::If, arguments) => match arguments.as_slice() {
                [condition, yes, no @ ..] => {
                    let holds = scope.evaluate(condition)?.as_ref().is_some_and(truth);
                    match (holds, no.first()) {
                        (true, _) | (false, None) => yes,
                        (false, Some(no)) => no,
                    }
                }
                _ => break,
            },
            Node::Call(Function::Default, arguments) => match arguments.as_slice() {
                [first, second] => {
                    if scope.evaluate(first)?.is_some() {
                        first
                    } else {
                        second
                    }
                }
                _ => break,
            },
            _ => break,
        };
    }
    let form = scope.context.form;
    if let Node::Name(name) = &at.node
        && (form.params.contains_key(name.as_str()) || name.as_str().starts_with("given."))
    {
        return Ok(("as given".to_owned(), String::new()));
    }
    let slice = |from: usize, to: usize| formula.source.get(from..to).unwrap_or("");
    let (mut numbers, mut from) = (String::new(), at.span.start);
    for (name, span) in at.names() {
        numbers.push_str(slice(from, span.start));
        match scope.lookup(name.as_str(), span) {
            Ok(Some(value)) => numbers.push_str(&value.to_string()),
            Ok(None) | Err(_) => numbers.push_str("unset"),
        }
        from = span.end;
    }
    let words = slice(at.span.start, at.span.end).to_owned();
    if from == at.span.start {
        return Ok((words, String::new()));
    }
    numbers.push_str(slice(from, at.span.end));
    Ok((words, numbers))
}

/// The names in an expression that its value is made of; conditions only choose.
fn values_of<'e>(expr: &'e Expr, names: &mut Vec<&'e Name>) {
    match &expr.node {
        Node::Name(name) => names.push(name),
        Node::Number(_) | Node::Text(_) | Node::Bool(_) => {}
        Node::Unary(_, operand) => values_of(operand, names),
        Node::Binary(_, left, right) => {
            values_of(left, names);
            values_of(right, names);
        }
        Node::Call(Function::If, arguments) => {
            arguments.iter().skip(1).for_each(|argument| values_of(argument, names));
        }
        Node::Call(_, arguments) => arguments.iter().for_each(|one| values_of(one, names)),
    }
}

/// Which names of a formula are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// All of them.
    All,
    /// Those that its value is made of, without those that only choose.
    Values,
}

/// The parameters that a formula depends on, in the order in which it names them.
pub(super) fn parameters<'a>(form: &'a Form, formula: &'a Formula, of: Names) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    // Each definition is opened once, so the work is linear in the file.
    let mut opened = BTreeMap::new();
    let mut open = vec![formula];
    while let Some(formula) = open.pop() {
        let mut inner = Vec::new();
        let mut names = Vec::new();
        match of {
            Names::All => names.extend(formula.expr.names().into_iter().map(|(name, _)| name)),
            Names::Values => values_of(&formula.expr, &mut names),
        }
        for name in names {
            if let Some(&index) = form.index.get(name.as_str()) {
                if opened.insert(index, ()).is_none() {
                    inner.push(&form.definitions[index].formula);
                }
            } else if let Some((name, _)) =
                form.params.get_key_value(name.as_str().trim_start_matches("given."))
                && !found.contains(&name.as_str())
            {
                found.push(name);
            }
        }
        open.extend(inner.into_iter().rev());
    }
    found
}

impl<'a> Scope<'a> {
    /// The formula behind a name that is a definition; else the formula itself.
    pub(super) fn definition_of<'f>(&self, formula: &'f Formula) -> &'f Formula
    where
        'a: 'f,
    {
        if let Node::Name(name) = &formula.expr.node
            && let Some(&index) = self.context.form.index.get(name.as_str())
            && let Some(definition) = self.context.form.definitions.get(index)
        {
            return &definition.formula;
        }
        formula
    }
}
