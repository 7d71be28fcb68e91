//! The state of a launch as a panel, a check or a test reads it: counts, buffers, blocks and threads.

use crate::bytecode::Instr;
use crate::diagnostic::Place;
use crate::machine::cell::Cell;
use crate::machine::memory::Store;
use crate::machine::warp::{Warp, lanes, position};
use crate::machine::{
    Buffer, CellState, Counts, Finding, Findings, Launch, Machine, Resident, WarpState,
};
use crate::typed_ast::Vote;
use crate::types::Scalar;
use mlsys_lab::Value;
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    Active,
    /// Its warp runs the other side of a branch.
    Masked,
    Waiting,
    Done,
    /// Something went wrong in it in the last step.
    Faulted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    Waiting,
    Resident,
    Ended,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BlockView {
    pub block: u32,
    pub id: [u32; 3],
    pub barriers: u32,
    /// Of each warp, what it does and where it comes to next, or the barrier at which it waits.
    pub warps: Vec<(WarpState, Place)>,
}

impl Machine {
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    pub fn clock(&self) -> u64 {
        self.clock
    }

    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// What the last step found, as far as it is listed.
    pub fn found_now(&self) -> impl Iterator<Item = &Finding> + Clone {
        self.findings.listed().iter().filter(|finding| finding.step + 1 == self.clock)
    }

    /// Threads of blocks that have ended and accessed no memory.
    pub fn idle_threads(&self) -> u64 {
        self.idle_threads
    }

