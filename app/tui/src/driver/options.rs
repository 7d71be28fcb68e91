//! What the workbench starts with, and how it ends.

use std::io;
use std::sync::Arc;

use mlsys_lab::device::DeviceChoice;
use mlsys_lab::registry::Registry;
use mlsys_lesson::{Course, Lesson};

use super::Follow;
use crate::state::Instructors;
use mlsys_run::settings::KnobTurn;
use mlsys_run::storage::Paths;
use mlsys_view::theme::file::Appearance;

/// What the workbench starts with.
pub struct Options {
    /// The course that is taken.
    pub course: Course,
    /// How it looks.
    pub appearance: Appearance,
    /// The labs there are.
    pub registry: &'static Registry,
    /// Which device runs take.
    pub choice: DeviceChoice,
    /// The seed that wins over the lessons' own.
    pub seed: Option<u64>,
    /// The worker processes that labs use.
    pub workers: Option<String>,
    /// A lesson to open at once.
    pub open: Option<Opening>,
    /// Whether the instructor view may be opened; then nothing is read from or added to the learner's progress.
    pub instructors: Instructors,
    /// A lesson file to open and to follow. The author's answers are not progress: none is read or kept.
    pub preview: Option<Follow>,
    /// Where runs and progress are kept, if anywhere.
    pub paths: Option<Paths>,
}

/// A lesson to open, in a certain state.
pub struct Opening {
    /// The lesson.
    pub lesson: Arc<Lesson>,
    /// What it was named by, if not by its id.
    pub source: Option<String>,
    /// Knobs to turn first.
    pub turns: Vec<KnobTurn>,
}

/// Why the workbench did not open, or ended before the learner left.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The lesson cannot be opened in the state that was asked for.
    #[error("{0}")]
    Opening(String),
    /// The terminal failed.
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] io::Error),
}

/// How the workbench was left.
pub struct Leaving {
    /// Who ended it.
    pub left: Left,
    /// What went wrong with what was still being written, when there was no screen to say it on.
    pub unsaid: Vec<String>,
}

/// Who ended the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The learner.
    ByChoice,
    /// The system, or the terminal that has vanished.
    OnRequest,
}
