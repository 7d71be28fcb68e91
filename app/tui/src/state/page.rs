//! The open lesson: where the learner is in it, what they have answered, and its labs.

mod predictions;
mod results;
mod way;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mlsys_lab::Registry;
use mlsys_lab::report::RunData;
use mlsys_lesson::{Answer, Asked, Block, Lesson, Predict, PredictKind, Question};
use mlsys_run::glossary::Glossary;
use mlsys_run::settings;
use mlsys_view::kernel::Play;

use crate::deadline::Deadline;
use crate::editor::{Editor, KernelTests};
use crate::list::{FieldPurpose, TextField};
use crate::state::fault::FaultVisit;
use crate::state::lab::{LabState, RunStatus, lab};
pub use results::{Answered, CheckState, Prediction};
pub use way::Seen;

pub struct Page {
    pub lesson: Arc<Lesson>,
    pub glossary: Arc<Glossary>,
    pub labs: Vec<LabState>,
    pub current: usize,
    pub side: Side,
    /// The side to come back to, while the chosen picture has the whole screen.
    pub full_screen: Option<Side>,
    /// The marked block: a prediction, a lab or a question.
    pub marked: Option<usize>,
    /// Whether the marked block was gone to; the first one is marked from the beginning.
    pub arrived: bool,
    /// Whether the end was shown, what is left told, and nothing marked since.
    pub ended: bool,
    /// How often the end was shown: after it the way goes only to what is open.
    pub ends: usize,
    pub scroll: usize,
    pub seen: Seen,
    pub entry: Option<TextField>,
    /// What was typed into the fields of blocks and not given.
    pub typed: BTreeMap<usize, String>,
    pub editor: Option<Box<Editor>>,
    /// The failed launch that stands in the place of the lab.
    pub fault: Option<Box<FaultVisit>>,
    pub trials: BTreeMap<String, KernelTests>,
    pub answers: BTreeMap<String, Answered>,
    /// How many answers were given, by question.
    pub given: BTreeMap<String, usize>,
    pub deadline: Deadline,
    pub predictions: BTreeMap<String, Prediction>,
    /// The runs with knobs turned as tries say.
    pub tried: BTreeMap<String, RunData>,
    pub hints: BTreeMap<String, usize>,
    pub checks: BTreeMap<String, CheckState>,
    /// The labs that have run with the lesson's own values in an earlier session.
    pub finished_before: BTreeSet<String>,
    pub telling: Telling,
    pub audience: Audience,
    pub reminded: Option<usize>,
    /// The guessed try that the next step to a task passes: it was said what it waits for.
    pub passing: Option<usize>,
    /// The prediction that a run has just revealed: the next step shows it before it goes on.
    pub revealed: Option<usize>,
    /// The revealed prediction that the learner was last told of.
    pub revealed_told: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Text,
    Lab,
    Picture,
}

impl Side {
    pub fn next(self) -> Self {
        match self {
            Self::Text => Self::Lab,
            Self::Lab => Self::Picture,
            Self::Picture => Self::Text,
        }
    }

    pub fn previous(self) -> Self {
        self.next().next()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    Drawn,
    InWords,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Notes, answers and what checks come to are left out.
    Student,
    /// Everything is shown, what students do not see marked as such.
    Instructor,
}

impl Page {
    /// Opens a lesson; labs that the registry lacks are left out.
    pub fn open(
        lesson: Arc<Lesson>,
        registry: &'static Registry,
        seed: Option<u64>,
        workers: Option<&str>,
    ) -> Self {
        let seed = seed.unwrap_or(lesson.front.seed);
        let labs = lesson.labs().filter_map(|directive| lab(directive, seed, registry));
        let mut labs: Vec<LabState> = labs.collect();
        for lab in labs.iter_mut().filter(|lab| settings::takes_workers(lab.schema)) {
            settings::set_workers(&mut lab.settings, workers);
        }
        let mut page = Self {
            glossary: Glossary::for_lesson(&lesson),
            lesson,
            labs,
            current: 0,
            side: Side::Text,
            full_screen: None,
            marked: None,
            arrived: false,
            ended: false,
            ends: 0,
            scroll: 0,
            seen: Seen::default(),
            entry: None,
            typed: BTreeMap::new(),
            editor: None,
            fault: None,
            trials: BTreeMap::new(),
            answers: BTreeMap::new(),
            given: BTreeMap::new(),
            deadline: Deadline::default(),
            predictions: BTreeMap::new(),
            tried: BTreeMap::new(),
            hints: BTreeMap::new(),
            checks: BTreeMap::new(),
            finished_before: BTreeSet::new(),
            telling: Telling::Drawn,
            audience: Audience::Student,
            reminded: None,
            passing: None,
            revealed: None,
            revealed_told: None,
        };
        page.marked = page.activities().first().copied();
        page
    }

