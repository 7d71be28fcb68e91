//! Texts and expressions with numbers in place of the names that a directive draws.

use mlsys_expr::{Dialect, Env, LookupError, Value as Known, evaluate};
use mlsys_lab::nearest::nearest;
use mlsys_lab::value::{Value, number};

use crate::model::answer::Formula;
use crate::model::drawn::{Varied, drawn_value, is_count, literal};

/// The drawn numbers by their names.
pub(crate) struct Drawn<'a> {
    pub(crate) names: &'a [Varied],
    pub(crate) values: &'a [f64],
}

/// Something between braces that is no number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{piece}`: {problem}")]
pub(crate) struct BadPiece {
    /// Where it begins in the text.
    pub(crate) at: usize,
    /// As it stands there, braces included.
    pub(crate) piece: String,
    problem: String,
}

impl Env for Drawn<'_> {
    fn lookup(&self, name: &str) -> Result<Known, LookupError> {
        let known = self.names.iter().map(|varied| varied.name.value.as_str());
        let value = known.clone().zip(self.values).find(|(own, _)| *own == name);
        let unknown = || LookupError::Unknown { nearest: nearest(name, known).map(str::to_owned) };
        value.map(|(_, value)| Known::Number(*value)).ok_or_else(unknown)
    }
}

impl Drawn<'_> {
    /// A text with the value of each expression between braces; `{{` and `}}` are braces.
    pub(crate) fn fill(&self, text: &str) -> Result<String, BadPiece> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            filled.push_str(&rest[..at]);
            let tail = &rest[at..];
            let at = text.len() - tail.len();
            if tail.starts_with("{{") || tail.starts_with("}}") {
                filled.push_str(&tail[..1]);
                rest = &tail[2..];
                continue;
            }
            let end = tail.starts_with('{').then(|| tail.find('}')).flatten();
            let Some(end) = end else {
                let piece = tail.lines().next().unwrap_or(tail).to_owned();
                let problem =
                    "a brace without its counterpart; `{{` and `}}` are braces".to_owned();
                return Err(BadPiece { at, piece, problem });
            };
            let bad = |problem| BadPiece { at, piece: tail[..=end].to_owned(), problem };
            filled.push_str(&shown(self.value(&tail[1..end]).map_err(bad)?));
            rest = &tail[end + 1..];
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// The number that an expression comes to, or why it comes to none.
    fn value(&self, source: &str) -> Result<f64, String> {
        let expr = mlsys_expr::parse(source, Dialect::Lesson).map_err(|error| error.to_string())?;
        match evaluate(&expr, self).map_err(|error| error.to_string())? {
            Known::Number(x) => Ok(x),
            other @ (Known::Text(_) | Known::Bool(_) | Known::Series(_)) => {
                Err(format!("it is {}, not a number", other.kind()))
            }
        }
    }

    /// The same text where it cannot be filled: a lesson with one is refused when it is read.
    pub(super) fn text(&self, text: &mut String) {
        if let Ok(filled) = self.fill(text) {
            *text = filled;
        }
    }

    pub(super) fn formula(&self, formula: &mut Formula) {
        let mut source = formula.source.clone();
        for (name, span) in formula.expr.names().into_iter().rev() {
            if let Ok(Known::Number(value)) = self.lookup(name.as_str()) {
                source.replace_range(span.start..span.end, &literal(value));
            }
        }
        if let Ok(expr) = mlsys_expr::parse(&source, Dialect::Lesson) {
            *formula = Formula { expr, source, place: formula.place };
        }
    }

    /// A text that is one expression between braces becomes a number.
    pub(super) fn value_of(&self, value: &mut Value) {
        match value {
            Value::Text(text) => {
                let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
                let whole = inner.filter(|inner| !inner.contains(['{', '}']));
                match whole.and_then(|source| self.value(source).ok()) {
                    Some(x) => *value = drawn_value(x),
                    None => self.text(text),
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value_of(item)),
            Value::Table(entries) => entries.values_mut().for_each(|entry| self.value_of(entry)),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
        }
    }
}

/// A number as a text shows it: counts in full.
fn shown(x: f64) -> String {
    if is_count(x) { format!("{}", x as i64) } else { number(x) }
}
