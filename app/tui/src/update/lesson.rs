//! Commands on the lesson page, and opening and leaving lessons.

use std::sync::Arc;

use mlsys_lesson::{Answer, Asked, Block, Event, Lesson, Outline, PredictKind, Timestamp};
use mlsys_run::settings::KnobTurn;

use crate::answer::AnswerError;
use crate::command::Motion;
use crate::document::Document;
use crate::key::Key;
use crate::list::{FieldEvent, FieldPurpose, TextField};
use crate::message::Effect;
use crate::state::{App, DraftFollowing, KnobError, Page, Side, Telling};
use crate::view::sides;
use crate::{document, view};

impl App {
    /// A lab without knobs has nothing between text and picture.
    pub(super) fn switch_side(&mut self, to: impl Fn(Side) -> Side) {
        if let Some(page) = self.page.as_mut() {
            let has_knobs = page.lab().is_some_and(|lab| !lab.controls.knobs.is_empty());
            let next = to(page.side);
            page.turn_to(if next == Side::Lab && !has_knobs { to(next) } else { next });
        }
        self.start_instant();
    }

    pub(super) fn show_lab(&mut self, places: isize) {
        if let Some(page) = self.page.as_mut() {
            let last = page.labs.len().saturating_sub(1);
            page.current = page.current.saturating_add_signed(places).min(last);
        }
        self.start_instant();
    }

    /// Where the text has the whole screen the lab comes first, with the picture that it has.
    pub(super) fn next_panel(&mut self) {
        let takes_turns = sides(self.screen.size).tabs.is_some();
        match self.page.as_mut() {
            Some(page) if takes_turns && page.side == Side::Text => {
                page.turn_to(Side::Lab);
                self.start_instant();
            }
            Some(_) | None => {
                if let Some(lab) = self.lab_mut() {
                    lab.pictures.advance(1);
                }
            }
        }
        self.want_pictures();
    }

    pub(super) fn change_telling(&mut self) {
        if let Some(page) = self.page.as_mut() {
            let is_drawn = page.telling == Telling::Drawn;
            page.telling = if is_drawn { Telling::InWords } else { Telling::Drawn };
        }
    }

    pub(super) fn move_text(&mut self, motion: Motion) {
        let half = self.half_screen();
        self.scroll_to(|scroll, last| motion.from(scroll, half, last));
    }

    /// Marks another knob; the page keys scroll the text.
    pub(super) fn move_lab(&mut self, motion: Motion) {
        if !matches!(motion, Motion::Up | Motion::Down) {
            self.move_text(motion);
        } else if let Some(lab) = self.lab_mut() {
            let last = lab.controls.knobs.len().saturating_sub(1);
            lab.controls.marked = motion.from(lab.controls.marked, 1, last);
        }
    }

    /// Leaves the lesson; a run ends, everything shown and answered is kept.
    pub(super) fn leave(&mut self) {
        self.abandon_all();
        if self.drafts == DraftFollowing::Followed {
            self.drafts = DraftFollowing::Closed;
            self.effects.push(Effect::CloseDraft);
        }
        if let Some(mut page) = self.page.take() {
            page.editor = None;
            page.rest_walks();
            self.left_pages.insert(page.lesson.front.id.to_string(), page);
        }
    }

    /// Opens a field for the marked prediction or question, or goes to the marked lab.
    pub(super) fn enter_activity(&mut self) {
        let Some(page) = self.page.as_mut() else { return };
        let Some(block) = page.marked else { return };
        page.arrived = true;
        let (given, lettered) = match page.marked_block() {
            Some(Block::Lab(_)) => {
                page.mark(0);
                page.turn_to(Side::Lab);
                return self.start_instant();
            }
            Some(Block::Predict(predict)) => {
                let made = page.predictions.get(&predict.id).map(|made| &made.given);
                (made, matches!(predict.kind, PredictKind::Choice { .. }))
            }
            Some(Block::Question(question)) => {
                if matches!(question.kind.asked(), Asked::Kernel { .. }) {
                    return self.edit_answer(block);
                }
                let given = page.answers.get(&question.id).map(|answered| &answered.given);
                (given, !question.shown_choices(&page.lesson.front.id).is_empty())
            }
            Some(Block::Prose(_) | Block::Check(_) | Block::Notes(_)) | None => {
                return self.keep_marked_in_view();
            }
        };
        // Letters are typed anew: in another session they may stand for other options.
        let text = given.filter(|_| !lettered).and_then(Answer::one).unwrap_or_default();
        let purpose = FieldPurpose::Block(block);
        let entry = match page.typed.get(&block) {
            Some(typed) => TextField::new(purpose, typed),
            None => TextField::to_replace(purpose, text),
        };
        page.entry = Some(entry);
        self.keep_marked_in_view();
    }

