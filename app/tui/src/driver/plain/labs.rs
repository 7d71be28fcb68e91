//! Answers, hints, kernels, runs and knobs without a screen.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use std::{fs, io};

use mlsys_kernel::{Direction, Goal};
use mlsys_lesson::{Asked, Block, Question};
use mlsys_view::kernel::{KernelDebugger, thread_details};

use super::words::{self, Line};
use super::{Talk, say};
use crate::command::Command;
use crate::editor::{DraftOrigin, Editor, Subject, TestsState};
use crate::key::Key;
use crate::message::{Effect, Message};
use crate::state::{App, CheckState, LabState, Page, Side};
use crate::update::Animation;
use crate::update::availability::Refusal;

/// Time between two lines about a run: often enough to know that it lives, seldom enough to be read out.
const PROGRESS: Duration = Duration::from_secs(3);

const NO_KERNEL: &str = "No kernel has run here.";

/// What is known of checks, and what predictions were compared with.
type Judged = (BTreeMap<String, CheckState>, BTreeMap<String, Option<String>>);

fn asks_kernel(question: &Question) -> bool {
    matches!(question.kind.asked(), Asked::Kernel { .. })
}

impl Talk<'_> {
    pub(super) fn answer(&mut self, text: &str) -> io::Result<()> {
        let Some(page) = self.driver.app.page.as_mut() else { return Ok(()) };
        page.side = Side::Text;
        let asked = page.marked_block().filter(|block| block.as_lab().is_none()).cloned();
        if self.driver.app.available(Command::Enter) == Err(Refusal::Locked) {
            return self.tell("This prediction is closed: its run has started.");
        }
        let Some(asked) = asked else { return self.tell("Nothing is asked here.") };
        if asked.as_question().is_some_and(asks_kernel) {
            return self.answer_kernel(text);
        }
        if let Some(complaint) = self.type_in(Command::Enter, text)? {
            return self.not_taken(&complaint);
        }
        self.of_page(|page| match &asked {
            Block::Question(question) => say::answered(page, question),
            Block::Predict(predict) if predict.turn.is_some() => say::prediction(page, predict),
            Block::Predict(_) => vec!["Kept; it can be changed until its run starts.".to_owned()],
            Block::Lab(_) | Block::Prose(_) | Block::Check(_) | Block::Notes(_) => Vec::new(),
        })?;
        self.notice()
    }

    fn not_taken(&mut self, why: &str) -> io::Result<()> {
        self.tell(&say::stopped(format!("Not taken: {why}")))
    }

    /// Opens a field, types a text into it, and gives it; what the field complains about is returned.
    fn type_in(&mut self, opening: Command, text: &str) -> io::Result<Option<String>> {
        self.command(opening)?;
        for message in [
            Message::Key(Key::End),
            Message::Key(Key::Ctrl('u')),
            Message::Paste(text.to_owned()),
            Message::Key(Key::Enter),
        ] {
            self.send(message)?;
        }
        let entry = self.page().and_then(|page| page.entry.as_ref());
        let complaint = entry.and_then(|entry| entry.complaint.clone());
        if entry.is_some() {
            self.send(Message::Key(Key::Esc))?;
        }
        Ok(complaint)
    }

    pub(super) fn hint(&mut self) -> io::Result<()> {
        let Some(question) = self.page().and_then(Page::marked_question).cloned() else {
            return self.tell("Hints belong to questions.");
        };
        let shown = |talk: &Self| talk.page().map_or(0, |page| page.hints_shown(&question.id));
        let before = shown(self);
        if let Some(page) = self.driver.app.page.as_mut() {
            page.side = Side::Text;
        }
        self.command(Command::Hint)?;
        if shown(self) > before { self.say(say::hint(&question, before)) } else { self.notice() }
    }

    fn answer_kernel(&mut self, text: &str) -> io::Result<()> {
        let text = match text.strip_prefix('@').map(str::trim) {
            None => text.to_owned(),
            Some(file) => match fs::read(file) {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(error) => return self.not_taken(&format!("{file} cannot be read: {error}")),
            },
        };
        self.command(Command::Enter)?;
        if let Some(editor) = self.driver.app.editor() {
            let draft = editor.draft.clone();
            let (text, whence) = (Some(text), DraftOrigin::Saved);
            self.send(Message::Draft { draft, text, whence })?;
        }
        if let Some(notice) = self.driver.app.screen.notice.take() {
            self.command(Command::Back)?;
            return self.not_taken(&notice);
        }
        if let Some(editor) = self.driver.app.editor() {
            // What was read is kept like what is typed.
            let kept = Effect::KeepDraft(editor.draft.clone(), editor.text.as_str().to_owned());
            self.driver.carry_out(vec![kept])?;
        }
        self.run_open()
    }

    /// Opens the kernel that is asked for, or that of the lab, in the learner's editor, and runs what comes back.
    pub(super) fn edit(&mut self) -> io::Result<()> {
        let Some(page) = self.driver.app.page.as_mut() else { return self.no_lesson() };
        page.side = Side::Text;
        let is_asked = page.marked_question().is_some_and(asks_kernel);
        self.command(if is_asked { Command::Enter } else { Command::Edit })?;
        if self.driver.app.editor().is_none() {
            return self.notice();
        }
        self.command(Command::Outside)?;
        if self.driver.app.screen.notice.is_some() {
            // An unintended answer would cost an attempt.
            self.notice()?;
            return self.command(Command::Back);
        }
        self.run_open()
    }

    fn run_open(&mut self) -> io::Result<()> {
        let subject = self.driver.app.editor().map(|editor| editor.subject.clone());
        self.command(Command::Run)?;
        self.wait_while(|talk| talk.driver.app.editor().is_some_and(Editor::is_being_read))?;
        let complaints = self.driver.app.editor().map_or_else(Vec::new, complaints);
        if !complaints.is_empty() {
            self.driver.app.screen.notice = None;
            self.command(Command::Back)?;
            self.tell("It cannot run yet:")?;
            return self.say(complaints);
        }
        self.notice()?;
        if let Some(Subject::Question(block)) = subject {
            self.await_tests(block)?;
        }
        self.command(Command::Back)
    }

    fn await_tests(&mut self, block: usize) -> io::Result<()> {
        let tests = |talk: &Self| {
            let page = talk.page()?;
            let id = page.lesson.blocks.get(block)?.id()?;
            Some(page.trials.get(id)?.state.clone())
        };
        self.wait_while(|talk| tests(talk) == Some(TestsState::Going))?;
        // Why it was refused is said with the tests.
        if matches!(tests(self), Some(TestsState::Refused(_))) {
            self.driver.app.screen.notice = None;
        }
        self.of_page(|page| {
            let question = page.lesson.blocks.get(block).and_then(Block::as_question);
            question.map_or_else(Vec::new, |question| {
                [say::trial(page, question), say::answered(page, question)].concat()
            })
        })?;
        self.notice()
    }

    pub(super) fn run(&mut self) -> io::Result<()> {
        let Some(page) = self.driver.app.page.as_mut() else { return Ok(()) };
        let lesson = page.lesson.clone();
        let marked = page.marked.and_then(|block| lesson.blocks.get(block)?.as_predict());
        let labs = marked.map_or_else(Vec::new, |predict| lesson.labs_of(predict));
        labs.first().into_iter().for_each(|lab| page.show_lab(lab));
        let current = page.current;
        self.command(Command::Run)?;
        let page = self.page().filter(|_| self.driver.app.session.active.is_none());
        let asked = page.filter(|page| page.reminded == Some(current)).map(|page| page.marked);
        let Some(marked) = asked else { return self.notice() };
        self.driver.app.screen.notice = None;
        self.tell("Predict first; run again runs without a prediction.")?;
        self.at = marked;
        self.here()
    }

    pub(super) fn save(&mut self, file: &str) -> io::Result<()> {
        if let Err(why) = self.driver.app.available(Command::SaveWeights) {
            return self.tell(&why.to_string());
        }
        self.type_in(Command::SaveWeights, file)?;
        self.wait_while(|talk| talk.driver.app.session.is_saving)?;
        self.notice()
    }

    pub(super) fn walk(&mut self, command: Command) -> io::Result<()> {
        self.command(command)?;
        self.end_search()?;
        self.notice()
    }

    fn end_search(&mut self) -> io::Result<()> {
        while self.driver.app.animation() == Some(Animation::Searching) {
            self.send(Message::Beat)?;
        }
        Ok(())
    }

    fn debugger(&mut self) -> Option<&mut KernelDebugger> {
        self.driver.app.page.as_mut()?.lab_mut()?.debugger.as_mut()
    }

    pub(super) fn stride(&mut self, goal: Goal, direction: Direction) -> io::Result<()> {
        let Some(walk) = self.debugger() else { return self.tell(NO_KERNEL) };
        walk.seek(goal, direction);
        self.end_search()?;
        self.driver.app.screen.notice = None;
        let lines = self.driver.app.walk_in_words();
        self.say(lines.iter().flat_map(|line| say::sentence(line)))
    }

    /// Opens the launch that failed and says where it stands, or goes back to what is marked.
    pub(super) fn fault(&mut self) -> io::Result<()> {
        self.command(Command::Fault)?;
        self.end_search()?;
        let visit = self.page().and_then(|page| page.fault.as_ref());
        let Some(sentence) = visit.map(|visit| visit.sentence.clone()) else {
            if self.driver.app.screen.notice.is_some() {
                return self.notice();
            }
            return self.here();
        };
        self.driver.app.screen.notice = None;
        let lines = self.driver.app.walk_in_words().into_iter();
        let details = self.debugger().map_or_else(Vec::new, |walk| thread_details(walk));
        let lines = lines.chain(details.into_iter().map(|(_, line)| line));
        let back = "step goes on from here, fault goes back.".to_owned();
        let lines = [sentence].into_iter().chain(lines).chain([back]);
        self.say(lines.flat_map(|line| say::sentence(&line)).collect::<Vec<_>>())
    }

    pub(super) fn look(
        &mut self,
        choose: impl FnOnce(&mut KernelDebugger) -> bool,
    ) -> io::Result<()> {
        let Some(walk) = self.debugger() else { return self.tell(NO_KERNEL) };
        if !choose(walk) {
            return self.tell("The kernel has none of that name or number where it stands.");
        }
        let details = thread_details(walk).into_iter();
        self.say(details.flat_map(|(_, line)| say::sentence(&line)))
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> io::Result<()> {
        let Some(page) = self.driver.app.page.as_mut() else { return Ok(()) };
        // A knob may be an entry of a table: its name contains a dot as well.
        let known = |lab: &LabState| lab.controls.knobs.iter().any(|knob| knob.name == name);
        let (id, knob) = match name.split_once('.') {
            Some((id, knob)) if !page.lab().is_some_and(known) => (Some(id), knob),
            Some(_) | None => (None, name),
        };
        if let Some(id) = id {
            page.show_lab(id);
        }
        let Some(lab) = page.lab_mut().filter(|lab| id.is_none_or(|id| lab.id == id)) else {
            return self.say([format!("There is no lab {}.", id.unwrap_or("here"))]);
        };
        if lab.mark_knob(knob).is_err() {
            let names: Vec<&str> = lab.controls.knobs.iter().map(|k| k.name.as_str()).collect();
            let id = &lab.id;
            let complaint = format!("Lab {id} has no knob {knob}; it has: {}.", names.join(", "));
            return self.tell(&complaint);
        }
        page.side = Side::Lab;
        let complaint = self.type_in(Command::Enter, value)?;
        if let Some(page) = self.driver.app.page.as_mut() {
            page.side = Side::Text;
        }
        match complaint {
            Some(complaint) => self.not_taken(&complaint)?,
            None => self.of_page(|page| {
                let knobs = page.lab().into_iter().flat_map(|lab| &lab.controls.knobs);
                let it = knobs.filter(|it| it.name == knob);
                it.filter_map(|it| Some(format!("{knob} is {}.", it.value.as_ref()?))).collect()
            })?,
        }
        self.notice()
    }

    /// Waits for the end of a run, if one goes on; a line that says stop ends it, others wait for their turn.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        let Some(active) = self.driver.app.session.active else { return Ok(()) };
        let before = self.judged();
        let mut said = Instant::now();
        let goes_on = |app: &App| app.session.active.is_some_and(|now| now.run == active.run);
        while self.driver.done.is_none() && goes_on(&self.driver.app) {
            let next = self.driver.lines.front();
            let next = next.and_then(|line| line.as_deref()).map(words::read);
            if next == Some(Ok(Line::Stop)) {
                self.driver.lines.pop_front();
                self.command(Command::Stop)?;
            }
            self.driver.turn()?;
            if said.elapsed() >= PROGRESS {
                said = Instant::now();
                self.of_page(|page| {
                    page.labs.get(active.lab).map(say::progress).into_iter().collect()
                })?;
                self.out.flush()?;
            }
        }
        self.of_page(|page| {
            page.labs.get(active.lab).map_or_else(Vec::new, |lab| say::end(page, lab))
        })?;
        self.verdicts(&before)?;
        // The screen says where a reveal is; here it has just been said.
        if self.driver.app.page.as_mut().is_some_and(|page| page.revealed.take().is_some()) {
            self.driver.app.screen.notice = None;
        }
        self.notice()
    }

    fn judged(&self) -> Judged {
        self.page().map_or_else(Judged::default, |page| {
            let predictions = page.predictions.iter();
            let compared = predictions.map(|(id, made)| (id.clone(), made.comparison.clone()));
            (page.checks.clone(), compared.collect())
        })
    }

    fn verdicts(&mut self, before: &Judged) -> io::Result<()> {
        let after = self.judged();
        self.of_page(|page| {
            let mut lines = Vec::new();
            for predict in page.lesson.predictions() {
                if after.1.get(&predict.id) != before.1.get(&predict.id) {
                    lines.extend(say::comparison(page, predict));
                }
            }
            for check in page.lesson.checks() {
                if after.0.get(&check.id) != before.0.get(&check.id) {
                    lines.extend(say::check_line(page, check));
                }
            }
            lines
        })
    }
}

fn complaints(editor: &Editor) -> Vec<String> {
    let complaints = editor.complaints.iter().flat_map(|complaint| {
        let (place, help) = (complaint.place, complaint.help.as_str());
        let semicolon = if help.is_empty() { "" } else { "; " };
        say::sentence(&format!(
            "Line {}, column {}: {}{semicolon}{help}.",
            place.line, place.column, complaint.message
        ))
    });
    complaints.collect()
}
