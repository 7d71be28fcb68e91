//! What a run cost, compared with the limits of its question.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_expr::{Env, EvalError, LookupError, Value as Known, evaluate};
use mlsys_lab::report::RunData;
use mlsys_lab::schema::Schema;
use mlsys_lab::value::{Value, number};

use crate::env::LessonEnv;
use crate::grade::kernel::launch::Numbers;
use crate::model::{Bound, KernelTask, Limit, Side};

/// `answer.NAME` and `reference.NAME` are metrics of two runs of the same launch; then its numbers, then the lesson.
pub(super) struct CostEnv<'a> {
    pub(super) runs: LessonEnv<'a>,
    pub(super) numbers: &'a Numbers,
    pub(super) lesson: &'a dyn Env,
}

impl Env for CostEnv<'_> {
    fn lookup(&self, name: &str) -> Result<Known, LookupError> {
        if name.starts_with("answer.") || is_reference(name) {
            self.runs.lookup(name)
        } else {
            self.numbers.lookup(name).or_else(|_| self.lesson.lookup(name))
        }
    }
}

fn is_reference(name: &str) -> bool {
    name.starts_with("reference.")
}

/// Whether the costs are compared with those of the reference.
pub(super) fn needs_reference(task: &KernelTask) -> bool {
    let mut formulas = task.cost_formulas();
    formulas.any(|formula| formula.expr.names().iter().any(|(name, _)| is_reference(name.as_str())))
}

/// A limit that was not kept.
pub(super) struct Missed {
    /// Which one, in the order of the file, bounds last.
    pub(super) at: usize,
    pub(super) say: String,
    /// The metrics that it is about.
    pub(super) seen: BTreeMap<String, Value>,
}

/// What was measured for the limits, each metric once, or the first limit that was not kept.
pub(super) fn check(
    task: &KernelTask,
    data: &RunData,
    env: &CostEnv<'_>,
) -> Result<Result<Vec<String>, Missed>, EvalError> {
    let mut lines: Vec<String> = Vec::new();
    for (at, limit) in task.limits.iter().enumerate() {
        let is_kept = match evaluate(&limit.assert.expr, env)? {
            Known::Bool(kept) => kept,
            Known::Number(x) => x != 0.0,
            Known::Text(_) | Known::Series(_) => false,
        };
        let costs = measured(limit, data);
        if !is_kept {
            let names = limit.assert.expr.names().into_iter();
            let seen = names.filter_map(|(name, _)| {
                let metric = name.as_str().strip_prefix("answer.")?;
                Some((metric.to_owned(), data.metric(metric)?))
            });
            let allowed = limit.assert.source.replace("answer.", "");
            let say = format!("{}; allowed: {allowed}. {}", costs.join(", "), limit.say);
            return Ok(Err(Missed { at, say, seen: seen.collect() }));
        }
        lines.extend(costs);
    }
    for (index, bound) in task.bounds.iter().enumerate() {
        let name = &bound.metric.value;
        let value = data.metric(name);
        let Known::Number(limit) = evaluate(&bound.value.expr, env)? else { continue };
        let Some(got) = value.as_ref().and_then(Value::as_f64) else { continue };
        let is_kept = match bound.side {
            Side::AtLeast => got >= limit,
            Side::AtMost => got <= limit,
        };
        let (got, limit, words) = (number(got), number(limit), bound.side.words());
        if !is_kept {
            let say = format!(
                "{name} is {got}, and must be {words} {limit}{}{}",
                source(bound),
                advice(bound)
            );
            let seen = value.map(|value| (name.clone(), value)).into_iter().collect();
            return Ok(Err(Missed { at: task.limits.len() + index, say, seen }));
        }
        lines.push(format!("{name} {got}"));
    }
    let mut told = BTreeSet::new();
    lines.retain(|line| told.insert(line.clone()));
    Ok(Ok(lines))
}

/// Where the limit of a bound comes from, unless it is a number.
fn source(bound: &Bound) -> String {
    let source = &bound.value.source;
    if source.parse::<f64>().is_ok() { String::new() } else { format!(" ({source})") }
}

/// What to look at where a bound is not kept.
fn advice(bound: &Bound) -> &'static str {
    match (bound.side, bound.metric.value.as_str()) {
        (Side::AtLeast, "global_loads") => {
            ". A right result is computed from the input: load each element that it depends on"
        }
        (Side::AtMost, "global_loads") => {
            ". Some elements are loaded more often than necessary: keep them in registers or shared memory"
        }
        (Side::AtLeast, "active_threads") => {
            ". The work is left to too few threads: give each of them a part"
        }
        (Side::AtMost, "warp_instructions") => {
            ". The warps execute too many instructions: does one thread or one warp do what others could do at the same time?"
        }
        (
            Side::AtMost,
            "global_load_sectors"
            | "global_store_sectors"
            | "sectors_per_load"
            | "sectors_per_store"
            | "moved_bytes",
        ) => {
            ". In each access the lanes of a warp should touch neighbouring elements, which share a sector of 32 bytes"
        }
        (Side::AtMost, "divergent_branches") => {
            ". Too many branches split a warp: let whole warps take the same side"
        }
        (Side::AtMost, "bank_replays") => {
            ". Lanes of a warp ask one bank of shared memory for different words"
        }
        (Side::AtLeast | Side::AtMost, _) => "",
    }
}

/// The metrics that a limit is about, as they were measured.
fn measured(limit: &Limit, data: &RunData) -> Vec<String> {
    let names = limit.assert.expr.names().into_iter();
    let mut costs: Vec<String> = Vec::new();
    for (name, _) in names {
        let Some(metric) = name.as_str().strip_prefix("answer.") else { continue };
        let value = data
            .metric(metric)
            .map(|value| value.as_f64().map_or_else(|| value.to_string(), number));
        let cost = format!("{metric} {}", value.as_deref().unwrap_or("has no value"));
        if !costs.contains(&cost) {
            costs.push(cost);
        }
    }
    costs
}

/// The runs of an answer and, where limits refer to it, of the reference.
pub(super) fn runs<'a>(
    schema: &'a Schema,
    answer: &'a RunData,
    reference: Option<&'a RunData>,
) -> LessonEnv<'a> {
    let env = LessonEnv::new().with_run("answer", schema, answer);
    match reference {
        Some(reference) => env.with_run("reference", schema, reference),
        None => env,
    }
}
