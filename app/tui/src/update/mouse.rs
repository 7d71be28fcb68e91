//! The mouse: a click does what moving there and a key would do, and the wheel scrolls what is under it.

use mlsys_lesson::{Asked, Block, PredictKind};
use mlsys_view::panel::Inspect;

use crate::answer;
use crate::command::{Command, Motion};
use crate::message::{Effect, Gesture};
use crate::state::App;
use crate::state::Mouse;
use crate::state::overlay::Overlay;
use crate::state::page::{Page, Side};
use crate::text_field::{FieldPurpose, TextField};
use crate::update::pictures::put_cursor;
use crate::view::hit;
use crate::view::hit::Hit;

/// Lines that one notch of the wheel scrolls text by.
const NOTCH: usize = 3;

impl App {
    pub(super) fn change_mouse(&mut self) -> Vec<Effect> {
        let (mouse, notice) = match self.screen.mouse {
            Mouse::Off => (
                Mouse::On,
                "the mouse chooses and scrolls; M gives it back, so that text can be selected",
            ),
            Mouse::On => (Mouse::Off, "the mouse is the terminal's: it selects text"),
        };
        self.screen.mouse = mouse;
        self.screen.notice = Some(notice.to_owned());
        vec![Effect::Mouse(mouse)]
    }

    pub(super) fn gesture(&mut self, gesture: Gesture, column: u16, row: u16) -> Vec<Effect> {
        if self.screen.mouse == Mouse::Off {
            return Vec::new();
        }
        let Some(hit) = hit::at(self, column, row) else { return Vec::new() };
        self.screen.notice = None;
        match gesture {
            Gesture::Press => self.click(hit),
            Gesture::Drag => {
                if let Hit::Picture(0, Some(step)) = hit {
                    self.point_at(step);
                }
                Vec::new()
            }
            Gesture::WheelUp => self.wheel(hit, Motion::Up),
            Gesture::WheelDown => self.wheel(hit, Motion::Down),
        }
    }

    fn click(&mut self, hit: Hit) -> Vec<Effect> {
        if let (Some(entry), false) = (self.open_entry(), self.overlay.is_some()) {
            // What has been typed is not dropped by a click that missed.
            match (hit, &entry.purpose) {
                (Hit::Choice(block, _), FieldPurpose::Block(typed)) if block == *typed => {}
                _ => {
                    self.screen.notice =
                        Some("enter keeps what you have typed, esc drops it".to_owned());
                    return Vec::new();
                }
            }
        }
        match hit {
            Hit::Over(entry) => return self.click_over(entry),
            Hit::Kernel(line, column) => self.put_text_cursor(line, column),
            Hit::Beside => self.overlay = None,
            Hit::Lesson(index) if self.course.chosen == index => return self.open_chosen(),
            Hit::Lesson(index) => self.course.chosen = index,
            Hit::Tab(side) => return self.go_to(side),
            Hit::Text(block) => return self.click_text(block),
            Hit::Choice(block, option) => self.click_choice(block, option),
            Hit::Lab(index) => {
                if let Some(page) = self.page.as_mut() {
                    page.current = index;
                }
                return self.go_to(Side::Lab);
            }
            Hit::Knob(index) => {
                let effects = self.go_to(Side::Lab);
                if let Some(lab) = self.page.as_mut().and_then(Page::lab_mut) {
                    lab.controls.marked = index;
                }
                return effects;
            }
            Hit::Spot(place, spot) => {
                let effects = self.go_to(Side::Picture);
                if let Some(lab) = self.page.as_mut().and_then(Page::lab_mut) {
                    lab.pictures.chosen =
                        (lab.pictures.chosen + place) % lab.pictures.panels.len().max(1);
                }
                self.point_in_kernel(spot);
                return effects;
            }
            Hit::Picture(place, step) => {
                let effects = self.go_to(Side::Picture);
                if let Some(lab) = self.page.as_mut().and_then(Page::lab_mut) {
                    lab.pictures.chosen =
                        (lab.pictures.chosen + place) % lab.pictures.panels.len().max(1);
                }
                if let Some(step) = step {
                    self.point_at(step);
                }
                return effects;
            }
        }
        Vec::new()
    }

    fn open_entry(&self) -> Option<&TextField> {
        self.page.as_ref()?.entry.as_ref()
    }

