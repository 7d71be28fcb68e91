//! Runs that have ended, kept for pictures of several runs: what they found, without their own pictures.

mod picture;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use mlsys_expr::{Env, LookupError, Value as Found, evaluate};
use mlsys_lab::params::Params;
use mlsys_lab::report::{Change, RunData};
use mlsys_lab::schema::{Draw, Schema, Term};
use mlsys_lab::value::Value;
use mlsys_lesson::Goal;

pub use crate::attempts::picture::{lines, picture};
use crate::metrics;

/// How the names of the pages begin that are made for a single lab.
pub const OWN_PAGES: &str = "labs/";

#[derive(Clone, Debug)]
pub struct FinishedRun {
    /// The lesson it was run in; none if none was open.
    pub lesson: Option<String>,
    pub lab: String,
    pub schema: &'static Schema,
    /// Its parameters as it ended.
    pub params: BTreeMap<String, Value>,
    /// Those in which it differs from what its lesson sets.
    pub turned: Vec<(String, Value)>,
    /// Its metrics, and those series that panels put behind others.
    pub data: RunData,
}

impl FinishedRun {
    pub fn new(
        schema: &'static Schema,
        (lesson, lab): (Option<String>, String),
        params: BTreeMap<String, Value>,
        turned: Vec<(String, Value)>,
        data: &RunData,
    ) -> Self {
        let mut params = params;
        for change in &data.changes {
            params.insert(change.name.clone(), change.value.clone());
        }
        Self { lesson, lab, schema, params, turned, data: kept(schema, data) }
    }

    pub fn label(&self) -> String {
        label(&self.lab, &self.turned, &self.data.changes)
    }

    /// Says what sets it apart from these parameters, which its lesson sets.
    pub fn tell_apart(&mut self, set: &Params) {
        let differs = |name: &str| {
            let both = self.params.get(name).zip(set.get(name));
            both.is_some_and(|(value, set)| !metrics::is_same(set, value))
        };
        // What a table supplies follows from the parameter that names its entry.
        let follows = |name: &str| {
            let from = self.schema.param(name).and_then(|param| param.from.as_deref());
            from.and_then(|from| from.split_once('.')).is_some_and(|(entry, _)| differs(entry))
        };
        let turned = self.params.iter().filter(|(name, _)| differs(name) && !follows(name));
        self.turned = turned.map(|(n, v)| (n.clone(), v.clone())).collect();
    }
}

pub fn label(lab: &str, turned: &[(String, Value)], changes: &[Change]) -> String {
    let mut told: Vec<(&str, &Value)> = turned.iter().map(|(n, v)| (n.as_str(), v)).collect();
    for change in changes {
        match told.iter_mut().find(|(name, _)| *name == change.name) {
            Some((_, value)) => *value = &change.value,
            None => told.push((&change.name, &change.value)),
        }
    }
    let told: Vec<String> = told.iter().map(|(n, v)| format!("{n} {v}")).collect();
    if told.is_empty() { lab.to_owned() } else { format!("{lab}: {}", told.join(", ")) }
}

/// The metrics of a run, and the series that stand behind those of others; pictures are left out.
fn kept(schema: &Schema, data: &RunData) -> RunData {
    let panels = schema.panels.iter();
    let panels = panels.filter(|panel| panel.draw == Draw::Line && panel.attempts.is_some());
    let curves: Vec<&str> =
        panels.flat_map(|panel| metrics::expand(&panel.metrics, data)).collect();
    let mut kept = RunData { step: data.step, changes: data.changes.clone(), ..RunData::default() };
    for (name, value) in data.metrics() {
        match data.series.get(name).filter(|_| curves.contains(&name)) {
            Some(series) => {
                kept.series.insert(name.into(), series.clone());
            }
            None if metrics::is_broken(data, name) => {}
            None => {
                kept.scalars.insert(name.into(), value);
            }
        }
    }
    kept
}

#[derive(Clone, Copy, Debug, Default)]
pub struct RunComparison<'a> {
    /// All runs of the lesson that have ended, the oldest first; the one on the screen may be among them.
    pub all: &'a [Arc<FinishedRun>],
    pub own: Option<Own<'a>>,
    /// The parameters that the lesson gives the lab: without a run of its own those like them are compared.
    pub set: Option<&'a Params>,
    pub goals: &'a [Goal],
}

#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    pub lab: &'a str,
    /// Its parameters as it began.
    pub params: &'a Params,
    /// Those in which it differs from what its lesson sets.
    pub turned: &'a [(String, Value)],
    /// What it left, if it has ended.
    pub left: Option<&'a Arc<FinishedRun>>,
}

impl<'a> RunComparison<'a> {
    /// The other runs of the kinds that a panel shows, the oldest first.
    fn others(&self, schema: &Schema, panel: &str) -> impl Iterator<Item = &'a Arc<FinishedRun>> {
        let attempts = schema.attempts(panel);
        let left = self.own.and_then(|own| own.left);
        let all = self.all.iter();
        all.filter(move |one| {
            attempts.is_some_and(|attempts| attempts.takes(&schema.kind, &one.schema.kind))
                && left.is_none_or(|left| !Arc::ptr_eq(left, one))
        })
    }

    /// The other runs with curves behind a panel's, the newest first.
    pub fn behind(&self, schema: &Schema, panel: &str) -> Vec<&'a Arc<FinishedRun>> {
        let mut all: Vec<_> = self.others(schema, panel).collect();
        all.reverse();
        all
    }
}

struct RunEnv<'a> {
    data: &'a RunData,
    param: &'a dyn Fn(&str) -> Option<Value>,
}

impl Env for RunEnv<'_> {
    fn lookup(&self, name: &str) -> Result<Found, LookupError> {
        let found = self.data.metric(name).filter(|_| !metrics::is_broken(self.data, name));
        let value = found.or_else(|| (self.param)(name));
        let found = match &value {
            Some(Value::Text(text)) => Some(Found::Text(text.clone())),
            Some(Value::Bool(truth)) => Some(Found::Bool(*truth)),
            Some(value) => value.as_f64().map(Found::Number),
            None => None,
        };
        found.ok_or_else(|| LookupError::Missing { reason: "the run has not found it".to_owned() })
    }
}

impl RunEnv<'_> {
    /// What a term comes to; nothing where the run has not found what it needs.
    fn number(&self, term: &Term) -> Option<f64> {
        match evaluate(&term.0, self) {
            Ok(Found::Number(x)) => Some(x),
            Ok(Found::Text(_) | Found::Bool(_) | Found::Series(_)) | Err(_) => None,
        }
    }
}
