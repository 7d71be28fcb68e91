//! The machine: blocks in flight, their warps, memory, and what all of it cost so far.
//!
//! A step is one instruction of one warp. The schedule chooses the next warp from nothing but the launch, so that a copy of
//! a machine continues as the original does.

mod alu;
mod arguments;
mod atomics;
mod cell;
mod cells;
mod counters;
mod execute;
mod fault;
mod inspect;
mod launch;
mod load_store;
mod memory;
mod parallel;
mod registers;
mod scheduler;
mod touch;
mod variables;
mod warp;
mod warp_ops;

use crate::bytecode::{Code, WARP};
use crate::diagnostic::Place;
use crate::machine::cell::Accessor;
use crate::machine::memory::Store;
use crate::machine::scheduler::Scheduler;
use crate::machine::warp::{Start, Warp};
use crate::types::Scalar;
use std::mem::take;
use std::sync::Arc;

pub use crate::machine::arguments::{Argument, Values};
pub use crate::machine::cell::CellState;
pub use crate::machine::counters::{Counts, Traffic};
pub use crate::machine::execute::NanWatch;
pub(crate) use crate::machine::fault::index;
pub use crate::machine::fault::{Fault, Finding, Findings};
pub use crate::machine::inspect::{BlockState, BlockView, ThreadState};
pub use crate::machine::launch::{BoundArgument, Launch, LaunchError};
pub use crate::machine::variables::{Reach, SharedArray, VariableView};
pub use crate::machine::warp::{Access, AccessKind, WarpState};

