//! From a key to what it does.

use super::App;
use crate::command::{self, Command, Motion, Place};
use crate::key::Key;
use crate::line;
use crate::message::Effect;
use crate::overlay::Overlay;
use crate::page::{Audience, Side};
use crate::records::Purpose;

impl App {
    /// Where keys go now.
    pub fn place(&self) -> Place {
        self.overlay.as_ref().map_or_else(|| self.ground(), Overlay::place)
    }

    /// Where keys go when nothing lies over the page.
    pub fn ground(&self) -> Place {
        match &self.page {
            None => Place::Course,
            Some(page) if page.editor.is_some() => Place::Kernel,
            Some(page) => match page.side {
                Side::Text => Place::Text,
                Side::Lab => Place::Lab,
                Side::Picture => Place::Picture,
            },
        }
    }

    pub(super) fn key(&mut self, key: Key) -> Vec<Effect> {
        self.notice = None;
        self.give_up_search();
        let typing =
            self.overlay.is_none() && self.page.as_ref().is_some_and(|page| page.entry.is_some());
        // A field takes letters before they are commands, but nothing keeps Ctrl-C from leaving.
        if typing && !matches!(key, Key::Ctrl('c' | 'z')) {
            return self.typed(key);
        }
        let place = self.place();
        // Shift means nothing where there is no text to select in.
        let key = if let Key::Shift(way) = key
            && place != Place::Kernel
        {
            way.key()
        } else {
            key
        };
        match (command::find(key, place), place) {
            (Some(command), _) => self.dispatch(command),
            (None, Place::Kernel) => self.editor_key(key),
            (None, _) if self.overlay.is_some() => self.overlay_key(key),
            (None, _) => Vec::new(),
        }
    }

    /// Does a command, or says why it cannot be done now.
    pub(super) fn dispatch(&mut self, command: Command) -> Vec<Effect> {
        match self.available(command) {
            Ok(()) => self.carry_out(command),
            Err(reason) => {
                self.notice = Some(reason);
                Vec::new()
            }
        }
    }

    /// One arm a command; what depends on the place is told apart by the arm's own function.
    fn carry_out(&mut self, command: Command) -> Vec<Effect> {
        match command {
            Command::Run if self.place() == Place::Records => {
                return self.fetch_marked(Purpose::Replay);
            }
            Command::Run if self.ground() == Place::Kernel => return self.run_written(),
            Command::Run if self.plays_steps() => self.play_steps(),
            Command::Run => return self.run_or_pause(),
            Command::Step => return self.step(1),
            Command::Steps => self.ask_for_steps(),
            Command::ToTheEnd => return self.run_to_the_end(),
            Command::Freeze => return self.freeze(),
            Command::Undo if self.ground() == Place::Kernel => return self.undo_typing(),
            Command::Redo if self.ground() == Place::Kernel => return self.redo_typing(),
            Command::Reset if self.ground() == Place::Kernel => return self.start_over(),
            Command::Edit => return self.edit_kernel(),
            Command::Outside => return self.edit_outside(),
            Command::Select => self.toggle_selection(),
            Command::Cut => return self.cut_text(),
            Command::CopyText => return self.copy_text(),
            Command::PasteText => return self.paste_text(),
            Command::NextComplaint => self.next_complaint(),
            Command::Undo => return self.undo(),
            Command::Redo => return self.redo(),
            Command::Search => self.open_search(),
            Command::Glossary => self.toggle_glossary(),
            Command::Yes => return self.confirmed(),
            Command::Records => return self.open_records(),
            Command::Stop => return self.stop(),
            Command::Reset => return self.ask_to_reset(),
            Command::Move(motion) => self.move_by(motion),
            Command::Less => return self.turn_knob(-1),
            Command::More => return self.turn_knob(1),
            Command::Enter => return self.enter(),
            Command::NextActivity => return self.mark(1),
            Command::PreviousActivity => return self.mark(-1),
            Command::SwitchSide => return self.switch_side(Side::next),
            Command::PreviousSide => return self.switch_side(Side::previous),
            Command::NextPanel => return self.next_panel(),
            Command::FullScreen => self.full_screen(),
            Command::Inspect(inspect) => self.inspect(inspect),
            Command::EarlierRuns => self.next_earlier_runs(),
            Command::Tempo => return self.change_tempo(),
            Command::Words => self.change_telling(),
            Command::NextLab => return self.show_lab(1),
            Command::PreviousLab => return self.show_lab(-1),
            Command::Hint => return self.hint(),
            Command::Device => self.next_device(),
            Command::Help => self.lay_over(Overlay::Help { scroll: 0 }),
            Command::Instructor => self.change_audience(),
            Command::Problems => self.lay_over(Overlay::Problems { scroll: 0 }),
            Command::Presets => self.lay_over(Overlay::Presets { chosen: 0 }),
            Command::Mouse => return self.change_mouse(),
            Command::CopyLine => {
                let line = line::line(self);
                self.lay_over(Overlay::Line(line.clone()));
                return vec![Effect::Copy(line)];
            }
            Command::Walk(goal, way) => self.walk_kernel(goal, way),
            Command::Choose(choice) => self.choose_in_kernel(choice),
            Command::Breakpoint => self.change_breakpoint(),
            Command::Fold => self.fold_group(),
            Command::FoldAll => self.fold_groups(),
            Command::Sort => self.sort_table(),
            Command::FilterRows => self.open_row_filter(),
            Command::Export => return self.export(),
            Command::SaveWeights => self.ask_for_file(),
            Command::Palette => self.open_palette(),
            Command::Back => return self.back(),
            Command::Quit => return self.quit(),
            Command::Suspend => return vec![Effect::Suspend],
        }
        Vec::new()
    }

    fn enter(&mut self) -> Vec<Effect> {
        if self.overlay.is_some() {
            return self.enter_overlay();
        }
        match self.page.as_ref().map(|page| page.side) {
            None => self.open_chosen(),
            Some(Side::Text) => self.enter_activity(),
            Some(Side::Lab) => {
                self.open_knob_entry();
                Vec::new()
            }
            Some(Side::Picture) => Vec::new(),
        }
    }

    /// As instructors see it, or again as students do.
    fn change_audience(&mut self) {
        let Some(page) = self.page.as_mut() else {
            return;
        };
        page.audience = match page.audience {
            Audience::Student => Audience::Instructor,
            Audience::Instructor => Audience::Student,
        };
        self.notice = Some(
            match page.audience {
                Audience::Instructor => "as instructors see it: i shows what students see",
                Audience::Student => "as students see it",
            }
            .to_owned(),
        );
        self.keep_marked_in_view();
    }

    /// Leaves what lies over the page, or the page.
    fn back(&mut self) -> Vec<Effect> {
        if self.overlay.is_some() {
            self.leave_overlay();
        } else if self.editor().is_some() {
            self.leave_editor();
        } else if !self.leave_picture() {
            return self.ask_to_leave();
        }
        Vec::new()
    }

    fn move_by(&mut self, motion: Motion) {
        if self.overlay.is_some() {
            self.move_overlay(motion);
            return;
        }
        match self.page.as_ref().map(|page| page.side) {
            None => {
                let last = self.lessons.len().saturating_sub(1);
                self.chosen = motion.from(self.chosen, self.half_screen(), last);
            }
            Some(Side::Text) => self.move_text(motion),
            Some(Side::Lab) => self.move_lab(motion),
            Some(Side::Picture) => self.move_picture(motion),
        }
    }

    /// Half the rows of the screen: how far the page keys go.
    pub(super) fn half_screen(&self) -> usize {
        usize::from(self.size.1 / 2)
    }
}
