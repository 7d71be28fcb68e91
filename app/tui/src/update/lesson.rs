//! Commands on the lesson page.

use std::sync::Arc;

use mlsys_lab::control;
use mlsys_lesson::{Asked, Block, Course, Event, Lesson, PredictKind};
use mlsys_run::session::Panels;
use mlsys_run::settings::KnobTurn;

use crate::answer::Options;
use crate::command::Motion;
use crate::key::Key;
use crate::message::Effect;
use crate::state::page::{Page, Side, Telling};
use crate::state::{App, DraftFollowing};
use crate::text_field::{FieldEvent, FieldPurpose, TextField};
use crate::{answer, document, view};

impl App {
    /// Marks the activity this many places on; one that lies further that way and has not come into view is shown first, for
    /// otherwise it would be passed over.
    pub(super) fn mark(&mut self, places: isize) -> Vec<Effect> {
        let scroll = |app: &Self| app.page.as_ref().map_or(0, |page| page.scroll);
        if let Some(page) = self.page.as_mut() {
            page.turn_to(Side::Text);
        }
        let before = scroll(self);
        self.keep_marked_in_view();
        let was_ahead = match places {
            1.. => scroll(self) > before,
            ..=0 => scroll(self) < before,
        };
        if !was_ahead {
            if let Some(page) = self.page.as_mut() {
                page.mark(places);
            }
            self.keep_marked_in_view();
        }
        self.start_instant()
    }

    /// Goes to another side of the page, as seen from this one.
    pub(super) fn switch_side(&mut self, to: impl Fn(Side) -> Side) -> Vec<Effect> {
        if let Some(page) = self.page.as_mut() {
            page.turn_to(to(page.side));
        }
        self.start_instant()
    }

    pub(super) fn show_lab(&mut self, places: isize) -> Vec<Effect> {
        if let Some(page) = self.page.as_mut() {
            let last = page.labs.len().saturating_sub(1);
            page.current = page.current.saturating_add_signed(places).min(last);
        }
        self.start_instant()
    }

    pub(super) fn next_panel(&mut self) -> Vec<Effect> {
        if let Some(lab) = self.page.as_mut().and_then(Page::lab_mut) {
            lab.pictures.chosen = (lab.pictures.chosen + 1) % lab.pictures.panels.len().max(1);
        }
        vec![Effect::WantPictures(Panels::All), Effect::Order(control::Command::Redraw)]
    }

    pub(super) fn change_telling(&mut self) {
        if let Some(page) = self.page.as_mut() {
            page.telling = match page.telling {
                Telling::Drawn => Telling::InWords,
                Telling::InWords => Telling::Drawn,
            };
        }
    }

    pub(super) fn move_text(&mut self, motion: Motion) {
        let half = self.half_screen();
        self.scroll_to(|scroll, last| motion.from(scroll, half, last));
    }

    pub(super) fn move_lab(&mut self, motion: Motion) {
        match motion {
            Motion::Up | Motion::Down => {
                if let Some(lab) = self.page.as_mut().and_then(Page::lab_mut) {
                    let last = lab.controls.knobs.len().saturating_sub(1);
                    lab.controls.marked = motion.from(lab.controls.marked, 1, last);
                }
            }
            Motion::PageUp | Motion::PageDown | Motion::Top | Motion::Bottom => {
                self.move_text(motion);
            }
        }
    }

    /// Leaves the lesson; a run ends, everything shown and answered is kept.
    pub(super) fn leave(&mut self) -> Vec<Effect> {
        let mut effects = self.abandon();
        if self.drafts == DraftFollowing::Followed {
            self.drafts = DraftFollowing::Closed;
            effects.push(Effect::CloseDraft);
        }
        if let Some(mut page) = self.page.take() {
            page.editor = None;
            page.rest_walks();
            self.left_pages.insert(page.lesson.front.id.to_string(), page);
        }
        effects
    }

