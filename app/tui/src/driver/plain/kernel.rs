//! Kernels: an answer from a file, and the learner's own editor.

use std::fs;
use std::io;

use mlsys_lesson::{Asked, Block};

use super::{NoScreen, Talk};
use crate::command::Command;
use crate::driver::Pulse;
use crate::editor::{DraftOrigin, Editor, Subject, TestsState};
use crate::message::Message;
use crate::plain::say;
use crate::state::page::{Page, Side};

impl Talk<'_> {
    /// Answers the marked question with a kernel: `@FILE`, or the text itself.
    pub(super) fn answer_kernel(&mut self, text: &str) -> io::Result<()> {
        let text = match text.strip_prefix('@') {
            None => text.to_owned(),
            Some(file) => match fs::read(file.trim()) {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(error) => {
                    let said = format!("Not taken: {} cannot be read: {error}.", file.trim());
                    return self.say(say::sentence(&said));
                }
            },
        };
        self.send(Message::Do(Command::Enter))?;
        if let Some(editor) = self.app.editor() {
            let draft = editor.draft.clone();
            self.send(Message::Draft {
                draft,
                text: Some(text.clone()),
                whence: DraftOrigin::Saved,
            })?;
        }
        if let Some(notice) = self.app.screen.notice.take() {
            self.send(Message::Do(Command::Back))?;
            return self.say(say::sentence(&format!("Not taken: {notice}.")));
        }
        if let Some(editor) = self.app.editor() {
            // What was read is kept like what is typed.
            let (draft, text) = (editor.draft.clone(), editor.text.as_str().to_owned());
            let kept = crate::message::Effect::KeepDraft(draft, text);
            self.driver.carry_out(vec![kept], &mut self.app, &mut NoScreen)?;
        }
        self.run_open()
    }

    /// Opens the kernel that is asked for, or that of the lab, in the learner's editor, and runs what comes back.
    pub(super) fn edit(&mut self) -> io::Result<()> {
        let Some(page) = self.app.page.as_mut() else {
            return self.say(["No lesson is open; type open and a lesson's number.".to_owned()]);
        };
        let asked = page.marked_block().and_then(Block::as_question);
        let is_kernel =
            asked.is_some_and(|question| matches!(question.kind.asked(), Asked::Kernel { .. }));
        page.side = Side::Text;
        let opening = if is_kernel { Command::Enter } else { Command::Edit };
        self.send(Message::Do(opening))?;
        if self.app.editor().is_none() {
            return self.notice();
        }
        self.send(Message::Do(Command::Outside))?;
        if self.app.screen.notice.is_some() {
            // An unintended answer would cost an attempt.
            self.notice()?;
            return self.send(Message::Do(Command::Back));
        }
        self.run_open()
    }

    /// Runs what is in the editor, says what came of it, and closes it.
    fn run_open(&mut self) -> io::Result<()> {
        let subject = self.app.editor().map(|editor| editor.subject.clone());
        self.send(Message::Do(Command::Run))?;
        let complaints = self.app.editor().map(complaints).unwrap_or_default();
        if !complaints.is_empty() {
            self.app.screen.notice = None;
            self.send(Message::Do(Command::Back))?;
            self.say(["It cannot run yet:".to_owned()])?;
            return self.say(complaints);
        }
        self.notice()?;
        if let Some(Subject::Question(block)) = subject {
            self.await_tests(block)?;
        }
        self.send(Message::Do(Command::Back))
    }

    /// Waits for the end of the tests and says what came of each.
    fn await_tests(&mut self, block: usize) -> io::Result<()> {
        let mut pulse = Pulse::new();
        while self.driver.done.is_none() && self.is_testing(block) {
            self.driver.turn(&mut self.app, &mut NoScreen, &self.inbox, &mut pulse)?;
        }
        let refused = |page: &Page| {
            let id = page.lesson.blocks.get(block)?.id()?;
            let state = &page.trials.get(id)?.state;
            matches!(state, TestsState::Refused(_)).then_some(())
        };
        // Why it was refused is said with the tests.
        if self.app.page.as_ref().and_then(refused).is_some() {
            self.app.screen.notice = None;
        }
        self.of_page(|page| {
            let question = page.lesson.blocks.get(block).and_then(Block::as_question);
            question.map_or_else(Vec::new, |question| {
                let mut lines = say::trial(page, question);
                lines.extend(say::answered(page, question));
                lines
            })
        })?;
        self.notice()
    }

    fn is_testing(&self, block: usize) -> bool {
        let page = self.app.page.as_ref();
        let id = |page: &Page| Some(page.lesson.blocks.get(block)?.id()?.to_owned());
        let trial = page.and_then(|page| page.trials.get(&id(page)?));
        trial.is_some_and(|trial| trial.state == TestsState::Going)
    }
}

/// What is wrong with a text, a line each.
fn complaints(editor: &Editor) -> Vec<String> {
    let mut lines = Vec::new();
    for complaint in &editor.complaints {
        let place = complaint.place;
        let help = match complaint.help.as_str() {
            "" => String::new(),
            help => format!("; {help}"),
        };
        lines.extend(say::sentence(&format!(
            "Line {}, column {}: {}{help}.",
            place.line, place.column, complaint.message
        )));
    }
    lines
}
