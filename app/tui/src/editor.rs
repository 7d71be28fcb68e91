//! A kernel being written: its text, what is wrong with it, what it is for, and its tests. Pure, as the whole state is.

pub mod highlight;
pub mod reading;
#[cfg(test)]
mod tests;
pub mod text;

use std::sync::Arc;

use mlsys_kernel::Diagnostic;
use mlsys_lesson::{Case, CaseResult, Grade, KnownNames, Lesson, LessonId};
use mlsys_run::storage::Draft;

use super::command::{Surface, TextAction, text_action};
use super::key::{Direction, Key};
pub use reading::{KernelRead, KernelSource, KernelText, Reading, Then};
pub use text::Text;
use text::{CursorMove, Select, TextFull};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The answer to the question of this block.
    Question(usize),
    /// The lab of this place on the page runs it in place of the example of this name.
    Lab(usize, String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Editor {
    pub subject: Subject,
    pub draft: Draft,
    pub text: Text,
    pub starter: String,
    pub complaints: Vec<Diagnostic>,
    pub scroll: (usize, usize),
    /// Whether the complaints are about the text as it is now.
    reading: Reading,
    then: Option<Then>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    Same,
    Changed,
    TextFull,
}

impl Editor {
    /// An editor that begins with a text; `starter` is what starting over goes back to.
    pub fn new(subject: Subject, draft: Draft, text: &str, starter: &str) -> Self {
        Self {
            subject,
            draft,
            text: Text::new(text),
            starter: starter.to_owned(),
            complaints: Vec::new(),
            scroll: (0, 0),
            reading: Reading::default(),
            then: None,
        }
    }

    /// Takes a key that is no command; `page` is how many lines the page keys go.
    pub fn key(&mut self, key: Key, page: usize) -> Typed {
        let Some(action) = text_action(key, Surface::Editor) else { return Typed::Same };
        let cursor_move = |direction: Direction| match direction {
            Direction::Up => CursorMove::Up(1),
            Direction::Down => CursorMove::Down(1),
            Direction::Left => CursorMove::Left,
            Direction::Right => CursorMove::Right,
            Direction::Home => CursorMove::Home,
            Direction::End => CursorMove::End,
        };
        // A selection that was begun by a key of its own goes along with every move until it ends.
        let select = if self.text.is_selecting() { Select::Extend } else { Select::Drop };
        let done = match action {
            TextAction::Insert(c) => self.text.type_char(c),
            TextAction::NewLine => self.text.new_line(),
            TextAction::Indent => self.text.indent(),
            TextAction::Outdent => self.text.outdent(),
            TextAction::DeleteBack => {
                self.text.backspace();
                Ok(())
            }
            TextAction::Delete => {
                self.text.delete();
                Ok(())
            }
            TextAction::Select(direction) => {
                return self.go(cursor_move(direction), Select::Extend);
            }
            TextAction::Move(direction) => return self.go(cursor_move(direction), select),
            TextAction::PageUp => return self.go(CursorMove::Up(page), select),
            TextAction::PageDown => return self.go(CursorMove::Down(page), select),
            TextAction::DeleteToStart | TextAction::Accept | TextAction::Cancel => {
                return Typed::Same;
            }
        };
        self.changed(done)
    }

    fn go(&mut self, go: CursorMove, select: Select) -> Typed {
        self.text.go(go, select);
        Typed::Same
    }

    pub fn paste(&mut self, text: &str) -> Typed {
        let done = self.text.paste(text);
        self.changed(done)
    }

    /// Puts another text in the place of the whole, as one change.
    pub fn become_text(&mut self, text: &str) -> Typed {
        let done = self.text.become_text(text);
        self.changed(done)
    }

    pub fn changed(&mut self, done: Result<(), TextFull>) -> Typed {
        if done.is_err() {
            return Typed::TextFull;
        }
        self.reading = self.reading.changed();
        self.then = None;
        Typed::Changed
    }

    /// The text, if it has to be read and none is being read; `revision` is what this one is called.
    pub fn to_read(&mut self, revision: u64) -> Option<KernelText> {
        if self.reading != Reading::Due {
            return None;
        }
        self.reading = Reading::Going(revision);
        let text = self.text.as_str().to_owned();
        Some(KernelText { source: KernelSource::Editor(revision), text })
    }

    /// Takes what is wrong with a text that was read; what waited for it, if that is the text as it is now.
    pub fn take_complaints(&mut self, revision: u64, complaints: Vec<Diagnostic>) -> Option<Then> {
        let then = match self.reading {
            Reading::Going(asked) if asked == revision => {
                self.reading = Reading::Current;
                self.then.take()
            }
            Reading::Behind(asked) if asked == revision => {
                self.reading = Reading::Due;
                None
            }
            Reading::Going(_) | Reading::Behind(_) | Reading::Due | Reading::Current => {
                return None;
            }
        };
        self.complaints = complaints;
        then
    }

    /// Whether the complaints are about the text as it is now; if not, this is done once they are.
    pub fn is_read_or_then(&mut self, then: Then) -> bool {
        let is_current = self.reading == Reading::Current;
        if !is_current {
            self.then = Some(then);
        }
        is_current
    }

    pub fn is_being_read(&self) -> bool {
        self.reading != Reading::Current
    }

    /// Puts the cursor at the first thing that is wrong behind it, or at the first of all.
    pub fn next_complaint(&mut self) {
        let (line, column) = self.text.cursor();
        let mut places = Vec::new();
        for complaint in &self.complaints {
            let at = (complaint.place.line as usize).saturating_sub(1);
            let Some(text) = self.text.lines().nth(at) else { continue };
            let before = complaint.place.column.saturating_sub(1) as usize;
            let before: String = text.chars().take(before).collect();
            places.push((at, text::width(&before)));
        }
        let next = places.iter().find(|place| **place > (line, column));
        if let Some(&(line, column)) = next.or(places.first()) {
            self.text.jump(line, column);
        }
    }

    /// Scrolls until the cursor is within this many lines and columns.
    pub fn follow(&mut self, lines: usize, columns: usize) {
        self.scroll = self.followed(lines, columns);
    }

    /// The scroll that puts the cursor within this many lines and columns: at the first column where the cursor is seen
    /// from there, and without empty rows below the last line where lines above could fill them.
    pub fn followed(&self, lines: usize, columns: usize) -> (usize, usize) {
        let (line, column) = self.text.cursor();
        let within = |from: usize, at: usize, room: usize| {
            from.clamp((at + 1).saturating_sub(room.max(1)), at)
        };
        let longest = self.text.lines().count().saturating_sub(lines);
        let left = if column < columns { 0 } else { self.scroll.1 };
        (within(self.scroll.0.min(longest), line, lines), within(left, column, columns))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct KernelTests {
    /// Its number; what comes of an earlier one is no longer wanted.
    pub attempt: u64,
    pub text: String,
    pub state: TestsState,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TestsState {
    Going,
    Done(Vec<Case>),
    /// They could not be run, for this reason.
    Refused(String),
}

impl KernelTests {
    /// Whether what is said to an answer is what a test tells already.
    pub fn repeats(&self, feedback: &str) -> bool {
        let TestsState::Done(cases) = &self.state else { return false };
        cases.iter().any(|case| match &case.result {
            CaseResult::Failed(how) => feedback.ends_with(how.as_str()),
            CaseResult::Passed(_) | CaseResult::NotRun => false,
        })
    }
}

#[derive(Debug)]
pub struct TestsJob {
    pub attempt: u64,
    pub lesson: Arc<Lesson>,
    pub question: String,
    pub text: String,
    /// What names of the lesson stand for.
    pub known: KnownNames,
}

#[derive(Clone, Debug)]
pub struct TestsReport {
    pub attempt: u64,
    pub lesson: LessonId,
    pub question: String,
    pub text: String,
    pub grade: Grade,
    pub cases: Vec<Case>,
}

impl TestsJob {
    /// Runs the tests; none if the lesson has no such question.
    pub fn run(self, registry: &mlsys_lab::Registry) -> Option<TestsReport> {
        let question = self.lesson.question(&self.question)?;
        let (grade, cases) = question.try_kernel(&self.text, &self.known, registry)?;
        Some(TestsReport {
            attempt: self.attempt,
            lesson: self.lesson.front.id.clone(),
            question: self.question,
            text: self.text,
            grade,
            cases,
        })
    }
}

/// Where a text comes from that is told of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftOrigin {
    /// It was kept when the editor was left.
    Kept,
    /// Another program has saved it just now.
    Saved,
}
