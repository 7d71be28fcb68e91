//! Answers that are kernels: each test is a run of the lab `kernel`, its outputs are compared, its costs held to limits.

use std::collections::BTreeMap;

use mlsys_expr::{Env, EvalError, LookupError, Value as Known, evaluate};
use mlsys_lab::lab::Lab;
use mlsys_lab::nearest::nearest;
use mlsys_lab::params::{Given, Settings};
use mlsys_lab::report::RunData;
use mlsys_lab::value::{Value, number};
use mlsys_lab::{LabError, Registry, UnknownKind};

use crate::env::LessonEnv;
use crate::grade::answer::Judgement;
use crate::grade::lab::{self, AnswerEnv};
use crate::model::{Expected, Formula, KernelTask, KernelTest, Limit, Tolerance, Wrong, settings};

pub(crate) const KIND: &str = "kernel";

/// Counts of faults, by which two failures are distinguished.
const FAULTS: [&str; 8] = [
    "out_of_bounds",
    "uninitialized_reads",
    "races",
    "barrier_divergence",
    "overflows",
    "divisions_by_zero",
    "misaligned_accesses",
    "other_faults",
];

/// Where a kernel failed and how it showed: two kernels that fail in the same way make the same mistake.
#[derive(Debug, PartialEq)]
struct Symptom {
    test: usize,
    limit: Option<usize>,
    seen: BTreeMap<String, Value>,
}

/// A kernel that is not right: what to say, and by which it is recognised.
struct Failure {
    say: String,
    symptom: Symptom,
    /// Whether it did not come to an end.
    is_endless: bool,
}

enum TestError {
    Failed(Failure),
    /// It is no kernel, or not one of these arguments.
    Malformed(String),
}

fn malformed(error: impl ToString) -> TestError {
    TestError::Malformed(error.to_string())
}

/// Judges a kernel, with the result of each test.
pub(super) fn judge(
    text: &str,
    task: &KernelTask,
    lesson: &dyn Env,
    registry: &Registry,
) -> (Judgement, Vec<Case>) {
    let bench = match Bench::new(task, lesson, registry) {
        Ok(bench) => bench,
        Err(error) => return (Judgement::Malformed(error.to_string()), Vec::new()),
    };
    let mut cases = Vec::new();
    let mut first = None;
    let mut tests = task.tests.iter().enumerate();
    for (index, test) in tests.by_ref() {
        let (result, failure) = match bench.test(text, index, test) {
            Ok(costs) => (CaseResult::Passed(costs), None),
            Err(TestError::Failed(failure)) => {
                (CaseResult::Failed(failure.say.clone()), Some(failure))
            }
            Err(TestError::Malformed(why)) => return (Judgement::Malformed(why), Vec::new()),
        };
        cases.push(Case { name: test.name.clone(), result });
        // What does not end on one test would use up the time of all others.
        let is_endless = failure.as_ref().is_some_and(|failure| failure.is_endless);
        first = first.or(failure);
        if is_endless {
            break;
        }
    }
    let names = tests.map(|(_, test)| test.name.clone());
    cases.extend(names.map(|name| Case { name, result: CaseResult::NotRun }));
    let say = first.map(|failure| bench.recognised(text, failure));
    (say.map_or(Judgement::Right, |say| Judgement::Wrong(Some(say))), cases)
}

struct Bench<'a> {
    lab: &'a dyn Lab,
    task: &'a KernelTask,
    lesson: &'a dyn Env,
}

impl<'a> Bench<'a> {
    fn new(
        task: &'a KernelTask,
        lesson: &'a dyn Env,
        registry: &'a Registry,
    ) -> Result<Self, UnknownKind> {
        Ok(Self { lab: registry.find(KIND)?, task, lesson })
    }

    /// Where a kernel fails first, if it does.
    fn symptom(&self, text: &str) -> Option<Symptom> {
        for (index, test) in self.task.tests.iter().enumerate() {
            match self.test(text, index, test) {
                Ok(_) => {}
                Err(TestError::Failed(failure)) => return Some(failure.symptom),
                Err(TestError::Malformed(_)) => return None,
            }
        }
        None
    }