    /// Whether a key is the letter of an option of the marked question or prediction, which is still open: then it begins
    /// the answer, whatever it does elsewhere.
    pub(super) fn is_option(&self, key: Key) -> bool {
        let (Key::Char(letter), Some(page)) = (key, &self.page) else { return false };
        let options = match page.marked_block() {
            Some(Block::Predict(predict)) if !page.is_made(predict) => match &predict.kind {
                PredictKind::Choice { choices } => choices.len(),
                PredictKind::Numeric { .. } => 0,
            },
            Some(Block::Question(question)) if !page.is_done(question) => {
                question.shown_choices(&page.lesson.front.id).len()
            }
            Some(_) | None => 0,
        };
        page.arrived && ('a'..='z').take(options).any(|option| option == letter)
    }

    pub(super) fn open_knob_entry(&mut self) {
        let Some(page) = self.page.as_mut() else { return };
        let knob = page.lab().and_then(|lab| lab.controls.knobs.get(lab.controls.marked));
        page.entry = knob.map(|knob| {
            let value = knob.value.as_ref().map_or(String::new(), ToString::to_string);
            TextField::to_replace(FieldPurpose::Knob, value)
        });
    }

    pub(super) fn hint(&mut self) {
        let Some(page) = self.page.as_mut() else { return };
        let Some(question) = page.marked_question().map(|question| question.id.clone()) else {
            return;
        };
        let hint = page.hints_shown(&question);
        page.hints.insert(question.clone(), hint + 1);
        let lesson = page.lesson.front.id.clone();
        self.keep_marked_in_view();
        self.save(Event::HintShown { lesson, question, hint });
    }

    pub(super) fn typed(&mut self, key: Key) {
        let Some(page) = self.page.as_mut() else { return };
        let Some(entry) = page.entry.as_mut() else { return };
        match entry.key(key) {
            FieldEvent::Typed | FieldEvent::Unused => return,
            FieldEvent::Dropped => return page.close_entry(),
            FieldEvent::Done => {}
        }
        let text = entry.text().trim().to_owned();
        let complaint = if let FieldPurpose::Block(block) = entry.purpose {
            self.submit(block, &text).err().map(|error| error.to_string())
        } else {
            self.set_knob(&text).err().map(|error| error.to_string())
        };
        if complaint.is_none() {
            self.note_completion();
        } else if let Some(entry) = self.page.as_mut().and_then(|page| page.entry.as_mut()) {
            entry.complaint = complaint;
        }
        self.keep_marked_in_view();
    }

    fn submit(&mut self, block: usize, text: &str) -> Result<(), AnswerError> {
        let Some(page) = self.page.as_mut() else { return Ok(()) };
        let event = page.submit(block, text, self.registry)?;
        page.entry = None;
        page.typed.remove(&block);
        let (block, lab) = (page.lesson.blocks.get(block), page.current);
        let is_try = block.and_then(Block::as_predict).is_some_and(|one| one.turn.is_some());
        self.save(event);
        if is_try {
            // The knobs may have been turned before the guess was made.
            self.judge_tries(lab);
        }
        Ok(())
    }

