//! What is wider than its place on a terminal.

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::model::{Block, Lesson};

/// Columns that prose has on a terminal of 80x24, margins taken off.
pub const PROSE_COLUMNS: usize = 76;

/// Columns that a title has in the list of a course with dates, on a terminal of 80x24.
const TITLE_COLUMNS: usize = 48;

/// A warning for each line of code and each table row that is wider than [`PROSE_COLUMNS`], since text alone is broken at
/// its words, and for a title that the list of lessons cuts.
pub fn overflow(lesson: &Lesson) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let title = &lesson.front.title;
    let width = title.chars().count();
    if let (Some(at), true) = (lesson.source.text.find(title), width > TITLE_COLUMNS) {
        let message =
            format!("the title has {width} columns, and the list of lessons shows {TITLE_COLUMNS}");
        let help =
            "name the subject in a few words; more can be said in the first line of the text";
        let place = Place::new(at, at + title.len());
        found.push(lesson.source.warning(Code::Overflow, place, message).help(help));
    }
    let after_newlines = lesson.source.text.match_indices('\n').map(|(at, _)| at + 1);
    let starts: Vec<usize> = [0].into_iter().chain(after_newlines).collect();
    for block in &lesson.blocks {
        let Block::Prose(prose) = block else { continue };
        let mut fence: Option<&str> = None;
        for (offset, line) in prose.markdown.lines().enumerate() {
            let text = line.trim_start();
            let mark = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark));
            let is_mark = mark.is_some() && (fence.is_none() || fence == mark);
            let fixed = !is_mark && (fence.is_some() || text.starts_with('|'));
            if is_mark {
                fence = if fence.is_none() { mark } else { None };
            }
            let width = line.chars().count();
            if fixed && width > PROSE_COLUMNS {
                let Some(&start) = starts.get(prose.line + offset - 1) else { continue };
                let message = format!(
                    "this line has {width} columns, and goes on in the next row after {PROSE_COLUMNS}"
                );
                let place = Place::new(start, start + line.len());
                let help = "break it where it reads well, or shorten it";
                found.push(lesson.source.warning(Code::Overflow, place, message).help(help));
            }
        }
    }
    found
}
