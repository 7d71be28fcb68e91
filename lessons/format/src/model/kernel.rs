//! A question that is answered by a kernel.

use mlsys_expr::Dialect;
use mlsys_lab::value::Value;

use crate::diagnostic::{Located, Place};
use crate::model::answer::{Formula, Tolerance, Wrong};
use crate::model::drawn::Varied;
use crate::model::lab::Setting;

/// A kernel that the learner writes, and what is asked of it.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelTask {
    /// What stands in the editor at first.
    pub starter: Option<String>,
    /// A kernel that is right.
    pub answer: Located<String>,
    /// The kernel that gives the expected outputs of tests without `expect`; the answer if unset.
    pub reference: Option<Located<String>>,
    /// What it is run on; all of them must succeed.
    pub tests: Vec<KernelTest>,
    /// What each run may cost.
    pub limits: Vec<Limit>,
    /// Metrics of each run that have a least or a greatest value.
    pub bounds: Vec<Bound>,
    /// How near outputs must come.
    pub tolerance: Tolerance,
    /// Kernels that must not pass, recognised by what they do.
    pub wrong: Vec<Wrong<String>>,
}

/// A launch of the learner's kernel, or one for each combination of the varied numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelTest {
    /// What it is called in feedback.
    pub name: String,
    /// Numbers that expressions in `set` refer to, such as sizes of the problem and of blocks.
    pub vary: Vec<Varied>,
    /// Launch and arguments, as parameters of the lab `kernel`.
    pub set: Vec<Setting>,
    /// What must come out; if empty, what the reference gives.
    pub expect: Vec<Expected>,
    pub audience: Audience,
    pub place: Place,
}

/// For whom a test is where the question's answer is kept elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    Graders,
    /// A sample: learners have it, too.
    Everyone,
}

/// What a buffer must hold at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    pub buffer: Located<String>,
    /// Its elements, in terms of `i`, the numbers among the arguments, and what buffers held at `i` at the start.
    pub value: Formula,
}

/// A condition on what a run cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The condition on the run's metrics, which are called `answer.NAME`.
    pub assert: Formula,
    /// What to say to a kernel that does not keep it.
    pub say: String,
}

/// The least or the greatest value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub metric: Located<String>,
    pub side: Side,
    /// In terms of the launch's numbers and of the reference's metrics on the same launch.
    pub value: Formula,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    AtLeast,
    AtMost,
}

impl Side {
    /// As feedback says it; the key in the file has an underscore.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
        }
    }
}

impl KernelTest {
    /// How often it launches the kernel: once for each combination of the varied numbers.
    pub(crate) fn launches(&self) -> usize {
        let counts = self.vary.iter().map(|varied| varied.values.len());
        counts.fold(1, usize::saturating_mul)
    }

    /// Whether its launches, or what must come out of them, depend on a number.
    pub(crate) fn refers_to(&self, name: &str) -> bool {
        self.set.iter().any(|setting| value_refers_to(&setting.value, name))
            || self.expect.iter().any(|expected| expected.value.refers_to(name))
    }
}

fn value_refers_to(value: &Value, name: &str) -> bool {
    match value {
        Value::Text(text) => mlsys_expr::parse(text, Dialect::Lesson)
            .is_ok_and(|expr| expr.names().iter().any(|(known, _)| known.as_str() == name)),
        Value::Array(items) => items.iter().any(|item| value_refers_to(item, name)),
        Value::Table(entries) => entries.values().any(|entry| value_refers_to(entry, name)),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
    }
}

impl KernelTask {
    /// Sample tests alone: every buffer they compare is expected, so that no reference is needed.
    pub(crate) fn of_samples(tests: &[KernelTest], tolerance: Tolerance) -> Self {
        Self {
            starter: None,
            answer: Located { value: String::new(), place: Place::default() },
            reference: None,
            tests: tests.to_vec(),
            limits: Vec::new(),
            bounds: Vec::new(),
            tolerance,
            wrong: Vec::new(),
        }
    }

    pub(crate) fn samples(&self) -> impl Iterator<Item = &KernelTest> {
        self.tests.iter().filter(|test| test.audience == Audience::Everyone)
    }

    /// Whether a launch, what must come out of it, or what it may cost depends on a number.
    pub(crate) fn refers_to(&self, name: &str) -> bool {
        self.tests.iter().any(|test| test.refers_to(name))
            || self.cost_formulas().any(|formula| formula.refers_to(name))
    }

    /// The expressions that a run's costs are compared with.
    pub fn cost_formulas(&self) -> impl Iterator<Item = &Formula> {
        let limits = self.limits.iter().map(|limit| &limit.assert);
        limits.chain(self.bounds.iter().map(|bound| &bound.value))
    }
}
