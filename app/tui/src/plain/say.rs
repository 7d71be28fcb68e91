//! A lesson in plain lines: paragraphs, what is asked, knobs and pictures in words.

mod asked;
mod lab;

use mlsys_lesson::{Block, Check};

use super::words::WORDS;
use crate::answer;
use crate::state::App;
use crate::state::page::{CheckState, Page};
pub use asked::{answered, comparison, hint, lab_of, trial};
use asked::{prediction, question};
use lab::lab_lines;
pub use lab::{end, knobs, pictures, progress};
use mlsys_view::prose::{self, Signs, Styles};
use mlsys_view::wrap::wrap;

/// Columns of a line.
pub const WIDTH: usize = 78;

/// Signs that are read aloud as little as possible.
const SIGNS: Signs = Signs { bullet: "-", quote: ">", rule: "-" };

/// A sentence as lines.
pub fn sentence(text: &str) -> Vec<String> {
    text.lines()
        .flat_map(|line| {
            let spans = [(line.to_owned(), ratatui::style::Style::new())];
            wrap(&spans, WIDTH, "".into(), "".into())
        })
        .map(|line| line.to_string().trim_end().to_owned())
        .collect()
}

/// Markdown as lines.
pub fn markdown(text: &str) -> Vec<String> {
    prose::render(text, WIDTH, Styles::default(), SIGNS, None)
        .iter()
        .map(|line| line.to_string().trim_end().to_owned())
        .collect()
}

/// The course: its lessons with their numbers.
pub fn course(app: &App) -> Vec<String> {
    let mut lines = Vec::new();
    if !app.course.title.is_empty() {
        lines.push(app.course.title.clone());
    }
    for module in &app.course.modules {
        let lessons = app.course.lessons.get(module.lessons.clone()).unwrap_or_default();
        if lessons.is_empty() {
            continue;
        }
        lines.push(String::new());
        lines.push(format!("{}.", module.title));
        for (index, lesson) in lessons.iter().enumerate() {
            let progress = app.course.progress.lesson(&lesson.front.id);
            let state = match progress {
                Some(progress) if progress.completed => ", complete",
                Some(_) => ", begun",
                None => "",
            };
            let needs: Vec<&str> =
                lesson.front.requires.iter().map(|needed| needed.value.as_str()).collect();
            let needs = if needs.is_empty() {
                String::new()
            } else {
                format!(", after {}", needs.join(" and "))
            };
            lines.push(format!(
                "{}. {} ({}), {} minutes{needs}{state}",
                module.lessons.start + index + 1,
                lesson.front.title,
                lesson.front.id,
                lesson.front.minutes
            ));
        }
    }
    lines.push(String::new());
    lines.push("Type open and a lesson's number. help says what else can be typed.".to_owned());
    lines
}

/// What can be typed.
pub fn help() -> Vec<String> {
    let mut lines = vec!["What can be typed:".to_owned()];
    for known in WORDS {
        let more = if known.more.is_empty() { String::new() } else { format!(" {}", known.more) };
        lines.extend(sentence(&format!("{}{more}: {}.", known.word, known.about)));
    }
    lines
}

/// A block, as it is read; notes are not read to learners.
pub fn block(page: &Page, index: usize) -> Vec<String> {
    match page.lesson.blocks.get(index) {
        Some(Block::Prose(prose)) => markdown(&prose.markdown),
        Some(Block::Check(check)) => check_line(page, check),
        Some(Block::Lab(lab)) => lab_lines(page, lab),
        Some(Block::Predict(predict)) => prediction(page, predict),
        Some(Block::Question(asked)) => question(page, asked),
        Some(Block::Notes(_)) | None => Vec::new(),
    }
}

/// The lesson's predictions, labs and questions with their numbers and where they stand.
pub fn activities(page: &Page) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, &block) in page.activities().iter().enumerate() {
        let said = match page.lesson.blocks.get(block) {
            Some(Block::Lab(lab)) => match page.labs.iter().find(|slot| slot.id == lab.id) {
                Some(slot) => format!("Lab {}: {}, {}", lab.id, slot.title, slot.run.state.word()),
                None => format!("Lab {}", lab.id),
            },
            Some(Block::Predict(predict)) => {
                let state = match page.predictions.get(&predict.id) {
                    Some(made) => format!(
                        "you said {}",
                        answer::spelled(&made.given, |text| predict.label(text))
                    ),
                    None => "not made".to_owned(),
                };
                format!("Prediction {}: {state}", predict.id)
            }
            Some(Block::Question(question)) => {
                let state = match page.answers.get(&question.id) {
                    Some(answered) if answered.right => "right",
                    Some(_) => "not right yet",
                    None => "not answered",
                };
                format!("Question {}: {state}", question.id)
            }
            Some(Block::Prose(_) | Block::Check(_) | Block::Notes(_)) | None => continue,
        };
        let here = if page.marked == Some(block) { " (you are here)" } else { "" };
        lines.push(format!("{}. {said}{here}.", index + 1));
    }
    lines
}

/// A check in one sentence.
pub fn check_line(page: &Page, check: &Check) -> Vec<String> {
    let said = match page.checks.get(&check.id) {
        None => "told after the run".to_owned(),
        Some(CheckState::Passed) => "it holds".to_owned(),
        Some(CheckState::Failed(values)) => {
            let why = check.why.as_deref().unwrap_or_default();
            format!("it does not hold: {values}. {why}")
        }
        Some(CheckState::Skipped(reason)) => format!("skipped: {reason}"),
    };
    sentence(&format!("Check {}: {said}", check.assert.source))
}
