//! The text of a lesson as lines: prose, predictions, labs, questions and checks, with what the learner has done.

mod activity;
mod card;
mod instructor;

use std::ops::Range;

use mlsys_lesson::{Block, Check};
use ratatui::text::{Line, Span};

use crate::state::page::{Audience, CheckState, Page};
use card::Card;
use mlsys_view::prose::{self, Signs, Styles};
use mlsys_view::text::wrap_spans;
use mlsys_view::theme::Look;

pub struct Document {
    pub lines: Vec<Line<'static>>,
    /// First line, and one past the last, of each block.
    pub blocks: Vec<(usize, usize)>,
    /// Line and column of the cursor, if a field is open in the text.
    pub cursor: Option<(usize, usize)>,
    /// The lines of options: line, block and option.
    pub options: Vec<(usize, usize, usize)>,
}

/// Lays a lesson out for a width.
pub fn build(page: &Page, width: usize, look: &Look) -> Document {
    let mut document =
        Document { lines: Vec::new(), blocks: Vec::new(), cursor: None, options: Vec::new() };
    for (index, block) in page.lesson.blocks.iter().enumerate() {
        let start = document.lines.len();
        match block {
            Block::Prose(prose) => {
                let lines = prose::render(
                    &prose.markdown,
                    width,
                    styles(look),
                    signs(look),
                    Some(&finder(page)),
                );
                document.lines.extend(lines);
                document.lines.push(Line::default());
            }
            Block::Notes(notes) if page.audience == Audience::Instructor => {
                let mut card = Card::new(page, index, width, look);
                card.notes(notes);
                document.lines.append(&mut card.lines);
                document.lines.push(Line::default());
            }
            Block::Notes(_) => {}
            Block::Check(check) => {
                document.lines.extend(check_lines(page, check, width, look));
                let mut card = Card::new(page, index, width, look);
                card.unseen(|env| instructor::check(check, env));
                document.lines.append(&mut card.lines);
            }
            Block::Lab(_) | Block::Predict(_) | Block::Question(_) => {
                let mut card = Card::new(page, index, width, look);
                match block {
                    Block::Lab(lab) => card.lab(lab),
                    Block::Predict(predict) => {
                        card.predict(predict);
                        card.unseen(|env| instructor::predict(predict, env));
                    }
                    Block::Question(question) => {
                        card.question(question);
                        card.unseen(|env| instructor::question(page, question, env));
                    }
                    Block::Prose(_) | Block::Check(_) | Block::Notes(_) => {}
                }
                let options = card.options.iter();
                let options = options.map(|&(line, option)| (start + line, index, option));
                document.options.extend(options);
                document.cursor =
                    document.cursor.or(card.cursor.map(|(line, column)| (start + line, column)));
                document.lines.append(&mut card.lines);
                document.lines.push(Line::default());
            }
        }
        document.blocks.push((start, document.lines.len()));
    }
    while document.lines.last().is_some_and(|line| line.width() == 0) {
        document.lines.pop();
    }
    document
}

/// The scroll position nearest to the present one at which the marked block is seen, its top first.
pub fn scroll_for_marked(page: &Page, width: usize, height: usize, look: &Look) -> usize {
    let document = build(page, width, look);
    let longest = document.lines.len().saturating_sub(height);
    let Some(&(start, end)) = page.marked.and_then(|marked| document.blocks.get(marked)) else {
        return page.scroll.min(longest);
    };
    let end = end.min(document.lines.len());
    let scroll = if let Some((line, _)) = document.cursor {
        // A field that is being typed in is always seen, whatever stands above it.
        let top = line.saturating_sub(1).max(start.min(line));
        page.scroll.max((line + 2).saturating_sub(height)).min(top)
    } else if start < page.scroll || end - start >= height {
        start
    } else if end > page.scroll + height {
        end - height
    } else {
        page.scroll
    };
    scroll.min(longest)
}

pub fn length(page: &Page, width: usize, look: &Look) -> usize {
    build(page, width, look).lines.len()
}

fn styles(look: &Look) -> Styles {
    Styles {
        text: look.theme.text,
        heading: look.theme.title,
        code: look.theme.code,
        dim: look.theme.dim,
    }
}

fn finder(page: &Page) -> impl Fn(&str) -> Vec<(Range<usize>, usize)> {
    |text| {
        page.glossary.occurrences(text).into_iter().map(|found| (found.range, found.term)).collect()
    }
}

fn signs(look: &Look) -> Signs {
    Signs { bullet: look.glyphs.bullet, quote: look.glyphs.vertical, rule: look.glyphs.horizontal }
}

/// A check in one line, and what it says once it can be told.
fn check_lines(page: &Page, check: &Check, width: usize, look: &Look) -> Vec<Line<'static>> {
    let theme = &look.theme;
    let state = page.checks.get(&check.id);
    let (sign, style, remark) = match state {
        None => (look.glyphs.open, theme.dim, "after the run".to_owned()),
        Some(CheckState::Passed) => (look.glyphs.right, theme.good, "holds".to_owned()),
        Some(CheckState::Failed(values)) => (look.glyphs.wrong, theme.bad, values.clone()),
        Some(CheckState::Skipped(reason)) => {
            (look.glyphs.open, theme.dim, format!("skipped: {reason}"))
        }
    };
    let mut spans = vec![(check.assert.source.clone(), theme.code), (format!("  {remark}"), style)];
    if let (Some(CheckState::Failed(_)), Some(why)) = (state, &check.why) {
        spans.push((format!("  {why}"), theme.text));
    }
    wrap_spans(&spans, width, Span::styled(format!("{sign} "), style), Span::raw("  "))
}
