//! Commands on the lab's kernel: going along it, both ways, and choosing what of it is looked at.

use mlsys_kernel::{Direction, Goal};
use mlsys_lab::frame::kernel::View;
use mlsys_view::kernel::{KernelDebugger, Play, status};
use mlsys_view::panel::{Inspect, Spot};

use crate::command::{Choice, Motion, Place};
use crate::state::{App, LabState, Page};
use crate::update::pictures;

/// The lab that launches kernels.
const KERNEL: &str = "kernel";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Animation {
    /// A place is looked for, as fast as can be.
    Searching,
    /// Steps follow each other at a pace that can be watched.
    Playing,
}

impl App {
    /// What goes on by itself and wants [`crate::message::Message::Beat`]; nothing most of the time.
    pub fn animation(&self) -> Option<Animation> {
        let lab = self.lab()?;
        let walk = lab.debugger.as_ref();
        // Unseen steps would be over before they are looked at.
        let is_in_front = self.ground() == Place::Picture;
        if walk.and_then(KernelDebugger::search_goal).is_some() {
            return Some(Animation::Searching);
        }
        let plays = walk.is_some_and(|walk| walk.play() == Play::Going) || pictures::plays(lab);
        (plays && is_in_front).then_some(Animation::Playing)
    }

    pub(super) fn beat(&mut self) {
        let Some(was) = self.animation() else { return };
        if let Some(walk) = self.walk() {
            walk.beat();
        }
        if was == Animation::Playing
            && let Some(lab) = self.lab_mut()
        {
            pictures::beat(lab);
        }
        if was == Animation::Searching && self.animation() != Some(Animation::Searching) {
            self.tell_from_afar();
        }
    }

    /// Any key ends a search: it stands where it has come to.
    pub(super) fn give_up_search(&mut self) {
        if let Some(walk) = self.walk() {
            walk.give_up();
        }
    }

    pub fn has_kernel_chosen(&self) -> bool {
        let lab = self.lab();
        lab.is_some_and(|lab| lab.debugger.is_some() && view(lab).is_some())
    }

    /// Whether space plays the steps of a picture: on the side of the picture, where a run has nothing else to do.
    pub fn plays_steps(&self) -> bool {
        let has_steps = self.is_walked() || self.has_kernel_chosen();
        let shown = self.page.as_ref().map(|page| page.current);
        let is_idle = self.session.active.is_none_or(|active| Some(active.lab) != shown);
        self.place() == Place::Picture && is_idle && has_steps
    }

    pub(super) fn play_steps(&mut self) {
        let is_kernel = self.has_kernel_chosen();
        let Some(lab) = self.lab_mut() else { return };
        match lab.debugger.as_mut().filter(|_| is_kernel) {
            Some(walk) => walk.change_play(),
            None => pictures::change_play(lab),
        }
    }

    pub(super) fn walk_kernel(&mut self, goal: Goal, way: Direction) {
        if let Some(walk) = self.walk() {
            walk.seek(goal, way);
        }
        self.show_kernel();
        self.tell_from_afar();
    }

    pub(super) fn choose_in_kernel(&mut self, choice: Choice) {
        if let Some(walk) = self.walk() {
            match choice {
                Choice::NextLane => walk.choose_lane(1),
                Choice::PreviousLane => walk.choose_lane(-1),
                Choice::NextWarp => walk.choose_warp(1),
                Choice::NextBlock => walk.choose_block(1),
                Choice::PreviousBlock => walk.choose_block(-1),
                Choice::NextVariable => walk.next_variable(),
            }
        }
        self.show_kernel();
    }

    pub(super) fn change_breakpoint(&mut self) {
        self.screen.notice = self.walk().map(KernelDebugger::change_breakpoint);
    }

    /// A way to look that steps through a kernel; false if there is none, or if the way is no such one.
    pub(super) fn inspect_kernel(&mut self, inspect: Inspect) -> bool {
        let afar = self.ground() != Place::Picture;
        let there = if afar {
            self.lab().is_some_and(|lab| lab.debugger.is_some() && lab.kernel().is_some())
        } else {
            self.has_kernel_chosen()
        };
        if !there {
            return false;
        }
        let (goal, direction) = match inspect {
            Inspect::NextPoint => (Goal::Instruction, Direction::Forward),
            Inspect::PreviousPoint => (Goal::Instruction, Direction::Backward),
            Inspect::Right if !afar => (Goal::Instruction, Direction::Forward),
            Inspect::Left if !afar => (Goal::Instruction, Direction::Backward),
            Inspect::Later if !afar => (Goal::Block, Direction::Forward),
            Inspect::Earlier if !afar => (Goal::Block, Direction::Backward),
            Inspect::Fit if !afar => {
                if let Some(walk) = self.walk() {
                    walk.follow();
                }
                return true;
            }
            Inspect::Closer | Inspect::Wider | Inspect::LogAxis | Inspect::Smooth => return !afar,
            Inspect::Right | Inspect::Left | Inspect::Later | Inspect::Earlier | Inspect::Fit => {
                return false;
            }
        };
        self.walk_kernel(goal, direction);
        true
    }

