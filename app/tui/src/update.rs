//! How messages change the state. Pure: no clock, no terminal, no file.
//!
//! What a message asks of the outside is pushed onto `App::effects` as it comes up.

pub mod availability;
mod debugger;
mod editor;
mod export;
mod knobs;
mod lesson;
mod mouse;
mod overlay;
mod pictures;
mod preview;
mod records;
mod run;
mod search;
mod steer;
mod way;

use mlsys_view::theme::Theme;

use crate::command::{Command, Motion, Place};
use crate::key::Key;
use crate::message::{Effect, Message};
use crate::records::Purpose;
use crate::state::{App, Audience, LabState, Overlay, Page, Side};
use crate::{command, own_page};
pub use debugger::Animation;
use knobs::Retrace;

/// The side, and the lab with its picture.
type Shown = (Place, Option<(usize, usize)>);

impl App {
    /// Takes a message in and says what is to be done.
    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        let before = self.looked_at();
        self.receive(message);
        // Any message may have changed a run; a frame is not drawn without a message.
        if let Some(page) = &mut self.page {
            page.labs.iter_mut().for_each(LabState::forget_drawn);
            page.release_panels();
        }
        let now = self.looked_at();
        // What plays goes on where it is seen and space is its own: not after a look elsewhere, and not during a run.
        let elsewhere = now.0 != before.0;
        let started = now.1.is_some() && now.1 != before.1;
        if let Some(page) = self.page.as_mut().filter(|_| elsewhere || started) {
            page.rest_plays();
        }
        self.note_wait();
        self.read_changed();
        self.take_effects()
    }

    pub(super) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// What is looked at, as side, lab and picture, and the number of the active run.
    fn looked_at(&self) -> (Shown, Option<u64>) {
        let page = self.page.as_ref();
        let shown = page.and_then(|page| Some((page.current, page.lab()?.pictures.chosen)));
        ((self.ground(), shown), self.session.active.map(|active| active.run))
    }

    fn receive(&mut self, message: Message) {
        match message {
            Message::Key(key) => self.key(key),
            Message::Do(command) => {
                self.screen.notice = None;
                self.dispatch(command);
            }
            Message::GoTo(block) => {
                self.screen.notice = None;
                self.go_to_block(block);
            }
            Message::Mouse { gesture, column, row } => self.gesture(gesture, column, row),
            Message::Paste(text) => match self.page.as_mut().and_then(|page| page.entry.as_mut()) {
                _ if self.overlay.is_some() => self.paste_over(&text),
                Some(entry) => entry.paste(&text),
                None => self.paste_into_editor(&text),
            },
            Message::Resize { width, height } => {
                self.screen.size = (width, height);
                match self.page.as_ref().is_some_and(|page| page.arrived) {
                    true => self.keep_marked_in_view(),
                    false => self.scroll_to(|scroll, _| scroll),
                }
                self.follow_cursor();
            }
            Message::Background(background) => {
                self.screen.look.theme = Theme::new(background, self.screen.look.theme.depth);
            }
            Message::Probed(devices) => {
                self.hardware.devices = Some(devices);
                self.start_waiting();
            }
            Message::Measured(peaks) => {
                // What has been measured since is newer than what was kept.
                for (device, peak) in peaks {
                    self.hardware.peaks.entry(device).or_insert(peak);
                }
            }
            Message::Reports { run, reports, since } => self.reports(run, reports, since),
            Message::Ended { run, outcome, after } => self.ended(run, outcome, after),
            Message::Settled { run } => self.settled(run),
            Message::Beat => self.beat(),
            Message::Clock(now) => self.tell_time(now),
            Message::Waited { seconds } => {
                if let Some(waiting) = &mut self.session.waiting {
                    waiting.seconds = seconds;
                }
            }
            Message::WeightsSaved(result) => {
                self.session.is_saving = false;
                self.screen.notice = Some(result.unwrap_or_else(|error| error.to_string()));
            }
            Message::NotSaved(sentence) | Message::Exported(sentence) => {
                self.notify(sentence);
            }
            Message::Lost(loss) => self.notify(loss.to_string()),
            Message::Records(entries) => self.take_records(entries),
            Message::LoadedRecord(loaded) => self.loaded(loaded),
            Message::Recalled(found) => self.recalled(found),
            Message::Previewed(seen) => self.previewed(seen),
            Message::Draft { draft, text, whence } => self.take_draft(&draft, text, whence),
            Message::TestsReport(report) => self.tests_ended(*report),
            Message::KernelRead(read) => self.kernel_read(*read),
            Message::Terminate => self.effects.extend([Effect::Abandon, Effect::Quit]),
        }
    }

    pub fn place(&self) -> Place {
        self.overlay.as_ref().map_or_else(|| self.ground(), Overlay::place)
    }

    /// Where keys go when nothing lies over the page.
    pub fn ground(&self) -> Place {
        match &self.page {
            None => Place::Course,
            Some(page) if page.editor.is_some() => Place::Kernel,
            Some(page) => match page.focus() {
                Side::Text => Place::Text,
                Side::Lab => Place::Lab,
                Side::Picture => Place::Picture,
            },
        }
    }

    fn key(&mut self, key: Key) {
        self.screen.notice = None;
        self.give_up_search();
        let typing =
            self.overlay.is_none() && self.page.as_ref().is_some_and(|page| page.entry.is_some());
        let place = self.place();
        // A field takes letters before they are commands, but leaving and stopping by Ctrl work everywhere.
        let leaves = matches!(key, Key::Ctrl(_))
            && matches!(command::find(key, place), Some(Command::Quit | Command::Suspend));
        if typing && !leaves {
            return self.typed(key);
        }
        // Shift means nothing where there is no text to select in.
        let mut key = key;
        if let (Key::Shift(direction), false) = (key, place == Place::Kernel) {
            key = direction.key();
        }
        match (command::find(key, place), place) {
            (command, Place::Text) if command != Some(Command::Hint) && self.is_option(key) => {
                self.enter_activity();
                self.typed(key);
            }
            (Some(Command::Enter), Place::Text) => {
                self.mark_task_in_sight();
                self.dispatch(Command::Enter);
            }
            (Some(command), _) => self.dispatch(command),
            (None, Place::Kernel) => self.editor_key(key),
            (None, _) => self.overlay_key(key),
        }
    }

    /// Does a command, or says why it cannot be done now.
    pub(super) fn dispatch(&mut self, command: Command) {
        match self.available(command) {
            Ok(()) => self.carry_out(command),
            Err(refusal) => self.screen.notice = Some(refusal.to_string()),
        }
    }

    fn carry_out(&mut self, command: Command) {
        let in_kernel = self.ground() == Place::Kernel;
        match command {
            Command::Run if self.place() == Place::Records => self.load_marked(Purpose::Replay),
            Command::Run if in_kernel => self.run_written(),
            Command::Run if self.plays_steps() => self.play_steps(),
            Command::Run => self.run_or_pause(),
            Command::Step => self.step(1),
            Command::Steps => self.ask_for_steps(),
            Command::ToTheEnd => self.run_to_the_end(),
            Command::Freeze => self.freeze(),
            Command::Undo if in_kernel => self.retrace_typing(Retrace::Undo),
            Command::Redo if in_kernel => self.retrace_typing(Retrace::Redo),
            Command::Reset if in_kernel => self.start_over(),
            Command::Edit => self.edit_kernel(),
            Command::Outside => self.edit_outside(),
            Command::Select => self.toggle_selection(),
            Command::Cut => self.cut_text(),
            Command::CopyText => self.copy_text(),
            Command::PasteText => self.paste_text(),
            Command::NextComplaint => self.next_complaint(),
            Command::Undo => self.retrace(Retrace::Undo),
            Command::Redo => self.retrace(Retrace::Redo),
            Command::Search => self.open_search(),
            Command::Glossary => self.toggle_glossary(),
            Command::Yes => self.confirmed(),
            Command::Records => self.open_records(),
            Command::Stop => self.stop(),
            Command::Reset => self.ask_to_reset(),
            Command::Move(motion) => self.move_by(motion),
            Command::Less => self.turn_knob(-1),
            Command::More => self.turn_knob(1),
            Command::Enter => self.enter(),
            Command::NextActivity => self.next_activity(),
            Command::PreviousActivity => self.previous_activity(),
            Command::SwitchSide => self.switch_side(Side::next),
            Command::PreviousSide => self.switch_side(Side::previous),
            Command::NextPanel => self.next_panel(),
            Command::FullScreen => self.full_screen(),
            Command::Inspect(inspect) => self.inspect(inspect),
            Command::EarlierRuns => self.next_earlier_runs(),
            Command::Tempo => self.change_tempo(),
            Command::Words => self.change_telling(),
            Command::NextLab => self.show_lab(1),
            Command::PreviousLab => self.show_lab(-1),
            Command::Hint => self.hint(),
            Command::Device => self.next_device(),
            Command::Help => self.lay_over(Overlay::Help { scroll: 0 }),
            Command::Instructor => self.change_audience(),
            Command::Problems => self.lay_over(Overlay::Problems { scroll: 0 }),
            Command::Presets => self.lay_over(Overlay::Presets { chosen: 0 }),
            Command::Mouse => self.change_mouse(),
            Command::CopyLine => {
                let line = own_page::line(self);
                self.lay_over(Overlay::Line(line.clone()));
                self.effects.push(Effect::Copy(line));
            }
            Command::Walk(goal, direction) => self.walk_kernel(goal, direction),
            Command::Choose(choice) => self.choose_in_kernel(choice),
            Command::Breakpoint => self.change_breakpoint(),
            Command::Fault => self.visit_fault(),
            Command::Fold => self.fold_group(),
            Command::FoldAll => self.fold_groups(),
            Command::Sort => self.sort_table(),
            Command::FilterRows => self.open_row_filter(),
            Command::Export => self.export(),
            Command::SaveWeights => self.ask_for_file(),
            Command::Palette => self.open_palette(),
            Command::Back => self.back(),
            Command::Quit => self.quit(),
            Command::Suspend => self.effects.push(Effect::Suspend),
        }
    }

    fn enter(&mut self) {
        if self.overlay.is_some() {
            return self.enter_overlay();
        }
        match self.page.as_ref().map(Page::focus) {
            None => self.open_chosen(),
            Some(Side::Text) => self.enter_activity(),
            Some(Side::Lab) => self.open_knob_entry(),
            Some(Side::Picture) => {}
        }
    }

    fn change_audience(&mut self) {
        let Some(page) = self.page.as_mut() else { return };
        let as_instructor = "as instructors see it: i shows what students see";
        let (audience, notice) = match page.audience {
            Audience::Student => (Audience::Instructor, as_instructor),
            Audience::Instructor => (Audience::Student, "as students see it"),
        };
        page.audience = audience;
        self.notify(notice);
        self.keep_marked_in_view();
    }

    fn back(&mut self) {
        if self.overlay.is_some() {
            self.leave_overlay();
        } else if self.editor().is_some() {
            self.leave_editor();
        } else if !self.leave_picture() && !self.leave_fault() {
            self.ask_to_leave();
        }
    }

    fn move_by(&mut self, motion: Motion) {
        if self.overlay.is_some() {
            return self.move_overlay(motion);
        }
        match self.page.as_ref().map(Page::focus) {
            None => {
                let last = self.course.lessons.len().saturating_sub(1);
                self.course.chosen = motion.from(self.course.chosen, self.half_screen(), last);
            }
            Some(Side::Text) => self.move_text(motion),
            Some(Side::Lab) => self.move_lab(motion),
            Some(Side::Picture) => self.move_picture(motion),
        }
    }

    /// Half the rows of the screen: how far the page keys go.
    pub(super) fn half_screen(&self) -> usize {
        usize::from(self.screen.size.1 / 2)
    }
}