    /// Marks an entry of what lies over the page; a click on the marked one takes it.
    fn click_over(&mut self, entry: Option<usize>) -> Vec<Effect> {
        let Some(entry) = entry else { return Vec::new() };
        let marked = match &mut self.overlay {
            Some(Overlay::Palette(palette)) => std::mem::replace(&mut palette.chosen, entry),
            Some(Overlay::Presets { chosen }) => std::mem::replace(chosen, entry),
            Some(_) | None => return Vec::new(),
        };
        if marked == entry { self.enter_overlay() } else { Vec::new() }
    }

    /// Marks a block; a click on the marked one answers it, or goes to its lab.
    fn click_text(&mut self, block: Option<usize>) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let again = page.marked == block && page.side == Side::Text;
        page.turn_to(Side::Text);
        let Some(block) = block.filter(|block| page.activities().contains(block)) else {
            return Vec::new();
        };
        if again {
            return self.dispatch(Command::Enter);
        }
        page.marked = Some(block);
        page.mark(0);
        self.start_instant()
    }

    /// Puts the option's letter into the field of its question, or takes it out; enter gives the answer.
    fn click_choice(&mut self, block: usize, option: usize) {
        let Some(page) = self.page.as_mut() else { return };
        let several = match page.lesson.blocks.get(block) {
            Some(Block::Question(question)) => match question.kind.asked() {
                Asked::Choice { .. } => false,
                Asked::Multiple { .. } | Asked::Match { .. } | Asked::Order { .. } => true,
                Asked::Numeric { .. }
                | Asked::List
                | Asked::Expression
                | Asked::Text
                | Asked::Kernel { .. } => return,
            },
            Some(Block::Predict(predict)) => match &predict.kind {
                PredictKind::Choice { .. } => false,
                PredictKind::Numeric { .. } => return,
            },
            Some(Block::Lab(_) | Block::Prose(_) | Block::Check(_) | Block::Notes(_)) | None => {
                return;
            }
        };
        page.turn_to(Side::Text);
        page.marked = Some(block);
        let typed = page.entry.take().map_or(String::new(), |entry| entry.text().to_owned());
        if let Err(reason) = self.available(Command::Enter) {
            self.screen.notice = Some(reason);
            return;
        }
        let letter = answer::letter(option);
        let text = match (several, typed.contains(letter)) {
            (false, _) => letter.to_string(),
            (true, true) => typed.chars().filter(|&c| c != letter && c != ' ').collect(),
            (true, false) => format!("{typed}{letter}"),
        };
        if let Some(page) = self.page.as_mut() {
            page.entry = Some(TextField::new(FieldPurpose::Block(block), text));
        }
        self.keep_marked_in_view();
    }

    fn go_to(&mut self, side: Side) -> Vec<Effect> {
        if let Some(page) = self.page.as_mut()
            && page.full_screen.is_none()
        {
            page.turn_to(side);
        }
        self.start_instant()
    }

    fn point_at(&mut self, step: u64) {
        if let Some(lab) = self.page.as_mut().and_then(Page::lab_mut) {
            put_cursor(lab, |_| step);
        }
    }

    /// Scrolls a list or the text; over the chosen chart it shows fewer or more steps.
    fn wheel(&mut self, hit: Hit, motion: Motion) -> Vec<Effect> {
        match hit {
            Hit::Over(_) => self.move_overlay(motion),
            Hit::Lesson(_) => {
                let last = self.course.lessons.len().saturating_sub(1);
                self.course.chosen = motion.from(self.course.chosen, 1, last);
            }
            Hit::Text(_) | Hit::Choice(..) => {
                for _ in 0..NOTCH {
                    self.move_text(motion);
                }
            }
            Hit::Knob(_) => self.move_lab(motion),
            Hit::Kernel(..) => self.move_text_cursor(motion, NOTCH),
            Hit::Spot(0, _) => {
                self.move_in_kernel(motion);
            }
            Hit::Picture(0, Some(_)) => self.inspect(match motion {
                Motion::Up | Motion::PageUp | Motion::Top => Inspect::Closer,
                Motion::Down | Motion::PageDown | Motion::Bottom => Inspect::Wider,
            }),
            Hit::Picture(..) | Hit::Spot(..) | Hit::Beside | Hit::Tab(_) | Hit::Lab(_) => {}
        }
        Vec::new()
    }
}
