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
    pub text: String,
    pub state: TestsState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestsState {
    Going,
    Done(Vec<Case>),
    /// They could not be run, for this reason.
    Refused(String),
}

impl KernelTests {
    /// Whether what is said to an answer is what a test tells already.
    pub fn repeats(&self, feedback: &str) -> bool {
        let TestsState::Done(cases) = &self.state else { return false };
        cases.iter().any(|case| match &case.result {
            CaseResult::Failed(how) => feedback.ends_with(how.as_str()),
            CaseResult::Passed(_) | CaseResult::NotRun => false,
        })
    }
}

#[derive(Debug)]
pub struct TestsJob {
    pub attempt: u64,
    pub lesson: Arc<Lesson>,
    pub question: String,
    pub text: String,
    /// What names of the lesson stand for.
    pub known: Known,
}

#[derive(Clone, Debug)]
pub struct TestsReport {
    pub attempt: u64,
    pub lesson: LessonId,
    pub question: String,
    pub text: String,
    pub grade: Grade,
    pub cases: Vec<Case>,
}

/// The values of a lesson's names that a question's limits speak of, taken along to where it is graded.
#[derive(Clone, Debug, Default)]
pub struct Known(BTreeMap<String, Result<Value, LookupError>>);

impl Known {
    /// Those of a question, as they are now.
    pub fn of(question: &Question, env: &dyn Env) -> Self {
        let QuestionKind::Kernel(task) = &question.kind else { return Self::default() };
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
