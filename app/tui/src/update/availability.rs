//! Whether a command does anything now, and if not, why not.

use mlsys_lab::schema::Draw;
use mlsys_lesson::{Block, Question};
use mlsys_view::panel::Inspect;
use mlsys_view::theme::ColorDepth;

use crate::command::{Binding, Command, Need, Place, TABLE};
use crate::state::lab::{LabState, State};
use crate::state::page::Page;
use crate::state::{App, Instructors};
use crate::update::export;

impl App {
    /// Whether a command can be done on the page as it is; else the reason, as a notice says it.
    ///
    /// What lies over the page has commands of its own; for all others the page below counts.
    pub fn available(&self, command: Command) -> Result<(), String> {
        let at = |place: Place| {
            let mut rows = TABLE.iter().filter(|row| row.command == command);
            rows.find(|row| row.places.contains(&place))
        };
        match at(self.place()).or_else(|| at(self.ground())) {
            Some(row) => self.satisfied(row),
            None => Err(elsewhere(command, self.ground())),
        }
    }

    /// Whether a row of the table can be done now.
    pub fn satisfied(&self, row: &Binding) -> Result<(), String> {
        row.needs.iter().try_for_each(|&need| self.meets(need))
    }

    fn meets(&self, need: Need) -> Result<(), String> {
        let page = self.page.as_ref();
        let lab = page.and_then(Page::lab);
        let labs = page.map_or(0, |page| page.labs.len());
        let met = |holds: bool, reason: &str| {
            if holds { Ok(()) } else { Err(reason.to_owned()) }
        };
        match need {
            Need::Activity => activity(page),
            Need::Activities => met(
                page.is_some_and(|page| !page.activities().is_empty()),
                "this lesson asks nothing and has no lab",
            ),
            Need::Lab => met(lab.is_some(), "this lesson has no lab"),
            Need::OtherLab => match labs {
                0 => Err("this lesson has no lab".to_owned()),
                1 => Err("this lesson has one lab only".to_owned()),
                _ => Ok(()),
            },
            Need::Steps => met(
                lab.is_some_and(|lab| lab.schema.is_live()),
                "this lab answers at once: it has no steps",
            ),
            Need::Knob => {
                met(lab.is_some_and(|lab| !lab.controls.knobs.is_empty()), "this lab has no knobs")
            }
            Need::Picture => met(
                lab.is_some_and(|lab| !lab.pictures.panels.is_empty()),
                "this lesson has no picture",
            ),
            Need::Chart => met(
                lab.is_some_and(|lab| lab.draws() == Some(Draw::Line)),
                "the chosen picture is no chart: v goes to the next one",
            ),
            Need::Smooth if self.has_timeline() => met(
                self.screen.look.theme.depth != ColorDepth::None,
                "bars cannot be coloured by label: this screen has no colour",
            ),
            Need::Smooth => met(
                lab.is_some_and(|lab| lab.draws() == Some(Draw::Line)),
                "the chosen picture is no chart or timeline: v goes to the next one",
            ),
            Need::Space => met(
                lab.is_some_and(|lab| lab.draws() == Some(Draw::Line)) || self.has_space(),
                "the chosen picture is no chart, graph or timeline: v goes to the next one",
            ),
            Need::Parts => met(
                lab.is_some_and(|lab| lab.draws() == Some(Draw::Line))
                    || self.has_space()
                    || self.has_stages()
                    || self.has_kernel_chosen(),
                "the chosen picture is no chart, graph, timeline, exchange or kernel: v goes to the next one",
            ),
            Need::Kernel => met(
                lab.is_some_and(|lab| lab.debugger.is_some() && lab.kernel().is_some()),
                "no kernel has run here",
            ),
            Need::Points => met(
                lab.is_some_and(|lab| self.has_points(lab)),
                "no picture has steps to go through",
            ),
            Need::Groups => met(self.has_groups(), "the chosen picture is no graph with groups"),
            Need::Table => {
                met(self.has_table(), "the chosen picture is no table: v goes to the next one")
            }
            Need::EarlierRun => met(
                lab.is_some_and(|lab| !lab.others.earlier.is_empty()),
                "there is no earlier run yet: run again to have one",
            ),
            Need::OtherPicture => met(
                lab.is_some_and(|lab| lab.pictures.panels.len() > 1),
                "there is no other picture",
            ),
            Need::Reported => met(
                lab.is_some_and(|lab| lab.pictures.frozen.is_some() || lab.run.data.step > 0),
                "there is nothing to freeze yet",
            ),
            Need::Weights => export::may_save(lab),
            Need::Turned => met(
                lab.is_some_and(|lab| lab.controls.history.can_undo()),
                "no knob of this lab was turned",
            ),
            Need::Undone => met(
                lab.is_some_and(|lab| lab.controls.history.can_redo()),
                "no turn of a knob was taken back",
            ),
            Need::Running => met(self.session.active.is_some(), "nothing is running"),
            Need::Free => self.free(),
            Need::Changed => met(
                lab.is_some_and(is_changed),
                "nothing to reset: nothing has run and no knob was turned",
            ),
            Need::Written => met(
                lab.is_some_and(|lab| lab.kernel_text().is_some()),
                "the shown lab runs no kernel",
            ),
            Need::Hint => hint(page),
            Need::Instructor => met(
                self.preview.is_some() || self.instructors == Instructors::Admitted,
                "only with --instructor, and in `mlsys lesson preview`",
            ),
            Need::Problems => match &self.preview {
                None => Err("only in `mlsys lesson preview`".to_owned()),
                Some(preview) => met(
                    preview.unreadable.is_some() || !preview.problems.is_empty(),
                    "nothing is wrong with the file",
                ),
            },
            Need::Preset => met(
                lab.is_some_and(|lab| !lab.schema.presets.is_empty()),
                "this lab has no presets",
            ),
            Need::Devices => met(self.hardware.devices.is_some(), "still looking for devices"),
        }
    }

