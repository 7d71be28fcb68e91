//! Going forwards and back: copies of the machine every so often, and running again from the nearest.

use std::collections::BTreeSet;

use super::{Event, Machine, Step};

/// Bytes that all copies together may take.
const MOST_BYTES: usize = 256 << 20;

/// Copies kept, however small they are.
const MOST_COPIES: usize = 64;

/// A machine that can go back.
#[derive(Clone, Debug)]
pub struct Replay {
    machine: Machine,
    /// Copies by their clocks, ascending; the first is the launch.
    copies: Vec<Machine>,
    /// Steps between two copies.
    every: u64,
    last: Option<Step>,
    breakpoints: BTreeSet<u32>,
}

impl Replay {
    /// A launch that can be walked through both ways.
    pub fn new(machine: Machine) -> Self {
        Self {
            copies: vec![machine.clone()],
            machine,
            every: 64,
            last: None,
            breakpoints: BTreeSet::new(),
        }
    }

    /// Where it stands.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// What the last step forward did.
    pub fn last(&self) -> Option<Step> {
        self.last
    }

    /// Lines at which [`Replay::run`] stops.
    pub fn breakpoints(&mut self) -> &mut BTreeSet<u32> {
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

    /// To a number of steps from the beginning, in either direction; at most to the end.
    pub fn go(&mut self, clock: u64) {
        if clock < self.machine.clock() {
            let copy = self.copies.iter().rev().find(|copy| copy.clock() <= clock);
            if let Some(copy) = copy {
                self.machine = copy.clone();
                self.last = None;
            }
        }
        while self.machine.clock() < clock && self.forward().is_some() {}
    }

    /// One warp instruction back; false at the beginning.
    pub fn back(&mut self) -> bool {
        match self.machine.clock().checked_sub(1) {
            Some(clock) => {
                self.go(clock);
                true
            }
            None => false,
        }
    }

    /// On until a step of which something holds, and past it; false if the run ended first.
    pub fn forward_until(&mut self, mut holds: impl FnMut(&Step) -> bool) -> bool {
        while let Some(step) = self.forward() {
            if holds(&step) {
                return true;
            }
        }
        false
    }

    /// Back to just after the last earlier step of which something holds; to the beginning, and false, if there is none.
    pub fn back_until(&mut self, mut holds: impl FnMut(&Step) -> bool) -> bool {
        // Steps that end before where it stands, searched copy by copy from behind.
        let mut end = self.machine.clock();
        while end > 1 {
            let earlier = self.copies.iter().rev().map(Machine::clock);
            let from = earlier
                .into_iter()
                .find(|clock| clock + 1 < end)
                .unwrap_or(0);
            self.go(from);
            let mut found = None;
            while self.machine.clock() + 1 < end {
                let Some(step) = self.forward() else { break };
                if holds(&step) {
                    found = Some(self.machine.clock());
                }
            }
            if let Some(clock) = found {
                self.go(clock);
                return true;
            }
            end = from + 1;
        }
        self.go(0);
        false
    }

    /// On to the next line of the warp that went last.
    pub fn next_line(&mut self) -> bool {
        let Some(now) = self.last.or_else(|| self.forward()) else {
            return false;
        };
        self.forward_until(|step| {
            (step.block, step.warp) == (now.block, now.warp) && step.place.line != now.place.line
        })
    }

    /// Back to an earlier line of the warp that went last.
    pub fn line_back(&mut self) -> bool {
        let Some(now) = self.last else {
            return self.back();
        };
        self.back_until(|step| {
            (step.block, step.warp) == (now.block, now.warp) && step.place.line != now.place.line
        })
    }

    /// On until a block has passed a barrier.
    pub fn next_barrier(&mut self) -> bool {
        self.forward_until(|step| step.event == Event::Released)
    }

    /// Back to where a block had just passed a barrier.
    pub fn barrier_back(&mut self) -> bool {
        self.back_until(|step| step.event == Event::Released)
    }

    /// On until a block has ended.
    pub fn next_block(&mut self) -> bool {
        self.forward_until(|step| step.event == Event::BlockEnded)
    }

    /// Back to where a block had just ended.
    pub fn block_back(&mut self) -> bool {
        self.back_until(|step| step.event == Event::BlockEnded)
    }

    /// On until something is found wrong.
    pub fn next_finding(&mut self) -> bool {
        self.forward_until(|step| step.found)
    }

    /// On to a breakpoint, at most so many steps; false if there came none.
    pub fn run(&mut self, most: u64) -> bool {
        let end = self.machine.clock().saturating_add(most);
        while self.machine.clock() < end {
            let Some(step) = self.forward() else {
                return false;
            };
            if self.breakpoints.contains(&step.place.line) {
                return true;
            }
        }
        false
    }
}
