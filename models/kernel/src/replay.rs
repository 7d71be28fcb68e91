//! Going forwards and back: copies of the machine every so often, and running again from the nearest.

mod seek;

use std::collections::BTreeSet;

use super::{Machine, Step};

pub use seek::{Goal, Seek, Sought, Way};

/// Bytes that all copies together may take.
const MOST_BYTES: usize = 128 << 20;

/// Copies kept, however small they are.
const MOST_COPIES: usize = 64;

/// Bytes that are copied in about the time that a step takes: a copy of a large machine is worth many steps.
const BYTES_A_STEP: u64 = 512;

/// A machine that can go back.
#[derive(Clone, Debug)]
pub struct Replay {
    machine: Machine,
    /// Copies by their clocks, ascending; the first is the launch.
    copies: Vec<Machine>,
    /// Steps between two copies.
    every: u64,
    /// A copy from shortly before where one went back to: the next steps back begin here.
    near: Option<Box<Machine>>,
    last: Option<Step>,
    breakpoints: BTreeSet<u32>,
}

impl Replay {
    /// A launch that can be walked through both ways.
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

    /// Where it stands.
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

    /// The same, to be changed.
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

    /// On until a step of which something holds, and past it; false if the run ended first.
    pub fn forward_until(&mut self, mut holds: impl FnMut(&Step) -> bool) -> bool {
        while let Some(step) = self.forward() {
            if holds(&step) {
                return true;
            }
        }
        false
    }
}