    pub(super) fn move_in_kernel(&mut self, motion: Motion) -> bool {
        let half = self.half_screen();
        let lab = self.lab();
        let Some(view) = lab.and_then(view) else { return false };
        let kernel = lab.and_then(LabState::kernel);
        let problems = kernel.map_or(Vec::new(), |kernel| kernel.whole.problems.clone());
        let Some(walk) = self.walk() else { return false };
        // The page keys choose the next larger thing: a warp among lanes, a block among warps.
        let (by, page) = match motion {
            Motion::Top | Motion::Bottom => {
                let is_top = motion == Motion::Top;
                walk.seek(Goal::End, if is_top { Direction::Backward } else { Direction::Forward });
                return true;
            }
            Motion::Up => (-1, false),
            Motion::Down => (1, false),
            Motion::PageUp => (-1, true),
            Motion::PageDown => (1, true),
        };
        match (view, page) {
            (View::Source, _) => walk.mark(|at, last| motion.from(at, half, last)),
            (View::Grid, false) => walk.choose_block(by),
            (View::Lanes | View::Memory, false) => walk.choose_lane(by),
            (View::Grid | View::Lanes | View::Memory, true)
            | (View::Sectors | View::Banks | View::Timeline | View::Divergence, false) => {
                walk.choose_warp(by);
            }
            (View::Sectors | View::Banks | View::Timeline | View::Divergence, true) => {
                walk.choose_block(by);
            }
            (View::Problems, false) => walk.go_to_problem(&problems, by),
            (View::Problems, true) => walk.go_to_problem(&problems, 10 * by),
        }
        true
    }

    /// Marks the line, or follows the thread, that was clicked; a click on the marked line sets a breakpoint on it.
    pub(super) fn point_in_kernel(&mut self, spot: Spot) {
        let Some(walk) = self.walk() else { return };
        match spot {
            Spot::Line(line) if walk.is_marked(line) => self.change_breakpoint(),
            Spot::Line(line) => walk.mark(|_, last| (line as usize).saturating_sub(1).min(last)),
            Spot::Thread(thread) => {
                walk.choose(thread);
            }
        }
    }

    /// Opens the launch that failed, or goes back from it.
    pub(super) fn visit_fault(&mut self) {
        if self.leave_fault() {
            return;
        }
        let lab = self.registry.find(KERNEL).ok().map(mlsys_lab::Lab::schema);
        if let (Some(page), Some(schema)) = (self.page.as_mut(), lab) {
            page.visit_fault(schema);
        }
    }

    pub(crate) fn leave_fault(&mut self) -> bool {
        let has_left = self.page.as_mut().is_some_and(Page::leave_fault);
        if has_left {
            self.follow_cursor();
        }
        has_left
    }

    pub fn walk_in_words(&self) -> Vec<String> {
        let lab = self.lab();
        let walk = lab.and_then(|lab| lab.debugger.as_ref());
        walk.map_or_else(Vec::new, status)
    }

    fn walk(&mut self) -> Option<&mut KernelDebugger> {
        self.page.as_mut()?.lab_mut()?.debugger.as_mut()
    }

    /// A picture of the kernel is shown large, else its steps were done in the dark.
    fn show_kernel(&mut self) {
        let from_afar = self.ground() != Place::Picture;
        let Some(lab) = self.lab_mut().filter(|lab| from_afar && view(lab).is_none()) else {
            return;
        };
        let shows = |index: &usize| view_of(lab, *index).is_some();
        lab.pictures.chosen =
            lab.pictures.panels.iter().position(shows).unwrap_or(lab.pictures.chosen);
    }

    /// On a small screen the picture is not in sight from the text.
    fn tell_from_afar(&mut self) {
        if self.ground() != Place::Picture {
            let told = self.walk_in_words();
            self.screen.notice = (!told.is_empty()).then(|| told.join(" "));
        }
    }
}

fn view(lab: &LabState) -> Option<View> {
    view_of(lab, lab.chosen()?)
}

fn view_of(lab: &LabState, index: usize) -> Option<View> {
    Some(lab.frame(index)?.kernel()?.view)
}