    /// Whether a row is what the learner most likely wants now.
    pub fn is_urgent(&self, row: &Binding) -> bool {
        let Some(page) = self.page.as_ref().filter(|_| self.overlay.is_none()) else {
            return row.command == Command::Enter;
        };
        let marked = page.marked_block();
        let unanswered = match marked {
            Some(Block::Question(question)) => !page.answers.contains_key(&question.id),
            Some(Block::Predict(predict)) => !page.predictions.contains_key(&predict.id),
            Some(Block::Lab(_) | Block::Prose(_) | Block::Check(_) | Block::Notes(_)) | None => {
                false
            }
        };
        let wrong = page
            .marked_question()
            .and_then(|question| page.answers.get(&question.id))
            .is_some_and(|answered| !answered.right);
        let at_lab = marked.is_some_and(|block| block.as_lab().is_some());
        let in_text = self.place() == Place::Text;
        let in_lab = self.place() == Place::Lab;
        if self.session.active.is_some() {
            return row.command == Command::Run;
        }
        let along = self.is_walked() || self.place() == Place::Picture && self.has_kernel_chosen();
        let wanted = [
            (Command::Enter, in_text && (unanswered || wrong)),
            (Command::Hint, wrong),
            (Command::Run, at_lab || in_lab),
            (Command::Inspect(Inspect::Left), along),
            (Command::Inspect(Inspect::Right), along),
        ];
        wanted.contains(&(row.command, true))
    }

    /// The device is not taken by another lab's run.
    fn free(&self) -> Result<(), String> {
        let (Some(active), Some(page)) = (self.session.active, &self.page) else { return Ok(()) };
        match page.labs.get(active.lab) {
            Some(lab) if active.lab != page.current => {
                Err(format!("'{}' is still running: [ and ] go to it, x ends it", lab.id))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Where a command that means nothing here is at home.
fn elsewhere(command: Command, ground: Place) -> String {
    let at = |place: Place| {
        let mut rows = TABLE.iter().filter(|row| row.command == command);
        rows.any(|row| row.places.contains(&place))
    };
    if ground == Place::Course {
        "open a lesson first"
    } else if at(Place::Lab) {
        "for this go to the lab: tab"
    } else if at(Place::Picture) {
        "for this go to the picture: tab"
    } else if at(Place::Text) {
        "for this go to the text: tab"
    } else if at(Place::Kernel) {
        "only in a kernel that is being written: t opens a lab's, enter a question's"
    } else if at(Place::Course) {
        "for this go back to the course: esc"
    } else {
        "not here"
    }
    .to_owned()
}

fn activity(page: Option<&Page>) -> Result<(), String> {
    let marked = page.and_then(|page| Some((page, page.marked_block()?)));
    let Some((page, block)) = marked else {
        return Err("there is nothing to answer here".to_owned());
    };
    let stands = |id: &str| page.predictions.get(id).is_some_and(|made| made.locked);
    match block {
        Block::Predict(predict) if stands(&predict.id) => {
            Err("this prediction stands: what it is held against is known".to_owned())
        }
        Block::Lab(_) | Block::Predict(_) | Block::Question(_) => Ok(()),
        Block::Prose(_) | Block::Check(_) | Block::Notes(_) => {
            Err("there is nothing to answer here".to_owned())
        }
    }
}

fn is_changed(lab: &LabState) -> bool {
    let turned = lab.controls.knobs.iter().any(|knob| knob.value != knob.initial);
    turned || lab.own_kernel.is_some() || lab.run.state != State::Ready
}

fn hint(page: Option<&Page>) -> Result<(), String> {
    let marked = page.and_then(|page| Some((page, page.marked_question()?)));
    let Some((page, question)) = marked else {
        return Err("hints belong to questions: n goes to the next one".to_owned());
    };
    let Question { id, hints, .. } = question;
    let shown = page.hints.get(id).copied().unwrap_or_default();
    match hints.len() {
        0 => Err("this question has no hints".to_owned()),
        all if shown >= all => Err("no more hints".to_owned()),
        _ => Ok(()),
    }
}
