//! The state of the app and how messages change it. Pure: no clock, no terminal, no file.

mod attempts;
mod available;
mod chart;
mod confirm;
mod course;
mod dispatch;
mod export;
mod frame;
mod kernel;
mod lesson;
mod mouse;
mod news;
mod overlay;
mod palette;
mod picture;
mod preset;
mod records;
mod run;
mod search;
mod steer;
mod terms;
mod undo;
mod walk;
mod weights;

use std::collections::BTreeMap;
use std::sync::Arc;

use mlsys_lab::device::{DeviceChoice, DeviceInfo};
use mlsys_lab::registry::Registry;
use mlsys_lab::report::RunData;
use mlsys_lesson::{Lesson, Module, Progress};

use super::command::Place;
use super::judge::Machine;
use super::message::{Effect, Message};
use super::overlay::Overlay;
use super::page::Page;
use super::palette::{Item, Target};
use super::preview::Preview;
use super::records::Entry;
use super::wait::Waiting;
use mlsys_run::peaks::Peaks;
use mlsys_view::theme::{Look, Theme};

pub use mouse::Mouse;
pub use walk::Restless;

/// Everything the screen shows.
pub struct App {
    /// What the course is called; lessons that belong to none have no title over them.
    pub title: String,
    /// The parts of the course.
    pub modules: Vec<Module>,
    /// All lessons, in the order of the course.
    pub lessons: Vec<Arc<Lesson>>,
    /// The labs there are.
    pub registry: &'static Registry,
    /// Which lesson is marked on the course page.
    pub chosen: usize,
    /// The open lesson.
    pub page: Option<Page>,
    /// What lies over the page and takes the keys.
    pub overlay: Option<Overlay>,
    /// Whose the mouse is.
    pub mouse: Mouse,
    /// What was chosen from the palette, the newest first.
    pub recent: Vec<Target>,
    /// What lessons that are no built-in ones were opened by, by their ids.
    pub sources: BTreeMap<String, String>,
    /// Recorded runs, as the palette lists them.
    pub recorded: Vec<Item>,
    /// All recorded runs, the newest first, with those that ship with the program last.
    pub records: Vec<Entry>,
    /// The devices, once they are known.
    pub devices: Option<Vec<DeviceInfo>>,
    /// The highest rates measured on them.
    pub peaks: Peaks,
    /// Which device new runs take.
    pub choice: DeviceChoice,
    /// What the learner has done so far.
    pub progress: Progress,
    /// One sentence at the bottom, until the next key.
    pub notice: Option<String>,
    /// The run that is going on.
    pub active: Option<Active>,
    /// Runs that have ended, for pictures of several.
    attempts_kept: attempts::Attempts,
    /// Pages left behind, by lesson, so that coming back finds them as they were.
    pub kept: BTreeMap<String, Page>,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Colours and glyphs.
    pub look: Look,
    /// How fast runs go.
    pub tempo: Tempo,
    /// Whether the instructor view may be opened without following a file.
    pub instructors: Instructors,
    /// The lesson file that is followed, if one is.
    pub preview: Option<Preview>,
    /// The seed that wins over the lessons' own.
    pub seed: Option<u64>,
    /// The processes whose devices the workers of labs take, as `--workers` names them.
    pub workers: Option<String>,
    /// What is waited for, while something is.
    pub waiting: Option<Waiting>,
    /// How many steps were asked for last.
    step_count: u64,
    /// What was searched for last.
    searched: String,
    /// The file that weights were saved in last.
    weights_file: Option<String>,
    /// Whether weights are being saved.
    pub is_saving: bool,
    runs: u64,
    /// How many kernels were tested.
    attempts: u64,
    /// What was cut or copied last from a text.
    aside: String,
    /// Whether the file of a text is followed.
    drafts: Drafts,
}

/// Whether the file of a text is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drafts {
    Closed,
    Followed,
}

/// Whether instructors may see what students do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructors {
    /// They may.
    Admitted,
    /// Somebody who learns is at the screen.
    Refused,
}

/// How fast runs go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tempo {
    /// At least some seconds from the first step to the last, so that a person can follow.
    Watch,
    /// As fast as the device can.
    Full,
}

/// The run that is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Active {
    /// Its number.
    pub run: u64,
    /// The lab on the open page.
    pub slot: usize,
    /// Whether it waits for the devices to be known.
    pub waiting: bool,
    /// How it goes.
    pub how: How,
    /// What it was asked to do and has not done yet.
    pub asked: Asked,
}

/// How a run goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// At the learner's tempo.
    Run,
    /// So many steps, then a pause.
    Steps(u64),
    /// To the last step at full speed.
    ToTheEnd,
}

/// What a run was asked to do and does when its step is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Nothing.
    Nothing,
    /// To wait.
    Pause,
    /// To end.
    Stop,
}

impl Tempo {
    /// The other one.
    fn other(self) -> Self {
        match self {
            Self::Watch => Self::Full,
            Self::Full => Self::Watch,
        }
    }

    /// What it means.
    fn sentence(self) -> &'static str {
        match self {
            Self::Watch => "runs go at a pace that can be watched",
            Self::Full => "runs go at full speed",
        }
    }
}

/// The side, and the lab with its picture.
type Shown = (Place, Option<(usize, usize)>);

