//! A launch on several threads, with everything as one thread finds it, whatever the schedule.
//!
//! Each thread runs whole blocks on its own copy of global memory. If no block touched what another one wrote and
//! nothing was found, the order of blocks and warps had no influence on anything that is counted, and the copies are
//! joined cell by cell. Cells that blocks change by one commutative atomic on whole numbers, with results that nothing
//! reads, are joined as well. Everything else (a finding, because its number of steps depends on the order; a float sum by
//! atomics; a fence; more instructions than are allowed) begins anew on one thread.
//!
//! The invariant: no code on this path reads a clock, a thread's number or what another thread does. Not kept are the last
//! accesses of warps that have ended.

use crate::machine::cell::Joined;
use crate::machine::memory::Store;
use crate::machine::scheduler::Scheduler;
use crate::machine::{Counts, Findings, Machine, NanWatch, Progress};
use mlsys_lab::frame::kernel::Schedule;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Instructions that a warp runs before its thread looks whether to stop.
const SLICE: u64 = 1 << 12;

/// Instructions between two questions whether the run is interrupted.
const INTERRUPT_INTERVAL: u64 = 1 << 18;

/// Shares of each thread, if all took equally many.
const SHARES: u64 = 16;

/// Instructions before other threads begin: a small launch has ended by then.
const WARM_UP: u64 = 1 << 13;

/// Bytes that all copies together may take: a graded answer has 1 GiB.
const MOST_BYTES: usize = 1 << 28;

/// Blocks that wait for a thread, and whether it is worth going on.
struct Queue {
    next: AtomicU64,
    blocks: u64,
    /// Blocks that a thread takes at once.
    share: u64,
    spent: AtomicU64,
    most: u64,
    is_given_up: AtomicBool,
}

