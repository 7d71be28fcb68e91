//! The event loop: messages in, effects out, a frame when something has changed.

#[cfg(test)]
mod idle;
mod inputs;
mod plain;
mod pulse;
mod records;
mod runs;
mod watch;

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};

use mlsys_lab::device::DeviceChoice;
use mlsys_lab::registry::Registry;
use mlsys_lesson::{Course, Lesson, Progress};

use super::app::{App, Instructors};
use super::key::Key;
use super::message::{Effect, Gesture, Message};
use super::preview::Preview;
use super::terminal::{Guard, Screen, Stop};
use super::theme::ColorDepth;
use super::theme::choice::{Appearance, Decider};
use super::view;
use crate::exports::{self, Export};
use crate::paths::{NoDataFolder, Paths};
use crate::progress_log::ProgressLog;
use inputs::Input;
pub use plain::{Prompt, run_plain};
use pulse::Pulse;
use runs::Runner;
pub use watch::Follow;
use watch::Watch;

/// What the workbench starts with.
pub struct Options {
    /// The course that is taken.
    pub course: Course,
    /// How it looks.
    pub appearance: Appearance,
    /// The labs there are.
    pub registry: &'static Registry,
    /// Which device runs take.
    pub choice: DeviceChoice,
    /// The seed that wins over the lessons' own.
    pub seed: Option<u64>,
    /// A lesson to open at once.
    pub open: Option<Opening>,
    /// Whether the instructor view may be opened; then nothing is read from or added to the learner's progress.
    pub instructors: Instructors,
    /// A lesson file to open and to follow. The author's trials are nobody's progress: none is read or kept.
    pub preview: Option<Follow>,
    /// Where runs and progress are kept, if anywhere.
    pub paths: Option<Paths>,
}

/// A lesson to open, in a certain state.
pub struct Opening {
    /// The lesson.
    pub lesson: Arc<Lesson>,
    /// What it was named by, if not by its id.
    pub source: Option<String>,
    /// Knobs to turn first.
    pub turns: Vec<KnobTurn>,
}

/// A knob of a lesson and the value it is wanted at, as typed.
pub struct KnobTurn {
    /// The lab's id in the lesson.
    pub lab: String,
    /// The parameter.
    pub knob: String,
    /// The value.
    pub value: String,
}

/// Why the workbench did not open, or ended before the learner left.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The lesson cannot be opened in the state that was asked for.
    #[error("{0}")]
    Opening(String),
    /// The terminal failed.
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] io::Error),
}

/// Who ended the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The learner.
    ByChoice,
    /// The system, or the terminal that has vanished.
    OnRequest,
}

/// The state to begin with, where progress is kept, and what is to be done first.
type Beginning = (App, Option<ProgressLog>, Vec<Effect>);

/// The state that options ask for, laid out for a size.
fn state(options: &mut Options, size: (u16, u16)) -> Result<Beginning, Broken> {
    let (log, progress, trouble) = match &options.paths {
        Some(paths) if options.preview.is_none() && options.instructors == Instructors::Refused => {
            ProgressLog::open(&paths.progress(), &options.course.id)
        }
        Some(_) | None => (None, Progress::of_course(options.course.id.clone()), None),
    };
    let mut app = App::new(
        Vec::new(),
        options.registry,
        options.choice,
        progress,
        size,
        options.appearance.look.clone(),
    );
    app.take_course(&options.course);
    app.seed = options.seed;
    app.instructors = options.instructors;
    app.notice = options.appearance.trouble.take().or(trouble);
    // What cannot be opened as asked for is told before the terminal is taken.
    let effects = match options.open.take() {
        Some(opening) => {
            let id = opening.lesson.front.id.to_string();
            app.sources
                .extend(opening.source.map(|source| (id, source)));
            app.open_at(opening.lesson, &opening.turns)
                .map_err(Broken::Opening)?
        }
        None => Vec::new(),
    };
    Ok((app, log, effects))
}

