//! Answers that are kernels: each test is a run of the lab `kernel`, its outputs are compared, its costs held to limits.

mod case;
mod compare;
mod expected;

use std::collections::BTreeMap;

use mlsys_expr::{Env, Value as Known, evaluate};
use mlsys_lab::Registry;
use mlsys_lab::lab::{Lab, LabError};
use mlsys_lab::params::{Given, Settings};
use mlsys_lab::report::RunData;
use mlsys_lab::value::Value;

use super::Judgement;
use super::lab::{self, AnswerEnv};
use crate::env::LessonEnv;
use crate::model::{KernelTask, KernelTest};
use case::measured;
pub use case::{Case, CaseResult};
use compare::{contents, difference, outputs};
pub(crate) use expected::{expected, launch};

/// The kind of lab that runs kernels.
pub(crate) const KIND: &str = "kernel";

/// Counts of what goes wrong, by which two failures are told apart.
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
}

/// What came of one kernel on a test, or on all tests.
enum Tried {
    /// It is right; what it cost, a line for each limit.
    Right(Vec<String>),
    Failed(Failure),
    /// It did not come to an end.
    Broken(Failure),
    /// It is no kernel, or not one of these arguments.
    Malformed(String),
}

/// Judges a kernel, and tells what came of each test.
pub(super) fn judge(
    text: &str,
    task: &KernelTask,
    lesson: &dyn Env,
    registry: &Registry,
) -> (Judgement, Vec<Case>) {
    let bench = match Bench::new(task, lesson, registry) {
        Ok(bench) => bench,
        Err(message) => return (Judgement::Malformed(message), Vec::new()),
    };
    let mut cases = Vec::new();
    let mut first = None;
    let mut tests = task.tests.iter().enumerate();
    for (index, test) in tests.by_ref() {
        let (result, failure, goes_on) = match bench.test(text, index, test) {
            Tried::Malformed(message) => return (Judgement::Malformed(message), Vec::new()),
            Tried::Right(costs) => (CaseResult::Passed(costs), None, true),
            Tried::Failed(failure) => (failure.case(), Some(failure), true),
            // What does not end on one test would use up the time of all others.
            Tried::Broken(failure) => (failure.case(), Some(failure), false),
        };
        let name = test.name.clone();
        cases.push(Case { name, result });
        first = first.or(failure);
        if !goes_on {
            break;
        }
    }
    cases.extend(
        tests.map(|(_, test)| Case { name: test.name.clone(), result: CaseResult::NotRun }),
    );
    let judgement = match first {
        None => Judgement::Right,
        Some(failure) => Judgement::Wrong(Some(bench.recognised(text, failure))),
    };
    (judgement, cases)
}

impl Failure {
    fn case(&self) -> CaseResult {
        CaseResult::Failed(self.say.clone())
    }
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
    ) -> Result<Self, String> {
        let lab = registry.find(KIND).map_err(|error| error.to_string())?;
        Ok(Self { lab, task, lesson })
    }

    /// Where a kernel fails first, if it does.
    fn symptom(&self, text: &str) -> Option<Symptom> {
        for (index, test) in self.task.tests.iter().enumerate() {
            match self.test(text, index, test) {
                Tried::Right(_) => {}
                Tried::Failed(failure) | Tried::Broken(failure) => return Some(failure.symptom),
                Tried::Malformed(_) => return None,
            }
        }
        None
    }

    fn test(&self, text: &str, index: usize, test: &KernelTest) -> Tried {
        let failure = |say: String, limit: Option<usize>, seen: BTreeMap<String, Value>| Failure {
            say,
            symptom: Symptom { test: index, limit, seen },
        };
        let data = match self.run(text, test) {
            Ok(data) => data,
            Err(error) if error.is_usage() => return Tried::Malformed(error.to_string()),
            Err(error) => return Tried::Broken(failure(error.to_string(), None, BTreeMap::new())),
        };
        if data.metric("correct") != Some(Value::Bool(true)) {
            let problem = data.metric("first_problem");
            let problem =
                problem.as_ref().and_then(Value::as_str).unwrap_or("something went wrong");
            return Tried::Failed(failure(problem.to_owned(), None, outputs(&data, &FAULTS)));
        }
        let wanted = match self.wanted(test) {
            Ok(wanted) => wanted,
            Err(message) => return Tried::Malformed(message),
        };
        for (buffer, wanted) in &wanted {
            let given = contents(&data, buffer);
            if let Some(say) = difference(buffer, &given, wanted, self.task.tolerance) {
                return Tried::Failed(failure(say, None, outputs(&data, &FAULTS)));
            }
        }
        let env = AnswerEnv {
            answer: LessonEnv::new().with_run("answer", self.lab.schema(), &data),
            lesson: self.lesson,
        };
        let mut costs = Vec::new();
        for (at, limit) in self.task.limits.iter().enumerate() {
            let is_kept = match evaluate(&limit.assert.expr, &env) {
                Ok(Known::Bool(kept)) => kept,
                Ok(Known::Number(x)) => x != 0.0,
                Ok(Known::Text(_) | Known::Series(_)) => false,
                Err(error) => return Tried::Malformed(error.to_string()),
            };
            let cost = measured(limit, &data);
            if !is_kept {
                let names = limit.assert.expr.names().into_iter();
                let seen = names.filter_map(|(name, _)| {
                    let metric = name.as_str().strip_prefix("answer.")?;
                    Some((metric.to_owned(), data.metric(metric)?))
                });
                let say = format!("{cost}. {}", limit.say);
                return Tried::Failed(failure(say, Some(at), seen.collect()));
            }
            costs.push(cost);
        }
        Tried::Right(costs)
    }

    fn run(&self, text: &str, test: &KernelTest) -> Result<RunData, LabError> {
        let mut over = Settings::new();
        over.push("example", Given::Value("custom".into()));
        over.push("source", Given::Value(text.into()));
        lab::run_once(self.lab, &launch(test).overlaid(&over))
    }

    /// What each buffer must hold: by the test's own word, or as the reference leaves it.
    fn wanted(&self, test: &KernelTest) -> Result<Vec<(String, Vec<Value>)>, String> {
        if !test.expect.is_empty() {
            let expect = test.expect.iter();
            return expect
                .map(|expect| {
                    let buffer = &expect.buffer.value;
                    Ok((buffer.clone(), expected(test, buffer, &expect.value)?))
                })
                .collect();
        }
        let reference = self.task.reference.as_ref().unwrap_or(&self.task.answer);
        let data = self
            .run(&reference.value, test)
            .map_err(|error| format!("the reference cannot be run: {error}"))?;
        let metrics = data.metrics();
        let buffers = metrics.keys().filter_map(|name| name.strip_prefix("buffer."));
        Ok(buffers.map(|buffer| (buffer.to_owned(), contents(&data, buffer))).collect())
    }

    /// What to say to a failure: what is stated for a wrong kernel that reads the same, or that fails in the same way.
    fn recognised(&self, text: &str, failure: Failure) -> String {
        let wrong = &self.task.wrong;
        if let Some(stated) =
            wrong.iter().find(|wrong| lab::squeezed(&wrong.value) == lab::squeezed(text))
        {
            return stated.say.clone();
        }
        let fails_alike = |kernel: &str| self.symptom(kernel).as_ref() == Some(&failure.symptom);
        match wrong.iter().find(|wrong| fails_alike(&wrong.value)) {
            Some(stated) => stated.say.clone(),
            None => {
                let test = self.task.tests.get(failure.symptom.test);
                let name = test.map_or("", |test| test.name.as_str());
                format!("{name}: {}", failure.say)
            }
        }
    }
}
