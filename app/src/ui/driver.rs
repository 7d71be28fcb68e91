//! The event loop: messages in, effects out, a frame when something has changed.

mod inputs;
mod runs;
mod watch;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use mlsys_lab::device::DeviceChoice;
use mlsys_lab::registry::Registry;
use mlsys_lesson::Lesson;
use mlsys_lesson::Progress;

use super::app::App;
use super::key::Key;
use super::message::{Effect, Message};
use super::preview::Preview;
use super::terminal::{Guard, Screen};
use super::theme::Look;
use super::view;
use crate::paths::Paths;
use crate::progress_log::ProgressLog;
use inputs::Input;
use runs::Runner;
pub use watch::Follow;
use watch::Watch;

/// Shortest time between two frames while a run reports; keys are answered at once.
const FRAME: Duration = Duration::from_millis(33);

/// What the workbench starts with.
pub struct Options {
    /// All lessons, in the order of the course.
    pub lessons: Vec<Arc<Lesson>>,
    /// The labs there are.
    pub registry: &'static Registry,
    /// Which device runs take.
    pub choice: DeviceChoice,
    /// The seed that wins over the lessons' own.
    pub seed: Option<u64>,
    /// A lesson to open at once.
    pub open: Option<Opening>,
    /// A lesson file to open and to follow. The author's trials are nobody's progress: none is read or kept.
    pub preview: Option<Follow>,
    /// Where runs and progress are kept, if anywhere.
    pub paths: Option<Paths>,
}

/// A lesson to open, in a certain state.
pub struct Opening {
    /// The lesson.
    pub lesson: Arc<Lesson>,
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

/// Opens the workbench on the terminal and stays until the learner leaves or the system asks.
pub fn run(options: Options) -> Result<(), Broken> {
    let (log, progress, trouble) = match (&options.paths, &options.preview) {
        (Some(paths), None) => ProgressLog::open(&paths.progress()),
        (Some(_), Some(_)) | (None, _) => (None, Progress::default(), None),
    };
    let mut app = App::new(
        options.lessons,
        options.registry,
        options.choice,
        progress,
        crossterm::terminal::size()?,
        Look::detect(&|name| std::env::var(name).ok()),
    );
    app.seed = options.seed;
    app.notice = trouble;
    // What cannot be opened as asked for is told before the terminal is taken.
    let mut effects = match options.open {
        Some(opening) => {
            let effects = app.open(opening.lesson);
            app.set_knobs(&opening.turns).map_err(Broken::Opening)?;
            effects
        }
        None => Vec::new(),
    };
    let watch = options.preview.map(Watch::new);
    if let Some(watch) = &watch {
        app.preview = Some(Preview::new(watch.name()));
        effects.extend(app.update(Message::Previewed(watch.read())));
    }
    let (sender, inbox) = mpsc::channel();
    let mut terminal = Guard::take()?;
    inputs::listen(&sender)?;
    if let Some(watch) = watch {
        watch::start(&sender, watch)?;
    }
    let folder = options.paths.as_ref().map(Paths::runs);
    let mut driver = Driver {
        runner: Runner::new(options.registry, folder, sender.clone()),
        log,
        done: false,
    };
    driver.carry_out(effects, &mut app, &mut terminal)?;
    // The first frame stands before any driver is woken.
    terminal.draw(|frame| view::draw(&app, frame))?;
    inputs::probe_devices(&sender);
    Ok(driver.serve(&mut app, &mut terminal, &inbox)?)
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
        done: false,
    };
    let mut pulse = Pulse::new();
    driver.carry_out(effects, app, screen)?;
    while !driver.done && app.active.is_some() {
        driver.turn(app, screen, &inbox, &mut pulse)?;
    }
    Ok(())
}

/// When the last frame was drawn and when the next is due.
struct Pulse {
    drawn: Instant,
    /// When a run's reports are to be taken out, once it has said that there are some.
    due: Option<Instant>,
}

impl Pulse {
    fn new() -> Self {
        Self {
            drawn: Instant::now(),
            due: None,
        }
    }

    fn run_spoke(&mut self) {
        self.due.get_or_insert(self.drawn + FRAME);
    }
}

/// What the loop holds beside the state.
struct Driver {
    runner: Runner,
    log: Option<ProgressLog>,
    done: bool,
}

impl Driver {
    /// Serves the app until it is left.
    fn serve(
        &mut self,
        app: &mut App,
        terminal: &mut impl Screen,
        inbox: &Receiver<Input>,
    ) -> io::Result<()> {
        let mut pulse = Pulse::new();
        while !self.done {
            self.turn(app, terminal, inbox, &mut pulse)?;
        }
        Ok(())
    }

    /// Waits for one thing to happen and draws if it changed anything.
    fn turn(
        &mut self,
        app: &mut App,
        terminal: &mut impl Screen,
        inbox: &Receiver<Input>,
        pulse: &mut Pulse,
    ) -> io::Result<()> {
        let input = match pulse.due {
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        let mut dirty = false;
        match input {
            Ok(Input::RunSpoke) => pulse.run_spoke(),
            Ok(Input::Message(message)) => {
                self.feed(app, terminal, message)?;
                dirty = true;
            }
            Err(RecvTimeoutError::Timeout) => {
                pulse.due = None;
                for message in self.runner.take(app) {
                    self.feed(app, terminal, message)?;
                    dirty = true;
                }
            }
            Err(RecvTimeoutError::Disconnected) => self.done = true,
        }
        // Keys that were typed ahead are taken before the next frame.
        while dirty && let Ok(more) = inbox.try_recv() {
            match more {
                Input::RunSpoke => pulse.run_spoke(),
                Input::Message(message) => self.feed(app, terminal, message)?,
            }
        }
        if dirty && !self.done {
            terminal.draw(|frame| view::draw(app, frame))?;
            pulse.drawn = Instant::now();
        }
        Ok(())
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
                Effect::Order(order) => self.runner.order(order),
                Effect::WantPictures => self.runner.want_pictures(),
                Effect::Abandon => self.runner.abandon(),
                Effect::Save(event) => {
                    let failed = self.log.as_mut().and_then(|log| log.append(&event).err());
                    if let Some(error) = failed {
                        self.log = None;
                        app.update(Message::NotSaved(format!("progress is not kept: {error}")));
                    }
                }
                Effect::Suspend => {
                    terminal.suspend()?;
                    let (width, height) = terminal.size()?;
                    app.update(Message::Resize { width, height });
                }
                Effect::Quit => self.done = true,
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
        Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
    }
}

/// The sender that every source of messages holds.
type Outbox = Sender<Input>;