/// Opens the workbench on the terminal and stays until the learner leaves or the system asks.
pub fn run(mut options: Options) -> Result<Left, Broken> {
    let decider = options.appearance.decider;
    let (mut app, log, mut effects) = state(&mut options, crossterm::terminal::size()?)?;
    let watch = options.preview.map(Watch::new);
    if let Some(watch) = &watch {
        app.preview = Some(Preview::new(watch.name()));
        effects.extend(app.update(Message::Previewed(watch.read())));
    }
    let (sender, inbox) = mpsc::channel();
    let told = sender.clone();
    let mut terminal = Guard::take(move |sentence| {
        let _ = told.send(Input::Message(Message::NotSaved(sentence)));
    })?;
    inputs::listen(&sender)?;
    if let Some(watch) = watch {
        watch::start(&sender, watch)?;
    }
    let folder = options.paths.as_ref().map(Paths::runs);
    let mut driver = Driver {
        runner: Runner::new(options.registry, folder, sender.clone()),
        log,
        exports: options.paths.as_ref().map(Paths::exports),
        done: None,
        lines: VecDeque::new(),
    };
    let ended = driver.carry_out(effects, &mut app, &mut terminal);
    // The first frame stands before the terminal is asked anything and before any driver is woken.
    let ended = ended
        .and_then(|()| terminal.draw(|frame| view::draw(&app, frame)))
        .and_then(|()| ask(decider, &app, &mut terminal))
        .and_then(|()| {
            inputs::probe_devices(&sender);
            driver.runner.list_records();
            driver.serve(&mut app, &mut terminal, &inbox)
        });
    // However it ends, the record of a run that goes on is closed.
    driver.runner.abandon();
    match ended {
        Ok(left) => {
            await_answer(&inbox);
            Ok(left)
        }
        Err(_) if terminal.has_vanished() => Ok(Left::OnRequest),
        Err(error) => Err(error.into()),
    }
}

/// Asks for the colour behind the text where the answer would change anything.
fn ask(decider: Decider, app: &App, terminal: &mut Guard) -> io::Result<()> {
    let kind = std::env::var("TERM").unwrap_or_default();
    let answers = !matches!(kind.as_str(), "" | "dumb" | "linux");
    let matters = decider == Decider::Terminal && app.look.theme.depth != ColorDepth::None;
    if cfg!(unix) && answers && matters {
        inputs::asked();
        terminal.ask()?;
    }
    Ok(())
}

/// Waits a moment for an answer that is on its way, lest it be typed into the shell.
fn await_answer(inbox: &Receiver<Input>) {
    const PATIENCE: Duration = Duration::from_millis(100);
    let until = Instant::now() + PATIENCE;
    while inputs::is_answer_due()
        && inbox
            .recv_timeout(until.saturating_duration_since(Instant::now()))
            .is_ok()
    {}
}

/// Does what `effects` ask and serves the run they start until it has ended, as [`run`] would, on a screen that
/// is drawn to and not looked at: how the workbench is measured.
pub fn serve_run(
    app: &mut App,
    effects: Vec<Effect>,
    runs: Option<PathBuf>,
    screen: &mut impl Screen,
) -> io::Result<()> {
    let (sender, inbox) = mpsc::channel();
    let mut driver = Driver {
        runner: Runner::new(app.registry, runs, sender),
        log: None,
        exports: None,
        done: None,
        lines: VecDeque::new(),
    };
    let mut pulse = Pulse::new();
    driver.carry_out(effects, app, screen)?;
    while driver.done.is_none() && app.active.is_some() {
        driver.turn(app, screen, &inbox, &mut pulse)?;
    }
    Ok(())
}

/// What the loop holds beside the state.
struct Driver {
    runner: Runner,
    log: Option<ProgressLog>,
    /// Where pictures are written, if anywhere.
    exports: Option<PathBuf>,
    done: Option<Left>,
    /// Lines that were typed where there is no screen and that nobody has taken yet; none when there are no more.
    lines: VecDeque<Option<String>>,
}

