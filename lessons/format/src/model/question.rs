//! A question and what counts as an answer to it.

use std::collections::BTreeMap;

use mlsys_lab::named_enum;

use crate::diagnostic::{Located, Place};
use crate::model::answer::{Bounds, Formula, Tolerance, Wrong};
use crate::model::drawn::Variants;
use crate::model::kernel::{KernelTask, KernelTest};
use crate::model::lab::Setting;

/// A question that is graded.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Its name in this lesson.
    pub id: String,
    /// The question, in Markdown.
    pub prompt: String,
    /// How it is answered and graded.
    pub kind: QuestionKind,
    /// What a right answer earns.
    pub points: u32,
    /// Hints, shown one by one.
    pub hints: Vec<String>,
    /// What to say once it is answered.
    pub explain: Option<String>,
    /// In a translation, what is shown for a text of the original that is chosen, ordered or matched.
    pub wording: BTreeMap<String, String>,
    /// What it draws by learner, if anything; everything else here has the drawn numbers.
    pub variants: Option<Box<Variants<Self>>>,
    /// Where it stands, fences included.
    pub place: Place,
}

/// How a question is answered, what is right, and which wrong answers are recognised.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionKind {
    /// A number, or an expression that comes to one.
    Numeric {
        answer: Formula,
        /// How near counts as right.
        tolerance: Tolerance,
        /// Its unit, as shown.
        unit: Option<String>,
        bounds: Bounds,
        wrong: Vec<Wrong<Formula>>,
        /// Why the answer may be shown before it is asked for.
        shown: Option<String>,
    },
    /// One of several texts: the right one and the wrong ones, shuffled.
    Choice { answer: String, wrong: Vec<Wrong<String>> },
    /// All that are right out of several texts, shuffled.
    Multiple { answer: Vec<String>, wrong: Vec<Wrong<String>> },
    /// Each left side with its right side.
    Match {
        /// What belongs together.
        pairs: Vec<Match>,
        /// Right sides that belong to nothing.
        extra: Vec<String>,
    },
    /// Texts to be put in order.
    Order { answer: Vec<String>, wrong: Vec<Wrong<Vec<String>>> },
    /// Several numbers, in order.
    List {
        answer: Vec<Formula>,
        /// How near counts as right, for each.
        tolerance: Tolerance,
        /// What each of them can be.
        bounds: Vec<Bounds>,
        wrong: Vec<Wrong<Vec<Formula>>>,
        /// Why the answer may be shown before it is asked for.
        shown: Option<String>,
    },
    /// An expression that a lab evaluates: it goes into a parameter, and the metrics are called `answer.NAME`.
    Expression {
        /// The kind of lab; one that answers at once.
        lab: Located<String>,
        /// The parameter that takes the learner's text.
        param: Located<String>,
        /// The lab's other parameters.
        set: Vec<Setting>,
        /// The condition on the metrics.
        accept: Formula,
        /// An answer that is right.
        answer: Located<String>,
        /// Recognised mistakes, compared as text without spaces.
        wrong: Vec<Wrong<String>>,
    },
    /// A word or a short text; capitals and spaces do not count.
    Text {
        answer: String,
        /// Others that are right too.
        accept: Vec<String>,
        wrong: Vec<Wrong<String>>,
    },
    /// A kernel in CUDA C, run on tests by the lab `kernel`.
    Kernel(Box<KernelTask>),
    /// Any of these without its answer, which is in an answer key elsewhere: answers are recorded here and graded there.
    Withheld(Asked),
}

