//! Checks: whether what a lesson asserts holds, and what stood where it does not.

use mlsys_expr::{
    BinaryOp, Env, EvalError, EvalErrorKind, Expr, Function, Node, Span, UnaryOp, Value, evaluate,
};
use mlsys_lab::schema::Class;
use mlsys_lab::value::number;

use crate::env::LessonEnv;
use crate::model::{Check, Formula};

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    Passed,
    /// It does not hold; the sentence names the values, such as `run.accuracy = 0.61 measured, wanted >= 0.95`.
    Failed(String),
    /// It could not be decided here, which is no failure.
    Skipped(String),
    /// It has no value where it should have one.
    Error(String),
}

impl Check {
    /// Decides the check with the values of an environment.
    ///
    /// A missing value skips a check of class hardware or device and is an error of others, which hold on every machine.
    pub fn evaluate(&self, env: &LessonEnv<'_>) -> CheckOutcome {
        match evaluate(&self.assert.expr, env) {
            Ok(Value::Bool(true)) => CheckOutcome::Passed,
            Ok(Value::Bool(false)) => CheckOutcome::Failed(explain(&self.assert, env)),
            Ok(Value::Number(x)) if x != 0.0 => CheckOutcome::Passed,
            Ok(Value::Number(_)) => CheckOutcome::Failed(format!("{} is 0", self.assert.source)),
            Ok(Value::Text(_) | Value::Series(_)) => {
                CheckOutcome::Error("the check is no condition; compare it with something".into())
            }
            Err(error) => match (self.class, error.missing()) {
                (Class::Hardware | Class::Device, Some(reason)) => {
                    CheckOutcome::Skipped(reason.to_owned())
                }
                (Class::Exact | Class::Seeded | Class::Device | Class::Hardware, _) => {
                    CheckOutcome::Error(error_text(&self.assert, &error))
                }
            },
        }
    }
}

/// A part of a formula and what it comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subexpression {
    /// The part as it is written.
    pub source: String,
    /// Its value in words, or why it has none.
    pub value: String,
}

impl Formula {
    /// What it comes to in an environment, in words; or why it has no value there.
    pub fn in_words(&self, env: &dyn Env) -> String {
        value_of(self, &self.expr, env)
    }

    /// The conditions it joins with `and`, each followed by the compared sides that are not plain constants.
    pub fn parts(&self, env: &dyn Env) -> Vec<Subexpression> {
        let mut parts = Vec::new();
        self.add_parts(&self.expr, env, &mut parts);
        parts
    }

    fn add_parts(&self, expr: &Expr, env: &dyn Env, parts: &mut Vec<Subexpression>) {
        if let Node::Binary(BinaryOp::And, left, right) = &expr.node {
            self.add_parts(left, env, parts);
            self.add_parts(right, env, parts);
            return;
        }
        let mut part_of = |expr: &Expr| {
            let part = Subexpression {
                source: part(self, expr.span).to_owned(),
                value: value_of(self, expr, env),
            };
            if !parts.contains(&part) {
                parts.push(part);
            }
        };
        part_of(expr);
        let mut sides: Vec<&Expr> = Vec::new();
        if let Node::Binary(op, left, right) = &expr.node {
            sides
                .extend(op.is_comparison().then_some([left.as_ref(), right]).into_iter().flatten());
        } else if let Node::Call(Function::Close, arguments) = &expr.node {
            sides.extend(arguments.iter().take(2));
        }
        let is_plain =
            |side: &Expr| matches!(side.node, Node::Number(_) | Node::Text(_) | Node::Bool(_));
        sides.into_iter().filter(|side| !is_plain(side)).for_each(part_of);
    }
}

fn value_of(formula: &Formula, expr: &Expr, env: &dyn Env) -> String {
    match evaluate(expr, env) {
        Ok(value) => shown(&value),
        Err(error) => match error.missing() {
            Some(reason) => format!("no value yet: {reason}"),
            None => format!("no value: {}", error_text(formula, &error)),
        },
    }
}

/// An evaluation error with the part of the expression it is about.
pub(crate) fn error_text(formula: &Formula, error: &EvalError) -> String {
    let names_it = matches!(
        error.kind,
        EvalErrorKind::UnknownName { .. }
            | EvalErrorKind::Missing { .. }
            | EvalErrorKind::EmptySeries { .. }
            | EvalErrorKind::NoSuchStep { .. }
    );
    if names_it {
        error.to_string()
    } else {
        format!("{error}, in `{}`", part(formula, error.span))
    }
}