impl Driver {
    /// Serves the app until it is left.
    fn serve(
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
    fn turn(
        &mut self,
        app: &mut App,
        terminal: &mut impl Screen,
        inbox: &Receiver<Input>,
        pulse: &mut Pulse,
    ) -> io::Result<()> {
        pulse.heed(app.waiting.as_ref(), Instant::now());
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
            Input::StopJob => self.carry_out(vec![Effect::Suspend], app, terminal)?,
            Input::Continued => terminal.take_again()?,
        }
        Ok(true)
    }

    /// Lays out for the size that will be drawn on: the message of a new one may still be on its way.
    fn fit(&mut self, app: &mut App, terminal: &mut impl Screen) -> io::Result<()> {
        let (width, height) = terminal.size()?;
        if app.size == (width, height) {
            return Ok(());
        }
        self.feed(app, terminal, Message::Resize { width, height })
    }

    fn feed(
        &mut self,
        app: &mut App,
        terminal: &mut impl Screen,
        message: Message,
    ) -> io::Result<()> {
        let effects = app.update(message);
        self.carry_out(effects, app, terminal)
    }

    /// Writes a picture; returns what is to be said of it.
    fn export(&self, export: &Export) -> String {
        let Some(folder) = &self.exports else {
            return NoDataFolder.to_string();
        };
        match exports::write(folder, export, SystemTime::now()) {
            Ok(stem) => format!("written: {}.svg and .csv", stem.display()),
            Err(error) => format!(
                "the picture is not written into {}: {error}",
                folder.display()
            ),
        }
    }

    fn carry_out(
        &mut self,
        effects: Vec<Effect>,
        app: &mut App,
        terminal: &mut impl Screen,
    ) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Start(start) => {
                    if let Some(message) = self.runner.start(*start, app) {
                        let more = app.update(message);
                        self.carry_out(more, app, terminal)?;
                    }
                }
                Effect::Replay(start) => {
                    if let Some(message) = self.runner.replay(*start) {
                        let more = app.update(message);
                        self.carry_out(more, app, terminal)?;
                    }
                }
                Effect::ListRecords => self.runner.list_records(),
                Effect::ReadRecord(wanted) => self.runner.read_record(*wanted),
                Effect::Order(order) => self.runner.order(order),
                Effect::WantPictures => self.runner.want_pictures(),
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
                Effect::Export(export) => {
                    let sentence = self.export(&export);
                    app.update(Message::Exported(sentence));
                }
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

/// A key from a terminal event, for the input thread.
pub(crate) fn message_of(event: crossterm::event::Event) -> Option<Message> {
    use crossterm::event::Event;
    match event {
        Event::Key(key) => Key::from_event(key).map(Message::Key),
        Event::Paste(text) => Some(Message::Paste(text)),
        Event::Resize(width, height) => Some(Message::Resize { width, height }),
        Event::Mouse(mouse) => gesture(mouse),
        Event::FocusGained | Event::FocusLost => None,
    }
}

/// What is done with the mouse, as far as it means anything here.
fn gesture(mouse: crossterm::event::MouseEvent) -> Option<Message> {
    use crossterm::event::{MouseButton, MouseEventKind};
    let gesture = match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => Gesture::Press,
        MouseEventKind::Drag(MouseButton::Left) => Gesture::Drag,
        MouseEventKind::ScrollUp => Gesture::WheelUp,
        MouseEventKind::ScrollDown => Gesture::WheelDown,
        MouseEventKind::Down(MouseButton::Middle | MouseButton::Right)
        | MouseEventKind::Drag(MouseButton::Middle | MouseButton::Right)
        | MouseEventKind::Up(_)
        | MouseEventKind::Moved
        | MouseEventKind::ScrollLeft
        | MouseEventKind::ScrollRight => return None,
    };
    Some(Message::Mouse {
        gesture,
        column: mouse.column,
        row: mouse.row,
    })
}

/// The sender that every source of messages holds.
type Outbox = Sender<Input>;
