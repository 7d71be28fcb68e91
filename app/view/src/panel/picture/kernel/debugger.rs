//! Stepping through a kernel launch: position and key actions. All pictures of a lab share one.

use std::collections::BTreeSet;

use mlsys_kernel::{
    Direction, Goal, LANES, Machine, Replay, Seek, SeekResult, Step, WarpState, recipe,
};
use mlsys_lab::frame::kernel::{Kernel, Problem, Recipe};

use crate::panel::picture::kernel::lanes;

/// Steps of a search between two frames: some milliseconds.
const SLICE: u64 = 50_000;

/// A place in a launch, and what of it is looked at.
#[derive(Clone, Debug)]
pub struct KernelDebugger {
    recipe: Recipe,
    /// The machine, or why there is none.
    replay: Result<Box<Replay>, String>,
    total: u64,
    /// The warp that is followed by choice; absent to follow whichever goes.
    pinned: Option<(u32, u32)>,
    lane: u32,
    variable: Option<String>,
    /// The marked line of the text, from 1; absent to follow the walk.
    marked: Option<u32>,
    /// The problem that was gone to, as a place among those of the whole run.
    problem: Option<usize>,
    seek: Option<Seek>,
    play: Play,
    whence: Whence,
}

/// Whether steps go on by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Play {
    Going,
    #[default]
    Still,
}

/// What the last search came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whence {
    /// It stands where it was sent.
    There,
    /// There was nothing of the kind: it went as far as there is.
    Nowhere(Goal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    pub block: u32,
    pub warp: u32,
    pub lane: u32,
}

impl Thread {
    pub fn number(self) -> usize {
        self.warp as usize * LANES + self.lane as usize
    }
}

impl KernelDebugger {
    pub fn of(kernel: &Kernel) -> Self {
        Self {
            replay: recipe::start(&kernel.recipe)
                .map(|machine| Box::new(Replay::new(machine)))
                .map_err(|error| error.to_string()),
            recipe: kernel.recipe.clone(),
            total: kernel.whole.steps,
            pinned: None,
            lane: 0,
            variable: None,
            marked: None,
            problem: None,
            seek: None,
            play: Play::Still,
            whence: Whence::There,
        }
    }

    /// The launch has been run anew: the same one changes nothing; of another with the same text the place is kept.
    pub fn renew(&mut self, kernel: &Kernel) {
        self.total = kernel.whole.steps;
        if self.recipe == kernel.recipe {
            return;
        }
        let fresh = Self::of(kernel);
        let before = std::mem::replace(self, fresh);
        if before.recipe.source != self.recipe.source {
            return;
        }
        (self.lane, self.variable, self.marked) = (before.lane, before.variable, before.marked);
        if let (Ok(old), Ok(new)) = (&before.replay, &mut self.replay) {
            new.breakpoints_mut().clone_from(old.breakpoints());
            let clock = old.machine().clock();
            if clock > 0 {
                self.seek = Some(Seek::to(clock));
                self.go_on();
            }
        }
        let threads: u64 = self.recipe.block_dim.iter().map(|d| u64::from(*d)).product();
        let warps = threads.div_ceil(LANES as u64);
        self.pinned = before
            .pinned
            .filter(|&(block, warp)| u64::from(block) < self.blocks() && u64::from(warp) < warps);
    }

    /// Whether it is a walk through this launch.
    pub fn is_of(&self, kernel: &Kernel) -> bool {
        self.recipe == kernel.recipe
    }

    pub fn source(&self) -> &str {
        &self.recipe.source
    }

    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The machine as it stands, or why there is none.
    pub fn machine(&self) -> Result<&Machine, &str> {
        self.replay.as_ref().map(|replay| replay.machine()).map_err(String::as_str)
    }

    /// The step that led here.
    pub fn last(&self) -> Option<Step> {
        self.replay.as_ref().ok()?.last()
    }

    pub fn clock(&self) -> u64 {
        self.machine().map_or(0, Machine::clock)
    }

    pub fn total(&self) -> u64 {
        self.total.max(self.clock())
    }

    /// What is looked for, while it is.
    pub fn sought(&self) -> Option<Goal> {
        self.seek.map(|seek| seek.goal())
    }

    pub fn whence(&self) -> Whence {
        self.whence
    }

    pub fn play(&self) -> Play {
        self.play
    }

    /// Lines that a run on stops before.
    pub fn breakpoints(&self) -> BTreeSet<u32> {
        self.replay.as_ref().map(|replay| replay.breakpoints().clone()).unwrap_or_default()
    }

