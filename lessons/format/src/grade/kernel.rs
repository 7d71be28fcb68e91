//! Answers that are kernels: each launch of each test is a run of the lab `kernel`; what it leaves is compared with what
//! the reference leaves, and what it costs with the question's limits.

mod cost;
mod launch;
mod outputs;

use std::cell::OnceCell;
use std::collections::BTreeMap;

use mlsys_expr::Env;
use mlsys_lab::frame::Frame;
use mlsys_lab::frame::kernel::{Element, FaultSite, Kernel, Problem, View};
use mlsys_lab::lab::Lab;
use mlsys_lab::params::{Given, Settings};
use mlsys_lab::report::RunData;
use mlsys_lab::value::Value;
use mlsys_lab::{LabError, Registry, UnknownKind};

use crate::grade::answer::Judgement;
use crate::grade::lab;
use crate::model::{Expected, KernelTask, KernelTest, Wrong};
use cost::{CostEnv, Missed, needs_reference};
use launch::InvalidNumber;
use outputs::{Difference, ExpectedError, buffers, contents, difference, outputs, problem};

pub(crate) use launch::{Launch, launches};
pub(crate) use outputs::{SHOWN, expected};

pub(crate) const KIND: &str = "kernel";

/// The pictures that tell in which order the instructions of a launch ran.
const ORDERS: [View; 2] = [View::Timeline, View::Divergence];

/// Parameters of a launch that a kernel with large arrays goes beyond.
const EXTENTS: [&str; 2] = ["dynamic_shared_bytes", "concurrent_blocks"];

/// Where a kernel failed and how it showed: two kernels that fail in the same way make the same mistake.
#[derive(Debug, PartialEq)]
struct Symptom {
    test: usize,
    launch: usize,
    limit: Option<usize>,
    seen: BTreeMap<String, Value>,
}

/// A kernel that is not right: what to say, and by which it is recognised.
struct Failure {
    say: String,
    /// The element that differs, and how many more do, in words.
    differs: Option<(Element, String)>,
    symptom: Symptom,
    /// Whether it did not come to an end.
    is_endless: bool,
}

enum TestError {
    Failed(Box<Failure>),
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
        let mut site = None;
        let (result, failure) = match bench.test(text, index, test) {
            Ok(costs) => (CaseResult::Passed(costs), None),
            Err(TestError::Failed(mut failure)) => {
                site = bench.site(text, &mut failure).map(Box::new);
                (CaseResult::Failed(failure.say.clone()), Some(failure))
            }
            Err(TestError::Malformed(why)) => return (Judgement::Malformed(why), Vec::new()),
        };
        cases.push(Case { name: test.name.clone(), result, site });
        // What does not end on one test would use up the time of all others.
        let is_endless = failure.as_ref().is_some_and(|failure| failure.is_endless);
        first = first.or(failure);
        if is_endless {
            break;
        }
    }
    let names = tests.map(|(_, test)| test.name.clone());
    cases.extend(names.map(|name| Case { name, result: CaseResult::NotRun, site: None }));
    let say = first.map(|failure| bench.recognised(text, *failure));
    (say.map_or(Judgement::Right, |say| Judgement::Wrong(Some(say))), cases)
}

struct Bench<'a> {
    lab: &'a dyn Lab,
    task: &'a KernelTask,
    lesson: &'a dyn Env,
    /// The launches of each test.
    trials: Vec<Vec<Trial>>,
    needs_reference: bool,
}

/// A launch and, once it was needed, the reference's run of it.
struct Trial {
    launch: Launch,
    reference: OnceCell<RunData>,
}