pub(crate) use crate::machine::arguments::bits;
pub(crate) use crate::machine::counters::moved;
pub(crate) use crate::machine::inspect::{real, value};
pub(crate) use crate::machine::warp::position;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Buffer {
    pub(crate) name: String,
    pub(crate) of: Scalar,
    pub(crate) store: Store,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Resident {
    block: u32,
    /// Its number in the order in which blocks begin.
    turn: u64,
    id: [u32; 3],
    shared: Store,
    warps: Vec<Warp>,
    epoch: u32,
    waiting: usize,
    done: usize,
    /// The barrier at hand was reached by some lanes of a warp only: the instruction and a lane that is there.
    split: Option<(u32, u32, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub block: u32,
    pub warp: u32,
    /// The instruction, for [`Machine::counts_at`].
    pub pc: u32,
    pub place: Place,
    /// A bit for each lane that was active.
    pub mask: u32,
    pub event: Event,
    pub found: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The warp goes on.
    Went,
    /// The warp waits at a barrier.
    Arrived,
    /// Its block passed a barrier.
    Released,
    Ended,
    BlockEnded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Finished,
    Going,
}

#[derive(Clone, Debug)]
pub struct Machine {
    code: Arc<Code>,
    launch: Launch,
    params: Vec<u64>,
    buffers: Vec<Buffer>,
    residents: Vec<Option<Resident>>,
    scheduler: Scheduler,
    counts: Vec<Counts>,
    findings: Findings,
    clock: u64,
    ended_blocks: u64,
    idle_threads: u64,
}

impl Machine {
    /// Runs one instruction of one warp; none if all has ended.
    pub fn step(&mut self) -> Option<Step> {
        let (slot, warp) = self.next()?;
        let found = self.findings.total();
        let resident = self.residents[slot].as_ref()?;
        let block = resident.block;
        let Warp { pc, mask, .. } = resident.warps[warp];
        let event = self.run_warp(slot, warp, 1);
        Some(Step {
            block,
            warp: warp as u32,
            pc,
            place: self.code.place(pc as usize),
            mask,
            event,
            found: self.findings.total() > found,
        })
    }

    /// Runs at most `steps` warp instructions.
    pub fn run(&mut self, most: u64) -> Progress {
        let end = self.clock.saturating_add(most);
        while self.clock < end {
            let Some((slot, warp)) = self.next() else { return Progress::Finished };
            let most = self.scheduler.stretch().min(end - self.clock);
            self.run_warp(slot, warp, most);
        }
        self.progress()
    }

    pub fn progress(&self) -> Progress {
        if self.ended_blocks == self.launch.blocks() { Progress::Finished } else { Progress::Going }
    }

    fn next(&mut self) -> Option<(usize, usize)> {
        self.admit();
        self.scheduler.pick(&self.residents, self.launch.warps_per_block())
    }

    /// Lets waiting blocks begin where there is room.
    fn admit(&mut self) {
        if self.scheduler.waiting() == 0 {
            return;
        }
        for slot in 0..self.residents.len() {
            let free = self.residents[slot]
                .as_ref()
                .is_none_or(|resident| resident.done == resident.warps.len());
            if !free {
                continue;
            }
            let Some((turn, block)) = self.scheduler.next_block() else { return };
            self.begin(slot, turn, block);
        }
    }

    fn begin(&mut self, slot: usize, turn: u64, block: u32) {
        let id = position(block, self.launch.grid_dim);
        let start = Start {
            block: id,
            block_dim: self.launch.block_dim,
            grid_dim: self.launch.grid_dim,
            params: &self.params,
        };
        let (launch, code) = (&self.launch, &self.code);
        let resident = self.residents[slot].get_or_insert_with(|| Resident {
            shared: Store::new(launch.shared_bytes(code) as usize, code.shared_shift()),
            warps: (0..launch.warps_per_block()).map(|_| Warp::new(code)).collect(),
            ..Resident::default()
        });
        // The memory of a block that has ended serves the next one.
        let (shared, warps) = (take(&mut resident.shared), take(&mut resident.warps));
        *resident = Resident { block, turn, id, shared, warps, ..Resident::default() };
        resident.shared.reset();
        for (index, warp) in resident.warps.iter_mut().enumerate() {
            warp.start(&self.code, &start, index as u32);
        }
    }

    fn run_warp(&mut self, slot: usize, warp: usize, most: u64) -> Event {
        let Some(resident) = self.residents[slot].as_mut() else { return Event::Went };
        let running = &mut resident.warps[warp];
        let who = Accessor {
            block: resident.block + 1,
            epoch: resident.epoch,
            warp_epoch: running.warp_epoch,
            is_fenced: self.code.is_fenced,
        };
        let mut core = execute::Executor {
            code: &self.code,
            buffers: &mut self.buffers,
            shared: &mut resident.shared,
            warp: running,
            counts: &mut self.counts,
            findings: &mut self.findings,
            block: resident.id,
            block_dim: self.launch.block_dim,
            grid_dim: self.launch.grid_dim,
            who,
            nan: self.launch.nan,
            step: self.clock,
        };
        self.clock += core.run(most);
        match resident.warps[warp].state {
            WarpState::Ready => Event::Went,
            WarpState::Waiting => {
                resident.arrive(warp);
                if self.release(slot) { Event::Released } else { Event::Arrived }
            }
            WarpState::Done => {
                resident.done += 1;
                let all = resident.done == resident.warps.len();
                if all {
                    self.ended_blocks += 1;
                    let idle =
                        |warp: &Warp| u64::from((warp.launched & !warp.touched).count_ones());
                    self.idle_threads += resident.warps.iter().map(idle).sum::<u64>();
                    return Event::BlockEnded;
                }
                self.release(slot);
                Event::Ended
            }
        }
    }

    /// Lets a block go on if all its warps that live have come to a barrier.
    fn release(&mut self, slot: usize) -> bool {
        let Some(resident) = self.residents[slot].as_mut() else { return false };
        if resident.waiting == 0 || resident.waiting + resident.done < resident.warps.len() {
            return false;
        }
        let waits = |warp: &&mut Warp| warp.state == WarpState::Waiting;
        let mut first = None;
        for (index, warp) in resident.warps.iter_mut().enumerate().filter(|(_, warp)| waits(warp)) {
            let at = warp.pc - 1;
            let (pc, of) = *first.get_or_insert((at, index));
            if pc != at && resident.split.is_none() {
                let (one, other) =
                    (self.code.places[pc as usize].line, self.code.places[at as usize].line);
                let sentence = format!(
                    "warp {of} waits at the barrier of line {one} and warp {index} at that of line {other}: on a GPU the block may wait for ever"
                );
                resident.split = Some((at, warp.first, sentence));
            }
            warp.state = WarpState::Ready;
            warp.parted = None;
        }
        resident.waiting = 0;
        resident.epoch += 1;
        if let Some((pc, thread, sentence)) = resident.split.take() {
            let place = self.code.place(pc as usize);
            let (block, step) = (resident.id, self.clock);
            let thread = position(thread, self.launch.block_dim);
            self.findings.add(Fault::BarrierDivergence, || Finding {
                fault: Fault::BarrierDivergence,
                place,
                block,
                thread,
                step,
                sentence,
                outside: None,
            });
        }
        true
    }
}

impl Resident {
    fn arrive(&mut self, warp: usize) {
        self.waiting += 1;
        let arrived = &self.warps[warp];
        if arrived.mask != arrived.live && self.split.is_none() {
            let (here, live) = (arrived.mask.count_ones(), arrived.live.count_ones());
            let lane = (arrived.live & !arrived.mask).trailing_zeros();
            let sentence = format!(
                "{here} of {live} live threads of warp {warp} reach this barrier, this one does not: on a GPU the block may wait for ever"
            );
            self.split = Some((arrived.pc - 1, arrived.first + lane, sentence));
        }
    }
}

impl Code {
    /// Bytes of a cell of shared memory, as a power of two: those of its smallest element.
    fn shared_shift(&self) -> u32 {
        let of = |shared: &crate::typed_ast::Shared| shared.ty.element().map_or(4, Scalar::bytes);
        self.shared.iter().map(of).min().unwrap_or(4).trailing_zeros()
    }
}

pub const LANES: usize = WARP;
