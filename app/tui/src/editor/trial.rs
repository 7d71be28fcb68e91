//! Tests of a kernel that is a question's answer: asked for here, run elsewhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use mlsys_expr::{Env, LookupError, Value};
use mlsys_lesson::{Case, CaseResult, Grade, Lesson, LessonId, Question, QuestionKind};

/// What is known of the tests of a question's kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelTests {
    /// Its number; what comes of an earlier one is no longer wanted.
    pub attempt: u64,
    /// The text that is tested.
    pub text: String,
    /// How far they are.
    pub state: TestsState,
}

/// How far tests are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestsState {
    /// They run.
    Going,
    /// What came of each.
    Done(Vec<Case>),
    /// They could not be run, for this reason.
    Refused(String),
}

impl KernelTests {
    /// Whether what is said to an answer is what a test tells already.
    pub fn repeats(&self, feedback: &str) -> bool {
        let TestsState::Done(cases) = &self.state else {
            return false;
        };
        cases.iter().any(|case| match &case.result {
            CaseResult::Failed(how) => feedback.ends_with(how.as_str()),
            CaseResult::Passed(_) | CaseResult::NotRun => false,
        })
    }
}

/// A kernel to be tested.
#[derive(Debug)]
pub struct TestsJob {
    /// Its number.
    pub attempt: u64,
    /// The lesson.
    pub lesson: Arc<Lesson>,
    /// The question's id.
    pub question: String,
    /// The kernel.
    pub text: String,
    /// What names of the lesson stand for.
    pub known: Known,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct TestsReport {
    /// Its number.
    pub attempt: u64,
    /// The lesson.
    pub lesson: LessonId,
    /// The question's id.
    pub question: String,
    /// The kernel.
    pub text: String,
    /// The verdict.
    pub grade: Grade,
    /// What came of each test.
    pub cases: Vec<Case>,
}

/// The values of a lesson's names that a question's limits speak of, taken along to where it is graded.
#[derive(Clone, Debug, Default)]
pub struct Known(BTreeMap<String, Result<Value, LookupError>>);

impl Known {
    /// Those of a question, as they are now.
    pub fn of(question: &Question, env: &dyn Env) -> Self {
        let QuestionKind::Kernel(task) = &question.kind else {
            return Self::default();
        };
        let names = task.limits.iter().flat_map(|limit| limit.assert.expr.names());
        let names = names.map(|(name, _)| name.as_str().to_owned());
        Self(
            names
                .filter(|name| !name.starts_with("answer."))
                .map(|name| (name.clone(), env.lookup(&name)))
                .collect(),
        )
    }
}

impl Env for Known {
    fn lookup(&self, name: &str) -> Result<Value, LookupError> {
        self.0.get(name).cloned().unwrap_or(Err(LookupError::Unknown { nearest: None }))
    }
}

impl TestsJob {
    /// Runs the tests; none if the lesson has no such question.
    pub fn run(self, registry: &mlsys_lab::Registry) -> Option<TestsReport> {
        let question = self.lesson.question(&self.question)?;
        let (grade, cases) = question.try_kernel(&self.text, &self.known, registry)?;
        Some(TestsReport {
            attempt: self.attempt,
            lesson: self.lesson.front.id.clone(),
            question: self.question,
            text: self.text,
            grade,
            cases,
        })
    }
}

/// Where a text comes from that is told of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftOrigin {
    /// It was kept when the editor was left.
    Kept,
    /// Another program has saved it just now.
    Saved,
}
