//! The state of the app. Pure: no clock, no terminal, no file.

mod fault;
mod lab;
mod overlay;
mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use mlsys_lab::Registry;
use mlsys_lab::device::{DeviceChoice, DeviceInfo};
use mlsys_lab::report::RunData;
use mlsys_lesson::{
    Diagnostic, GradingRules, Lesson, LessonId, ListedLesson, Module, Progress, Timestamp,
};
use mlsys_run::devices::Peaks;
use mlsys_view::attempts::FinishedRun;
use mlsys_view::glyphs::Glyphs;
use mlsys_view::theme::{Look, Theme};

use crate::deadline::Deadline;
use crate::message::{Effect, Mouse};
use crate::palette::{Item, Target};
use crate::records::RecordEntry;
pub use lab::history::Turned;
pub use lab::knob::{Knob, KnobError};
pub use lab::{LabState, OwnKernel, RunStatus};
pub use overlay::{Confirm, FieldOf, Overlay};
pub use page::{Answered, Audience, CheckState, Page, Prediction, Seen, Side, Telling};

pub struct App {
    pub registry: &'static Registry,
    pub course: CourseState,
    pub page: Option<Page>,
    /// Pages left behind, by lesson, so that coming back finds them as they were.
    pub left_pages: BTreeMap<String, Page>,
    pub overlay: Option<Overlay>,
    pub screen: ScreenState,
    pub hardware: Hardware,
    pub session: SessionState,
    pub archive: RecordedRuns,
    pub recall: Recent,
    pub drafts: DraftFollowing,
    /// Whether the instructor view may be opened without following a file.
    pub instructors: Instructors,
    pub preview: Option<Preview>,
    /// What the message at hand asks of the outside, in order.
    pub(crate) effects: Vec<Effect>,
}

pub struct CourseState {
    /// What the course is called; lessons that belong to none have no title over them.
    pub title: String,
    pub modules: Vec<Module>,
    pub lessons: Vec<Arc<ListedLesson>>,
    pub chosen: usize,
    /// The names by which lessons outside the built-in course were opened, by lesson id.
    pub sources: BTreeMap<String, String>,
    pub progress: Progress,
    pub grading: GradingRules,
    /// The time, if the clock was read.
    pub now: Option<Timestamp>,
}

pub struct ScreenState {
    pub size: (u16, u16),
    pub look: Look,
    pub mouse: Mouse,
    /// One sentence at the bottom, until the next key.
    pub notice: Option<String>,
}

#[derive(Clone, Copy)]
pub struct Machine<'a> {
    pub devices: &'a [DeviceInfo],
    pub peaks: &'a Peaks,
}

pub struct Hardware {
    pub devices: Option<Vec<DeviceInfo>>,
    pub peaks: Peaks,
    pub choice: DeviceChoice,
}

#[derive(Default)]
pub struct SessionState {
    pub active: Option<ActiveRun>,
    /// The run that waits while a lab that answers at once has its turn.
    pub aside: Option<ActiveRun>,
    pub runs: u64,
    pub tests: u64,
    /// Texts of kernels that were given to be read.
    pub revisions: u64,
    pub finished: Attempts,
    pub tempo: Tempo,
    /// The seed that wins over the lessons' own.
    pub seed: Option<u64>,
    /// The worker processes that labs use, as given to `--workers`.
    pub workers: Option<String>,
    pub waiting: Option<Waiting>,
    pub is_saving: bool,
}

#[derive(Default)]
pub struct RecordedRuns {
    /// The newest first, with those that ship with the program last.
    pub entries: Vec<RecordEntry>,
    pub items: Vec<Item>,
}