    /// Opens a field for the marked prediction or question, or goes to the marked lab.
    pub(super) fn enter_activity(&mut self) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let Some(block) = page.marked else { return Vec::new() };
        match page.marked_block() {
            Some(Block::Lab(lab)) => {
                let id = lab.id.clone();
                page.show_lab(&id);
                page.turn_to(Side::Lab);
                return self.start_instant();
            }
            Some(Block::Predict(predict)) => {
                let made = page.predictions.get(&predict.id);
                let lettered = match predict.kind {
                    PredictKind::Numeric { .. } => Options::None,
                    PredictKind::Choice { .. } => Options::Lettered,
                };
                let text =
                    made.map_or(String::new(), |made| answer::reopened(&made.given, lettered));
                page.entry = Some(TextField::new(FieldPurpose::Block(block), text));
            }
            Some(Block::Question(question))
                if matches!(question.kind.asked(), Asked::Kernel { .. }) =>
            {
                return self.edit_answer(block);
            }
            Some(Block::Question(question)) => {
                let lettered = if question.shown_choices(&page.lesson.front.id).is_empty() {
                    Options::None
                } else {
                    Options::Lettered
                };
                let given = page.answers.get(&question.id);
                let text = given
                    .map_or(String::new(), |answered| answer::reopened(&answered.given, lettered));
                page.entry = Some(TextField::new(FieldPurpose::Block(block), text));
            }
            Some(Block::Prose(_) | Block::Check(_) | Block::Notes(_)) | None => {}
        }
        self.keep_marked_in_view();
        Vec::new()
    }

    pub(super) fn open_knob_entry(&mut self) {
        let Some(page) = self.page.as_mut() else { return };
        let value = page
            .lab()
            .and_then(|lab| lab.controls.knobs.get(lab.controls.marked))
            .map(|knob| knob.value.as_ref().map_or(String::new(), ToString::to_string));
        page.entry = value.map(|value| TextField::new(FieldPurpose::Knob, value));
    }

    pub(super) fn hint(&mut self) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let Some(question) = page.marked_question() else { return Vec::new() };
        let id = question.id.clone();
        let shown = page.hints.entry(id.clone()).or_default();
        *shown += 1;
        let event = Event::HintShown {
            lesson: page.lesson.front.id.clone(),
            question: id,
            hint: *shown - 1,
        };
        self.keep_marked_in_view();
        vec![Effect::Save(event)]
    }

    pub(super) fn typed(&mut self, key: Key) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let Some(entry) = page.entry.as_mut() else { return Vec::new() };
        match entry.key(key) {
            FieldEvent::Typed | FieldEvent::Unused => Vec::new(),
            FieldEvent::Dropped => {
                page.entry = None;
                Vec::new()
            }
            FieldEvent::Done => {
                let (purpose, text) = (entry.purpose.clone(), entry.text().trim().to_owned());
                let effects = match purpose {
                    FieldPurpose::Knob => self.set_knob(&text),
                    // Its field lies over the page, not on it.
                    FieldPurpose::Palette
                    | FieldPurpose::Steps
                    | FieldPurpose::File
                    | FieldPurpose::Search => Ok(Vec::new()),
                    FieldPurpose::Block(block) => {
                        page.submit(block, &text, self.registry).map(|event| {
                            page.entry = None;
                            event.into_iter().map(Effect::Save).collect::<Vec<_>>()
                        })
                    }
                };
                match effects {
                    Ok(mut effects) => {
                        self.note_progress(&effects);
                        effects.extend(self.completed());
                        self.keep_marked_in_view();
                        effects
                    }
                    Err(complaint) => {
                        if let Some(entry) = self.page.as_mut().and_then(|page| page.entry.as_mut())
                        {
                            entry.complaint = Some(complaint);
                        }
                        Vec::new()
                    }
                }
            }
        }
    }

    /// Turns knobs of the open lesson; the first that cannot be turned is the error.
    pub(super) fn set_knobs(&mut self, turns: &[KnobTurn]) -> Result<(), String> {
        let Some(page) = self.page.as_mut() else { return Ok(()) };
        for KnobTurn { lab, knob: name, value } in turns {
            let labs: Vec<_> = page.labs.iter().map(|open| open.id.clone()).collect();
            let Some(open) = page.labs.iter_mut().find(|open| open.id == *lab) else {
                return Err(format!("this lesson has no lab '{lab}'; it has: {}", labs.join(", ")));
            };
            let Some(index) = open.controls.knobs.iter().position(|knob| knob.name == *name) else {
                let knobs: Vec<_> =
                    open.controls.knobs.iter().map(|knob| knob.name.as_str()).collect();
                return Err(format!(
                    "lab '{lab}' has no knob '{name}'; it has: {}",
                    knobs.join(", ")
                ));
            };
            open.controls.marked = index;
            open.type_value(value)?;
            page.show_lab(lab);
        }
        Ok(())
    }

    fn set_knob(&mut self, text: &str) -> Result<Vec<Effect>, String> {
        let Some(page) = self.page.as_mut() else { return Ok(Vec::new()) };
        let Some(lab) = page.lab_mut() else { return Ok(Vec::new()) };
        let (name, value) = lab.type_value(text)?;
        page.entry = None;
        Ok(self.knob_turned(&name, Some(value)))
    }

    /// Takes events that are about to be saved into the progress on the screen.
    pub(super) fn note_progress(&mut self, effects: &[Effect]) {
        for effect in effects {
            if let Effect::Save(event) = effect {
                self.course.progress.apply(event.clone());
            }
        }
    }

    /// The event of a lesson's completion, once.
    pub(super) fn completed(&mut self) -> Option<Effect> {
        let page = self.page.as_ref()?;
        let id = &page.lesson.front.id;
        if !page.is_complete()
            || self.course.progress.lesson(id).is_some_and(|lesson| lesson.completed)
        {
            return None;
        }
        let event = Event::LessonCompleted { lesson: id.clone() };
        self.course.progress.apply(event.clone());
        self.screen.notice = Some(format!("lesson complete: {}", page.lesson.front.title));
        Some(Effect::Save(event))
    }

    pub(super) fn scroll_to(&mut self, to: impl Fn(usize, usize) -> usize) {
        let (size, look) = (self.screen.size, &self.screen.look);
        if let Some(page) = self.page.as_mut() {
            let (width, height) = view::text_size(size);
            let longest = document::length(page, width, look).saturating_sub(height);
            page.scroll = to(page.scroll, longest).min(longest);
        }
    }

    pub(super) fn keep_marked_in_view(&mut self) {
        let (size, look) = (self.screen.size, &self.screen.look);
        if let Some(page) = self.page.as_mut() {
            let (width, height) = view::text_size(size);
            page.scroll = document::scroll_for_marked(page, width, height, look);
        }
    }
}

