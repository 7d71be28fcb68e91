//! Whether a command does anything now, and if not, why not.

use mlsys_lab::schema::Draw;
use mlsys_lesson::{Block, Disclosure};
use mlsys_view::panel::Inspect;
use mlsys_view::theme::ColorDepth;

use crate::command::{Binding, Command, Need, Place, TABLE};
use crate::state::{App, Instructors, LabState, Page, Preview, RunStatus, Side};
use crate::update::export::{self, NoWeights};
use crate::view::sides;

/// Why a command cannot be done now, as a notice says it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("{}", sentence(.0))]
    Unmet(Need),
    #[error("this lesson has one lab only")]
    OneLab,
    #[error("bars cannot be coloured by label: this screen has no colour")]
    NoColor,
    #[error("this prediction is closed: its run has started")]
    Locked,
    #[error("'{0}' is paused: [ and ] go to it, x ends it")]
    Paused(String),
    #[error("'{0}' is still running: [ and ] go to it, x ends it")]
    Running(String),
    #[error("this question has no hints")]
    NoHints,
    #[error("no more hints")]
    NoMoreHints,
    #[error("only in `mlsys lesson preview`")]
    NoPreview,
    #[error(transparent)]
    Weights(#[from] NoWeights),
    #[error("open a lesson first")]
    NoLesson,
    #[error("the file opens as soon as it is right")]
    Unopened,
    #[error("for this go to the lab: tab")]
    AtLab,
    #[error("for this go to the picture: tab")]
    AtPicture,
    #[error("for this go to the text: tab")]
    AtText,
    #[error("only in a kernel that is being written: t opens a lab's, enter a question's")]
    InKernel,
    #[error("for this go back to the course: esc")]
    AtCourse,
    #[error("a failed launch is shown: L goes back to where it was opened")]
    AtFault,
    #[error(
        "the marked task has an option d: enter begins the answer; tab leaves it, then d changes the device"
    )]
    AtOptions,
    #[error("the kernel of this lab stays closed: a question asks what it is")]
    Closed,
    #[error("not here")]
    NotHere,
}

fn sentence(need: &Need) -> &'static str {
    match need {
        Need::Activity => "there is nothing to answer here",
        Need::Activities => "this lesson asks nothing and has no lab",
        Need::Lab | Need::OtherLab => "this lesson has no lab",
        Need::Steps => "this lab answers at once: it has no steps",
        Need::Knob => "this lab has no knobs",
        Need::Picture => "this lesson has no picture",
        Need::Chart => "the chosen picture is no chart: v goes to the next one",
        Need::Smooth => "the chosen picture is no chart or timeline: v goes to the next one",
        Need::Space => "the chosen picture is no chart, graph or timeline: v goes to the next one",
        Need::Parts => {
            "the chosen picture is no chart, graph, timeline, exchange or kernel: v goes to the next one"
        }
        Need::Kernel => "no kernel has run here",
        Need::Fault => "no kernel has failed here, and no proof is refuted",
        Need::Points => "no picture has steps to go through",
        Need::Groups => "the chosen picture is no graph with groups",
        Need::Table => "the chosen picture is no table: v goes to the next one",
        Need::EarlierRun => "there is no earlier run yet: run again to have one",
        Need::OtherPicture => "there is no other picture",
        Need::Reported => "there is nothing to freeze yet",
        Need::Weights => "this run has left no weights",
        Need::Turned => "no knob of this lab was turned",
        Need::Undone => "no turn of a knob was taken back",
        Need::Running => "nothing is running",
        Need::Free => "another lab is still running",
        Need::Changed => "nothing to reset: nothing has run and no knob was turned",
        Need::Written => "the shown lab runs no kernel",
        Need::Hint => "hints belong to questions: n goes to the next one",
        Need::Instructor => "only with --instructor, and in `mlsys lesson preview`",
        Need::Problems => "nothing is wrong with the file",
        Need::Preset => "this lab has no presets",
        Need::Devices => "still looking for devices",
    }
}

fn row(command: Command, place: Place) -> Option<&'static Binding> {
    TABLE.iter().find(|row| row.command == command && row.places.contains(&place))
}

impl App {
    /// Whether a command can be done on the page as it is; else the reason.
    ///
    /// What lies over the page has commands of its own; for all others the page below counts.
    pub fn available(&self, command: Command) -> Result<(), Refusal> {
        match row(command, self.place()).or_else(|| row(command, self.ground())) {
            Some(row) => self.satisfied(row),
            None => Err(elsewhere(command, self.ground())),
        }
    }

