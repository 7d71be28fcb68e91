//! Commands on the lesson page.

use mlsys_lab::control;
use mlsys_lesson::Event;
use mlsys_lesson::{Block, PredictKind};

use super::App;
use crate::ui::answer::{self, Options};
use crate::ui::command::Command;
use crate::ui::document;
use crate::ui::driver::KnobTurn;
use crate::ui::entry::{Edit, Entry, For};
use crate::ui::key::Key;
use crate::ui::message::Effect;
use crate::ui::page::{Side, Telling};
use crate::ui::view;

impl App {
    pub(super) fn lesson_command(&mut self, command: Command) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else {
            return Vec::new();
        };
        let half = usize::from(self.size.1 / 2);
        match command {
            Command::Run => return self.run_or_pause(),
            Command::Step => return self.step(),
            Command::Stop => return self.stop(),
            Command::Reset => return self.reset(),
            Command::Back => return self.leave(),
            Command::Enter => match page.side {
                Side::Text => return self.enter_activity(),
                Side::Lab => self.open_knob_entry(),
            },
            Command::Hint => return self.hint(),
            Command::Less => return self.turn_knob(-1),
            Command::More => return self.turn_knob(1),
            Command::NextActivity | Command::PreviousActivity => {
                page.side = Side::Text;
                page.mark(if command == Command::NextActivity {
                    1
                } else {
                    -1
                });
                self.keep_marked_in_view();
                return self.start_instant();
            }
            Command::SwitchSide => {
                page.side = match page.side {
                    Side::Text => Side::Lab,
                    Side::Lab => Side::Text,
                };
                return self.start_instant();
            }
            Command::NextLab | Command::PreviousLab => {
                let last = page.slots.len().saturating_sub(1);
                page.current = if command == Command::NextLab {
                    (page.current + 1).min(last)
                } else {
                    page.current.saturating_sub(1)
                };
                return self.start_instant();
            }
            Command::NextPanel => {
                if let Some(slot) = page.slot_mut() {
                    slot.panel = (slot.panel + 1) % slot.panels.len().max(1);
                }
                return vec![Effect::Order(control::Command::Redraw)];
            }
            Command::Tempo => return self.change_tempo(),
            Command::Words => {
                page.telling = match page.telling {
                    Telling::Drawn => Telling::InWords,
                    Telling::InWords => Telling::Drawn,
                };
            }
            Command::Up | Command::Down if page.side == Side::Lab => {
                if let Some(slot) = page.slot_mut() {
                    let last = slot.knobs.len().saturating_sub(1);
                    slot.knob = if command == Command::Up {
                        slot.knob.saturating_sub(1)
                    } else {
                        (slot.knob + 1).min(last)
                    };
                }
            }
            Command::Up => page.scroll = page.scroll.saturating_sub(1),
            Command::Down => self.scroll_to(|scroll| scroll + 1),
            Command::PageUp => page.scroll = page.scroll.saturating_sub(half),
            Command::PageDown => self.scroll_to(|scroll| scroll + half),
            Command::Top => page.scroll = 0,
            Command::Bottom => self.scroll_to(|_| usize::MAX),
            // Taken before they come here.
            Command::Device | Command::Help | Command::Quit | Command::Suspend => {}
        }
        Vec::new()
    }

    /// Leaves the lesson; a run ends, everything shown and answered is kept.
    fn leave(&mut self) -> Vec<Effect> {
        let effects = self.abandon();
        if let Some(page) = self.page.take() {
            self.kept.insert(page.lesson.front.id.to_string(), page);
        }
        effects
    }

    /// Opens a field for the marked prediction or question, or goes to the marked lab.
    fn enter_activity(&mut self) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else {
            return Vec::new();
        };
        let Some(block) = page.marked else {
            return Vec::new();
        };
        match page.marked_block() {
            Some(Block::Lab(lab)) => {
                let id = lab.id.clone();
                page.show_lab(&id);
                page.side = Side::Lab;
                return self.start_instant();
            }
            Some(Block::Predict(predict)) => {
                let made = page.predictions.get(&predict.id);
                if made.is_some_and(|prediction| prediction.locked) {
                    self.notice = Some("this prediction stands: its run has started".to_owned());
                } else {
                    let lettered = match predict.kind {
                        PredictKind::Numeric { .. } => Options::None,
                        PredictKind::Choice { .. } => Options::Lettered,
                    };
                    let text = made.map_or(String::new(), |made| {
                        answer::reopened(&made.given, lettered)
                    });
                    page.entry = Some(Entry::new(For::Block(block), text));
                }
            }
            Some(Block::Question(question)) => {
                let lettered = if question.shown_choices(&page.lesson.front.id).is_empty() {
                    Options::None
                } else {
                    Options::Lettered
                };
                let given = page.answers.get(&question.id);
                let text = given.map_or(String::new(), |answered| {
                    answer::reopened(&answered.given, lettered)
                });
                page.entry = Some(Entry::new(For::Block(block), text));
            }
            Some(Block::Prose(_) | Block::Check(_) | Block::Notes(_)) | None => {}
        }
        self.keep_marked_in_view();
        Vec::new()
    }

    fn open_knob_entry(&mut self) {
        let Some(page) = self.page.as_mut() else {
            return;
        };
        let value = page
            .slot()
            .and_then(|slot| slot.knobs.get(slot.knob))
            .map(|knob| {
                knob.value
                    .as_ref()
                    .map_or(String::new(), ToString::to_string)
            });
        match value {
            Some(value) => page.entry = Some(Entry::new(For::Knob, value)),
            None => self.notice = Some("this lab has no knobs".to_owned()),
        }
    }

    /// Shows one more hint for the marked question.
    fn hint(&mut self) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else {
            return Vec::new();
        };
        let Some(question) = page.marked_question() else {
            self.notice = Some("hints belong to questions: n goes to the next one".to_owned());
            return Vec::new();
        };
        let (id, all) = (question.id.clone(), question.hints.len());
        let shown = page.hints.entry(id.clone()).or_default();
        if *shown >= all {
            self.notice = Some(
                if all == 0 {
                    "this question has no hints"
                } else {
                    "no more hints"
                }
                .to_owned(),
            );
            return Vec::new();
        }
        *shown += 1;
        let event = Event::HintShown {
            lesson: page.lesson.front.id.clone(),
            question: id,
            hint: *shown - 1,
        };
        self.keep_marked_in_view();
        vec![Effect::Save(event)]
    }

    /// A key while a field is open.
    pub(super) fn typed(&mut self, key: Key) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else {
            return Vec::new();
        };
        let Some(entry) = page.entry.as_mut() else {
            return Vec::new();
        };
        match entry.key(key) {
            Edit::Typed | Edit::Unused => Vec::new(),
            Edit::Dropped => {
                page.entry = None;
                Vec::new()
            }
            Edit::Done => {
                let (purpose, text) = (entry.purpose.clone(), entry.text().trim().to_owned());
                let effects = match purpose {
                    For::Knob => self.set_knob(&text),
                    For::Block(block) => page.submit(block, &text, self.registry).map(|event| {
                        page.entry = None;
                        event.into_iter().map(Effect::Save).collect::<Vec<_>>()
                    }),
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
    pub fn set_knobs(&mut self, turns: &[KnobTurn]) -> Result<(), String> {
        let Some(page) = self.page.as_mut() else {
            return Ok(());
        };
        for KnobTurn {
            lab,
            knob: name,
            value,
        } in turns
        {
            let labs: Vec<_> = page.slots.iter().map(|slot| slot.id.clone()).collect();
            let Some(slot) = page.slots.iter_mut().find(|slot| slot.id == *lab) else {
                return Err(format!(
                    "this lesson has no lab '{lab}'; it has: {}",
                    labs.join(", ")
                ));
            };
            let Some(index) = slot.knobs.iter().position(|knob| knob.param.name == *name) else {
                let knobs: Vec<_> = slot
                    .knobs
                    .iter()
                    .map(|knob| knob.param.name.as_str())
                    .collect();
                return Err(format!(
                    "lab '{lab}' has no knob '{name}'; it has: {}",
                    knobs.join(", ")
                ));
            };
            slot.knob = index;
            slot.type_value(value)?;
            page.show_lab(lab);
        }
        Ok(())
    }

    fn set_knob(&mut self, text: &str) -> Result<Vec<Effect>, String> {
        let Some(page) = self.page.as_mut() else {
            return Ok(Vec::new());
        };
        let Some(slot) = page.slot_mut() else {
            return Ok(Vec::new());
        };
        let (name, value) = slot.type_value(text)?;
        page.entry = None;
        Ok(self.knob_turned(&name, value))
    }

    /// Takes events that are about to be saved into the progress on the screen.
    pub(super) fn note_progress(&mut self, effects: &[Effect]) {
        for effect in effects {
            if let Effect::Save(event) = effect {
                self.progress.apply(event.clone());
            }
        }
    }

    /// The event of a lesson's completion, once.
    pub(super) fn completed(&mut self) -> Option<Effect> {
        let page = self.page.as_ref()?;
        let id = &page.lesson.front.id;
        if !page.is_complete()
            || self
                .progress
                .lesson(id)
                .is_some_and(|lesson| lesson.completed)
        {
            return None;
        }
        let event = Event::LessonCompleted { lesson: id.clone() };
        self.progress.apply(event.clone());
        self.notice = Some(format!("lesson complete: {}", page.lesson.front.title));
        Some(Effect::Save(event))
    }

    fn scroll_to(&mut self, to: impl Fn(usize) -> usize) {
        let (size, look) = (self.size, &self.look);
        if let Some(page) = self.page.as_mut() {
            let (width, height) = view::text_size(size);
            let longest = document::length(page, width, look).saturating_sub(height);
            page.scroll = to(page.scroll).min(longest);
        }
    }

    /// Scrolls so that the marked block is seen.
    pub(super) fn keep_marked_in_view(&mut self) {
        let (size, look) = (self.size, &self.look);
        if let Some(page) = self.page.as_mut() {
            let (width, height) = view::text_size(size);
            page.scroll = document::scroll_for_marked(page, width, height, look);
        }
    }
}
