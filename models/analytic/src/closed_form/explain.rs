//! Formulas written out with their numbers, the parameters that they depend on, and errors in words.

use std::collections::BTreeSet;

use mlsys_expr::{Expr, Function, Name, Node};
use mlsys_lab::value::number;
use mlsys_lab::{LabError, Params, Value};

use super::evaluate::{Fault, Scope};
use super::functions::is_true;
use super::model::{Form, Formula};

impl Fault {
    /// The error of a run that met it in a formula.
    pub(super) fn error(self, params: &Params, what: &str) -> LabError {
        LabError::Data(match self {
            Self::Unset(name) => match params.float(&name) {
                Err(error) => return error,
                Ok(_) => format!("{what}: {name} is not set"),
            },
            Self::Wrong { error, span } => format!(
                "{what}: {error}, in characters {} to {} of the formula",
                span.start + 1,
                span.end
            ),
            Self::Exhausted => format!(
                "{what}: the lab's formulas take too much work; draw fewer points or shorter lists"
            ),
        })
    }
}

/// A value as it stands in a calculation: a count of more than nine digits is rounded to six.
pub(super) fn legible(value: &Value) -> String {
    const COUNTED: u64 = 1_000_000_000;
    match value {
        Value::Int(count) if count.unsigned_abs() >= COUNTED => number(*count as f64),
        Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Array(_)
        | Value::Table(_) => value.to_string(),
    }
}

/// A formula as it stands, and the same with its numbers; of `if` and `default` the branch that is taken.
pub(super) fn written_out(formula: &Formula, scope: &Scope<'_>) -> Result<(String, String), Fault> {
    scope.prepare(&formula.needs)?;
    let mut at = &formula.expr;
    while let Node::Call(function, arguments) = &at.node {
        at = match (function, arguments.as_slice()) {
            (Function::If, [condition, yes, no @ ..]) => {
                let holds = scope.evaluate(condition)?.as_ref().is_some_and(is_true);
                no.first().filter(|_| !holds).unwrap_or(yes)
            }
            (Function::Default, [first, second]) => {
                if scope.evaluate(first)?.is_some() {
                    first
                } else {
                    second
                }
            }
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
            Ok(Some(value)) => numbers.push_str(&legible(&value)),
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
    let mut opened = BTreeSet::new();
    let mut open = vec![formula];
    while let Some(formula) = open.pop() {
        let mut inner = Vec::new();
        let mut names = Vec::new();
        match of {
            Names::All => names.extend(formula.expr.names().into_iter().map(|(name, _)| name)),
            Names::Values => values_of(&formula.expr, &mut names),
        }
        for name in names {
            if let Some(formula) = form.formula(name.as_str()) {
                if opened.insert(name.as_str()) {
                    inner.push(formula);
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
        if let Node::Name(name) = &formula.expr.node {
            return self.context.form.formula(name.as_str()).unwrap_or(formula);
        }
        formula
    }
}
