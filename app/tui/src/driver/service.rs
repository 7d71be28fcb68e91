//! The loop itself: one thing happens, its effects are carried out, and a frame is drawn.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Instant, SystemTime};

use mlsys_run::process::{Exit, Loss};
use mlsys_run::storage::{self, Draft, Drafts, Export, NoDataFolder, ProgressLog};
use mlsys_run::time;

use super::Left;
use super::drafts::{self, DraftStore};
use super::inputs::{Input, Keyboard, Lending};
use super::pulse::Pulse;
use super::runs::Runner;
use crate::message::{Effect, Message};
use crate::state::App;
use crate::terminal::{Screen, Stop};
use crate::update::Animation;
use crate::view;

pub(super) struct Driver<S> {
    pub(super) app: App,
    pub(super) screen: S,
    pub(super) inbox: Receiver<Input>,
    pub(super) pulse: Pulse,
    pub(super) runner: Runner,
    pub(super) log: Option<ProgressLog>,
    pub(super) exports: Option<PathBuf>,
    pub(super) draft_store: DraftStore,
    /// The keys, which an editor of the learner's own may borrow.
    pub(super) keyboard: Option<Keyboard>,
    pub(super) done: Option<Left>,
    /// What a loss so far makes of the end of the program.
    pub(super) exit: Exit,
    /// Typed lines not yet consumed, where there is no screen; none at the end of input.
    pub(super) lines: VecDeque<Option<String>>,
}

impl<S: Screen> Driver<S> {
    /// Runs are recorded in a folder, if there is one; nothing else is kept.
    pub(super) fn new(
        app: App,
        screen: S,
        runs: Option<PathBuf>,
        drafts: Drafts,
        (sender, inbox): (Sender<Input>, Receiver<Input>),
    ) -> Self {
        Self {
            runner: Runner::new(app.registry, runs, sender),
            app,
            screen,
            inbox,
            pulse: Pulse::new(),
            log: None,
            exports: None,
            draft_store: DraftStore::new(drafts),
            keyboard: None,
            done: None,
            exit: Exit::Passed,
            lines: VecDeque::new(),
        }
    }

    pub(super) fn serve(&mut self) -> io::Result<Left> {
        loop {
            self.turn()?;
            if let Some(left) = self.done {
                return Ok(left);
            }
        }
    }

