//! Going forwards and back: copies of the machine every so often, and running again from the nearest.
//!
//! Looking for a place in a run, a bounded number of steps at a time: a long run is searched between two frames of a screen.

use crate::{Event, Machine, Step};
use std::collections::BTreeSet;

/// Bytes that all copies together may take.
const MOST_BYTES: usize = 128 << 20;

const MOST_COPIES: usize = 64;

/// Bytes that are copied in about the time that a step takes: a copy of a large machine is worth many steps.
const BYTES_A_STEP: u64 = 512;

#[derive(Clone, Debug)]
pub struct Replay {
    machine: Machine,
    /// Copies by their clocks, ascending; the first is the launch.
    copies: Vec<Machine>,
    every: u64,
    /// A copy from shortly before where one went back to: the next steps back begin here.
    near: Option<Box<Machine>>,
    last: Option<Step>,
    breakpoints: BTreeSet<u32>,
}

impl Replay {
    pub fn new(machine: Machine) -> Self {
        Self {
            copies: vec![machine.clone()],
            every: (machine.bytes() as u64 / BYTES_A_STEP).max(64),
            machine,
            near: None,
            last: None,
            breakpoints: BTreeSet::new(),
        }
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The step that led to where it stands; none at the beginning.
    pub fn last(&self) -> Option<Step> {
        self.last
    }

    /// Lines that [`Goal::Breakpoint`] stops before.
    pub fn breakpoints(&self) -> &BTreeSet<u32> {
        &self.breakpoints
    }

    pub fn breakpoints_mut(&mut self) -> &mut BTreeSet<u32> {
        &mut self.breakpoints
    }

    /// One warp instruction on; none at the end.
    pub fn forward(&mut self) -> Option<Step> {
        let step = self.machine.step()?;
        self.last = Some(step);
        let newest = self.copies.last().map_or(0, Machine::clock);
        if self.machine.clock() >= newest + self.every {
            self.copies.push(self.machine.clone());
            self.thin();
        }
        Some(step)
    }

    /// Every other copy goes when there are too many, so that they stay spread over the whole run.
    fn thin(&mut self) {
        let bytes = self.machine.bytes().max(1);
        let most = (MOST_BYTES / bytes).clamp(2, MOST_COPIES);
        if self.copies.len() > most {
            let mut at = 0;
            self.copies.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.every *= 2;
        }
    }

    /// To the latest copy before a clock, from which the step that leads there can be done; to the beginning if there is none.
    fn rewind(&mut self, clock: u64) {
        let before = |copy: &&Machine| copy.clock() < clock;
        let copy = self.copies.iter().rev().find(before);
        let near = self.near.as_deref().filter(before);
        let nearest = copy.into_iter().chain(near).max_by_key(|copy| copy.clock());
        if let Some(copy) = nearest.or(self.copies.first()) {
            self.machine = copy.clone();
            self.last = None;
        }
    }

    /// Keeps a copy on the way back to a clock, if it is time to.
    fn keep_near(&mut self, clock: u64) {
        /// Steps back that begin at one copy.
        const STEPS: u64 = 128;
        let here = self.machine.clock();
        let known = self.copies.iter().map(Machine::clock);
        let known = known.chain(self.near.as_deref().map(Machine::clock));
        let spared = !known.into_iter().any(|copy| (here..clock).contains(&copy));
        if here + STEPS == clock && spared {
            self.near = Some(Box::new(self.machine.clone()));
        }
    }

    /// To a number of steps from the beginning, in either direction; at most to the end.
    pub fn go(&mut self, clock: u64) {
        if clock < self.machine.clock() {
            self.rewind(clock);
        }
        while self.machine.clock() < clock && self.forward().is_some() {}
    }
}

/// Where to stop. Each names a set of places of the run that does not depend on where one stands, so that going on to the
/// next and back to the one before undo each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    Instruction,
    /// Where a warp comes to another line.
    Line,
    /// Where a block has passed a barrier.
    Barrier,
    Block,
    Problem,
    /// Where a warp comes to a line with a breakpoint.
    Breakpoint,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Backward,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeekResult {
    Found,
    /// The replay stands at the end, or at the beginning.
    NotFound,
    InProgress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seek {
    goal: Goal,
    /// The only warp that counts, by block and warp; absent if all do.
    warp_filter: Option<(u32, u32)>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Forward,
    // Back to before a clock; what was stood at does not count.
    Behind { end: u64 },
    // Through a stretch that ends before a clock.
    Stretch { from: u64, end: u64, found: Option<u64> },
    // To a clock that is known.
    To { clock: u64, sought: SeekResult },
}

impl Seek {
    /// Looks for the next, or the last before, of a replay that stands somewhere; for one warp, or all.
    pub fn new(
        replay: &Replay,
        goal: Goal,
        way: Direction,
        warp_filter: Option<(u32, u32)>,
    ) -> Self {
        let clock = replay.machine().clock();
        let stage = match (goal, way) {
            (_, Direction::Forward) => Stage::Forward,
            (Goal::End, Direction::Backward) => Stage::To { clock: 0, sought: SeekResult::Found },
            (Goal::Instruction, Direction::Backward) if warp_filter.is_none() => {
                Stage::To { clock: clock.saturating_sub(1), sought: SeekResult::Found }
            }
            (_, Direction::Backward) => Stage::Behind { end: clock },
        };
        Self { goal, warp_filter, stage }
    }

    pub fn to(clock: u64) -> Self {
        Self {
            goal: Goal::End,
            warp_filter: None,
            stage: Stage::To { clock, sought: SeekResult::Found },
        }
    }

    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// Whether it is known where, so that nothing is looked for any more.
    pub fn is_known(&self) -> bool {
        matches!(self.stage, Stage::To { .. })
    }

    /// Continues the search for about `steps` steps.
    pub fn advance(&mut self, replay: &mut Replay, most: u64) -> SeekResult {
        let mut left = most;
        loop {
            match self.stage {
                Stage::Forward => {
                    while left > 0 {
                        let Some(step) = replay.forward() else {
                            let is_end = self.goal == Goal::End;
                            return if is_end { SeekResult::Found } else { SeekResult::NotFound };
                        };
                        left -= 1;
                        if self.holds(replay, &step) {
                            return SeekResult::Found;
                        }
                    }
                }
                Stage::Behind { end } if end <= 1 => {
                    self.stage = Stage::To { clock: 0, sought: SeekResult::NotFound };
                    continue;
                }
                Stage::Behind { end } => {
                    replay.rewind(end - 1);
                    let from = replay.machine().clock();
                    self.stage = Stage::Stretch { from, end, found: None };
                    continue;
                }
                Stage::Stretch { from, end, mut found } => {
                    while left > 0 && replay.machine().clock() + 1 < end {
                        let Some(step) = replay.forward() else { break };
                        left -= 1;
                        if self.holds(replay, &step) {
                            found = Some(replay.machine().clock());
                        }
                    }
                    self.stage = Stage::Stretch { from, end, found };
                    if replay.machine().clock() + 1 >= end {
                        self.stage = match found {
                            Some(clock) => Stage::To { clock, sought: SeekResult::Found },
                            None => Stage::Behind { end: from + 1 },
                        };
                        continue;
                    }
                }
                Stage::To { clock, sought } => {
                    if clock < replay.machine().clock() {
                        replay.rewind(clock);
                    }
                    while left > 0 && replay.machine().clock() < clock {
                        replay.keep_near(clock);
                        if replay.forward().is_none() {
                            return sought;
                        }
                        left -= 1;
                    }
                    if replay.machine().clock() >= clock {
                        return sought;
                    }
                }
            }
            return SeekResult::InProgress;
        }
    }

    fn holds(&self, replay: &Replay, step: &Step) -> bool {
        let mine = self.warp_filter.is_none_or(|warp| warp == (step.block, step.warp));
        let arrived = || line(&replay.machine, step).filter(|line| *line != step.place.line);
        match self.goal {
            Goal::Instruction => mine,
            Goal::Line => mine && (arrived().is_some() || has_ended(step)),
            Goal::Barrier => {
                step.event == Event::Released
                    && self.warp_filter.is_none_or(|(block, _)| block == step.block)
            }
            Goal::Block => step.event == Event::BlockEnded,
            Goal::Problem => step.found,
            Goal::Breakpoint => {
                mine && arrived().is_some_and(|line| replay.breakpoints.contains(&line))
            }
            Goal::End => false,
        }
    }
}

/// The line that the warp of a step comes to; none if it has ended.
fn line(machine: &Machine, step: &Step) -> Option<u32> {
    let place = machine.place(step.block, step.warp as usize).filter(|_| !has_ended(step));
    Some(place?.line)
}

fn has_ended(step: &Step) -> bool {
    matches!(step.event, Event::Ended | Event::BlockEnded)
}
