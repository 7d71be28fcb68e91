//! Looking at a machine: what a panel, a check or a test may read of it.

use std::collections::BTreeMap;

use super::core::{lanes, thread_of};
use super::{Buffer, CellState, Counts, Findings, Launch, Machine, WarpState};
use crate::source::Place;
use crate::types::Scalar;
use mlsys_lab::Value;

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    /// It runs with its warp's next instruction.
    Active,
    /// Its warp runs the other side of a branch.
    Masked,
    /// It waits at a barrier.
    Waiting,
    /// It has ended.
    Done,
    /// Something went wrong in it in the last step.
    Faulted,
}

/// Where a block stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// It has not begun.
    Waiting,
    /// It is in flight.
    Resident,
    /// It has ended.
    Ended,
}

/// A block in flight.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockView {
    /// Its number in the grid.
    pub block: u32,
    /// The same in x, y and z.
    pub id: [u32; 3],
    /// Barriers it has passed.
    pub barriers: u32,
    /// Of each warp, what it does and where it comes to next, or the barrier at which it waits.
    pub warps: Vec<(WarpState, Place)>,
}

impl Machine {
    /// How it was launched.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Warp instructions so far.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// What went wrong so far.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Threads of blocks that have ended and accessed no memory.
    pub fn idle_threads(&self) -> u64 {
        self.idle_threads
    }

    /// Blocks that have ended.
    pub fn ended_blocks(&self) -> u64 {
        self.ended_blocks
    }