    /// Waits for one thing to happen and draws if it changed anything.
    pub(super) fn turn(&mut self) -> io::Result<()> {
        self.pulse.heed(self.app.session.waiting.as_ref(), Instant::now());
        self.pulse.beat_for(self.app.animation(), Instant::now());
        self.pulse.wake_after(self.app.course.until_change(), Instant::now());
        let input = match self.pulse.next() {
            None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => self.inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        let mut dirty = false;
        self.read_clock()?;
        match input {
            Ok(input) => dirty = self.take(input)?,
            Err(RecvTimeoutError::Timeout) => {
                let now = Instant::now();
                dirty |= self.pulse.is_time_told(now);
                if self.pulse.is_due(now) {
                    for message in self.runner.take(&self.app) {
                        self.feed(message)?;
                        dirty = true;
                    }
                }
                if self.pulse.beats(now) {
                    self.feed(Message::Beat)?;
                    // A search is shown as often as the eye follows, and when it has ended.
                    let searching = self.app.animation() == Some(Animation::Searching);
                    dirty |= !searching || self.pulse.may_draw(now);
                }
                if let Some(seconds) = self.pulse.second(now) {
                    self.feed(Message::Waited { seconds })?;
                    dirty = true;
                }
            }
            Err(RecvTimeoutError::Disconnected) => self.done = Some(Left::OnRequest),
        }
        // Keys that were typed ahead, and all sizes of a window that is being dragged, before the next frame.
        while dirty && let Ok(more) = self.inbox.try_recv() {
            self.take(more)?;
        }
        if dirty && self.done.is_none() {
            // The message of a new size may still be on its way.
            let (width, height) = self.screen.size()?;
            if self.app.screen.size != (width, height) {
                self.feed(Message::Resize { width, height })?;
            }
            self.draw()?;
            self.pulse.drawn(Instant::now());
        }
        Ok(())
    }

    /// Reads the clock for a course with due dates; nothing is drawn for it alone.
    fn read_clock(&mut self) -> io::Result<()> {
        if self.app.course.has_dates() { self.feed(Message::Clock(time::now())) } else { Ok(()) }
    }

    pub(super) fn draw(&mut self) -> io::Result<()> {
        self.screen.draw(|frame| view::draw(&self.app, frame))
    }

    /// Takes one input in and says whether the screen may have to change.
    fn take(&mut self, input: Input) -> io::Result<bool> {
        match input {
            Input::RunSpoke => self.pulse.run_spoke(),
            Input::Answered => {}
            Input::Line(line) => self.lines.push_back(line),
            Input::DraftSaved => {
                let saved = self.draft_store.saved();
                return saved.map_or(Ok(false), |message| self.feed(message).map(|()| true));
            }
            Input::Message(message) => {
                if matches!(message, Message::Terminate) {
                    self.done = Some(Left::OnRequest);
                }
                return self.feed(message).map(|()| true);
            }
            Input::StopJob => return self.carry_out(vec![Effect::Suspend]).map(|()| true),
            Input::Continued => return self.screen.take_again().map(|()| true),
        }
        Ok(false)
    }

    pub(super) fn feed(&mut self, message: Message) -> io::Result<()> {
        if let Message::Lost(loss) = &message {
            self.exit = self.exit.and(loss.exit());
        }
        let effects = self.app.update(message);
        self.carry_out(effects)
    }

    fn say(&mut self, sentence: impl Into<String>) {
        self.app.update(Message::NotSaved(sentence.into()));
    }

    fn export(&self, export: &Export) -> String {
        let Some(folder) = &self.exports else { return NoDataFolder.to_string() };
        match storage::write_export(folder, export, SystemTime::now()) {
            Ok(stem) => format!("written: {}.svg and .csv", stem.display()),
            Err(error) => format!("the picture is not written into {}: {error}", folder.display()),
        }
    }

    /// Ends the run and tries once more to write what could not be written; a sentence for each loss that the screen has
    /// not shown.
    pub(super) fn close(&mut self) -> Vec<String> {
        self.runner.leave();
        let mut lost = self.draft_store.close_files();
        lost.extend(self.log.take().and_then(ProgressLog::close));
        let mut unsaid = Vec::new();
        while let Ok(input) = self.inbox.try_recv() {
            let Input::Message(message) = input else { continue };
            if let Message::Lost(loss) = message {
                lost.push(loss);
            } else if let Message::NotSaved(why) = message {
                unsaid.push(why);
            } else if let Message::WeightsSaved(Err(error)) = message {
                unsaid.push(error.to_string());
            }
        }
        lost.iter().for_each(|loss| self.exit = self.exit.and(loss.exit()));
        unsaid.extend(lost.iter().map(Loss::to_string));
        unsaid
    }

    /// Gives the terminal to the learner's own editor, and takes what it has saved.
    fn edit_outside(&mut self, draft: &Draft, text: &str) -> io::Result<()> {
        let path = self.draft_store.path(draft);
        if let Err(error) = self.draft_store.keep(draft, text) {
            self.say(format!("the text cannot be put into a file: {error}"));
            return Ok(());
        }
        let ended = {
            let _signals_are_lent = Lending::begin();
            let _keys_are_lent = self.keyboard.as_mut().map(Keyboard::lend);
            self.screen.lend(|| drafts::edit(&path))?
        };
        // What was saved counts, whatever the editor says when it ends: vi says that something failed after a command
        // that found nothing, saved or not. Undoing brings the text before it back.
        if let Some(message) = self.draft_store.saved() {
            self.feed(message)?;
        }
        if let Err(error) = ended {
            self.say(error.to_string());
        }
        Ok(())
    }

    pub(super) fn carry_out(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Start(start) => {
                    if let Some(message) = self.runner.start(*start, &self.app) {
                        self.feed(message)?;
                    }
                }
                Effect::Replay(start) => {
                    if let Some(message) = self.runner.replay(*start) {
                        self.feed(message)?;
                    }
                }
                Effect::ListRecords => self.runner.list_records(),
                Effect::ReadRecord(wanted) => self.runner.read_record(*wanted),
                Effect::Recall(wanted) => self.runner.recall(wanted),
                Effect::Order(order) => self.runner.order(order),
                Effect::WantPictures(panels) => self.runner.want_pictures(panels),
                Effect::Abandon => self.runner.abandon(),
                Effect::SetAside => self.runner.set_aside(),
                Effect::TakeUp => self.runner.take_up(),
                Effect::Mouse(mouse) => self.screen.mouse(mouse)?,
                Effect::Copy(text) => self.screen.copy(&text)?,
                Effect::Save(event) => {
                    if let Some(Err(error)) = self.log.as_mut().map(|log| log.append(&event)) {
                        self.say(format!("progress is not on the disk, and tried again: {error}"));
                    }
                }
                Effect::OpenDraft(draft) => {
                    for message in self.draft_store.open(draft, self.runner.outbox()) {
                        self.feed(message)?;
                    }
                }
                Effect::CloseDraft => self.draft_store.close(),
                Effect::KeepDraft(draft, text) => {
                    if let Err(error) = self.draft_store.keep(&draft, &text) {
                        self.say(format!("what you write is not kept: {error}"));
                    }
                }
                Effect::EditOutside(draft, text) => self.edit_outside(&draft, &text)?,
                Effect::ReadKernel(text) => self.runner.read_kernel(text),
                Effect::TestsJob(tried) => self.runner.run_tests(*tried),
                Effect::Export(export) => {
                    let sentence = self.export(&export);
                    self.app.update(Message::Exported(sentence));
                }
                Effect::SaveWeights(save) => self.runner.save_weights(save),
                Effect::Suspend => {
                    if self.screen.stop_job()? == Stop::NoShell {
                        self.say("there is no shell to go back to; q leaves");
                    }
                }
                Effect::Quit => {
                    self.done.get_or_insert(Left::ByChoice);
                }
            }
        }
        Ok(())
    }
}
