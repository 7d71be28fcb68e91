//! Answers that a learner hands in: the learner, the time, and which questions they answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{Block, LearnerId, Lesson, LessonId, Timestamp};
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

/// What the answers to a lesson's questions depend on: its labs, its seed and what is asked. It is the same for the complete
/// lesson and the one without answers, and prose, notes and explanations do not change it.
pub fn question_text(lesson: &Lesson) -> String {
    let directives = lesson.blocks.iter().filter_map(|block| match block {
        Block::Lab(lab) => Some(lesson.source.slice(lab.place).to_owned()),
        Block::Question(question) => Some(asked(question, lesson)),
        Block::Prose(_) | Block::Predict(_) | Block::Check(_) | Block::Notes(_) => None,
    });
    let head = format!("{} {}", lesson.front.id, lesson.front.seed);
    let start = lesson.included.iter().flat_map(|included| &included.start);
    let start = start.map(|one| format!("{}.{} = {}", one.lab, one.knob, one.value.to_toml()));
    [head].into_iter().chain(directives).chain(start).collect::<Vec<_>>().join("\n")
}
