//! The event loop: messages in, effects out, a frame when something has changed.

mod drafts;
mod inputs;
mod plain;
mod pulse;
mod runs;
mod service;
#[cfg(test)]
mod tests;
mod watch;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use mlsys_lab::Registry;
use mlsys_lab::device::DeviceChoice;
use mlsys_lesson::{Lesson, Outline, Progress};
use mlsys_run::devices::Prober;
use mlsys_run::process::Exit;
use mlsys_run::settings::KnobTurn;
use mlsys_run::storage::{Drafts, Paths, ProgressLog};
use mlsys_run::time;
use mlsys_view::theme::ColorDepth;
use mlsys_view::theme::file::{Appearance, Decider};

use super::message::{Effect, Message};
use super::terminal::{Guard, Screen};
use crate::state::{App, Instructors, KnobError, Preview};
use inputs::Input;
pub use plain::{Prompt, run_plain};
use service::Driver;
pub use watch::Follow;
use watch::Watch;

pub struct Options {
    pub course: Outline,
    pub appearance: Appearance,
    pub registry: &'static Registry,
    pub choice: DeviceChoice,
    pub seed: Option<u64>,
    pub workers: Option<String>,
    pub open: Option<Opening>,
    /// Whether the instructor view may be opened; then nothing is read from or added to the learner's progress.
    pub instructors: Instructors,
    /// A lesson file to open and to follow. The author's answers are not progress: none is read or kept.
    pub preview: Option<Follow>,
    /// Where runs and progress are kept, if anywhere.
    pub paths: Option<Paths>,
    pub prober: Prober,
}

pub struct Opening {
    pub lesson: Arc<Lesson>,
    /// What it was named by, if not by its id.
    pub source: Option<String>,
    pub turns: Vec<KnobTurn>,
}

#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error(transparent)]
    Opening(#[from] KnobError),
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] io::Error),
    #[error(
        "there is no folder for what you write: {0}; set TMPDIR to a folder that can be written"
    )]
    Drafts(#[source] io::Error),
}

pub struct Leaving {
    pub left: Left,
    /// What went wrong with what was still being written, when there was no screen to say it on.
    pub unsaid: Vec<String>,
    /// What the losses of the session make of the end of the program.
    pub exit: Exit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    ByChoice,
    OnRequest,
}

/// The state to begin with, where progress and drafts are kept, and what is to be done first.
type Beginning = (App, Option<ProgressLog>, Drafts, Vec<Effect>);

fn begin(options: &mut Options, size: (u16, u16)) -> Result<Beginning, Broken> {
    let keeps = options.preview.is_none() && options.instructors == Instructors::Refused;
    let id = options.course.id.clone();
    let (drafts, (log, progress, trouble)) = match options.paths.as_ref().filter(|_| keeps) {
        Some(paths) => {
            let (log, progress, trouble) = ProgressLog::open(&paths.progress(), &id);
            (Drafts::in_folder(&paths.drafts(), &id), (Some(log), progress, trouble))
        }
        None => {
            let drafts = Drafts::temporary().map_err(Broken::Drafts)?;
            (drafts, (None, Progress::of_course(id), None))
        }
    };
    let look = options.appearance.look.clone();
    let mut app = App::new(Vec::new(), options.registry, options.choice, progress, size, look);
    app.take_course(&options.course);
    if app.course.has_dates() {
        app.update(Message::Clock(time::now()));
    }
    app.session.seed = options.seed;
    app.session.workers = options.workers.take();
    app.instructors = options.instructors;
    app.screen.notice = options.appearance.trouble.take().or(trouble);
    // What cannot be opened as asked for is told before the terminal is taken.
    let effects = match options.open.take() {
        Some(opening) => {
            let id = opening.lesson.front.id.to_string();
            app.course.sources.extend(opening.source.map(|source| (id, source)));
            app.open_at(opening.lesson, &opening.turns)?
        }
        None => Vec::new(),
    };
    Ok((app, log, drafts, effects))
}

pub fn run(mut options: Options) -> Result<Leaving, Broken> {
    let decider = options.appearance.decider;
    let (mut app, log, drafts, mut effects) = begin(&mut options, crossterm::terminal::size()?)?;
    let watch = options.preview.map(Watch::new);
    if let Some(watch) = &watch {
        app.preview = Some(Preview::new(watch.name()));
        effects.extend(app.update(Message::Previewed(watch.read())));
    }
    let (sender, inbox) = mpsc::channel();
    let told = sender.clone();
    let terminal = Guard::take(move |sentence| post(&told, Message::NotSaved(sentence)))?;
    let keyboard = inputs::listen(&sender)?;
    let tell = |sight| Input::Message(Message::Previewed(sight));
    let _following = watch.map(|watch| watch::start(&sender, watch, tell)).transpose()?;
    let runs = options.paths.as_ref().map(Paths::runs);
    let mut driver = Driver {
        log,
        keyboard: Some(keyboard),
        exports: options.paths.as_ref().map(Paths::exports),
        ..Driver::new(app, terminal, runs.clone(), drafts, (sender.clone(), inbox))
    };
    let ended = driver.carry_out(effects);
    // The first frame stands before the terminal is asked anything and before any driver is woken.
    let ended = ended
        .and_then(|()| driver.draw())
        .and_then(|()| ask(decider, &driver.app, &mut driver.screen))
        .and_then(|()| {
            inputs::probe_devices(options.prober, &sender, runs);
            driver.runner.list_records();
            driver.serve()
        });
    // However it ends, the record of a run that goes on is closed.
    let unsaid = driver.close();
    let left = match ended {
        Ok(left) => {
            await_answer(&driver.inbox);
            left
        }
        Err(_) if driver.screen.has_vanished() => Left::OnRequest,
        Err(error) => return Err(error.into()),
    };
    Ok(Leaving { left, unsaid, exit: driver.exit })
}

/// Asks for the colour behind the text where the answer would change anything.
fn ask(decider: Decider, app: &App, terminal: &mut Guard) -> io::Result<()> {
    let kind = std::env::var("TERM");
    let answers = kind.is_ok_and(|kind| !matches!(kind.as_str(), "" | "dumb" | "linux"));
    let matters = decider == Decider::Terminal && app.theme().depth != ColorDepth::None;
    if cfg!(unix) && answers && matters {
        inputs::asked();
        terminal.ask()?;
    }
    Ok(())
}

/// Waits a moment for an answer that is on its way, lest it be typed into the shell.
fn await_answer(inbox: &Receiver<Input>) {
    const TIMEOUT: Duration = Duration::from_millis(100);
    let until = Instant::now() + TIMEOUT;
    while inputs::is_answer_due()
        && inbox.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok()
    {}
}

/// Does what `effects` ask and serves the run they start until it has ended, as [`run`] would, on a screen that
/// is drawn to and not looked at: how the workbench is measured.
pub fn serve_run(
    app: App,
    effects: Vec<Effect>,
    runs: Option<PathBuf>,
    screen: impl Screen,
) -> io::Result<()> {
    let mut driver = Driver::new(app, screen, runs, Drafts::temporary()?, mpsc::channel());
    driver.carry_out(effects)?;
    while driver.done.is_none() && driver.app.session.active.is_some() {
        driver.turn()?;
    }
    driver.runner.leave();
    Ok(())
}

type Outbox = Sender<Input>;

/// Sends a message to the loop; a loop that has ended needs none.
fn post(outbox: &Outbox, message: Message) {
    let _ = outbox.send(Input::Message(message));
}