    /// What a right kernel cost, a line for each limit.
    fn test(&self, text: &str, index: usize, test: &KernelTest) -> Result<Vec<String>, TestError> {
        let failed = |say: String, limit: Option<usize>, seen: BTreeMap<String, Value>| {
            let symptom = Symptom { test: index, limit, seen };
            TestError::Failed(Failure { say, symptom, is_endless: false })
        };
        let data = self.run(text, test).map_err(|error| {
            if error.is_usage() {
                return malformed(error);
            }
            let symptom = Symptom { test: index, limit: None, seen: BTreeMap::new() };
            TestError::Failed(Failure { say: error.to_string(), symptom, is_endless: true })
        })?;
        if data.metric("correct") != Some(Value::Bool(true)) {
            let problem = data.metric("first_problem");
            let problem =
                problem.as_ref().and_then(Value::as_str).unwrap_or("something went wrong");
            return Err(failed(problem.to_owned(), None, outputs(&data)));
        }
        for (buffer, wanted) in &self.wanted(test).map_err(malformed)? {
            let given = contents(&data, buffer);
            if let Some(say) = difference(buffer, &given, wanted, self.task.tolerance) {
                return Err(failed(say, None, outputs(&data)));
            }
        }
        let env = AnswerEnv {
            answer: LessonEnv::new().with_run("answer", self.lab.schema(), &data),
            lesson: self.lesson,
        };
        let mut costs = Vec::new();
        for (at, limit) in self.task.limits.iter().enumerate() {
            let is_kept = match evaluate(&limit.assert.expr, &env).map_err(malformed)? {
                Known::Bool(kept) => kept,
                Known::Number(x) => x != 0.0,
                Known::Text(_) | Known::Series(_) => false,
            };
            let cost = measured(limit, &data);
            if !is_kept {
                let names = limit.assert.expr.names().into_iter();
                let seen = names.filter_map(|(name, _)| {
                    let metric = name.as_str().strip_prefix("answer.")?;
                    Some((metric.to_owned(), data.metric(metric)?))
                });
                let say = format!("{cost}. {}", limit.say);
                return Err(failed(say, Some(at), seen.collect()));
            }
            costs.push(cost);
        }
        Ok(costs)
    }

    fn run(&self, text: &str, test: &KernelTest) -> Result<RunData, LabError> {
        let mut over = Settings::new();
        over.push("example", Given::Value("custom".into()));
        over.push("source", Given::Value(text.into()));
        lab::run_once(self.lab, &launch(test).overlaid(&over))
    }

    /// What each buffer must hold: by the test's own word, or as the reference leaves it.
    fn wanted(&self, test: &KernelTest) -> Result<Vec<(String, Vec<Value>)>, ExpectedError> {
        if !test.expect.is_empty() {
            let wanted = test.expect.iter().map(|Expected { buffer, value }| {
                Ok((buffer.value.clone(), expected(test, &buffer.value, value)?))
            });
            return wanted.collect();
        }
        let reference = self.task.reference.as_ref().unwrap_or(&self.task.answer);
        let data = self.run(&reference.value, test).map_err(ExpectedError::Reference)?;
        let metrics = data.metrics();
        let buffers = metrics.keys().filter_map(|name| name.strip_prefix("buffer."));
        Ok(buffers.map(|buffer| (buffer.to_owned(), contents(&data, buffer))).collect())
    }

    /// The feedback on a failure: of a stated wrong kernel that reads the same, or that fails in the same way.
    fn recognised(&self, text: &str, failure: Failure) -> String {
        let squeezed = lab::squeezed(text);
        let reads_alike = |wrong: &&Wrong<String>| lab::squeezed(&wrong.value) == squeezed;
        let fails_alike =
            |wrong: &&Wrong<String>| self.symptom(&wrong.value).as_ref() == Some(&failure.symptom);
        let mut wrong = self.task.wrong.iter();
        match wrong.clone().find(reads_alike).or_else(|| wrong.find(fails_alike)) {
            Some(stated) => stated.say.clone(),
            None => {
                let test = self.task.tests.get(failure.symptom.test);
                let name = test.map_or("", |test| test.name.as_str());
                format!("{name}: {}", failure.say)
            }
        }
    }
}

/// One test of a kernel and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What the test is called.
    pub name: String,
    pub result: CaseResult,
}

/// What came of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseResult {
    /// It is as it should be; what it cost, a line for each limit.
    Passed(Vec<String>),
    /// It is not, and how that shows.
    Failed(String),
    /// It was not run, because one before it did not end.
    NotRun,
}

/// What a limit is about: what was measured, and what is allowed.
fn measured(limit: &Limit, data: &RunData) -> String {
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
    let allowed = limit.assert.source.replace("answer.", "");
    format!("{}; allowed: {allowed}", costs.join(", "))
}

/// Warp instructions of one test where it says nothing: an answer is graded while the learner waits.
const BUDGET: i64 = 1_000_000;

/// Elements of a buffer that the lab reports.
const SHOWN: usize = 4096;

/// A test's parameters. A buffer without a fill is one that the kernel is to fill, whatever its type says.
pub(crate) fn launch(test: &KernelTest) -> Settings {
    let mut given = settings(&test.set);
    let has = |name: &str| test.set.iter().any(|setting| setting.name == name);
    if !has("max_instructions") {
        given.push("max_instructions", Given::Value(Value::Int(BUDGET)));
    }
    for setting in &test.set {
        let ("arguments", Value::Table(arguments)) = (setting.name.as_str(), &setting.value) else {
            continue;
        };
        let filled = arguments.iter().map(|(name, value)| {
            let mut value = value.clone();
            if let Value::Table(buffer) = &mut value {
                buffer.entry("fill".to_owned()).or_insert_with(|| "poison".into());
            }
            (name.clone(), value)
        });
        let mut over = Settings::new();
        over.push("arguments", Given::Value(Value::Table(filled.collect())));
        given = given.overlaid(&over);
    }
    given
}