/// What a question asks where its answer is kept elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    Numeric {
        /// Its unit, as shown.
        unit: Option<String>,
        bounds: Bounds,
    },
    /// One of several texts.
    Choice {
        /// The texts, in an order that does not show which is right.
        choices: Vec<String>,
    },
    /// All that are right out of several texts.
    Multiple {
        choices: Vec<String>,
    },
    /// Each left side with its right side.
    Match {
        left: Vec<String>,
        /// The right sides, and some that belong to nothing.
        choices: Vec<String>,
    },
    /// Texts to be put in order.
    Order {
        choices: Vec<String>,
    },
    List,
    Expression,
    /// A word or a short text.
    Text,
    Kernel {
        /// What stands there at first.
        starter: Option<String>,
        /// Tests that learners may try; others are kept with the answer.
        samples: Vec<KernelTest>,
        tolerance: Tolerance,
    },
}

/// A question that is answered by a kernel, as far as it is known here.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AskedKernel<'a> {
    Whole(&'a KernelTask),
    /// The answer and other tests are kept elsewhere.
    Withheld {
        samples: &'a [KernelTest],
        tolerance: Tolerance,
    },
}

impl<'a> AskedKernel<'a> {
    pub(crate) fn tests(self) -> &'a [KernelTest] {
        match self {
            Self::Whole(task) => &task.tests,
            Self::Withheld { samples, .. } => samples,
        }
    }
}

/// Two texts that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    pub left: String,
    pub right: String,
}

impl Question {
    /// What is shown for a text that is chosen, ordered or matched; answers keep the original's.
    pub fn label<'t>(&'t self, text: &'t str) -> &'t str {
        self.wording.get(text).map_or(text, String::as_str)
    }
}

named_enum! {
    /// The types of questions in lesson files.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum QuestionType {
        Numeric = "numeric",
        /// One of several texts.
        Choice = "choice",
        /// All that are right out of several texts.
        Multiple = "multiple",
        /// Each left side with its right side.
        Match = "match",
        /// Texts to be put in order.
        Order = "order",
        List = "list",
        /// An expression that a lab evaluates.
        Expression = "expression",
        /// A word or a short text.
        Text = "text",
        /// A kernel in CUDA C.
        Kernel = "kernel",
    }
}

impl QuestionType {
    /// What an answer looks like.
    pub(crate) const fn wanted(self) -> &'static str {
        match self {
            Self::Numeric => "a number",
            Self::Choice => "one of the choices",
            Self::Multiple => "all choices that are right",
            Self::Match => "a right side for each left side",
            Self::Order => "all the texts, each once, in order",
            Self::List => "numbers with commas between them",
            Self::Expression => "an expression",
            Self::Text => "a word or a short text",
            Self::Kernel => "a kernel",
        }
    }
}

/// The sentences of all recognised wrong answers, borrowed by `iter` or `iter_mut`.
macro_rules! says {
    ($kind:expr, $iter:ident) => {
        match $kind {
            Self::Numeric { wrong, .. } => wrong.$iter().map(|Wrong { say, .. }| say).collect(),
            Self::List { wrong, .. } => wrong.$iter().map(|Wrong { say, .. }| say).collect(),
            Self::Order { wrong, .. } => wrong.$iter().map(|Wrong { say, .. }| say).collect(),
            Self::Choice { wrong, .. }
            | Self::Multiple { wrong, .. }
            | Self::Expression { wrong, .. }
            | Self::Text { wrong, .. } => wrong.$iter().map(|Wrong { say, .. }| say).collect(),
            Self::Kernel(task) => task.wrong.$iter().map(|Wrong { say, .. }| say).collect(),
            Self::Match { .. } | Self::Withheld(_) => Vec::new(),
        }
    };
}

impl QuestionKind {
    /// Whether its answer is kept elsewhere.
    pub const fn is_withheld(&self) -> bool {
        matches!(self, Self::Withheld(_))
    }

