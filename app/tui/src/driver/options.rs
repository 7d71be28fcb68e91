//! What the workbench starts with, and how it ends.

use std::io;
use std::sync::Arc;

use mlsys_lab::device::DeviceChoice;
use mlsys_lab::registry::Registry;
use mlsys_lesson::{Course, Lesson};

use super::Follow;
use crate::state::Instructors;
use crate::state::lab::knob::KnobError;
use mlsys_run::paths::Paths;
use mlsys_run::settings::KnobTurn;
use mlsys_run::storage::Paths;
use mlsys_view::theme::file::Appearance;

pub struct Options {
    pub course: Course,
    pub appearance: Appearance,
    pub registry: &'static Registry,
    pub choice: DeviceChoice,
    pub seed: Option<u64>,
    pub workers: Option<String>,
    pub open: Option<Opening>,
    /// Whether the instructor view may be opened; then nothing is read from or added to the learner's progress.
    pub instructors: Instructors,
    /// A lesson file to open and to follow. The author's answers are not progress: none is read or kept.
    pub preview: Option<Follow>,
    /// Where runs and progress are kept, if anywhere.
    pub paths: Option<Paths>,
}

pub struct Opening {
    pub lesson: Arc<Lesson>,
    /// What it was named by, if not by its id.
    pub source: Option<String>,
    /// Knobs to turn first.
    pub turns: Vec<KnobTurn>,
}

#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error(transparent)]
    Opening(#[from] KnobError),
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] io::Error),
}

pub struct Leaving {
    pub left: Left,
    /// What went wrong with what was still being written, when there was no screen to say it on.
    pub unsaid: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    ByChoice,
    /// The system, or the terminal that has vanished.
    OnRequest,
}