#[derive(Debug, thiserror::Error)]
enum BenchError {
    #[error(transparent)]
    NoLab(#[from] UnknownKind),
    #[error(transparent)]
    Launch(#[from] InvalidNumber),
}

impl<'a> Bench<'a> {
    fn new(
        task: &'a KernelTask,
        lesson: &'a dyn Env,
        registry: &'a Registry,
    ) -> Result<Self, BenchError> {
        let lab = registry.find(KIND)?;
        let mut trials: Vec<Vec<Trial>> = Vec::new();
        for test in &task.tests {
            let earlier = trials.iter().map(Vec::len).sum();
            let launches = launches(test, lab.schema(), earlier)?.into_iter();
            let trial = |launch| Trial { launch, reference: OnceCell::new() };
            trials.push(launches.map(trial).collect());
        }
        Ok(Self { lab, task, lesson, trials, needs_reference: needs_reference(task) })
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

    /// What a right kernel cost in the last launch, a line for each limit.
    fn test(&self, text: &str, index: usize, test: &KernelTest) -> Result<Vec<String>, TestError> {
        let mut costs = Vec::new();
        for (launch, trial) in self.trials[index].iter().enumerate() {
            costs = self.attempt(text, test, trial).map_err(|error| match error {
                TestError::Failed(mut failure) => {
                    failure.symptom.test = index;
                    failure.symptom.launch = launch;
                    failure.say = labelled(&trial.launch.label, &failure.say);
                    TestError::Failed(failure)
                }
                TestError::Malformed(why) => TestError::Malformed(why),
            })?;
            if let Some(first) = costs.first_mut() {
                *first = labelled(&trial.launch.label, first);
            }
        }
        Ok(costs)
    }

    fn attempt(
        &self,
        text: &str,
        test: &KernelTest,
        trial: &Trial,
    ) -> Result<Vec<String>, TestError> {
        let failed = |say: String, limit: Option<usize>, seen: BTreeMap<String, Value>| {
            let symptom = Symptom { test: 0, launch: 0, limit, seen };
            TestError::Failed(Box::new(Failure { say, differs: None, symptom, is_endless: false }))
        };
        let data = self.run(text, &trial.launch).map_err(|error| {
            // The text is an answer here, not a parameter of the lab.
            if let LabError::Expression { param, message } = &error
                && param == "source"
            {
                return malformed(message);
            }
            if let LabError::Contradiction { params, message } = &error
                && params.iter().any(|param| EXTENTS.contains(&param.as_str()))
            {
                let seen = BTreeMap::from([("launch".to_owned(), message.as_str().into())]);
                return failed(format!("the launch is too large: {message}"), None, seen);
            }
            if error.is_usage() {
                return malformed(error);
            }
            let symptom = Symptom { test: 0, launch: 0, limit: None, seen: BTreeMap::new() };
            let say = error.to_string();
            TestError::Failed(Box::new(Failure { say, differs: None, symptom, is_endless: true }))
        })?;
        if let Some(problem) = problem(&data) {
            return Err(failed(problem, None, outputs(&data)));
        }
        for (buffer, wanted) in &self.wanted(test, trial).map_err(malformed)? {
            let given = contents(&data, buffer);
            if let Some(difference) = difference(buffer, &given, wanted, self.task.tolerance) {
                let symptom = Symptom { test: 0, launch: 0, limit: None, seen: outputs(&data) };
                let Difference { say, more, element } = difference;
                let differs = element.map(|element| (element, more));
                let failure = Failure { say, differs, symptom, is_endless: false };
                return Err(TestError::Failed(Box::new(failure)));
            }
        }
        let reference = self.needs_reference.then(|| self.reference(trial)).transpose();
        let runs = cost::runs(self.lab.schema(), &data, reference.map_err(malformed)?);
        let env = CostEnv { runs, numbers: &trial.launch.numbers, lesson: self.lesson };
        match cost::check(self.task, &data, &env).map_err(malformed)? {
            Ok(costs) => Ok(costs),
            Err(Missed { at, say, seen }) => Err(failed(say, Some(at), seen)),
        }
    }

    fn run(&self, text: &str, launch: &Launch) -> Result<RunData, LabError> {
        lab::run_unseen(self.lab, &settings(text, launch))
    }

    /// The failed launch once more: where it goes wrong, and in `failure` what wrote the element that differs. Where
    /// nothing did, or only the cost is wrong, that is the end of the launch.
    fn site(&self, text: &str, failure: &mut Failure) -> Option<FaultSite> {
        let trial = &self.trials[failure.symptom.test][failure.symptom.launch];
        let mut settings = settings(text, &trial.launch);
        let differs = failure.differs.take();
        if let Some((element, _)) = &differs {
            settings.push("watch", Given::Value(element.to_string().into()));
        }
        let (mut data, _) = lab::run_seen(self.lab, &settings, &ORDERS.map(View::name));
        let writer = data.metric("watched_write");
        if let Some(writer) = writer.as_ref().and_then(Value::as_str) {
            failure.say += &format!(" (written at {writer})");
        }
        failure.say += differs.as_ref().map_or("", |(_, more)| more);
        let [whole, other] = ORDERS.map(|view| match data.frames.remove(view.name()) {
            Some((_, Frame::Kernel(kernel))) => Some(*kernel),
            Some(_) | None => None,
        });
        let Kernel { recipe, mut whole, .. } = whole?;
        whole.issues = other.map_or_else(Vec::new, |other| other.whole.issues);
        let end = || Problem { step: whole.steps.saturating_sub(1), ..Problem::default() };
        let first = whole.watched.as_ref().or(whole.problems.first());
        let at = first.cloned().unwrap_or_else(end);
        Some(FaultSite { at, recipe, whole, element: differs.map(|(element, _)| element) })
    }

    /// What each buffer must hold: by the test's own word, or as the reference leaves it.
    fn wanted(
        &self,
        test: &KernelTest,
        trial: &Trial,
    ) -> Result<Vec<(String, Vec<Value>)>, ExpectedError> {
        if test.expect.is_empty() {
            return Ok(buffers(self.reference(trial)?));
        }
        let wanted = test.expect.iter().map(|Expected { buffer, value }| {
            Ok((buffer.value.clone(), expected(&trial.launch, &buffer.value, value)?))
        });
        wanted.collect()
    }

    fn reference<'t>(&self, trial: &'t Trial) -> Result<&'t RunData, ExpectedError> {
        if let Some(data) = trial.reference.get() {
            return Ok(data);
        }
        let reference = self.task.reference.as_ref().unwrap_or(&self.task.answer);
        let data = self.run(&reference.value, &trial.launch).map_err(ExpectedError::Reference)?;
        match problem(&data) {
            Some(problem) => Err(ExpectedError::FaultyReference(problem)),
            None => Ok(trial.reference.get_or_init(|| data)),
        }
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

fn settings(text: &str, launch: &Launch) -> Settings {
    let mut over = Settings::new();
    over.push("example", Given::Value("custom".into()));
    over.push("source", Given::Value(text.into()));
    launch.settings().overlaid(&over)
}

fn labelled(label: &str, text: &str) -> String {
    if label.is_empty() { text.to_owned() } else { format!("{label}: {text}") }
}

/// One test of a kernel and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What the test is called.
    pub name: String,
    pub result: CaseResult,
    /// The launch that failed, and where.
    pub site: Option<Box<FaultSite>>,
}

impl Case {
    /// The test and how it failed, if it did not pass.
    pub(super) fn failure(&self) -> Option<String> {
        match &self.result {
            CaseResult::Passed(_) => None,
            CaseResult::Failed(_) => Some(self.sentence()),
            CaseResult::NotRun => Some(format!("{}: not run", self.name)),
        }
    }

    /// The test and how it failed.
    pub fn sentence(&self) -> String {
        match &self.result {
            CaseResult::Failed(how) => format!("{}: {how}", self.name),
            CaseResult::Passed(_) | CaseResult::NotRun => self.name.clone(),
        }
    }
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
