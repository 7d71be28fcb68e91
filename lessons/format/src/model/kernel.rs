//! A question that is answered by a kernel.

use super::Formula;
use super::lab::Setting;
use super::question::{Tolerance, Wrong};
use crate::diagnostic::{Located, Place};

/// A kernel that the learner writes, and what is asked of it.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelTask {
    /// What stands in the editor at first.
    pub starter: Option<String>,
    /// A kernel that is right.
    pub answer: Located<String>,
    /// The kernel whose outputs are wanted where a test does not say what it expects; the answer if there is none.
    pub reference: Option<Located<String>>,
    /// What it is run on; all of them must succeed.
    pub tests: Vec<KernelTest>,
    /// What each run may cost.
    pub limits: Vec<Limit>,
    /// How near outputs must come.
    pub tolerance: Tolerance,
    /// Kernels that must not pass, recognised by what they do.
    pub wrong: Vec<Wrong<String>>,
}

/// One launch of the learner's kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelTest {
    /// What it is called in feedback.
    pub name: String,
    /// Launch and arguments, as parameters of the lab `kernel`.
    pub set: Vec<Setting>,
    /// What must come out; if empty, what the reference gives.
    pub expect: Vec<Expected>,
    /// Where it stands.
    pub place: Place,
}

/// What a buffer must hold at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The buffer.
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
