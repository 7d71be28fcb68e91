//! Lines that cannot be wrapped and are too wide for a small terminal.

use crate::diagnostic::Place;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Block, Lesson};

/// Columns that prose has on a terminal of 80x24, margins taken off.
pub const PROSE_COLUMNS: usize = 76;

/// A warning for each line of code and each table row that is wider than [`PROSE_COLUMNS`]; text wraps by itself.
pub fn overflow(lesson: &Lesson) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let starts = line_starts(&lesson.source.text);
    for block in &lesson.blocks {
        let Block::Prose(prose) = block else { continue };
        let mut fence: Option<&str> = None;
        for (offset, line) in prose.markdown.lines().enumerate() {
            let text = line.trim_start();
            let mark = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark));
            let fixed = match (fence, mark) {
                (Some(open), Some(mark)) if open == mark => {
                    fence = None;
                    false
                }
                (None, Some(mark)) => {
                    fence = Some(mark);
                    false
                }
                (Some(_), _) => true,
                (None, None) => text.starts_with('|'),
            };
            let width = line.chars().count();
            if fixed && width > PROSE_COLUMNS {
                let start = starts.get(prose.line + offset - 1).copied().unwrap_or_default();
                let message =
                    format!("this line has {width} columns and is cut off at {PROSE_COLUMNS}");
                let place = Place::new(start, start + line.len());
                let help = "code and tables do not wrap; break the line, or shorten it";
                found.push(lesson.source.warning(Code::Overflow, place, message).help(help));
            }
        }
    }
    found
}

/// Where each line begins.
fn line_starts(text: &str) -> Vec<usize> {
    let after_newlines = text.match_indices('\n').map(|(at, _)| at + 1);
    [0].into_iter().chain(after_newlines).collect()
}