    /// What the kernel asks for that is another on a device: the lanes that are active, or an address as a number.
    pub(crate) fn depends_on_device(&self) -> Option<&'static str> {
        let asks = |instr: &Instr| matches!(instr, Instr::Vote { vote: Vote::Active, .. });
        if self.code.has_numbered_addresses {
            return Some("an address as a number");
        }
        self.code
            .instrs
            .iter()
            .any(asks)
            .then_some("the lanes that are active (__activemask, cg::coalesced_threads)")
    }

    pub fn ended_blocks(&self) -> u64 {
        self.ended_blocks
    }

    pub fn shared_bytes(&self) -> u32 {
        self.launch.shared_bytes(&self.code)
    }

    pub fn totals(&self) -> Counts {
        let mut total = Counts::default();
        self.counts.iter().for_each(|counts| total.add(counts));
        total
    }

    /// What an instruction cost so far.
    pub fn counts_at(&self, pc: u32) -> Counts {
        self.counts.get(pc as usize).copied().unwrap_or_default()
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

    pub fn buffers(&self) -> impl Iterator<Item = (&str, Scalar, usize)> {
        self.buffers.iter().map(|buffer| (buffer.name.as_str(), buffer.of, buffer.elements()))
    }

    fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.buffers.iter().find(|buffer| buffer.name == name)
    }

    /// An element of a buffer as a number; none beyond its end. An uninitialized cell gives its poison.
    pub fn element(&self, buffer: &str, element: usize) -> Option<f64> {
        self.buffer(buffer)?.element(element)
    }

    /// Elements of a buffer, as far as it has them.
    pub fn elements(&self, buffer: &str, range: Range<usize>) -> impl Iterator<Item = f64> {
        let buffer = self.buffer(buffer);
        range.map_while(move |element| buffer?.element(element))
    }

    pub fn contents(&self, buffer: &str, most: usize) -> Vec<Value> {
        let Some(buffer) = self.buffer(buffer) else { return Vec::new() };
        let bits = (0..most).map_while(|element| buffer.bits(element));
        bits.map(|bits| value(bits, buffer.of)).collect()
    }

    pub fn cell(&self, buffer: &str, element: usize) -> Option<CellState> {
        self.buffer(buffer)?.store.cells.get(element).map(Cell::state)
    }

    pub fn cells(&self, buffer: &str) -> impl Iterator<Item = CellState> {
        self.buffer(buffer)
            .into_iter()
            .flat_map(|buffer| buffer.store.cells.iter().map(Cell::state))
    }

    /// Blocks in flight, in the order in which they began.
    pub fn blocks(&self) -> Vec<BlockView> {
        let mut residents: Vec<_> = self.running().collect();
        residents.sort_by_key(|resident| resident.turn);
        let view = |resident: &&Resident| BlockView {
            block: resident.block,
            id: resident.id,
            barriers: resident.epoch,
            warps: resident.warps.iter().map(|warp| (warp.state, self.stands(warp))).collect(),
        };
        residents.iter().map(view).collect()
    }

    fn running(&self) -> impl Iterator<Item = &Resident> {
        self.residents.iter().flatten().filter(|resident| resident.done < resident.warps.len())
    }

    pub(super) fn resident(&self, block: u32) -> Option<&Resident> {
        self.running().find(|resident| resident.block == block)
    }

    /// A block that has begun, also after its end, until another takes its place.
    pub(super) fn latest(&self, block: u32) -> Option<&Resident> {
        self.residents.iter().flatten().find(|resident| resident.block == block)
    }

    pub fn block_state(&self, block: u32) -> BlockState {
        if self.resident(block).is_some() {
            BlockState::Resident
        } else if self.scheduler.has_begun(block) {
            BlockState::Ended
        } else {
            BlockState::Waiting
        }
    }

    pub fn block_id(&self, block: u32) -> [u32; 3] {
        position(block, self.launch.grid_dim)
    }

    pub fn warp_state(&self, block: u32, warp: usize) -> Option<WarpState> {
        Some(self.resident(block)?.warps.get(warp)?.state)
    }

    pub fn threads(&self, block: u32) -> Vec<ThreadState> {
        let Some(resident) = self.resident(block) else { return Vec::new() };
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
        let [dx, dy, _] = self.launch.block_dim;
        for finding in self.found_now().filter(|finding| finding.block == resident.id) {
            let [x, y, z] = finding.thread;
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

    /// Where a warp comes to next; a waiting warp is still at its barrier.
    fn stands(&self, warp: &Warp) -> Place {
        let back = u32::from(warp.state == WarpState::Waiting);
        self.code.place(warp.pc.saturating_sub(back) as usize)
    }

    pub fn thread(&self, thread: u32) -> [u32; 3] {
        position(thread, self.launch.block_dim)
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
        let store = |store: &Store| store.bytes.len() + size_of::<Cell>() * store.cells.len();
        let residents = self.residents.iter().flatten().count() as u64;
        self.buffers.iter().map(|buffer| store(&buffer.store)).sum::<usize>()
            + (residents * self.launch.block_bytes(&self.code)) as usize
            + self.counts.len() * size_of::<Counts>()
    }
}

impl Buffer {
    pub(crate) fn elements(&self) -> usize {
        self.store.bytes.len() / self.of.bytes() as usize
    }

    /// The bits of an element; none beyond the end.
    fn bits(&self, element: usize) -> Option<u64> {
        let size = self.of.bytes() as usize;
        (element < self.elements()).then(|| self.store.read(element * size, self.of))
    }

    fn element(&self, element: usize) -> Option<f64> {
        self.bits(element).map(|bits| real(bits, self.of))
    }
}

pub(crate) fn real(bits: u64, of: Scalar) -> f64 {
    match of {
        Scalar::Bool | Scalar::UnsignedChar | Scalar::UnsignedShort | Scalar::Unsigned => {
            f64::from(bits as u32)
        }
        Scalar::Char | Scalar::Short | Scalar::Int => f64::from(bits as u32 as i32),
        Scalar::Long => bits as i64 as f64,
        Scalar::UnsignedLong => bits as f64,
        Scalar::Half | Scalar::Bfloat16 | Scalar::Float => f64::from(f32::from_bits(bits as u32)),
        Scalar::Double => f64::from_bits(bits),
    }
}

pub(crate) fn value(bits: u64, of: Scalar) -> Value {
    match of {
        Scalar::Bool => Value::Bool(bits != 0),
        Scalar::Char
        | Scalar::UnsignedChar
        | Scalar::Short
        | Scalar::UnsignedShort
        | Scalar::Int
        | Scalar::Unsigned => Value::Int(real(bits, of) as i64),
        Scalar::Long => Value::Int(bits as i64),
        // What is too large for a whole number of the reports is written out, and stays exact.
        Scalar::UnsignedLong => {
            i64::try_from(bits).map_or_else(|_| Value::Text(bits.to_string()), Value::Int)
        }
        Scalar::Half | Scalar::Bfloat16 | Scalar::Float | Scalar::Double => {
            Value::Float(real(bits, of))
        }
    }
}