/// Why it is not known what a buffer must hold.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExpectedError {
    #[error("the test has no arguments")]
    NoArguments,
    #[error("no argument is a buffer called '{0}'")]
    NoBuffer(String),
    #[error("{0} is no number")]
    NotANumber(&'static str),
    #[error("{0}")]
    NoValue(EvalError),
    #[error("the reference cannot be run: {0}")]
    Reference(LabError),
}

/// The elements that a formula gives for a buffer.
pub(crate) fn expected(
    test: &KernelTest,
    buffer: &str,
    value: &Formula,
) -> Result<Vec<Value>, ExpectedError> {
    let arguments = test.set.iter().find(|setting| setting.name == "arguments");
    let Some(Value::Table(arguments)) = arguments.map(|setting| &setting.value) else {
        return Err(ExpectedError::NoArguments);
    };
    let count = match arguments.get(buffer) {
        Some(Value::Table(fields)) => fields.get("buffer").and_then(Value::as_f64),
        Some(_) | None => None,
    };
    let Some(count) = count else { return Err(ExpectedError::NoBuffer(buffer.to_owned())) };
    (0..(count as usize).min(SHOWN))
        .map(|i| match evaluate(&value.expr, &AtElement { arguments, i }) {
            Ok(Known::Number(x)) => Ok(Value::Float(x)),
            Ok(other) => Err(ExpectedError::NotANumber(other.kind())),
            Err(error) => Err(ExpectedError::NoValue(error)),
        })
        .collect()
}

/// Names in an expected value: `i`, numbers among the arguments, and what buffers held at `i` at the start.
struct AtElement<'a> {
    arguments: &'a BTreeMap<String, Value>,
    i: usize,
}

impl Env for AtElement<'_> {
    fn lookup(&self, name: &str) -> Result<Known, LookupError> {
        if name == "i" {
            return Ok(Known::Number(self.i as f64));
        }
        let missing = |reason: &str| LookupError::Missing { reason: reason.to_owned() };
        match self.arguments.get(name) {
            Some(Value::Table(buffer)) => match buffer.get("fill").and_then(Value::as_str) {
                Some("index") => Ok(Known::Number(self.i as f64)),
                Some("ones") => Ok(Known::Number(1.0)),
                Some("zeros") => Ok(Known::Number(0.0)),
                Some("random") => {
                    Err(missing("what a random fill gives has no formula; write a reference"))
                }
                Some(_) | None => Err(missing("nothing is written there at the start")),
            },
            Some(value) => match value.as_f64() {
                Some(x) => Ok(Known::Number(x)),
                None => Err(missing("it is no number")),
            },
            None => Err(LookupError::Unknown {
                nearest: nearest(name, self.arguments.keys().map(String::as_str).chain(["i"]))
                    .map(str::to_owned),
            }),
        }
    }
}

fn contents(data: &RunData, buffer: &str) -> Vec<Value> {
    match data.metric(&format!("buffer.{buffer}")) {
        Some(Value::Array(values)) => values,
        Some(_) | None => Vec::new(),
    }
}

/// The buffers and the counts of faults of a run.
fn outputs(data: &RunData) -> BTreeMap<String, Value> {
    let metrics = data.metrics().into_iter();
    let kept = metrics.filter(|(name, _)| name.starts_with("buffer.") || FAULTS.contains(name));
    kept.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// The first element that is not as wanted, and how many more there are.
fn difference(buffer: &str, given: &[Value], wanted: &[Value], near: Tolerance) -> Option<String> {
    if given.len() < wanted.len() {
        return Some(format!("the kernel has no {buffer} of {} elements", wanted.len()));
    }
    let agrees = |given: &Value, wanted: &Value| match (given.as_f64(), wanted.as_f64()) {
        (Some(given), Some(wanted)) => near.accepts(given, wanted),
        // Elements that the reference does not write are not compared; texts and booleans are equal or not.
        _ => *wanted == Value::from("poison") || given == wanted,
    };
    let differing: Vec<usize> =
        (0..wanted.len()).filter(|&at| !agrees(&given[at], &wanted[at])).collect();
    let first = *differing.first()?;
    let shown = |value: &Value| match value.as_f64() {
        Some(x) => number(x),
        None if *value == Value::from("poison") => "not written".to_owned(),
        None => value.to_string(),
    };
    let more = match differing.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more differ"),
    };
    Some(format!(
        "{buffer}[{first}] is {}, and should be {}{more}",
        shown(&given[first]),
        shown(&wanted[first])
    ))
}