    /// Closes the field; what was typed for a task stays for the next time.
    pub fn close_entry(&mut self) {
        let Some(entry) = self.entry.take() else { return };
        let FieldPurpose::Block(block) = entry.purpose else { return };
        let given = match self.lesson.blocks.get(block) {
            Some(Block::Predict(predict)) => self.predictions.get(&predict.id).map(|m| &m.given),
            Some(Block::Question(question)) => self.answers.get(&question.id).map(|a| &a.given),
            Some(Block::Lab(_) | Block::Prose(_) | Block::Check(_) | Block::Notes(_)) | None => {
                None
            }
        };
        let text = entry.text().trim();
        if text.is_empty() || given.and_then(Answer::one) == Some(text) {
            self.typed.remove(&block);
        } else {
            self.typed.insert(block, text.to_owned());
        }
    }

    /// The field in which the marked knob's value is typed.
    pub fn knob_entry(&self) -> Option<&TextField> {
        self.entry.as_ref().filter(|entry| entry.purpose == FieldPurpose::Knob)
    }

    pub fn turn_to(&mut self, side: Side) {
        self.side = side;
        self.full_screen = None;
    }

    /// The blocks a learner does something at: predictions, labs, questions.
    pub fn activities(&self) -> Vec<usize> {
        let is_activity =
            |block: &Block| matches!(block, Block::Lab(_) | Block::Predict(_) | Block::Question(_));
        let blocks = self.lesson.blocks.iter().enumerate();
        blocks.filter(|(_, block)| is_activity(block)).map(|(index, _)| index).collect()
    }

    pub fn mark(&mut self, places: isize) {
        let activities = self.activities();
        let at = self.marked.and_then(|marked| activities.iter().position(|&a| a == marked));
        let next = match at {
            Some(at) => at.saturating_add_signed(places).min(activities.len().saturating_sub(1)),
            None => 0,
        };
        if let Some(block) = activities.get(next) {
            self.mark_at(*block);
        }
    }

    /// The first block at which something is left to do.
    pub fn first_open(&self) -> Option<usize> {
        (0..self.lesson.blocks.len()).find(|block| self.is_left(*block))
    }

    /// Whether a prediction is made, and in a try its knob turned.
    pub fn is_made(&self, predict: &Predict) -> bool {
        let made = self.predictions.get(&predict.id);
        made.is_some_and(|made| made.locked || predict.turn.is_none())
    }

    /// Whether a question is answered rightly, as far as that is known here.
    pub fn is_done(&self, question: &Question) -> bool {
        let answered = self.answers.get(&question.id);
        answered.is_some_and(|answered| answered.is_earned() || question.kind.is_withheld())
    }

