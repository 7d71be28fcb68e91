//! Texts that Markdown takes for the item of a list.

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::model::{Block, Lesson};

/// A warning for each text of a directive that begins with a number and a full stop, as `153. It is the ridge.` does: it
/// is drawn as item 153 of a list. A text in which the next number begins a line is meant as a list.
pub fn numbered_starts(lesson: &Lesson) -> Vec<Diagnostic> {
    let found = lesson.blocks.iter().flat_map(|block| {
        let numbers = fields(block).into_iter().filter_map(|text| number(text));
        numbers.map(move |number| warning(lesson, block, number))
    });
    found.collect()
}

/// The Markdown texts of a directive.
fn fields(block: &Block) -> Vec<&str> {
    match block {
        Block::Predict(predict) => {
            let said = predict.outcomes.iter().map(|outcome| &outcome.say);
            let texts = [&predict.prompt].into_iter().chain(&predict.explain).chain(said);
            texts.map(String::as_str).collect()
        }
        Block::Question(question) => {
            let texts = [&question.prompt].into_iter().chain(&question.explain);
            texts.chain(question.kind.says()).map(String::as_str).collect()
        }
        Block::Check(check) => check.why.as_deref().into_iter().collect(),
        Block::Prose(_) | Block::Lab(_) | Block::Notes(_) => Vec::new(),
    }
}

/// The number of a text's first item, if it is the only one.
fn number(text: &str) -> Option<&str> {
    let first = item(text.trim_start())?;
    let next = first.parse::<u64>().ok()?.checked_add(1)?.to_string();
    let is_list = text.lines().any(|line| item(line.trim_start()) == Some(&next));
    (!is_list).then_some(first)
}

/// The number with which a line begins as an item of a list.
fn item(line: &str) -> Option<&str> {
    let end = line.find(|c: char| !c.is_ascii_digit())?;
    let is_item =
        (1..=9).contains(&end) && (line[end..].starts_with(". ") || line[end..].starts_with(") "));
    is_item.then_some(&line[..end])
}

fn warning(lesson: &Lesson, block: &Block, number: &str) -> Diagnostic {
    let whole = block.place().unwrap_or(Place::new(0, lesson.source.text.len()));
    let source = lesson.source.slice(whole);
    let starts = ["\"", "\"\"\"\n", "'", "'''\n"];
    let found =
        starts.iter().flat_map(|quote| [".", ")"].map(|sign| format!("{quote}{number}{sign} ")));
    let found = found.into_iter().find_map(|start| Some((source.find(&start)?, start)));
    let place = found.map_or(whole, |(at, start)| {
        let end = whole.start + at + start.trim_end().len();
        Place::new(end - 1 - number.len(), end)
    });
    let message = format!("Markdown draws `{number}.` as item {number} of a list");
    let help = format!("write **{number}**, or begin with a word");
    lesson.source.warning(Code::NumberedStart, place, message).help(help)
}