#[derive(Default)]
pub struct Recent {
    /// What was chosen from the palette, the newest first.
    pub targets: Vec<Target>,
    pub steps: u64,
    pub search: String,
    pub weights_file: Option<String>,
    pub clipboard: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftFollowing {
    Closed,
    Followed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructors {
    Admitted,
    Refused,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tempo {
    /// At least some seconds from the first step to the last, so that a person can follow.
    #[default]
    Watch,
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveRun {
    pub run: u64,
    pub lab: usize,
    /// Whether it waits for the devices to be known.
    pub waiting: bool,
    pub how: RunMode,
    pub asked: PendingRequest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    Run,
    Steps(u64),
    ToTheEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingRequest {
    Nothing,
    Pause,
    Stop,
}

impl Hardware {
    pub fn machine(&self) -> Machine<'_> {
        Machine { devices: self.devices.as_deref().unwrap_or(&[]), peaks: &self.peaks }
    }
}

impl CourseState {
    pub fn lessons_in(&self, range: &Range<usize>) -> &[Arc<ListedLesson>] {
        self.lessons.get(range.clone()).unwrap_or(&[])
    }

    pub fn deadline(&self, lesson: &LessonId) -> Deadline {
        Deadline { rules: *self.grading.of(lesson), now: self.now }
    }

    /// Seconds until other words are to be said of a due date; none where nothing is due.
    pub fn until_change(&self) -> Option<u64> {
        let deadlines = self.lessons.iter().map(|listed| self.deadline(&listed.front.id));
        deadlines.filter_map(|deadline| deadline.until_change()).min()
    }

    pub fn has_dates(&self) -> bool {
        self.lessons.iter().any(|listed| self.grading.of(&listed.front.id).due.is_some())
    }
}

impl Tempo {
    pub fn other(self) -> Self {
        match self {
            Self::Watch => Self::Full,
            Self::Full => Self::Watch,
        }
    }

    pub fn sentence(self) -> &'static str {
        match self {
            Self::Watch => "runs go at a pace that can be watched",
            Self::Full => "runs go at full speed",
        }
    }
}

/// All runs that ended in this session, and those of earlier ones that lessons took back in, the oldest first.
#[derive(Default)]
pub struct Attempts {
    pub all: Vec<Arc<FinishedRun>>,
    /// What was taken back in from records, by lesson and kind of lab.
    pub recalled: BTreeSet<(Option<String>, String)>,
}

impl Attempts {
    /// Keeps one more run and forgets the oldest: a picture of too many would be one of nothing.
    pub fn keep(&mut self, one: Arc<FinishedRun>) {
        const MOST: usize = 400;
        self.all.push(one);
        let surplus = self.all.len().saturating_sub(MOST);
        self.all.drain(..surplus);
    }
}

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
        let listed = |lesson| Arc::new(ListedLesson::from(lesson));
        Self {
            registry,
            course: CourseState {
                title: String::new(),
                modules: vec![loose],
                lessons: lessons.into_iter().map(listed).collect(),
                chosen: 0,
                sources: BTreeMap::new(),
                progress,
                grading: GradingRules::default(),
                now: None,
            },
            page: None,
            left_pages: BTreeMap::new(),
            overlay: None,
            screen: ScreenState { size, look, mouse: Mouse::Off, notice: None },
            hardware: Hardware { devices: None, peaks: Peaks::new(), choice },
            session: SessionState::default(),
            archive: RecordedRuns::default(),
            recall: Recent { steps: 10, ..Recent::default() },
            drafts: DraftFollowing::Closed,
            instructors: Instructors::Refused,
            preview: None,
            effects: Vec::new(),
        }
    }

    pub fn lab(&self) -> Option<&LabState> {
        self.page.as_ref()?.lab()
    }

    pub(crate) fn lab_mut(&mut self) -> Option<&mut LabState> {
        self.page.as_mut()?.lab_mut()
    }

    pub(crate) fn active_lab(&self) -> Option<&LabState> {
        self.page.as_ref()?.labs.get(self.session.active?.lab)
    }

    pub(crate) fn active_lab_mut(&mut self) -> Option<&mut LabState> {
        self.page.as_mut()?.labs.get_mut(self.session.active?.lab)
    }

    pub fn data_of(&self, run: u64) -> Option<&RunData> {
        self.session.active.filter(|active| active.run == run)?;
        Some(&self.active_lab()?.run.data)
    }

    pub fn theme(&self) -> &Theme {
        &self.screen.look.theme
    }

    pub fn glyphs(&self) -> &Glyphs {
        &self.screen.look.glyphs
    }

    pub(crate) fn notify(&mut self, sentence: impl Into<String>) {
        self.screen.notice = Some(sentence.into());
    }
}

/// A lesson file that is followed while its author writes it.
pub struct Preview {
    pub file: String,
    /// What is wrong with it now; warnings alone leave the lesson usable.
    pub problems: Vec<Diagnostic>,
    pub unreadable: Option<String>,
    pub id: Option<LessonId>,
}

impl Preview {
    pub fn new(file: String) -> Self {
        Self { file, problems: Vec::new(), unreadable: None, id: None }
    }

    pub fn lines(&self) -> usize {
        let lines = |problem: &Diagnostic| 4 + usize::from(problem.help.is_some());
        1 + self.problems.iter().map(lines).sum::<usize>()
    }

    /// Whether what is on the screen is older than the file, or nothing is on it.
    pub fn is_behind(&self) -> bool {
        self.unreadable.is_some() || self.problems.iter().any(Diagnostic::is_error)
    }

    /// Whether there has been no lesson in the file yet that could be opened.
    pub fn is_unopened(&self) -> bool {
        self.id.is_none() && self.is_behind()
    }
}

/// Something that takes time before anything moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    Devices,
    /// What the run says it is doing, such as compiling kernels.
    Preparing(String),
    Pause,
    Stop,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub what: Wait,
    pub seconds: u64,
}

impl Waiting {
    /// Seconds after which a run that was asked to end is said not to answer.
    pub const TIMEOUT: u64 = 5;

    pub fn is_unanswered(&self) -> bool {
        self.what == Wait::Stop && self.seconds >= Self::TIMEOUT
    }

    /// The words for it. A step that is over at once is not worth a word.
    pub fn words(&self) -> Option<String> {
        let seconds = self.seconds;
        let what = match &self.what {
            Wait::Devices => "looking for devices",
            Wait::Preparing(what) => what,
            Wait::Pause | Wait::Stop if seconds == 0 => return None,
            Wait::Pause => "waiting for the step to finish",
            Wait::Stop if self.is_unanswered() => {
                return Some(format!(
                    "it does not answer for {seconds} s: x again leaves it behind"
                ));
            }
            Wait::Stop => "ending: waiting for the step to finish",
        };
        Some(if seconds == 0 { what.to_owned() } else { format!("{what}, {seconds} s") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_say_their_seconds() {
        let compiling = || Wait::Preparing("compiling kernels".to_owned());
        for (what, seconds, words) in [
            (compiling(), 0, Some("compiling kernels")),
            (compiling(), 7, Some("compiling kernels, 7 s")),
            (Wait::Pause, 0, None),
            (Wait::Pause, 2, Some("waiting for the step to finish, 2 s")),
            (Wait::Stop, 5, Some("it does not answer for 5 s: x again leaves it behind")),
        ] {
            assert_eq!(Waiting { what, seconds }.words().as_deref(), words);
        }
    }
}