    pub fn satisfied(&self, row: &Binding) -> Result<(), Refusal> {
        let visits = self.page.as_ref().is_some_and(|page| page.fault.is_some());
        let plays = row.command == Command::Run && self.plays_steps();
        if visits && self.overlay.is_none() && !plays && !is_of_looking(row.command) {
            return Err(Refusal::AtFault);
        }
        let is_unopened = self.preview.as_ref().is_some_and(Preview::is_unopened);
        let is_of_list = matches!(row.command, Command::Enter | Command::Search);
        if is_unopened && is_of_list && self.page.is_none() && self.overlay.is_none() {
            return Err(Refusal::Unopened);
        }
        let has_option = |page: &Page| page.side == Side::Text && page.marked_options() > 3;
        if row.command == Command::Device && self.page.as_ref().is_some_and(has_option) {
            return Err(Refusal::AtOptions);
        }
        row.needs.iter().try_for_each(|&need| {
            if self.meets(need)? { Ok(()) } else { Err(Refusal::Unmet(need)) }
        })
    }

    /// Whether a need is met; an error where the reason says more than that it is not.
    fn meets(&self, need: Need) -> Result<bool, Refusal> {
        let page = self.page.as_ref();
        let lab = self.lab();
        let has = |test: &dyn Fn(&LabState) -> bool| lab.is_some_and(test);
        let chart = || has(&|lab| lab.draws() == Some(Draw::Line));
        Ok(match need {
            Need::Activity => return activity(page),
            Need::Activities => page.is_some_and(|page| !page.activities().is_empty()),
            Need::Lab => lab.is_some(),
            Need::OtherLab => match page.map_or(0, |page| page.labs.len()) {
                1 => return Err(Refusal::OneLab),
                labs => labs > 1,
            },
            Need::Steps => has(&|lab| lab.schema.is_live()),
            Need::Knob => has(&|lab| !lab.controls.knobs.is_empty()),
            Need::Picture => has(&|lab| !lab.pictures.panels.is_empty()),
            Need::Chart => chart(),
            Need::Smooth if self.has_timeline() => {
                if self.screen.look.theme.depth == ColorDepth::None {
                    return Err(Refusal::NoColor);
                }
                true
            }
            Need::Smooth => chart(),
            Need::Space => chart() || self.has_space(),
            Need::Parts => {
                chart() || self.has_space() || self.has_stages() || self.has_kernel_chosen()
            }
            Need::Kernel => has(&|lab| lab.debugger.is_some() && lab.kernel().is_some()),
            Need::Fault => {
                page.is_some_and(|page| page.fault.is_some() || page.fault_site().is_some())
            }
            Need::Points => has(&|lab| self.has_points(lab)),
            Need::Groups => self.has_groups(),
            Need::Table => self.has_table(),
            Need::EarlierRun => has(&|lab| !lab.others.earlier.is_empty()),
            Need::OtherPicture => {
                let takes_turns = sides(self.screen.size).tabs.is_some();
                let is_hidden = page.is_some_and(|page| takes_turns && page.side == Side::Text);
                has(&|lab| lab.pictures.panels.len() > usize::from(!is_hidden))
            }
            Need::Reported => has(&|lab| lab.pictures.frozen.is_some() || lab.run.data.step > 0),
            Need::Weights => match lab {
                Some(lab) => export::weights(lab).map(|_| true)?,
                None => return Err(Refusal::Unmet(Need::Lab)),
            },
            Need::Turned => has(&|lab| lab.controls.history.can_undo()),
            Need::Undone => has(&|lab| lab.controls.history.can_redo()),
            Need::Running => self.session.active.is_some(),
            Need::Free => match self.other_running() {
                Some(_) if self.may_set_aside() => true,
                Some(lab) if lab.run.state == RunStatus::Paused => {
                    return Err(Refusal::Paused(lab.id.clone()));
                }
                Some(lab) => return Err(Refusal::Running(lab.id.clone())),
                None => true,
            },
            Need::Changed => has(&|lab| {
                lab.is_turned() || lab.own_kernel.is_some() || lab.run.state != RunStatus::Ready
            }),
            Need::Written if has(&|lab| lab.disclosure == Disclosure::Closed) => {
                return Err(Refusal::Closed);
            }
            Need::Written => has(&|lab| lab.kernel_text().is_some()),
            Need::Hint => return hint(page),
            Need::Instructor => self.preview.is_some() || self.instructors == Instructors::Admitted,
            Need::Problems => {
                let preview = self.preview.as_ref().ok_or(Refusal::NoPreview)?;
                preview.unreadable.is_some() || !preview.problems.is_empty()
            }
            Need::Preset => has(&|lab| !lab.schema.presets.is_empty()),
            Need::Devices => self.hardware.devices.is_some(),
        })
    }