/// Why a false condition is false: the first of its parts that is, with the values on both sides.
fn explain(formula: &Formula, env: &LessonEnv<'_>) -> String {
    let expr = first_false(&formula.expr, env);
    match &expr.node {
        Node::Binary(op, left, right) => {
            if let Some(sentence) = comparison(formula, *op, left, right, env) {
                return sentence;
            }
        }
        Node::Call(Function::Close, arguments) => {
            if let [left, right, tolerance] = arguments.as_slice()
                && let Some(sentence) = closeness(formula, left, right, tolerance, env)
            {
                return sentence;
            }
        }
        Node::Number(_)
        | Node::Text(_)
        | Node::Bool(_)
        | Node::Name(_)
        | Node::Unary(UnaryOp::Not | UnaryOp::Negate, _)
        | Node::Call(..) => {}
    }
    let mut values: Vec<String> = Vec::new();
    for (name, span) in expr.names() {
        let name = Expr { node: Node::Name(name.clone()), span };
        let value = side(formula, &name, env);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    format!("`{}` is false: {}", part(formula, expr.span), values.join(", "))
}

/// The first conjunct that does not hold.
pub(crate) fn first_false<'e>(expr: &'e Expr, env: &dyn Env) -> &'e Expr {
    if let Node::Binary(BinaryOp::And, left, right) = &expr.node {
        let holds = match evaluate(left, env) {
            Ok(Value::Bool(truth)) => truth,
            Ok(Value::Number(x)) => x != 0.0,
            Ok(Value::Text(_) | Value::Series(_)) | Err(_) => false,
        };
        first_false(if holds { right } else { left }, env)
    } else {
        expr
    }
}

fn comparison(
    formula: &Formula,
    op: BinaryOp,
    left: &Expr,
    right: &Expr,
    env: &LessonEnv<'_>,
) -> Option<String> {
    const MIRRORED: [(BinaryOp, BinaryOp); 4] = [
        (BinaryOp::Less, BinaryOp::Greater),
        (BinaryOp::LessOrEqual, BinaryOp::GreaterOrEqual),
        (BinaryOp::Greater, BinaryOp::Less),
        (BinaryOp::GreaterOrEqual, BinaryOp::LessOrEqual),
    ];
    if !op.is_comparison() {
        return None;
    }
    let mirrored = MIRRORED.iter().find(|(from, _)| *from == op).map_or(op, |&(_, to)| to);
    // What was measured comes first, also in `0.95 <= run.accuracy`.
    let (op, left, right) = if is_constant(left) && !is_constant(right) {
        (mirrored, right, left)
    } else {
        (op, left, right)
    };
    Some(format!("{}, wanted {} {}", side(formula, left, env), op, side(formula, right, env)))
}

fn closeness(
    formula: &Formula,
    left: &Expr,
    right: &Expr,
    tolerance: &Expr,
    env: &LessonEnv<'_>,
) -> Option<String> {
    let Ok(Value::Number(relative)) = evaluate(tolerance, env) else { return None };
    let (left, right) = if is_constant(left) { (right, left) } else { (left, right) };
    Some(format!(
        "{}, wanted {} within {} %",
        side(formula, left, env),
        side(formula, right, env),
        number(100.0 * relative)
    ))
}

fn is_constant(expr: &Expr) -> bool {
    expr.names().is_empty()
}

/// `text = value` and where a number comes from, or the value alone for a constant.
fn side(formula: &Formula, expr: &Expr, env: &LessonEnv<'_>) -> String {
    let value = match evaluate(expr, env) {
        Ok(value @ Value::Number(_)) if !is_constant(expr) => {
            format!("{} {}", shown(&value), env.label_in(expr))
        }
        Ok(value) => shown(&value),
        Err(error) => format!("nothing ({error})"),
    };
    if is_constant(expr) { value } else { format!("{} = {value}", part(formula, expr.span)) }
}

pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Number(x) => number(*x),
        Value::Text(text) => format!("\"{text}\""),
        Value::Bool(truth) => truth.to_string(),
        Value::Series(points) => format!("a series of {}", points.len()),
    }
}

fn part(formula: &Formula, span: Span) -> &str {
    formula.source.get(span.start..span.end).unwrap_or(&formula.source)
}
