//! Looking for a place in a run, a bounded number of steps at a time: a long run is searched between two frames of a screen.

use super::Replay;
use crate::{Event, Machine, Step};

/// Where to stop. Each names a set of places of the run that does not depend on where one stands, so that going on to the
/// next and back to the one before undo each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// After each instruction.
    Instruction,
    /// Where a warp comes to another line.
    Line,
    /// Where a block has passed a barrier.
    Barrier,
    /// Where a block has ended.
    Block,
    /// Where something was found wrong.
    Problem,
    /// Where a warp comes to a line with a breakpoint.
    Breakpoint,
    /// At the ends of the run.
    End,
}

/// Which way to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Towards the end.
    On,
    /// Towards the beginning.
    Back,
}

/// What came of looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// It stands there.
    Found,
    /// There was none: it stands at the end, or at the beginning.
    Nowhere,
    /// It has not been found yet.
    Going,
}

/// A search that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seek {
    goal: Goal,
    /// The only warp that counts, by block and warp; absent if all do.
    who: Option<(u32, u32)>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Forward,
    /// Back to before a clock; what was stood at does not count.
    Behind {
        end: u64,
    },
    /// Through a stretch that ends before a clock.
    Stretch {
        from: u64,
        end: u64,
        found: Option<u64>,
    },
    /// To a clock that is known.
    To {
        clock: u64,
        sought: Sought,
    },
}

impl Seek {
    /// Looks for the next, or the last before, of a replay that stands somewhere; for one warp, or all.
    pub fn new(replay: &Replay, goal: Goal, way: Way, who: Option<(u32, u32)>) -> Self {
        let clock = replay.machine().clock();
        let stage = match (goal, way) {
            (_, Way::On) => Stage::Forward,
            (Goal::End, Way::Back) => Stage::To { clock: 0, sought: Sought::Found },
            (Goal::Instruction, Way::Back) if who.is_none() => {
                Stage::To { clock: clock.saturating_sub(1), sought: Sought::Found }
            }
            (_, Way::Back) => Stage::Behind { end: clock },
        };
        Self { goal, who, stage }
    }

    /// To a number of steps from the beginning.
    pub fn to(clock: u64) -> Self {
        Self { goal: Goal::End, who: None, stage: Stage::To { clock, sought: Sought::Found } }
    }

    /// What is looked for.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// Whether it is known where, so that nothing is looked for any more.
    pub fn is_known(&self) -> bool {
        matches!(self.stage, Stage::To { .. })
    }

    /// Goes on looking, at most about so many steps.
    pub fn go_on(&mut self, replay: &mut Replay, most: u64) -> Sought {
        let mut left = most;
        loop {
            match self.stage {
                Stage::Forward => {
                    while left > 0 {
                        let Some(step) = replay.forward() else {
                            return match self.goal {
                                Goal::End => Sought::Found,
                                Goal::Instruction
                                | Goal::Line
                                | Goal::Barrier
                                | Goal::Block
                                | Goal::Problem
                                | Goal::Breakpoint => Sought::Nowhere,
                            };
                        };
                        left -= 1;
                        if self.holds(replay, &step) {
                            return Sought::Found;
                        }
                    }
                }
                Stage::Behind { end } if end <= 1 => {
                    self.stage = Stage::To { clock: 0, sought: Sought::Nowhere };
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
                            Some(clock) => Stage::To { clock, sought: Sought::Found },
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
            return Sought::Going;
        }
    }

    fn holds(&self, replay: &Replay, step: &Step) -> bool {
        let mine = self.who.is_none_or(|who| who == (step.block, step.warp));
        let arrived = || line(&replay.machine, step).filter(|line| *line != step.place.line);
        match self.goal {
            Goal::Instruction => mine,
            Goal::Line => mine && (arrived().is_some() || has_ended(step)),
            Goal::Barrier => {
                step.event == Event::Released
                    && self.who.is_none_or(|(block, _)| block == step.block)
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
    if has_ended(step) {
        return None;
    }
    let place = machine.place(step.block, step.warp as usize)?;
    Some(place.line)
}

fn has_ended(step: &Step) -> bool {
    matches!(step.event, Event::Ended | Event::BlockEnded)
}