    /// Whether a row is what the learner most likely wants now.
    pub fn is_urgent(&self, row: &Binding) -> bool {
        let Some(page) = self.page.as_ref().filter(|_| self.overlay.is_none()) else {
            return row.command == Command::Enter;
        };
        if self.session.active.is_some() {
            return row.command == Command::Run;
        }
        let marked = page.marked_block();
        let answered = page.marked_question().map(|question| page.answers.get(&question.id));
        let wrong = answered.flatten().is_some_and(|answered| !answered.is_earned());
        let unguessed = marked.and_then(Block::as_predict);
        let unguessed = unguessed.is_some_and(|guess| !page.predictions.contains_key(&guess.id));
        let unanswered = answered == Some(None) || unguessed;
        let at_lab = marked.is_some_and(|block| block.as_lab().is_some());
        let place = self.place();
        let along = self.is_walked() || place == Place::Picture && self.has_kernel_chosen();
        let wanted = [
            (Command::Enter, place == Place::Text && (unanswered || wrong)),
            (Command::Hint, wrong),
            (Command::Run, at_lab || place == Place::Lab),
            (Command::Inspect(Inspect::Left), along),
            (Command::Inspect(Inspect::Right), along),
        ];
        wanted.contains(&(row.command, true))
    }

    /// The lab that runs and is not the one shown.
    fn other_running(&self) -> Option<&LabState> {
        let (active, page) = (self.session.active?, self.page.as_ref()?);
        page.labs.get(active.lab).filter(|_| active.lab != page.current)
    }
}

/// Whether a command leaves labs, answers and the place in the lesson alone.
fn is_of_looking(command: Command) -> bool {
    matches!(
        command,
        Command::Fault
            | Command::Inspect(_)
            | Command::Walk(..)
            | Command::Choose(_)
            | Command::Breakpoint
            | Command::Move(_)
            | Command::NextPanel
            | Command::FullScreen
            | Command::SwitchSide
            | Command::PreviousSide
            | Command::Sort
            | Command::FilterRows
            | Command::Words
            | Command::Glossary
            | Command::Help
            | Command::Palette
            | Command::Mouse
            | Command::Back
            | Command::Quit
            | Command::Suspend
    )
}

/// Where a command that means nothing here is at home.
fn elsewhere(command: Command, ground: Place) -> Refusal {
    if ground == Place::Course {
        return Refusal::NoLesson;
    }
    let homes = [
        (Place::Lab, Refusal::AtLab),
        (Place::Picture, Refusal::AtPicture),
        (Place::Text, Refusal::AtText),
        (Place::Kernel, Refusal::InKernel),
        (Place::Course, Refusal::AtCourse),
    ];
    let home = homes.into_iter().find(|(place, _)| row(command, *place).is_some());
    home.map_or(Refusal::NotHere, |(_, refusal)| refusal)
}

fn activity(page: Option<&Page>) -> Result<bool, Refusal> {
    let Some((page, block)) = page.and_then(|page| Some((page, page.marked_block()?))) else {
        return Ok(false);
    };
    let locked = |id: &str| page.predictions.get(id).is_some_and(|made| made.locked);
    match block {
        Block::Predict(predict) if locked(&predict.id) => Err(Refusal::Locked),
        Block::Lab(_) | Block::Predict(_) | Block::Question(_) => Ok(true),
        Block::Prose(_) | Block::Check(_) | Block::Notes(_) => Ok(false),
    }
}

fn hint(page: Option<&Page>) -> Result<bool, Refusal> {
    let Some((page, question)) = page.and_then(|page| Some((page, page.marked_question()?))) else {
        return Ok(false);
    };
    match question.hints.len() {
        0 => Err(Refusal::NoHints),
        all if page.hints_shown(&question.id) >= all => Err(Refusal::NoMoreHints),
        _ => Ok(true),
    }
}