    /// What is done and what is left, in one sentence.
    pub fn summary(&self) -> String {
        let lesson = &self.lesson;
        let done = lesson.questions().filter(|question| self.is_done(question)).count();
        let made = |tries: bool| {
            let kind = || lesson.predictions().filter(move |one| one.turn.is_some() == tries);
            (kind().filter(|one| self.is_made(one)).count(), kind().count())
        };
        let (predictions, tries) = (made(false), made(true));
        let is_recorded = lesson.questions().any(|question| question.kind.is_withheld());
        let answered = if is_recorded { "questions answered" } else { "questions right" };
        let count = |done: usize, all: usize, what: &str| {
            (all > 0).then(|| format!("{done} of {all} {what}"))
        };
        let parts = [
            count(done, lesson.questions().count(), answered),
            count(predictions.0, predictions.1, "predictions made"),
            count(tries.0, tries.1, "tries done"),
            count(self.passed_checks().count(), lesson.checks().count(), "checks hold"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Whether the learner has gone to the marked prediction.
    pub fn is_at_prediction(&self) -> bool {
        self.arrived && self.marked_block().is_some_and(|block| block.as_predict().is_some())
    }

    /// Whether something is still to be done at the marked block.
    pub fn is_marked_open(&self) -> bool {
        self.marked.is_some_and(|block| self.is_open(block))
    }

    pub fn is_open(&self, block: usize) -> bool {
        match self.lesson.blocks.get(block) {
            Some(Block::Predict(predict)) => !self.is_made(predict),
            Some(Block::Question(question)) => !self.answers.contains_key(&question.id),
            Some(Block::Lab(lab)) => {
                let mut labs = self.labs.iter();
                labs.any(|open| open.id == lab.id && open.run.state == RunStatus::Ready)
            }
            Some(Block::Prose(_) | Block::Check(_) | Block::Notes(_)) | None => false,
        }
    }

    pub fn marked_block(&self) -> Option<&Block> {
        self.lesson.blocks.get(self.marked?)
    }

    pub fn marked_question(&self) -> Option<&Question> {
        self.marked_block()?.as_question()
    }

    /// How many letters the options of the marked task take; 0 for other tasks.
    pub fn marked_options(&self) -> usize {
        match self.marked_block() {
            Some(Block::Question(question)) => match question.kind.asked() {
                Asked::Choice { choices }
                | Asked::Multiple { choices }
                | Asked::Match { choices, .. }
                | Asked::Order { choices } => choices.len(),
                Asked::Numeric { .. }
                | Asked::List
                | Asked::Expression
                | Asked::Text
                | Asked::Kernel { .. } => 0,
            },
            Some(Block::Predict(predict)) => match &predict.kind {
                PredictKind::Choice { choices } => choices.len(),
                PredictKind::Numeric { .. } => 0,
            },
            Some(_) | None => 0,
        }
    }

    pub fn show_lab(&mut self, id: &str) {
        if let Some(index) = self.labs.iter().position(|lab| lab.id == id) {
            self.current = index;
        }
    }

    pub fn lab(&self) -> Option<&LabState> {
        self.fault.as_ref().map(|visit| &visit.lab).or_else(|| self.labs.get(self.current))
    }

    pub fn lab_mut(&mut self) -> Option<&mut LabState> {
        match &mut self.fault {
            Some(visit) => Some(&mut visit.lab),
            None => self.labs.get_mut(self.current),
        }
    }

    fn shown_labs(&mut self) -> impl Iterator<Item = &mut LabState> {
        self.labs.iter_mut().chain(self.fault.as_mut().map(|visit| &mut visit.lab))
    }

    /// Stops what goes on by itself in any lab's pictures: it would go on unseen.
    pub fn rest_walks(&mut self) {
        for walk in self.shown_labs().filter_map(|lab| lab.debugger.as_mut()) {
            walk.rest();
        }
        self.rest_plays();
    }

    /// Stops the steps that follow each other in any lab's pictures; a search for a place goes on, for it has an end.
    pub fn rest_plays(&mut self) {
        for lab in self.shown_labs() {
            if let Some(walk) = lab.debugger.as_mut().filter(|walk| walk.play() == Play::Going) {
                walk.rest();
            }
            for view in &mut lab.pictures.views {
                view.frame.play = Play::Still;
            }
        }
    }

    pub fn passed_checks(&self) -> impl Iterator<Item = &str> {
        let passed = self.checks.iter().filter(|(_, state)| **state == CheckState::Passed);
        passed.map(|(id, _)| id.as_str())
    }

    pub fn skipped_checks(&self) -> impl Iterator<Item = &str> {
        let is_skipped = |state: &CheckState| matches!(state, CheckState::Skipped(_));
        let skipped = self.checks.iter().filter(move |(_, state)| is_skipped(state));
        skipped.map(|(id, _)| id.as_str())
    }

    pub fn hints_shown(&self, question: &str) -> usize {
        self.hints.get(question).copied().unwrap_or(0)
    }

    pub fn shown_hints(&self, question: &Question) -> Vec<String> {
        let (all, shown) = (question.hints.len(), self.hints_shown(&question.id));
        let hints = question.hints.iter().take(shown).zip(1..);
        hints.map(|(hint, number)| format!("hint {number} of {all}: {hint}")).collect()
    }

    /// Whether every question has been answered rightly, every try done, and no check has failed.
    ///
    /// A page that asks nothing, such as that of a single lab, is never complete.
    pub fn is_complete(&self) -> bool {
        let (mut questions, mut checks) =
            (self.lesson.questions().peekable(), self.lesson.checks().peekable());
        (questions.peek().is_some() || checks.peek().is_some())
            && questions.all(|question| self.is_done(question))
            && self.lesson.predictions().all(|one| one.turn.is_none() || self.is_made(one))
            && checks.all(|check| {
                let state = self.checks.get(&check.id);
                matches!(state, Some(CheckState::Passed | CheckState::Skipped(_)))
            })
    }
}