impl App {
    /// The course page of lessons that belong to no course; see [`Self::take_course`].
    pub fn new(
        lessons: Vec<Arc<Lesson>>,
        registry: &'static Registry,
        choice: DeviceChoice,
        progress: Progress,
        size: (u16, u16),
        look: Look,
    ) -> Self {
        let loose = Module {
            id: String::new(),
            title: "Lessons".to_owned(),
            about: String::new(),
            lessons: 0..lessons.len(),
        };
        Self {
            title: String::new(),
            modules: vec![loose],
            lessons,
            registry,
            chosen: 0,
            page: None,
            overlay: None,
            mouse: Mouse::Off,
            recent: Vec::new(),
            sources: BTreeMap::new(),
            recorded: Vec::new(),
            records: Vec::new(),
            devices: None,
            peaks: Peaks::new(),
            choice,
            progress,
            notice: None,
            active: None,
            attempts_kept: Default::default(),
            kept: BTreeMap::new(),
            size,
            look,
            tempo: Tempo::Watch,
            instructors: Instructors::Refused,
            preview: None,
            seed: None,
            workers: None,
            waiting: None,
            step_count: 10,
            weights_file: None,
            is_saving: false,
            searched: String::new(),
            runs: 0,
            attempts: 0,
            aside: String::new(),
            drafts: Drafts::Closed,
        }
    }

    /// Takes a message in and says what is to be done.
    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        let before = self.sight();
        let effects = self.take(message);
        // Whatever it was, it may have changed a run; a frame is not drawn without a message.
        for slot in self.page.iter_mut().flat_map(|page| &mut page.slots) {
            slot.forget_drawn();
        }
        let now = self.sight();
        // What plays goes on where it is seen and space is its own: not after a look elsewhere, and not beside a run.
        let elsewhere = now.0 != before.0;
        let started = now.1.is_some() && now.1 != before.1;
        if (elsewhere || started)
            && let Some(page) = self.page.as_mut()
        {
            page.rest_plays();
        }
        self.note_wait();
        effects
    }

    /// What is looked at, as side, lab and picture, and the run that goes on.
    fn sight(&self) -> (Shown, Option<u64>) {
        let shown = self.page.as_ref().and_then(|page| {
            let slot = page.slot()?;
            Some((page.current, slot.panel))
        });
        ((self.ground(), shown), self.active.map(|active| active.run))
    }

    fn take(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Key(key) => self.key(key),
            Message::Do(command) => {
                self.notice = None;
                self.dispatch(command)
            }
            Message::Mouse { gesture, column, row } => self.gesture(gesture, column, row),
            Message::Paste(text) => {
                if self.overlay.is_some() {
                    self.paste_over(&text);
                } else if let Some(entry) = self.page.as_mut().and_then(|page| page.entry.as_mut())
                {
                    entry.paste(&text);
                } else {
                    return self.paste_into_editor(&text);
                }
                Vec::new()
            }
            Message::Resize { width, height } => {
                self.size = (width, height);
                self.keep_marked_in_view();
                self.follow_cursor();
                Vec::new()
            }
            Message::Background(background) => {
                self.look.theme = Theme::new(background, self.look.theme.depth);
                Vec::new()
            }
            Message::Probed(devices) => {
                self.devices = Some(devices);
                self.start_waiting()
            }
            Message::Measured(peaks) => {
                // What has been measured since is newer than what was kept.
                for (device, peak) in peaks {
                    self.peaks.entry(device).or_insert(peak);
                }
                Vec::new()
            }
            Message::Reports { run, reports, since } => self.reports(run, reports, since),
            Message::Ended { run, outcome, after } => self.ended(run, outcome, after),
            Message::Settled { run } => {
                self.settled(run);
                Vec::new()
            }
            Message::Beat => {
                self.beat();
                Vec::new()
            }
            Message::Waited { seconds } => {
                if let Some(waiting) = &mut self.waiting {
                    waiting.seconds = seconds;
                }
                Vec::new()
            }
            Message::WeightsSaved(result) => {
                self.is_saving = false;
                self.notice = Some(result.unwrap_or_else(|why| why));
                Vec::new()
            }
            Message::NotSaved(sentence) | Message::Exported(sentence) => {
                self.notice = Some(sentence);
                Vec::new()
            }
            Message::Records(entries) => self.take_records(entries),
            Message::Fetched(fetched) => self.fetched(fetched),
            Message::Recalled(found) => self.recalled(found),
            Message::Previewed(sight) => self.previewed(sight),
            Message::Draft { draft, text, whence } => self.take_draft(&draft, text, whence),
            Message::Tried(tried) => self.tried(*tried),
            Message::Terminate => vec![Effect::Abandon, Effect::Quit],
        }
    }

    /// What lessons are judged on.
    pub fn machine(&self) -> Machine<'_> {
        Machine { devices: self.devices.as_deref().unwrap_or_default(), peaks: &self.peaks }
    }

    /// What the run that is going on has reported.
    pub fn data_of(&self, run: u64) -> Option<&RunData> {
        let active = self.active.filter(|active| active.run == run)?;
        let slot = self.page.as_ref()?.slots.get(active.slot)?;
        Some(&slot.data)
    }
}
