//! What came of a learner's answers and predictions, and of a lesson's checks.

use mlsys_lesson::Answer;

#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    pub given: Answer,
    pub right: bool,
    pub feedback: String,
    /// A right answer given before this wrong one: it counts.
    pub earned: Option<Answer>,
}

impl Answered {
    /// Whether this answer or one given before it is right.
    pub fn is_earned(&self) -> bool {
        self.right || self.earned.is_some()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    pub given: Answer,
    /// Whether it stands: its run has started.
    pub locked: bool,
    /// Prediction, theory and measurement in words, once there is a measurement.
    pub comparison: Option<String>,
    /// What the lesson says to what came out.
    pub outcome: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CheckState {
    Passed,
    Failed(String),
    /// It cannot be told here, and why.
    Skipped(String),
}