impl Machine {
    /// Runs at most `most` instructions on at most `threads` threads, until it is interrupted.
    pub fn run_on(
        &mut self,
        threads: NonZeroUsize,
        most: u64,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Progress {
        let end = self.clock.saturating_add(most);
        self.run_apart(threads, most, WARM_UP, interrupted);
        while self.progress() == Progress::Going && self.clock < end && !interrupted() {
            self.run((end - self.clock).min(INTERRUPT_INTERVAL));
        }
        self.progress()
    }

    /// Whether blocks may turn out not to depend on each other's order.
    fn is_independent(&self) -> bool {
        self.clock == 0
            && self.code.ordered_atomics == 0
            && !self.code.is_fenced
            && self.launch.nan == NanWatch::Off
    }

    /// To the end if no block depends on another, else back to where it began; whether it came to the end. Other threads
    /// begin after `warm_up` instructions.
    pub(crate) fn run_apart(
        &mut self,
        threads: NonZeroUsize,
        most: u64,
        warm_up: u64,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> bool {
        let copy = self.bytes() + self.launch.block_bytes(&self.code) as usize;
        let copies = MOST_BYTES / copy.max(1);
        let threads = threads.get().min(copies).min(self.launch.blocks() as usize);
        if threads < 2 || !self.is_independent() {
            return false;
        }
        let original = self.untouched();
        let queue = Queue {
            next: AtomicU64::new(0),
            blocks: self.launch.blocks(),
            share: (self.launch.blocks() / (threads as u64 * SHARES)).max(1),
            spent: AtomicU64::new(0),
            most,
            is_given_up: AtomicBool::new(false),
        };
        self.residents = vec![None];
        self.scheduler = Scheduler::new(Schedule::InOrder, 1, 0);
        let mut blocks = 0..0;
        self.work(&queue, &mut blocks, warm_up, interrupted);
        let fresh = || {
            let mut fresh = original.clone();
            fresh.residents = vec![None];
            fresh.scheduler = Scheduler::new(Schedule::InOrder, 1, 0);
            fresh
        };
        let is_joined = thread::scope(|scope| {
            let others = (1..threads).take_while(|_| queue.is_open()).filter_map(|_| {
                let work = || {
                    let mut other = fresh();
                    other.work(&queue, &mut (0..0), u64::MAX, &mut || false);
                    other
                };
                thread::Builder::new().spawn_scoped(scope, work).ok()
            });
            let others: Vec<_> = others.collect();
            self.work(&queue, &mut blocks, u64::MAX, interrupted);
            let mut others = others.into_iter().map(thread::ScopedJoinHandle::join);
            let is_complete = !queue.is_given_up.load(Ordering::Relaxed) && !self.is_mixed();
            // Every thread is waited for, also behind one that cannot be joined.
            others.by_ref().fold(is_complete, |all, other| {
                all && other.is_ok_and(|other| self.join(other, &original))
            })
        });
        let is_done = is_joined && self.ended_blocks == queue.blocks && self.clock < most;
        if !is_done {
            *self = fresh();
        }
        self.residents = original.residents;
        self.scheduler = original.scheduler;
        if is_done {
            self.scheduler.finish();
        }
        is_done
    }

    fn untouched(&self) -> Self {
        let untouched = |buffer: &super::Buffer| super::Buffer {
            name: buffer.name.clone(),
            of: buffer.of,
            store: buffer.store.untouched(),
        };
        Self {
            code: self.code.clone(),
            launch: self.launch.clone(),
            params: self.params.clone(),
            buffers: self.buffers.iter().map(untouched).collect(),
            residents: self.residents.clone(),
            scheduler: self.scheduler.clone(),
            counts: vec![Counts::default(); self.counts.len()],
            findings: Findings::default(),
            clock: 0,
            ended_blocks: 0,
            idle_threads: 0,
        }
    }

    /// Runs these blocks and then ones of the queue to their ends, until none is left or about `most` instructions are done.
    fn work(
        &mut self,
        queue: &Queue,
        blocks: &mut Range<u64>,
        most: u64,
        interrupted: &mut dyn FnMut() -> bool,
    ) {
        let warps = self.launch.warps_per_block();
        let (begun, mut told, mut asked) = (self.clock, self.clock, self.clock);
        while self.clock - begun < most
            && let Some(block) = blocks.next().or_else(|| {
                *blocks = queue.take();
                blocks.next()
            })
        {
            self.begin(0, block, block as u32);
            while let Some((slot, warp)) = self.scheduler.pick(&self.residents, warps) {
                self.run_warp(slot, warp, SLICE);
                if self.clock - asked >= INTERRUPT_INTERVAL {
                    asked = self.clock;
                    if interrupted() {
                        queue.give_up();
                    }
                }
                if self.clock - told >= SLICE {
                    queue.spend(self.clock - told);
                    told = self.clock;
                }
                if self.findings.first().is_some() || self.is_mixed() {
                    queue.give_up();
                }
                if !queue.is_open() {
                    return;
                }
            }
        }
        queue.spend(self.clock - told);
    }

    /// Whether a store was changed by atomics of two kinds, which need not commute with each other.
    fn is_mixed(&self) -> bool {
        let shared = self.residents.iter().flatten().map(|resident| &resident.shared);
        self.buffers.iter().map(|buffer| &buffer.store).chain(shared).any(Store::is_mixed)
    }

    /// Adds what other blocks did. Not possible where they touched what blocks of this machine wrote.
    fn join(&mut self, other: Self, original: &Self) -> bool {
        if other.is_mixed() {
            return false;
        }
        let stores = self.buffers.iter_mut().zip(other.buffers).zip(&original.buffers);
        for ((own, other), original) in stores {
            if own.store.join(other.store, &original.store) == Joined::Conflict {
                return false;
            }
        }
        for (own, other) in self.counts.iter_mut().zip(&other.counts) {
            own.add(other);
        }
        self.clock += other.clock;
        self.ended_blocks += other.ended_blocks;
        self.idle_threads += other.idle_threads;
        true
    }
}

impl Queue {
    /// Blocks that follow each other: they share cells at their edges, and memory that a thread has touched already.
    fn take(&self) -> Range<u64> {
        if !self.is_open() {
            return 0..0;
        }
        let first = self.next.fetch_add(self.share, Ordering::Relaxed).min(self.blocks);
        first..(first + self.share).min(self.blocks)
    }

    fn spend(&self, instructions: u64) {
        let before = self.spent.fetch_add(instructions, Ordering::Relaxed);
        if before + instructions >= self.most {
            self.give_up();
        }
    }

    fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }

    fn is_open(&self) -> bool {
        !self.is_given_up.load(Ordering::Relaxed)
    }
}