impl App {
    pub(super) fn open_chosen(&mut self) -> Vec<Effect> {
        match self.course.lessons.get(self.course.chosen).cloned() {
            Some(lesson) => self.open(lesson),
            None => Vec::new(),
        }
    }

    pub fn take_course(&mut self, course: &Course) {
        self.course.title.clone_from(&course.title);
        self.course.modules = course.modules().to_vec();
        self.course.lessons = course.lessons().iter().cloned().map(Arc::new).collect();
    }

    pub fn open(&mut self, lesson: Arc<Lesson>) -> Vec<Effect> {
        let mut effects = self.enter_lesson(lesson);
        effects.extend(self.start_instant());
        effects
    }

    /// Opens a lesson with its knobs where they are wanted; the first that cannot be turned is the error.
    pub fn open_at(
        &mut self,
        lesson: Arc<Lesson>,
        turns: &[KnobTurn],
    ) -> Result<Vec<Effect>, String> {
        let mut effects = self.enter_lesson(lesson);
        self.set_knobs(turns)?;
        effects.extend(self.start_instant());
        Ok(effects)
    }

    fn enter_lesson(&mut self, lesson: Arc<Lesson>) -> Vec<Effect> {
        let id = lesson.front.id.clone();
        let page = match self.left_pages.remove(id.as_str()) {
            // Left in the middle, it is found in the middle; a new one begins at its first line.
            Some(page) => page,
            None => {
                let mut page = Page::open(Arc::clone(&lesson), self.registry, self.session.seed)
                    .with_workers(self.session.workers.as_deref());
                page.restore(&self.course.progress, self.registry);
                page
            }
        };
        self.page = Some(page);
        self.share_attempts();
        let event = Event::LessonOpened { lesson: id };
        self.course.progress.apply(event.clone());
        let mut effects = self.recall_attempts();
        effects.push(Effect::Save(event));
        effects
    }
}
