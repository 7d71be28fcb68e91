//! Kernels without a screen: an answer from a file, the learner's own editor, and the thread that reads lines.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{self, Sender};
use std::{fs, thread};

use mlsys_lesson::{Asked, Block};

use crate::command::Command;
use crate::driver::inputs::Input;
use crate::driver::plain::{NoScreen, Talk};
use crate::driver::{Outbox, Pulse};
use crate::editor::{DraftOrigin, Editor, Subject, TestsState};
use crate::message::Message;
use crate::plain::words::Line;
use crate::plain::{say, words};
use crate::state::page::{Page, Side};

impl Talk<'_> {
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

/// A longer line is no answer; the rest of it is passed over.
const LONGEST_LINE: u64 = 64 * 1024;

/// Reads lines, and hears the system's requests to end.
///
/// After a line that asks for the learner's own editor nothing is read until the sender says so: the editor has the keys.
pub(super) fn listen(outbox: &Outbox) -> io::Result<Sender<()>> {
    let lines = outbox.clone();
    let (go_on, may_go_on) = mpsc::channel();
    thread::Builder::new().name("lines".to_owned()).spawn(move || {
        let mut stdin = io::stdin().lock();
        loop {
            let mut bytes = Vec::new();
            let read = (&mut stdin).take(LONGEST_LINE).read_until(b'\n', &mut bytes);
            let line = match read {
                Ok(0) | Err(_) => None,
                Ok(_) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            };
            let is_last = line.is_none();
            let is_edit = line.as_deref().is_some_and(|line| words::read(line) == Ok(Line::Edit));
            if lines.send(Input::Line(line)).is_err() || is_last {
                return;
            }
            if is_edit && may_go_on.recv().is_err() {
                return;
            }
        }
    })?;
    requests(outbox.clone())?;
    Ok(go_on)
}

#[cfg(unix)]
fn requests(outbox: Outbox) -> io::Result<()> {
    use crate::driver::inputs::is_lent;
    use crate::message::Message;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP, SIGINT])?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            // This one is meant for the editor that has the terminal.
            if signal == SIGINT && is_lent() {
                continue;
            }
            if outbox.send(Input::Message(Message::Terminate)).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

#[cfg(not(unix))]
fn requests(_outbox: Outbox) -> io::Result<()> {
    Ok(())
}