    /// Its type in a lesson file.
    pub const fn ty(&self) -> QuestionType {
        match self {
            Self::Numeric { .. } | Self::Withheld(Asked::Numeric { .. }) => QuestionType::Numeric,
            Self::Choice { .. } | Self::Withheld(Asked::Choice { .. }) => QuestionType::Choice,
            Self::Multiple { .. } | Self::Withheld(Asked::Multiple { .. }) => {
                QuestionType::Multiple
            }
            Self::Match { .. } | Self::Withheld(Asked::Match { .. }) => QuestionType::Match,
            Self::Order { .. } | Self::Withheld(Asked::Order { .. }) => QuestionType::Order,
            Self::List { .. } | Self::Withheld(Asked::List) => QuestionType::List,
            Self::Expression { .. } | Self::Withheld(Asked::Expression) => QuestionType::Expression,
            Self::Text { .. } | Self::Withheld(Asked::Text) => QuestionType::Text,
            Self::Kernel(_) | Self::Withheld(Asked::Kernel { .. }) => QuestionType::Kernel,
        }
    }

    /// What is known of the kernel that is asked for; none for other types.
    pub(crate) fn kernel(&self) -> Option<AskedKernel<'_>> {
        match self {
            Self::Kernel(task) => Some(AskedKernel::Whole(task)),
            Self::Withheld(Asked::Kernel { samples, tolerance, .. }) => {
                Some(AskedKernel::Withheld { samples, tolerance: *tolerance })
            }
            Self::Numeric { .. }
            | Self::Choice { .. }
            | Self::Multiple { .. }
            | Self::Match { .. }
            | Self::Order { .. }
            | Self::List { .. }
            | Self::Expression { .. }
            | Self::Text { .. }
            | Self::Withheld(_) => None,
        }
    }

    /// The texts to choose from, to order, or on the right of a match, right ones first; else empty.
    pub(crate) fn choices(&self) -> Vec<&String> {
        match self {
            Self::Choice { answer, wrong } => {
                [answer].into_iter().chain(wrong.iter().map(|wrong| &wrong.value)).collect()
            }
            Self::Multiple { answer, wrong } => {
                answer.iter().chain(wrong.iter().map(|wrong| &wrong.value)).collect()
            }
            Self::Match { pairs, extra } => {
                pairs.iter().map(|pair| &pair.right).chain(extra).collect()
            }
            Self::Order { answer: choices, .. }
            | Self::Withheld(
                Asked::Choice { choices }
                | Asked::Multiple { choices }
                | Asked::Match { choices, .. }
                | Asked::Order { choices },
            ) => choices.iter().collect(),
            Self::Withheld(_) => Vec::new(),
            Self::Numeric { .. }
            | Self::List { .. }
            | Self::Expression { .. }
            | Self::Text { .. }
            | Self::Kernel(_) => Vec::new(),
        }
    }

    /// What is said to each recognised wrong answer, in file order.
    pub(crate) fn says(&self) -> Vec<&String> {
        says!(self, iter)
    }

    /// The same, to be replaced by a translation.
    pub(crate) fn says_mut(&mut self) -> Vec<&mut String> {
        says!(self, iter_mut)
    }

    /// What a learner must know of it to answer.
    pub fn asked(&self) -> Asked {
        let choices = || self.choices().into_iter().cloned().collect();
        match self {
            Self::Numeric { unit, bounds, .. } => {
                Asked::Numeric { unit: unit.clone(), bounds: *bounds }
            }
            Self::Choice { .. } => Asked::Choice { choices: choices() },
            Self::Multiple { .. } => Asked::Multiple { choices: choices() },
            Self::Match { pairs, .. } => Asked::Match {
                left: pairs.iter().map(|pair| pair.left.clone()).collect(),
                choices: choices(),
            },
            Self::Order { .. } => Asked::Order { choices: choices() },
            Self::List { .. } => Asked::List,
            Self::Expression { .. } => Asked::Expression,
            Self::Text { .. } => Asked::Text,
            Self::Kernel(task) => Asked::Kernel {
                starter: task.starter.clone(),
                samples: task.samples().cloned().collect(),
                tolerance: task.tolerance,
            },
            Self::Withheld(asked) => asked.clone(),
        }
    }
}