    /// Takes an event into the progress, on the screen and on disk.
    pub(super) fn save(&mut self, event: Event) {
        if let (Event::AnswerGiven { lesson, question, .. }, Some(page)) = (&event, &mut self.page)
            && *lesson == page.lesson.front.id
        {
            *page.given.entry(question.clone()).or_default() += 1;
        }
        self.course.progress.apply(event.clone());
        self.effects.push(Effect::Save(event));
    }

    /// Notes and says that a lesson is complete, once.
    pub(super) fn note_completion(&mut self) {
        let Some(page) = &self.page else { return };
        let front = &page.lesson.front;
        let progress = self.course.progress.lesson(&front.id);
        if page.is_complete() && !progress.is_some_and(|lesson| lesson.completed) {
            let (sentence, lesson) =
                (format!("lesson complete: {}", front.title), front.id.clone());
            self.notify(sentence);
            self.save(Event::LessonCompleted { lesson });
        }
    }

    pub(super) fn tell_time(&mut self, now: Timestamp) {
        self.course.now = Some(now);
        self.tell_deadline();
    }

    fn tell_deadline(&mut self) {
        if let Some(page) = self.page.as_mut() {
            page.deadline = self.course.deadline(&page.lesson.front.id);
        }
    }

    pub(super) fn scroll_to(&mut self, to: impl Fn(usize, usize) -> usize) {
        self.scroll_in(|page, document, height| {
            let longest = document.longest_scroll(height);
            to(page.scroll, longest).min(longest)
        });
    }

    pub(super) fn keep_marked_in_view(&mut self) {
        self.scroll_in(|page, document, height| {
            document.scroll_for(page.marked, page.scroll, height)
        });
    }

    pub(super) fn scroll_in(&mut self, to: impl Fn(&Page, &Document, usize) -> usize) {
        let (width, height) = view::text_size(self.screen.size);
        if let Some(page) = self.page.as_mut() {
            let document = document::build(page, width, &self.screen.look);
            page.see(height, &document.blocks);
            page.scroll = to(page, &document, height);
            page.see(height, &document.blocks);
        }
    }

    pub(super) fn open_chosen(&mut self) {
        if let Some(listed) = self.course.lessons.get(self.course.chosen) {
            let lesson = Arc::clone(listed.lesson());
            self.enter_lesson(lesson);
            self.start_instant();
        }
    }

    /// Puts the lessons of a course, by its modules, on the course page.
    pub fn take_course(&mut self, course: &Outline) {
        self.course.title.clone_from(&course.title);
        self.course.grading.clone_from(&course.grading);
        self.course.modules.clone_from(&course.modules);
        self.course.lessons.clone_from(&course.lessons);
    }

    /// Opens a lesson where the learner left it.
    pub fn open(&mut self, lesson: Arc<Lesson>) -> Vec<Effect> {
        self.enter_lesson(lesson);
        self.start_instant();
        self.take_effects()
    }

    /// Opens a lesson with its knobs where they are wanted; the first that cannot be turned is the error.
    pub fn open_at(
        &mut self,
        lesson: Arc<Lesson>,
        turns: &[KnobTurn],
    ) -> Result<Vec<Effect>, KnobError> {
        self.enter_lesson(lesson);
        self.set_knobs(turns)?;
        self.start_instant();
        Ok(self.take_effects())
    }

    /// A page at its beginning; labs that split their work use the session's worker processes.
    pub(super) fn fresh_page(&self, lesson: Arc<Lesson>) -> Page {
        let session = &self.session;
        Page::open(lesson, self.registry, session.seed, session.workers.as_deref())
    }

    pub(super) fn enter_lesson(&mut self, lesson: Arc<Lesson>) {
        let id = lesson.front.id.clone();
        // Left in the middle, it is found in the middle; a new one begins at its first line.
        self.page = Some(self.left_pages.remove(id.as_str()).unwrap_or_else(|| {
            let mut page = self.fresh_page(lesson);
            page.restore(&self.course.progress, self.registry);
            page.release_panels();
            page
        }));
        self.tell_deadline();
        self.share_attempts();
        self.recall_attempts();
        self.save(Event::LessonOpened { lesson: id });
    }
}
