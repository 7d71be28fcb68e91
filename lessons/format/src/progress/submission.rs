//! Answers that a learner hands in: the learner, the time, and which questions they answer.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::{Block, Lesson, LessonId, Timestamp};
use crate::withhold::asked;

/// What makes exported answers a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    pub learner: LearnerId,
    /// When it was exported, by the learner's clock.
    pub at: Timestamp,
    /// Hashes of [`question_text`], by lesson.
    pub versions: BTreeMap<LessonId, String>,
    /// A hash of the whole file with this field empty.
    pub seal: String,
}

/// The name under which a course knows a learner: one line of at most 100 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LearnerId(String);

/// Text that names no learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a learner's id is one line of 1 to 100 characters, such as a student number or an address"
)]
pub struct LearnerIdError;

impl LearnerId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for LearnerId {
    type Err = LearnerIdError;

    fn from_str(text: &str) -> Result<Self, LearnerIdError> {
        let text = text.trim();
        let is_plain = !text.chars().any(|c| c.is_control() || mlsys_expr::reorders(c));
        let fits = (1..=100).contains(&text.chars().count());
        if is_plain && fits { Ok(Self(text.to_owned())) } else { Err(LearnerIdError) }
    }
}

impl TryFrom<String> for LearnerId {
    type Error = LearnerIdError;

    fn try_from(text: String) -> Result<Self, LearnerIdError> {
        text.parse()
    }
}

impl From<LearnerId> for String {
    fn from(id: LearnerId) -> Self {
        id.0
    }
}

impl fmt::Display for LearnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the answers to a lesson's questions depend on: its labs, its seed and what is asked. It is the same for the complete
/// lesson and the one without answers, and prose, notes and explanations do not change it.
pub fn question_text(lesson: &Lesson) -> String {
    let directives = lesson.blocks.iter().filter_map(|block| match block {
        Block::Lab(lab) => Some(lesson.source.slice(lab.place).to_owned()),
        Block::Question(question) => Some(asked(question, lesson)),
        Block::Prose(_) | Block::Predict(_) | Block::Check(_) | Block::Notes(_) => None,
    });
    let head = format!("{} {}", lesson.front.id, lesson.front.seed);
    [head].into_iter().chain(directives).collect::<Vec<_>>().join("\n")
}
