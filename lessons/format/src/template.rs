//! The lesson that an author starts from.

use crate::diagnostic::one_line;
use crate::model::LessonId;

const TEMPLATE: &str = include_str!("template.md");

/// A commented lesson with one of everything; it passes `mlsys lesson check` as it is.
pub fn new_lesson(id: &LessonId, title: &str) -> String {
    let title = one_line(title);
    let quoted = title.replace('\\', "\\\\").replace('"', "\\\"");
    TEMPLATE
        .replace("@ID@", id.as_str())
        .replace("@QUOTED_TITLE@", &quoted)
        .replace("@TITLE@", &title)
}
