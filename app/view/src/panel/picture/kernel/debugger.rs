//! Stepping through a kernel launch: position and key actions. All pictures of a lab share one debugger.

use mlsys_kernel::recipe::{self, StartError};
use mlsys_kernel::{
    BlockState, Direction, Finding, Goal, Kernel as Program, LANES, Machine, Replay, Seek,
    SeekResult, Step, WarpState,
};
use mlsys_lab::frame::kernel::{Element, FaultSite, Kernel, Parsed, Problem, Recipe, View};

/// A position in a launch, and what is selected there.
#[derive(Clone, Debug)]
pub struct KernelDebugger {
    pub(super) recipe: Recipe,
    replay: Result<Box<Replay>, StartError>,
    total: u64,
    /// The selected block and warp; absent to follow the warp that ran last.
    pinned: Option<(u32, u32)>,
    lane: u32,
    pub(super) variable: Option<String>,
    /// The marked line of the source, from 1; absent to follow the warp.
    marked: Option<u32>,
    /// The selected problem, as a place among those of the whole run.
    pub(crate) problem: Option<usize>,
    /// Stays in sight among its buffer's cells.
    pub(super) watched: Option<Element>,
    seek: Option<Seek>,
    play: Play,
    pub(super) search: SearchResult,
}

/// Whether steps follow each other without a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Play {
    Going,
    #[default]
    Still,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchResult {
    Found,
    /// The search went to the end of the run.
    NotFound(Goal),
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
    pub fn new(kernel: &Kernel) -> Self {
        let mut recipe = kernel.recipe.clone();
        // A record has the text alone.
        if recipe.parsed.get::<Program>().is_none()
            && let Ok(program) = Program::parse("kernel.cu", &recipe.source)
        {
            recipe.parsed = Parsed::new(program);
        }
        let machine = recipe::start(&recipe);
        Self {
            replay: machine.map(|machine| Box::new(Replay::new(machine))),
            recipe,
            total: kernel.whole.steps,
            pinned: None,
            lane: 0,
            variable: None,
            marked: None,
            problem: None,
            watched: None,
            seek: None,
            play: Play::Still,
            search: SearchResult::Found,
        }
    }

    /// At the place where a launch goes wrong.
    pub fn at_fault(site: &FaultSite) -> Self {
        let mut debugger = Self::new(&site.frame(View::Source));
        debugger.watched.clone_from(&site.element);
        debugger.go_to(&site.at);
        debugger
    }

    /// Takes over another run: of the same launch everything is kept, of another with the same source the position.
    pub fn renew(&mut self, kernel: &Kernel) {
        self.total = kernel.whole.steps;
        if self.recipe == kernel.recipe {
            return;
        }
        let before = std::mem::replace(self, Self::new(kernel));
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
        let is_there =
            |(block, warp): &(u32, u32)| u64::from(*block) < self.blocks() && *warp < self.warps();
        self.pinned = before.pinned.filter(is_there);
    }

    pub fn is_of(&self, kernel: &Kernel) -> bool {
        self.recipe == kernel.recipe
    }

    pub fn machine(&self) -> Result<&Machine, &StartError> {
        self.replay.as_ref().map(|replay| replay.machine())
    }

    pub fn last(&self) -> Option<Step> {
        self.replay.as_ref().ok()?.last()
    }

    pub fn clock(&self) -> u64 {
        self.machine().map_or(0, Machine::clock)
    }

    pub fn total(&self) -> u64 {
        self.total.max(self.clock())
    }

    pub fn search_goal(&self) -> Option<Goal> {
        self.seek.map(|seek| seek.goal())
    }

    pub fn play(&self) -> Play {
        self.play
    }

    pub fn has_breakpoint(&self, line: u32) -> bool {
        self.replay.as_ref().is_ok_and(|replay| replay.breakpoints().contains(&line))
    }

    /// The selected thread: of the pinned warp, else of the one that ran last.
    pub fn here(&self) -> Thread {
        let last = self.last().map(|step| (step.block, step.warp));
        let (block, warp) = self.pinned.or(last).unwrap_or((0, 0));
        Thread { block, warp, lane: self.lane.min(self.lanes_of(warp).saturating_sub(1)) }
    }

    pub fn is_pinned(&self) -> bool {
        self.pinned.is_some()
    }

    pub fn marked(&self) -> u32 {
        let last = self.recipe.source.lines().count().max(1) as u32;
        let ran = || self.last().map(|step| step.place.line);
        self.marked.or_else(|| self.line()).or_else(ran).unwrap_or(1).clamp(1, last)
    }

    pub fn is_marked(&self, line: u32) -> bool {
        self.marked == Some(line)
    }

    /// The line that the selected warp runs next; absent when it has ended.
    pub fn line(&self) -> Option<u32> {
        let Thread { block, warp, .. } = self.here();
        let (machine, warp) = (self.machine().ok()?, warp as usize);
        match machine.warp_state(block, warp)? {
            WarpState::Ready | WarpState::Waiting => Some(machine.place(block, warp)?.line),
            WarpState::Done => None,
        }
    }

    /// Whether the selected block has ended, so that its warps have left nothing to look at.
    pub fn has_ended(&self) -> bool {
        self.machine().is_ok_and(|it| it.block_state(self.here().block) == BlockState::Ended)
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

    /// Goes to a goal; a long search continues at the next [`KernelDebugger::go_on`].
    pub fn seek(&mut self, goal: Goal, direction: Direction) {
        self.play = Play::Still;
        self.start(goal, direction);
    }

    fn start(&mut self, goal: Goal, direction: Direction) {
        let Thread { block, warp, .. } = self.here();
        let is_running = self.line().is_some() && self.last().is_some();
        let followed = match goal {
            // Lines are those of one warp, as long as it runs.
            Goal::Line => (self.pinned.is_some() || is_running).then_some((block, warp)),
            Goal::Instruction | Goal::Barrier | Goal::Breakpoint => self.pinned,
            Goal::Block | Goal::Problem | Goal::End => None,
        };
        if let Ok(replay) = &self.replay {
            self.seek = Some(Seek::new(replay, goal, direction, followed));
            self.marked = None;
            self.search = SearchResult::Found;
            self.go_on();
        }
    }

    /// Continues the search for about as long as a frame lasts.
    pub fn go_on(&mut self) {
        /// Steps between two frames: some milliseconds.
        const SLICE: u64 = 50_000;
        let (Some(seek), Ok(replay)) = (&mut self.seek, &mut self.replay) else { return };
        match seek.advance(replay, SLICE) {
            SeekResult::InProgress => return,
            SeekResult::Found => {
                self.search = SearchResult::Found;
                if seek.goal() == Goal::Problem {
                    self.select_fault();
                }
            }
            SeekResult::NotFound => {
                self.search = SearchResult::NotFound(seek.goal());
                self.play = Play::Still;
            }
        }
        self.seek = None;
    }

    /// The thread in which the last step went wrong; the selected one if it is among them.
    pub(super) fn fault(&self) -> Option<&Finding> {
        let mut found = self.machine().ok()?.found_now();
        let first = found.clone().next();
        found.find(|it| self.thread_at(it.block, it.thread) == self.here()).or(first)
    }

    /// Selects that thread; a pinned warp gives way to its own.
    fn select_fault(&mut self) {
        let Some(fault) = self.fault() else { return };
        let thread = self.thread_at(fault.block, fault.thread);
        self.lane = thread.lane;
        self.pinned = self.pinned.map(|_| (thread.block, thread.warp));
    }

    fn thread_at(&self, block: [u32; 3], thread: [u32; 3]) -> Thread {
        let linear = |[x, y, z]: [u32; 3], [wide, high, _]: [u32; 3]| {
            let rows = y.saturating_add(z.saturating_mul(high));
            x.saturating_add(rows.saturating_mul(wide))
        };
        let thread = linear(thread, self.recipe.block_dim);
        let lanes = LANES as u32;
        let block = linear(block, self.recipe.grid_dim);
        Thread { block, warp: thread / lanes, lane: thread % lanes }
    }

    /// Moves by a number of problems of the whole run and selects the thread; the first time to the nearest end.
    pub fn go_to_problem(&mut self, problems: &[Problem], by: isize) {
        let last = problems.len().saturating_sub(1);
        let at = match self.problem_at(problems) {
            Some(at) => at.saturating_add_signed(by).min(last),
            None if by < 0 => last,
            None => 0,
        };
        let Some(problem) = problems.get(at) else { return };
        self.go_to(problem);
        self.problem = Some(at);
    }

    /// The problem of the selected thread, or else the first one, in the step that was done last; else the one gone to.
    pub(crate) fn problem_at(&self, problems: &[Problem]) -> Option<usize> {
        let is_here = |it: &Problem| it.step + 1 == self.clock();
        let is_own = |it: &Problem| self.thread_at(it.block, it.thread) == self.here();
        let own = problems.iter().position(|it| is_here(it) && is_own(it));
        own.or_else(|| problems.iter().position(is_here)).or(self.problem)
    }

    /// Goes to where something went wrong and selects the thread.
    fn go_to(&mut self, problem: &Problem) {
        self.choose(self.thread_at(problem.block, problem.thread));
        self.play = Play::Still;
        self.search = SearchResult::Found;
        // The step that caused it has been done.
        self.seek = Some(Seek::to(problem.step + 1));
        self.go_on();
    }

    pub fn change_play(&mut self) {
        self.seek = None;
        self.play = match self.play {
            Play::Going => Play::Still,
            Play::Still => Play::Going,
        };
    }

    /// Ends the search; a place that is known already is gone to.
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

    /// Stops a search and playing; returns whether either was in progress.
    pub fn rest(&mut self) -> bool {
        let was_active = self.seek.take().is_some() || self.play == Play::Going;
        self.play = Play::Still;
        was_active
    }

    /// A tick of the clock: a search continues, or the next step is done.
    pub fn beat(&mut self) {
        match (self.seek, self.play) {
            (Some(_), _) => self.go_on(),
            (None, Play::Going) => self.start(Goal::Instruction, Direction::Forward),
            (None, Play::Still) => {}
        }
    }

    pub fn choose_lane(&mut self, by: isize) {
        let Thread { warp, lane, .. } = self.here();
        self.lane = around(lane, by, self.lanes_of(warp));
    }

    pub fn choose_warp(&mut self, by: isize) {
        let Thread { block, warp, .. } = self.here();
        self.pinned = Some((block, around(warp, by, self.warps())));
        self.marked = None;
    }

    pub fn choose_block(&mut self, by: isize) {
        let Thread { block, warp, .. } = self.here();
        let blocks = u32::try_from(self.blocks()).unwrap_or(u32::MAX);
        self.pinned = Some((around(block, by, blocks), warp));
        self.marked = None;
    }

    /// Selects a thread and pins its warp; false if there is no such thread.
    pub fn choose(&mut self, thread: Thread) -> bool {
        let is_there = u64::from(thread.block) < self.blocks()
            && thread.warp < self.warps()
            && thread.lane < self.lanes_of(thread.warp);
        if is_there {
            self.pinned = Some((thread.block, thread.warp));
            self.lane = thread.lane;
            self.marked = None;
        }
        is_there
    }

    pub fn mark(&mut self, to: impl FnOnce(usize, usize) -> usize) {
        let last = self.recipe.source.lines().count().saturating_sub(1);
        let at = self.marked() as usize - 1;
        self.marked = Some(to(at, last) as u32 + 1);
    }

    /// Sets or removes a breakpoint on the marked line; returns the message.
    pub fn change_breakpoint(&mut self) -> String {
        let line = self.marked();
        let Ok(replay) = &mut self.replay else { return String::new() };
        let all = replay.breakpoints_mut();
        if all.remove(&line) {
            return format!("no breakpoint on line {line} any more");
        }
        all.insert(line);
        format!("a breakpoint on line {line}: N runs on until a warp comes to it")
    }

    /// Follows the running warp again; returns whether a warp was pinned or a line marked.
    pub fn follow(&mut self) -> bool {
        let was_marked = self.marked.take().is_some();
        self.pinned.take().is_some() || was_marked
    }
}

/// The index `by` further among `count`, wrapping around.
fn around(at: u32, by: isize, count: u32) -> u32 {
    let count = i64::from(count.max(1));
    (i64::from(at) + by as i64).rem_euclid(count) as u32
}
