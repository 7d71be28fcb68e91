//! The loop itself: one thing happens, its effects are carried out, and a frame is drawn.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Instant, SystemTime};

use mlsys_run::storage::{self, Draft, Export, NoDataFolder, ProgressLog};

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

pub(super) struct Driver {
    pub(super) runner: Runner,
    pub(super) log: Option<ProgressLog>,
    pub(super) exports: Option<PathBuf>,
    pub(super) draft_store: DraftStore,
    /// The keys, which an editor of the learner's own may borrow.
    pub(super) keyboard: Option<Keyboard>,
    pub(super) done: Option<Left>,
    /// Typed lines not yet consumed, where there is no screen; none at the end of input.
    pub(super) lines: VecDeque<Option<String>>,
}

impl Driver {
    pub(super) fn serve(
        &mut self,
        app: &mut App,
        terminal: &mut impl Screen,
        inbox: &Receiver<Input>,
    ) -> io::Result<Left> {
        let mut pulse = Pulse::new();
        loop {
            self.turn(app, terminal, inbox, &mut pulse)?;
            if let Some(left) = self.done {
                return Ok(left);
            }
        }
    }

    /// Waits for one thing to happen and draws if it changed anything.
    pub(super) fn turn(
        &mut self,
        app: &mut App,
        terminal: &mut impl Screen,
        inbox: &Receiver<Input>,
        pulse: &mut Pulse,
    ) -> io::Result<()> {
        pulse.heed(app.session.waiting.as_ref(), Instant::now());
        pulse.beat_for(app.animation(), Instant::now());
        let input = match pulse.next() {
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        let mut dirty = false;
        match input {
            Ok(input) => dirty = self.take(input, app, terminal, pulse)?,
            Err(RecvTimeoutError::Timeout) => {
                let now = Instant::now();
                if pulse.is_due(now) {
                    for message in self.runner.take(app) {
                        self.feed(app, terminal, message)?;
                        dirty = true;
                    }
                }
                if pulse.beats(now) {
                    self.feed(app, terminal, Message::Beat)?;
                    // A search is shown as often as the eye follows, and when it has ended.
                    dirty |= app.animation() != Some(Animation::Searching) || pulse.may_draw(now);
                }
                if let Some(seconds) = pulse.second(now) {
                    self.feed(app, terminal, Message::Waited { seconds })?;
                    dirty = true;
                }
            }
            Err(RecvTimeoutError::Disconnected) => self.done = Some(Left::OnRequest),
        }
        // Keys that were typed ahead, and all sizes of a window that is being dragged, before the next frame.
        while dirty && let Ok(more) = inbox.try_recv() {
            self.take(more, app, terminal, pulse)?;
        }
        if dirty && self.done.is_none() {
            self.fit(app, terminal)?;
            terminal.draw(|frame| view::draw(app, frame))?;
            pulse.drawn(Instant::now());
        }
        Ok(())
    }

    /// Takes one input in and says whether the screen may have to change.
    fn take(
        &mut self,
        input: Input,
        app: &mut App,
        terminal: &mut impl Screen,
        pulse: &mut Pulse,
    ) -> io::Result<bool> {
        match input {
            Input::RunSpoke => {
                pulse.run_spoke();
                return Ok(false);
            }
            Input::Answered => return Ok(false),
            Input::Line(line) => {
                self.lines.push_back(line);
                return Ok(false);
            }
            Input::Message(message) => {
                if matches!(message, Message::Terminate) {
                    self.done = Some(Left::OnRequest);
                }
                self.feed(app, terminal, message)?;
            }
            Input::DraftSaved => match self.draft_store.saved() {
                Some(message) => self.feed(app, terminal, message)?,
                None => return Ok(false),
            },
            Input::StopJob => self.carry_out(vec![Effect::Suspend], app, terminal)?,
            Input::Continued => terminal.take_again()?,
        }
        Ok(true)
    }

    /// Lays out for the size that will be drawn on: the message of a new one may still be on its way.
    fn fit(&mut self, app: &mut App, terminal: &mut impl Screen) -> io::Result<()> {
        let (width, height) = terminal.size()?;
        if app.screen.size == (width, height) {
            return Ok(());
        }
        self.feed(app, terminal, Message::Resize { width, height })
    }

    pub(super) fn feed(
        &mut self,
        app: &mut App,
        terminal: &mut impl Screen,
        message: Message,
    ) -> io::Result<()> {
        let effects = app.update(message);
        self.carry_out(effects, app, terminal)
    }

    fn export(&self, export: &Export) -> String {
        let Some(folder) = &self.exports else { return NoDataFolder.to_string() };
        match storage::write_export(folder, export, SystemTime::now()) {
            Ok(stem) => format!("written: {}.svg and .csv", stem.display()),
            Err(error) => format!("the picture is not written into {}: {error}", folder.display()),
        }
    }

    /// Gives the terminal to the learner's own editor, and takes what it has saved.
    fn edit_outside(
        &mut self,
        draft: &Draft,
        text: &str,
        app: &mut App,
        terminal: &mut impl Screen,
    ) -> io::Result<()> {
        let path = self.draft_store.path(draft);
        if let Err(error) = self.draft_store.keep(draft, text) {
            let why = format!("the text cannot be put into a file: {error}");
            return self.feed(app, terminal, Message::NotSaved(why));
        }
        let ended = {
            let _signals_are_lent = Lending::begin();
            let _keys_are_lent = self.keyboard.as_mut().map(Keyboard::lend);
            terminal.lend(|| drafts::edit(&path))?
        };
        // What was saved counts, whatever the editor says when it ends: vi says that something failed after a command
        // that found nothing, saved or not. Undoing brings the text before it back.
        if let Some(message) = self.draft_store.saved() {
            self.feed(app, terminal, message)?;
        }
        match ended {
            Ok(()) => Ok(()),
            Err(error) => self.feed(app, terminal, Message::NotSaved(error.to_string())),
        }
    }

    pub(super) fn carry_out(
        &mut self,
        effects: Vec<Effect>,
        app: &mut App,
        terminal: &mut impl Screen,
    ) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Start(start) => {
                    if let Some(message) = self.runner.start(*start, app) {
                        self.feed(app, terminal, message)?;
                    }
                }
                Effect::Replay(start) => {
                    if let Some(message) = self.runner.replay(*start) {
                        self.feed(app, terminal, message)?;
                    }
                }
                Effect::ListRecords => self.runner.list_records(),
                Effect::ReadRecord(wanted) => self.runner.read_record(*wanted),
                Effect::Recall(wanted) => self.runner.recall(wanted),
                Effect::Order(order) => self.runner.order(order),
                Effect::WantPictures(panels) => self.runner.want_pictures(panels),
                Effect::Abandon => self.runner.abandon(),
                Effect::Mouse(mouse) => terminal.mouse(mouse)?,
                Effect::Copy(text) => terminal.copy(&text)?,
                Effect::Save(event) => {
                    let failed = self.log.as_mut().and_then(|log| log.append(&event).err());
                    if let Some(error) = failed {
                        self.log = None;
                        app.update(Message::NotSaved(format!("progress is not kept: {error}")));
                    }
                }
                Effect::OpenDraft(draft) => {
                    for message in self.draft_store.open(draft, self.runner.outbox()) {
                        self.feed(app, terminal, message)?;
                    }
                }
                Effect::CloseDraft => self.draft_store.close(),
                Effect::KeepDraft(draft, text) => {
                    if let Err(error) = self.draft_store.keep(&draft, &text) {
                        let why = format!("what you write is not kept: {error}");
                        app.update(Message::NotSaved(why));
                    }
                }
                Effect::EditOutside(draft, text) => {
                    self.edit_outside(&draft, &text, app, terminal)?;
                }
                Effect::TestsJob(tried) => self.runner.run_tests(*tried),
                Effect::Export(export) => {
                    let sentence = self.export(&export);
                    app.update(Message::Exported(sentence));
                }
                Effect::SaveWeights(save) => self.runner.save_weights(save),
                Effect::Suspend => {
                    if terminal.stop_job()? == Stop::NoShell {
                        let why = "there is no shell to go back to; q leaves".to_owned();
                        app.update(Message::NotSaved(why));
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