    /// The thread that is looked at: of the warp that was chosen, else of the one that went last.
    pub fn here(&self) -> Thread {
        let went = self.last().map(|step| (step.block, step.warp));
        let (block, warp) = self.pinned.or(went).unwrap_or_default();
        let lanes = self.lanes_of(warp);
        Thread { block, warp, lane: self.lane.min(lanes.saturating_sub(1)) }
    }

    /// Whether the warp was chosen.
    pub fn is_pinned(&self) -> bool {
        self.pinned.is_some()
    }

    /// The variable that each lane shows, if one was chosen.
    pub fn variable(&self) -> Option<&str> {
        self.variable.as_deref()
    }

    /// The marked line: as was chosen, else that of the warp that is looked at.
    pub fn marked(&self) -> u32 {
        let last = self.source().lines().count().max(1) as u32;
        self.marked.or_else(|| self.line()).unwrap_or(1).clamp(1, last)
    }

    /// Whether a line was marked by choice.
    pub fn is_marked(&self, line: u32) -> bool {
        self.marked == Some(line)
    }

    /// The line that the warp which is looked at comes to next; none where it has none.
    pub fn line(&self) -> Option<u32> {
        let Thread { block, warp, .. } = self.here();
        let machine = self.machine().ok()?;
        match machine.warp_state(block, warp as usize)? {
            WarpState::Ready | WarpState::Waiting => {
                Some(machine.place(block, warp as usize)?.line)
            }
            WarpState::Done => None,
        }
    }

    pub fn blocks(&self) -> u64 {
        self.recipe.grid_dim.iter().map(|d| u64::from(*d)).product()
    }

    pub fn threads(&self) -> u32 {
        self.recipe.block_dim.iter().fold(1_u32, |product, extent| product.saturating_mul(*extent))
    }

    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(LANES as u32)
    }

    /// Lanes of a warp that have a thread.
    pub fn lanes_of(&self, warp: u32) -> u32 {
        let first = warp.saturating_mul(LANES as u32);
        self.threads().saturating_sub(first).min(LANES as u32)
    }

    /// Looks for a place and stands there, or goes on looking at the next [`KernelDebugger::go_on`].
    pub fn seek(&mut self, goal: Goal, way: Direction) {
        self.play = Play::Still;
        self.start(goal, way);
    }

    fn start(&mut self, goal: Goal, way: Direction) {
        let warp = self.here();
        let warp = (warp.block, warp.warp);
        let ends = self.line().is_none();
        let who = match goal {
            // Line by line one follows a warp, as long as it goes.
            Goal::Line if self.pinned.is_some() || !ends && self.last().is_some() => Some(warp),
            Goal::Line => None,
            Goal::Instruction | Goal::Barrier | Goal::Breakpoint => self.pinned,
            Goal::Block | Goal::Problem | Goal::End => None,
        };
        if let Ok(replay) = &self.replay {
            self.seek = Some(Seek::new(replay, goal, way, who));
            self.marked = None;
            self.whence = Whence::There;
            self.go_on();
        }
    }

    /// Goes on looking, for about as long as a frame lasts.
    pub fn go_on(&mut self) {
        let (Some(seek), Ok(replay)) = (&mut self.seek, &mut self.replay) else {
            return;
        };
        match seek.advance(replay, SLICE) {
            SeekResult::InProgress => return,
            SeekResult::Found => self.whence = Whence::There,
            SeekResult::NotFound => {
                self.whence = Whence::Nowhere(seek.goal());
                self.play = Play::Still;
            }
        }
        self.seek = None;
    }

    /// Moves by a number of problems of the whole run and looks at the thread; the first time to the nearest end.
    pub fn go_to_problem(&mut self, problems: &[Problem], by: isize) {
        let Some(last) = problems.len().checked_sub(1) else {
            return;
        };
        let at = match self.problem {
            Some(at) => at.saturating_add_signed(by).min(last),
            None if by < 0 => last,
            None => 0,
        };
        let Some(problem) = problems.get(at) else {
            return;
        };
        let linear = |[x, y, z]: [u32; 3], [wide, high, _]: [u32; 3]| {
            let rows = y.saturating_add(z.saturating_mul(high));
            x.saturating_add(rows.saturating_mul(wide))
        };
        let thread = linear(problem.thread, self.recipe.block_dim);
        let lanes = LANES as u32;
        self.choose(Thread {
            block: linear(problem.block, self.recipe.grid_dim),
            warp: thread / lanes,
            lane: thread % lanes,
        });
        self.play = Play::Still;
        self.whence = Whence::There;
        self.problem = Some(at);
        // The step that did it has been done.
        self.seek = Some(Seek::to(problem.step + 1));
        self.go_on();
    }

    pub fn problem(&self) -> Option<usize> {
        self.problem
    }

    /// Lets steps go on by themselves, or no longer.
    pub fn change_play(&mut self) {
        self.seek = None;
        self.play = match self.play {
            Play::Going => Play::Still,
            Play::Still => Play::Going,
        };
    }

    /// Gives up what is looked for; a place that is known already is gone to.
    pub fn give_up(&mut self) {
        /// Steps that are done before the next key, at most: a fraction of a second.
        const MOST: u64 = 1 << 19;
        if let (Some(seek), Ok(replay)) = (&mut self.seek, &mut self.replay)
            && seek.is_known()
        {
            seek.advance(replay, MOST);
        }
        self.seek = None;
    }

    /// Stops what goes on by itself; returns whether anything did.
    pub fn rest(&mut self) -> bool {
        let restless = self.seek.take().is_some() || self.play == Play::Going;
        self.play = Play::Still;
        restless
    }

    /// A beat of the clock: a search goes on, or the next step is done.
    pub fn beat(&mut self) {
        match (self.seek, self.play) {
            (Some(_), _) => self.go_on(),
            (None, Play::Going) => self.start(Goal::Instruction, Direction::Forward),
            (None, Play::Still) => {}
        }
    }
}

