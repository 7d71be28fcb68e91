//! The mouse: a click does what moving there and a key would do, and the wheel scrolls what is under it.

use mlsys_lesson::{Asked, Block};
use mlsys_view::panel::Inspect;

use crate::answer;
use crate::command::{Command, Motion};
use crate::list::{FieldPurpose, TextField};
use crate::message::{Effect, Gesture, Mouse};
use crate::state::{App, Overlay, Side};
use crate::update::pictures::put_cursor;
use crate::view::hit::{self, Hit};

const NOTCH: usize = 3;

impl App {
    pub(super) fn change_mouse(&mut self) {
        let ours = "the mouse chooses and scrolls; M gives it back, so that text can be selected";
        let (mouse, notice) = match self.screen.mouse {
            Mouse::Off => (Mouse::On, ours),
            Mouse::On => (Mouse::Off, "the mouse is the terminal's: it selects text"),
        };
        self.screen.mouse = mouse;
        self.notify(notice);
        self.effects.push(Effect::Mouse(mouse));
    }

    pub(super) fn gesture(&mut self, gesture: Gesture, column: u16, row: u16) {
        if self.screen.mouse == Mouse::Off {
            return;
        }
        let Some(hit) = hit::at(self, column, row) else { return };
        self.screen.notice = None;
        match gesture {
            Gesture::Press => self.click(hit),
            Gesture::Drag if let Hit::Picture(0, Some(step)) = hit => self.point_at(step),
            Gesture::Drag => {}
            Gesture::WheelUp => self.wheel(hit, Motion::Up),
            Gesture::WheelDown => self.wheel(hit, Motion::Down),
        }
    }

    fn click(&mut self, hit: Hit) {
        let entry = self.page.as_ref().and_then(|page| page.entry.as_ref());
        if let (Some(entry), None) = (entry, &self.overlay) {
            // What has been typed is not dropped by a click that missed.
            let is_its_own = matches!(hit,
                Hit::Choice(block, _) if entry.purpose == FieldPurpose::Block(block));
            if !is_its_own {
                return self.notify("enter keeps what you have typed, esc drops it");
            }
        }
        match hit {
            Hit::Over(entry) => self.click_over(entry),
            Hit::Kernel(line, column) => self.put_text_cursor(line, column),
            Hit::Outside => self.overlay = None,
            Hit::Lesson(index) if self.course.chosen == index => self.open_chosen(),
            Hit::Lesson(index) => self.course.chosen = index,
            Hit::Tab(side) => self.go_to(side),
            Hit::Text(block) => self.click_text(block),
            Hit::Choice(block, option) => self.click_choice(block, option),
            Hit::Lab(index) => {
                self.leave_fault();
                if let Some(page) = self.page.as_mut() {
                    page.current = index;
                }
                self.go_to(Side::Lab);
            }
            Hit::Knob(index) => {
                self.go_to(Side::Lab);
                if let Some(lab) = self.lab_mut() {
                    lab.controls.marked = index;
                }
            }
            Hit::Spot(place, spot) => {
                self.go_to_picture(place);
                self.point_in_kernel(spot);
            }
            Hit::Picture(place, step) => {
                self.go_to_picture(place);
                step.into_iter().for_each(|step| self.point_at(step));
            }
        }
    }

    /// Marks an entry of what lies over the page; a click on the marked one takes it.
    fn click_over(&mut self, entry: Option<usize>) {
        let Some(entry) = entry else { return };
        let marked = match &mut self.overlay {
            Some(Overlay::Palette(palette)) => &mut palette.list.chosen,
            Some(Overlay::Presets { chosen }) => chosen,
            Some(_) | None => return,
        };
        if std::mem::replace(marked, entry) == entry {
            self.enter_overlay();
        }
    }

    /// Marks a block; a click on the marked one answers it, or goes to its lab.
    fn click_text(&mut self, block: Option<usize>) {
        let Some(page) = self.page.as_mut() else { return };
        let again = page.marked == block && page.side == Side::Text;
        page.turn_to(Side::Text);
        let activity = block.filter(|block| page.activities().contains(block));
        let Some(block) = activity else { return };
        if again {
            return self.dispatch(Command::Enter);
        }
        page.marked = Some(block);
        page.mark(0);
        self.start_instant();
    }

    /// Puts the option's letter into the field of its question, or takes it out; enter gives the answer.
    fn click_choice(&mut self, block: usize, option: usize) {
        let Some(page) = self.page.as_mut() else { return };
        let there = page.lesson.blocks.get(block);
        let several = match there.and_then(Block::as_question).map(|asked| asked.kind.asked()) {
            Some(Asked::Choice { .. }) => false,
            Some(Asked::Multiple { .. } | Asked::Match { .. } | Asked::Order { .. }) => true,
            None if there.is_some_and(|block| block.as_predict().is_some()) => false,
            Some(_) | None => return,
        };
        page.turn_to(Side::Text);
        page.marked = Some(block);
        let typed = page.entry.take().map_or(String::new(), |entry| entry.text().to_owned());
        if let Err(refusal) = self.available(Command::Enter) {
            return self.notify(refusal.to_string());
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

    fn go_to(&mut self, side: Side) {
        if let Some(page) = self.page.as_mut()
            && page.full_screen.is_none()
        {
            page.turn_to(side);
        }
        self.start_instant();
    }

    fn go_to_picture(&mut self, places: usize) {
        self.go_to(Side::Picture);
        if let Some(lab) = self.lab_mut() {
            lab.pictures.advance(places);
        }
    }

    fn point_at(&mut self, step: u64) {
        if let Some(lab) = self.lab_mut() {
            put_cursor(lab, |_| step);
        }
    }

    /// Scrolls a list or the text; over the chosen chart it shows fewer or more steps.
    fn wheel(&mut self, hit: Hit, motion: Motion) {
        match hit {
            Hit::Over(_) => self.move_overlay(motion),
            Hit::Lesson(_) => {
                let last = self.course.lessons.len().saturating_sub(1);
                self.course.chosen = motion.from(self.course.chosen, 1, last);
            }
            Hit::Text(_) | Hit::Choice(..) => (0..NOTCH).for_each(|_| self.move_text(motion)),
            Hit::Knob(_) => self.move_lab(motion),
            Hit::Kernel(..) => self.move_text_cursor(motion, NOTCH),
            Hit::Spot(0, _) => {
                self.move_in_kernel(motion);
            }
            Hit::Picture(0, Some(_)) => self.inspect(match motion {
                Motion::Up | Motion::PageUp | Motion::Top => Inspect::Closer,
                Motion::Down | Motion::PageDown | Motion::Bottom => Inspect::Wider,
            }),
            Hit::Picture(..) | Hit::Spot(..) | Hit::Outside | Hit::Tab(_) | Hit::Lab(_) => {}
        }
    }
}
