//! The lines of the log: what a learner did, or what came of it.

use serde::{Deserialize, Serialize};

use crate::grade::Answer;
use crate::model::{CourseId, LessonId};

/// The newest version of the log's lines. Lines of the built-in course are of version 1, which names no course; those
/// of other courses are of version 2, so that a program that knows no courses passes them over.
pub const LOG_VERSION: u32 = 2;

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the line.
    pub v: u32,
    /// When it happened, in seconds since 1970.
    pub at: u64,
    /// The course it happened in.
    #[serde(default, skip_serializing_if = "is_built_in")]
    pub course: CourseId,
    #[serde(flatten)]
    pub event: Event,
}

/// Something a learner did, or that came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A lesson was opened.
    LessonOpened { lesson: LessonId },
    /// A prediction was made and waits for its run.
    PredictionMade { lesson: LessonId, prediction: String, given: Answer },
    /// A prediction was made and can no longer be changed.
    PredictionLocked { lesson: LessonId, prediction: String, given: Answer },
    /// A prediction was compared with what came out.
    PredictionCompared {
        lesson: LessonId,
        prediction: String,
        actual: Answer,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<Told>,
    },
    /// A question was answered.
    AnswerGiven { lesson: LessonId, question: String, given: Answer, right: bool, points: u32 },
    /// A hint was shown.
    HintShown {
        lesson: LessonId,
        question: String,
        /// Which hint, from 0.
        hint: usize,
    },
    /// A lab of the lesson ran to an end.
    RunFinished {
        lesson: LessonId,
        lab: String,
        /// The folder of the run's record, if it was kept.
        record: Option<String>,
    },
    /// A check held.
    CheckPassed { lesson: LessonId, check: String },
    /// A check could not be tried.
    CheckSkipped { lesson: LessonId, check: String },
    /// Everything in the lesson was done.
    LessonCompleted { lesson: LessonId },
    /// The learner starts the lesson afresh: what came before no longer counts.
    LessonReset { lesson: LessonId },
}

fn is_built_in(course: &CourseId) -> bool {
    *course == CourseId::built_in()
}

impl Record {
    /// An event in the built-in course.
    pub fn new(at: u64, event: Event) -> Self {
        Self { v: 1, at, course: CourseId::built_in(), event }
    }

    /// The same event in another course.
    pub fn in_course(self, course: CourseId) -> Self {
        Self { v: if is_built_in(&course) { 1 } else { LOG_VERSION }, course, ..self }
    }

    /// The line of the log, newline included: written in one piece, so that two processes do not mix theirs.
    ///
    /// # Errors
    /// None that the event's own types can cause.
    pub fn line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self).map(|json| json + "\n")
    }
}

impl Event {
    /// The lesson it happened in.
    pub fn lesson(&self) -> &LessonId {
        match self {
            Self::LessonOpened { lesson }
            | Self::PredictionMade { lesson, .. }
            | Self::PredictionLocked { lesson, .. }
            | Self::PredictionCompared { lesson, .. }
            | Self::CheckSkipped { lesson, .. }
            | Self::AnswerGiven { lesson, .. }
            | Self::HintShown { lesson, .. }
            | Self::RunFinished { lesson, .. }
            | Self::CheckPassed { lesson, .. }
            | Self::LessonCompleted { lesson }
            | Self::LessonReset { lesson } => lesson,
        }
    }
}

/// What a learner was told of a prediction after its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The guess compared with what came out, in words.
    pub comparison: String,
    /// What the lesson says to it, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
}
