//! What a text that is being written is kept as.

use mlsys_lesson::LessonId;

/// The name of a text that is kept as it is typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Draft {
    /// The lesson it belongs to.
    pub lesson: LessonId,
    /// Its question, or its lab and the example there, of letters, digits, `_`, `-` and dots.
    pub name: String,
}

impl Draft {
    /// The answer to a question.
    pub fn of_question(lesson: &LessonId, question: &str) -> Self {
        Self { lesson: lesson.clone(), name: question.to_owned() }
    }

    /// A lab's kernel, by the example that it began as.
    pub fn of_lab(lesson: &LessonId, lab: &str, example: &str) -> Self {
        Self { lesson: lesson.clone(), name: format!("{lab}.{example}") }
    }
}

/// Where a text comes from that is told of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whence {
    /// It was kept when the editor was left.
    Kept,
    /// Another program has saved it just now.
    Saved,
}
