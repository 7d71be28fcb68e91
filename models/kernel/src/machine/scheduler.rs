//! Which block begins next, and which warp goes next.

use mlsys_lab::frame::kernel::Schedule;
use mlsys_lab::random::SplitMix64;

use super::Resident;
use super::warp::{Warp, WarpState};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scheduler {
    schedule: Schedule,
    /// The warp that went last, counted over all slots.
    cursor: usize,
    begun: u64,
    blocks: u64,
    /// Block number of turn t: (t * stride + shift) mod blocks, with a stride that shares no factor with blocks.
    stride: u64,
    shift: u64,
    random: SplitMix64,
}

impl Scheduler {
    pub(super) fn new(schedule: Schedule, blocks: u64, seed: u64) -> Self {
        let mut scheduler = Self {
            schedule,
            cursor: 0,
            begun: 0,
            blocks,
            stride: 1,
            shift: 0,
            random: SplitMix64(seed ^ 0x9e37_79b9_7f4a_7c15),
        };
        if schedule == Schedule::Random && blocks > 1 {
            scheduler.shift = scheduler.random.bits() % blocks;
            let mut stride = scheduler.random.bits() % blocks;
            while common(stride, blocks) != 1 {
                stride = (stride + 1) % blocks;
            }
            scheduler.stride = stride;
        }
        scheduler
    }

    pub(super) fn waiting(&self) -> u64 {
        self.blocks - self.begun
    }

    /// No block waits any more.
    pub(super) fn finish(&mut self) {
        self.begun = self.blocks;
    }

    pub(super) fn next_block(&mut self) -> Option<(u64, u32)> {
        if self.waiting() == 0 {
            return None;
        }
        let turn = self.begun;
        self.begun += 1;
        let block = (u128::from(turn) * u128::from(self.stride) + u128::from(self.shift))
            % u128::from(self.blocks);
        Some((turn, block as u32))
    }

    pub(super) fn has_begun(&self, block: u32) -> bool {
        let blocks = i128::from(self.blocks);
        let from = i128::from(block) - i128::from(self.shift);
        let turn = (from * inverse(i128::from(self.stride), blocks)).rem_euclid(blocks);
        turn < i128::from(self.begun)
    }

    /// Instructions a warp may do before another is asked.
    pub(super) fn stretch(&self) -> u64 {
        match self.schedule {
            Schedule::InOrder => u64::MAX,
            Schedule::RoundRobin | Schedule::Random => 1,
        }
    }

    /// The slot and the warp that go next.
    pub(super) fn pick(
        &mut self,
        residents: &[Option<Resident>],
        warps: usize,
    ) -> Option<(usize, usize)> {
        let count = residents.len() * warps;
        let ready = |at: usize| {
            residents[at / warps]
                .as_ref()
                .is_some_and(|resident| resident.warps[at % warps].state == WarpState::Ready)
        };
        let first = match self.schedule {
            Schedule::InOrder => {
                if self.cursor < count && ready(self.cursor) {
                    return Some((self.cursor / warps, self.cursor % warps));
                }
                // The block that began first, so that order does not depend on which slot it came to.
                let ready_warps = residents.iter().enumerate().filter_map(|(slot, resident)| {
                    let Resident { turn, warps, .. } = resident.as_ref()?;
                    let is_ready = |warp: &Warp| warp.state == WarpState::Ready;
                    Some((*turn, slot, warps.iter().position(is_ready)?))
                });
                let (_, slot, warp) = ready_warps.min()?;
                self.cursor = slot * warps + warp;
                return Some((slot, warp));
            }
            Schedule::RoundRobin => self.cursor + 1,
            Schedule::Random => self.random.below(count),
        };
        let mut at = if first >= count { 0 } else { first };
        for _ in 0..count {
            if ready(at) {
                self.cursor = at;
                return Some((at / warps, at % warps));
            }
            at += 1;
            if at == count {
                at = 0;
            }
        }
        None
    }
}

fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

/// What undoes a multiplication by `a` modulo `of`, where the two share no factor.
fn inverse(a: i128, of: i128) -> i128 {
    let (mut old, mut rest) = (a, of);
    let (mut x, mut next) = (1, 0);
    while rest != 0 {
        let quotient = old / rest;
        (old, rest) = (rest, old - quotient * rest);
        (x, next) = (next, x - quotient * next);
    }
    x.rem_euclid(of)
}