impl KernelDebugger {
    pub fn choose_lane(&mut self, by: isize) {
        let Thread { warp, lane, .. } = self.here();
        self.lane = around(lane, by, self.lanes_of(warp));
    }

    /// Another warp of the block, which is followed from now on.
    pub fn choose_warp(&mut self, by: isize) {
        let Thread { block, warp, .. } = self.here();
        self.pinned = Some((block, around(warp, by, self.warps())));
        self.marked = None;
    }

    /// Another block; its warp is followed from now on.
    pub fn choose_block(&mut self, by: isize) {
        let Thread { block, warp, .. } = self.here();
        let blocks = u32::try_from(self.blocks()).unwrap_or(u32::MAX);
        self.pinned = Some((around(block, by, blocks), warp));
        self.marked = None;
    }

    /// A thread by its place, which is followed from now on; false if there is none.
    pub fn choose(&mut self, thread: Thread) -> bool {
        let there = u64::from(thread.block) < self.blocks()
            && thread.warp < self.warps()
            && thread.lane < self.lanes_of(thread.warp);
        if there {
            self.pinned = Some((thread.block, thread.warp));
            self.lane = thread.lane;
            self.marked = None;
        }
        there
    }

    /// The next variable; after the last the first again.
    pub fn next_variable(&mut self) {
        let names = lanes::names(self);
        let shown = lanes::shown_variable(self);
        let at = names.iter().position(|name| Some(name) == shown.as_ref());
        let next = at.map_or(0, |at| at + 1);
        self.variable = names.get(next).or(names.first()).cloned();
    }

    /// A variable by its name; false if there is none.
    pub fn choose_variable(&mut self, name: &str) -> bool {
        let known = lanes::names(self).iter().any(|known| known == name);
        if known {
            self.variable = Some(name.to_owned());
        }
        known
    }

    /// Marks another line of the text.
    pub fn mark(&mut self, to: impl FnOnce(usize, usize) -> usize) {
        let last = self.source().lines().count().saturating_sub(1);
        let at = self.marked() as usize - 1;
        self.marked = Some(to(at, last) as u32 + 1);
    }

    /// Sets a breakpoint on the marked line, or takes it away; returns what is to be said.
    pub fn change_breakpoint(&mut self) -> String {
        let line = self.marked();
        let Ok(replay) = &mut self.replay else {
            return String::new();
        };
        let all = replay.breakpoints_mut();
        if all.remove(&line) {
            format!("no breakpoint on line {line} any more")
        } else {
            all.insert(line);
            format!("a breakpoint on line {line}: N runs on until a warp comes to it")
        }
    }

    /// Follows whichever warp goes; returns whether another was followed.
    pub fn follow(&mut self) -> bool {
        let mark = self.marked.take().is_some();
        self.pinned.take().is_some() || mark
    }
}

/// The index `n` further among `count`, wrapping around.
fn around(at: u32, by: isize, count: u32) -> u32 {
    let count = i64::from(count.max(1));
    (i64::from(at) + by as i64).rem_euclid(count) as u32
}
