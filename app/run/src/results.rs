//! What a headless run of lessons found out: the one thing that every report is written from.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use mlsys_lab::schema::{Class, Label};
use mlsys_lab::value::Value;

use crate::process::{Exit, Loss};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    pub lessons: Vec<LessonResult>,
    /// When it began.
    pub started: Option<SystemTime>,
    pub ending: Ending,
    /// Why the record of a run is not whole, if one was to be kept.
    pub lost: Option<Loss>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    #[default]
    Complete,
    /// By Ctrl-C or a request to terminate.
    Interrupted {
        /// The lessons, or files, that were not begun.
        missing: Vec<String>,
    },
    /// Nothing was run, and why.
    Refused(String),
}

impl Ending {
    /// What a report says of a run that did not come to its end.
    pub fn sentence(&self) -> Option<String> {
        match self {
            Self::Complete => None,
            Self::Refused(reason) => Some(reason.clone()),
            Self::Interrupted { missing } if missing.is_empty() => {
                Some("interrupted: results are missing".to_owned())
            }
            Self::Interrupted { missing } => Some(format!(
                "interrupted: results are missing, also all of {}",
                missing.join(", ")
            )),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct LessonResult {
    pub id: String,
    /// Its file, as messages name it.
    pub file: String,
    pub title: String,
    pub seed: u64,
    pub items: Vec<Item>,
    /// Its pictures of several runs, as tables.
    pub comparisons: Vec<Comparison>,
}

/// A picture of several runs of a lesson, as a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub panel: String,
    /// Its lines, the titles of the columns first.
    pub lines: Vec<String>,
}

/// One thing of a lesson that was run, compared or graded.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub id: String,
    /// What it is about, in one line: the lab's kind, the condition, the prompt.
    pub about: String,
    /// Where it stands in its lesson's file, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What the lesson says it means if it fails.
    pub why: Option<String>,
    pub kind: Kind,
    pub verdict: Verdict,
    pub elapsed: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Lab {
        /// Where it ran; labs that answer at once run nowhere.
        device: Option<String>,
        /// Each with the word that says where it comes from.
        metrics: BTreeMap<String, (Label, Value)>,
    },
    /// A prediction: what it is held against, each with the word that says where it comes from.
    Predict {
        /// `predict` or `try`.
        directive: &'static str,
        theory: Option<(Label, Value)>,
        target: Option<(Label, Value)>,
    },
    /// A condition on what the labs found.
    Check {
        /// How far it can be trusted to repeat.
        class: Class,
    },
    Question {
        points: u32,
        /// A share of them, where the course says so.
        earned: f64,
        /// The learner's, if one is graded.
        answer: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// With the values for which it does not hold.
    Failed(String),
    /// A hardware check that failed each time, where that is no failure.
    Unstable(String),
    /// It was not tried, and why.
    Skipped(String),
    /// It could not be tried, why, and what that means for the exit code.
    Broken(String, Exit),
}

impl Verdict {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::Unstable(_) => "unstable",
            Self::Skipped(_) => "skipped",
            Self::Broken(..) => "error",
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Passed => None,
            Self::Failed(reason)
            | Self::Unstable(reason)
            | Self::Skipped(reason)
            | Self::Broken(reason, _) => Some(reason),
        }
    }

    pub fn exit(&self) -> Exit {
        match self {
            Self::Passed | Self::Unstable(_) | Self::Skipped(_) => Exit::Passed,
            Self::Failed(_) => Exit::CheckFailed,
            Self::Broken(_, exit) => *exit,
        }
    }
}

impl Kind {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Lab { .. } => "lab",
            Self::Predict { directive, .. } => directive,
            Self::Check { .. } => "check",
            Self::Question { .. } => "question",
        }
    }

    /// Points earned and points possible; nothing for what is not graded.
    pub fn points(&self) -> Option<(f64, u32)> {
        match self {
            Self::Question { points, earned, .. } => Some((*earned, *points)),
            Self::Lab { .. } | Self::Predict { .. } | Self::Check { .. } => None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub all: usize,
    pub passed: usize,
    pub failed: usize,
    /// Could not be tried.
    pub broken: usize,
    /// Not tried, or unstable.
    pub skipped: usize,
}

impl LessonResult {
    /// What it means that an item failed, if the lesson says so, and where it stands; nothing for others.
    pub fn failure(&self, item: &Item) -> Vec<String> {
        match &item.verdict {
            Verdict::Failed(_) | Verdict::Unstable(_) | Verdict::Broken(..) => {
                let place = format!("{}:{}", self.file, item.line);
                item.why.clone().into_iter().chain([place]).collect()
            }
            Verdict::Passed | Verdict::Skipped(_) => Vec::new(),
        }
    }

    pub fn count(&self) -> Count {
        let mut count = Count { all: self.items.len(), ..Count::default() };
        for item in &self.items {
            match item.verdict {
                Verdict::Passed => count.passed += 1,
                Verdict::Failed(_) => count.failed += 1,
                Verdict::Broken(..) => count.broken += 1,
                Verdict::Unstable(_) | Verdict::Skipped(_) => count.skipped += 1,
            }
        }
        count
    }

    /// Points earned and points possible; a question that is graded later has none yet.
    pub fn points(&self) -> (f64, u32) {
        self.items
            .iter()
            .filter(|item| !matches!(item.verdict, Verdict::Skipped(_)))
            .filter_map(|item| item.kind.points())
            .fold((0.0, 0), |(earned, points), (e, p)| (earned + e, points + p))
    }

    pub fn elapsed(&self) -> Duration {
        self.items.iter().map(|item| item.elapsed).sum()
    }
}

impl Results {
    pub fn exit(&self) -> Exit {
        let verdicts =
            self.lessons.iter().flat_map(|lesson| &lesson.items).map(|item| item.verdict.exit());
        let ended = match self.ending {
            Ending::Complete => Exit::Passed,
            Ending::Interrupted { .. } => Exit::Interrupted,
            Ending::Refused(_) => Exit::Usage,
        };
        verdicts.fold(ended, Exit::and)
    }
}