    /// Bytes of shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        self.launch.shared_bytes(&self.code)
    }

    /// What everything cost so far.
    pub fn totals(&self) -> Counts {
        let mut total = Counts::default();
        self.counts.iter().for_each(|counts| total.add(counts));
        total
    }

    /// What each line cost so far; lines that nothing ran are left out.
    pub fn lines(&self) -> BTreeMap<u32, Counts> {
        let mut lines: BTreeMap<u32, Counts> = BTreeMap::new();
        for (counts, place) in self.counts.iter().zip(&self.code.places) {
            if counts.issues > 0 {
                lines.entry(place.line).or_default().add(counts);
            }
        }
        lines
    }

    /// Names and types of the buffers, in the order of the arguments.
    pub fn buffers(&self) -> impl Iterator<Item = (&str, Scalar, usize)> {
        self.buffers.iter().map(|buffer| (buffer.name.as_str(), buffer.of, buffer.elements()))
    }

    fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.buffers.iter().find(|buffer| buffer.name == name)
    }

    /// Elements of a buffer as numbers; none beyond its end. A cell nobody wrote shows what lies there.
    pub fn element(&self, buffer: &str, element: usize) -> Option<f64> {
        let buffer = self.buffer(buffer)?;
        let bits = (element < buffer.elements())
            .then(|| buffer.store.read(element * buffer.of.bytes() as usize, buffer.of))?;
        Some(real(bits, buffer.of))
    }

    /// The first elements of a buffer as values.
    pub fn contents(&self, buffer: &str, most: usize) -> Vec<Value> {
        let Some(buffer) = self.buffer(buffer) else {
            return Vec::new();
        };
        let count = buffer.elements().min(most);
        (0..count)
            .map(|element| {
                value(buffer.store.read(element * buffer.of.bytes() as usize, buffer.of), buffer.of)
            })
            .collect()
    }

    /// What happened to an element of a buffer.
    pub fn cell(&self, buffer: &str, element: usize) -> Option<CellState> {
        self.buffer(buffer)?.store.cells.get(element).map(super::memory::Cell::state)
    }

    /// Blocks in flight, in the order in which they began.
    pub fn blocks(&self) -> Vec<BlockView> {
        let mut residents: Vec<_> =
            self.residents.iter().flatten().filter(|r| r.done < r.warps.len()).collect();
        residents.sort_by_key(|resident| resident.turn);
        let view = |resident: &&super::Resident| BlockView {
            block: resident.block,
            id: resident.id,
            barriers: resident.epoch,
            warps: resident.warps.iter().map(|warp| (warp.state, self.stands(warp))).collect(),
        };
        residents.iter().map(view).collect()
    }

    pub(super) fn resident(&self, block: u32) -> Option<&super::Resident> {
        self.residents
            .iter()
            .flatten()
            .find(|resident| resident.block == block && resident.done < resident.warps.len())
    }

    /// Where a block of the grid stands.
    pub fn block_state(&self, block: u32) -> BlockState {
        if self.resident(block).is_some() {
            BlockState::Resident
        } else if self.scheduler.has_begun(block) {
            BlockState::Ended
        } else {
            BlockState::Waiting
        }
    }

    /// A block's place in the grid.
    pub fn block_id(&self, block: u32) -> [u32; 3] {
        super::core::block_of(block, self.launch.grid_dim)
    }

    /// Of a warp of a block in flight, what it does.
    pub fn warp_state(&self, block: u32, warp: usize) -> Option<WarpState> {
        Some(self.resident(block)?.warps.get(warp)?.state)
    }

    /// What each thread of a block in flight is doing.
    pub fn threads(&self, block: u32) -> Vec<ThreadState> {
        let Some(resident) = self.resident(block) else {
            return Vec::new();
        };
        let mut states = Vec::new();
        for warp in &resident.warps {
            for lane in lanes(warp.launched) {
                let has = |mask: u32| mask >> lane & 1 != 0;
                states.push(match warp.state {
                    _ if !has(warp.live) => ThreadState::Done,
                    WarpState::Done => ThreadState::Done,
                    WarpState::Waiting if has(warp.mask) => ThreadState::Waiting,
                    WarpState::Ready if has(warp.mask) => ThreadState::Active,
                    WarpState::Waiting | WarpState::Ready => ThreadState::Masked,
                });
            }
        }
        for finding in self
            .findings
            .told()
            .iter()
            .filter(|finding| finding.block == resident.id && finding.step + 1 >= self.clock)
        {
            let [x, y, z] = finding.thread;
            let [dx, dy, _] = self.launch.block_dim;
            if let Some(state) = states.get_mut((x + dx * (y + dy * z)) as usize) {
                *state = ThreadState::Faulted;
            }
        }
        states
    }

    /// Where a warp of a block in flight comes to next, or the barrier at which it waits.
    pub fn place(&self, block: u32, warp: usize) -> Option<Place> {
        self.resident(block)?.warps.get(warp).map(|warp| self.stands(warp))
    }

    /// Where a warp comes to next; one that waits stands at its barrier still.
    fn stands(&self, warp: &super::Warp) -> Place {
        match warp.state {
            WarpState::Waiting => self.executed(warp.pc.saturating_sub(1)),
            WarpState::Ready | WarpState::Done => self.executed(warp.pc),
        }
    }

    /// A thread's place in its block.
    pub fn thread(&self, thread: u32) -> [u32; 3] {
        thread_of(thread, self.launch.block_dim)
    }

    /// Whether another machine of the same launch is in the very same state.
    pub fn same_state(&self, other: &Self) -> bool {
        self.clock == other.clock
            && self.buffers == other.buffers
            && self.residents == other.residents
            && self.scheduler == other.scheduler
            && self.counts == other.counts
            && self.findings == other.findings
            && (self.ended_blocks, self.idle_threads) == (other.ended_blocks, other.idle_threads)
    }

    /// Bytes that a copy of the machine takes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let store = |store: &super::Store| store.bytes.len() + 16 * store.cells.len();
        let warp = |warp: &super::Warp| {
            128 * warp.narrow.len() + 256 * warp.wide.len() + 2 * warp.local.len() + 512
        };
        let resident = |resident: &super::Resident| {
            store(&resident.shared) + resident.warps.iter().map(warp).sum::<usize>()
        };
        self.buffers.iter().map(|buffer| store(&buffer.store)).sum::<usize>()
            + self.residents.iter().flatten().map(resident).sum::<usize>()
            + self.counts.len() * size_of::<Counts>()
    }
}

impl Buffer {
    pub(crate) fn elements(&self) -> usize {
        self.store.bytes.len() / self.of.bytes() as usize
    }
}

/// Bits of a type as a number.
pub(crate) fn real(bits: u64, of: Scalar) -> f64 {
    match of {
        Scalar::Bool | Scalar::Unsigned => f64::from(bits as u32),
        Scalar::Int => f64::from(bits as u32 as i32),
        Scalar::Long => bits as i64 as f64,
        Scalar::UnsignedLong => bits as f64,
        Scalar::Float => f64::from(f32::from_bits(bits as u32)),
        Scalar::Double => f64::from_bits(bits),
    }
}

/// Bits of a type as a value of a report.
pub(crate) fn value(bits: u64, of: Scalar) -> Value {
    match of {
        Scalar::Bool => Value::Bool(bits != 0),
        Scalar::Int | Scalar::Unsigned => Value::Int(real(bits, of) as i64),
        Scalar::Long | Scalar::UnsignedLong => Value::Int(bits as i64),
        Scalar::Float | Scalar::Double => Value::Float(real(bits, of)),
    }
}
