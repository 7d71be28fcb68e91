//! A learner's answers as a file that is graded.

use std::collections::BTreeMap;

use mlsys_lab::nearest::nearest;
use serde::{Deserialize, Serialize};

use crate::grade::Answer;
use crate::model::{Lesson, LessonId};

/// Answers by lesson and question: `{"lessons": {"systems/training-loop": {"q1": 1218}}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// Answers by question id, by lesson.
    pub lessons: BTreeMap<LessonId, BTreeMap<String, Answer>>,
}

/// A file that holds no answers.
#[derive(Debug, thiserror::Error)]
#[error(
    "this is no answers file: {0}; it is JSON such as {{\"lessons\": {{\"systems/training-loop\": {{\"q1\": 1218}}}}}}, and `mlsys progress export` writes one"
)]
pub struct AnswersError(serde_json::Error);

impl Answers {
    /// Reads a file's bytes.
    ///
    /// # Errors
    /// What is not as it should be, with line and column.
    pub fn parse(bytes: &[u8]) -> Result<Self, AnswersError> {
        serde_json::from_slice(bytes).map_err(AnswersError)
    }

    /// The file's text.
    ///
    /// # Errors
    /// None that the answers' own types can cause.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }

    /// The answer to a question.
    pub fn get(&self, lesson: &LessonId, question: &str) -> Option<&Answer> {
        self.lessons.get(lesson)?.get(question)
    }

    /// A sentence for each answer that belongs to no question of a lesson.
    pub fn strays(&self, lesson: &Lesson) -> Vec<String> {
        let Some(answers) = self.lessons.get(&lesson.front.id) else {
            return Vec::new();
        };
        let stray = answers.keys().filter(|id| lesson.question(id).is_none());
        let sentence = |id: &String| {
            let known = lesson.questions().map(|question| question.id.as_str());
            let hint =
                nearest(id, known).map_or_else(String::new, |id| format!("; did you mean '{id}'?"));
            format!(
                "lesson {} has no question '{}'{hint}",
                lesson.front.id,
                id.escape_debug()
            )
        };
        stray.map(sentence).collect()
    }
}
