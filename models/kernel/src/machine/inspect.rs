//! Looking at a machine: what a panel, a check or a test may read of it.

use crate::bytecode::{VariableHome, address};
use crate::diagnostic::Place;
use crate::machine::memory::{Cell, Store};
use crate::machine::warp::{Warp, lanes, position};
use crate::machine::{
    Access, Buffer, CellState, Counts, Findings, LANES, Launch, Machine, Resident, WarpState,
};
use crate::typed_ast::Shared;
use crate::types::{Scalar, Type};
use mlsys_lab::Value;
use std::collections::BTreeMap;

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

    /// Threads of blocks that have ended and accessed no memory.
    pub fn idle_threads(&self) -> u64 {
        self.idle_threads
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

    /// All elements of a buffer, with one search for its name.
    pub fn elements(&self, buffer: &str) -> impl Iterator<Item = f64> {
        let buffer = self.buffer(buffer).into_iter();
        buffer.flat_map(|buffer| (0..).map_while(|element| buffer.element(element)))
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

    fn resident(&self, block: u32) -> Option<&Resident> {
        self.running().find(|resident| resident.block == block)
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
        let listed = self.findings.listed().iter().filter(|finding| finding.block == resident.id);
        for finding in listed.filter(|finding| finding.step + 1 >= self.clock) {
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
        let store = |store: &Store| store.bytes.len() + 16 * store.cells.len();
        let warp = |warp: &Warp| {
            128 * warp.narrow.len() + 256 * warp.wide.len() + 2 * warp.local.len() + 512
        };
        let resident = |resident: &Resident| {
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
        Scalar::Bool | Scalar::Unsigned => f64::from(bits as u32),
        Scalar::Int => f64::from(bits as u32 as i32),
        Scalar::Long => bits as i64 as f64,
        Scalar::UnsignedLong => bits as f64,
        Scalar::Float => f64::from(f32::from_bits(bits as u32)),
        Scalar::Double => f64::from_bits(bits),
    }
}

pub(crate) fn value(bits: u64, of: Scalar) -> Value {
    match of {
        Scalar::Bool => Value::Bool(bits != 0),
        Scalar::Int | Scalar::Unsigned => Value::Int(real(bits, of) as i64),
        Scalar::Long | Scalar::UnsignedLong => Value::Int(bits as i64),
        Scalar::Float | Scalar::Double => Value::Float(real(bits, of)),
    }
}

impl Machine {
    /// Variables that exist where a thread's warp is, with the thread's values; the innermost declaration last.
    pub fn variables(&self, block: u32, thread: usize) -> Vec<VariableView> {
        let Some(warp) =
            self.resident(block).and_then(|resident| resident.warps.get(thread / LANES))
        else {
            return Vec::new();
        };
        let lane = thread % LANES;
        let here =
            self.code.shown.iter().filter(|shown| (shown.from..=shown.to).contains(&warp.pc));
        here.map(|shown| {
            let set = shown.slot.is_none_or(|slot| warp.set[usize::from(slot)] >> lane & 1 != 0);
            let local = |offset: u32, of: Scalar| {
                let at = lane * self.code.local + offset as usize;
                let mut bytes = [0; 8];
                let length = of.bytes() as usize;
                bytes[..length].copy_from_slice(&warp.local[at..at + length]);
                let whole = !warp.written[at..at + length].contains(&0);
                whole.then(|| value(u64::from_le_bytes(bytes), of))
            };
            let held = || match (shown.ty, shown.home) {
                (Type::Scalar(of), VariableHome::Register(reg)) if of.is_wide() => {
                    Some(value(warp.wide[usize::from(reg)][lane], of))
                }
                (Type::Scalar(of), VariableHome::Register(reg)) => {
                    Some(value(u64::from(warp.narrow[usize::from(reg)][lane]), of))
                }
                (Type::Pointer { to, .. }, VariableHome::Register(reg)) => {
                    Some(Value::Text(self.pointed(warp.wide[usize::from(reg)][lane], to.bytes())))
                }
                (Type::Scalar(of), VariableHome::Local(offset)) => local(offset, of),
                (Type::Array { of, extents, .. }, VariableHome::Local(offset)) => {
                    let count = extents.elements().min(64) as u32;
                    let element = |element| {
                        local(offset + element * of.bytes(), of)
                            .unwrap_or_else(|| Value::Text("poison".to_owned()))
                    };
                    Some(Value::Array((0..count).map(element).collect()))
                }
                (Type::Void | Type::Pointer { .. } | Type::Array { .. }, _) => {
                    Some(Value::Text(String::new()))
                }
            };
            VariableView { name: shown.name.clone(), ty: shown.ty, value: set.then(held).flatten() }
        })
        .collect()
    }

    /// An address as the text would write it.
    fn pointed(&self, at: u64, bytes: u32) -> String {
        match self.reach(at, bytes) {
            Reach::Global { buffer, element, .. } => format!("&{buffer}[{element}]"),
            Reach::Shared { byte, .. } => format!("shared memory + {byte}"),
            Reach::Local { byte } => format!("own memory + {byte}"),
            Reach::Nowhere => "nowhere".to_owned(),
        }
    }

    pub(super) fn reach(&self, at: u64, bytes: u32) -> Reach {
        let byte = address::offset(at);
        match (address::space(at), self.buffers.get(address::buffer(at))) {
            (address::GLOBAL, Some(buffer)) => Reach::Global {
                buffer: buffer.name.clone(),
                element: byte.div_euclid(i64::from(bytes.max(1))),
                sector: byte.div_euclid(32),
            },
            (address::SHARED, _) => Reach::Shared { byte, bank: byte.div_euclid(4).rem_euclid(32) },
            (address::LOCAL, _) => Reach::Local { byte },
            _ => Reach::Nowhere,
        }
    }

    /// The last access of a warp in flight, and where each of its lanes reached; none for lanes that took no part.
    pub fn access(&self, block: u32, warp: usize) -> Option<(&Access, Vec<Option<Reach>>)> {
        let access = self.resident(block)?.warps.get(warp)?.access.as_deref()?;
        let lane = |lane: usize| {
            (access.mask >> lane & 1 != 0).then(|| self.reach(access.addresses[lane], access.bytes))
        };
        Some((access, (0..LANES).map(lane).collect()))
    }

    /// The element of a `__shared__` array, or the variable, that a byte of shared memory belongs to, as the text would write it; accesses
    /// have this size in bytes. None outside every array.
    pub fn shared_element(&self, byte: i64, bytes: u32) -> Option<String> {
        self.code.shared_element(u32::try_from(byte).ok()?, bytes)
    }

    /// Words of a block's shared memory, as numbers of a type; None where uninitialized.
    pub fn shared(&self, block: u32, of: Scalar) -> Vec<Option<Value>> {
        let Some(resident) = self.resident(block) else { return Vec::new() };
        let bytes = of.bytes() as usize;
        let store = &resident.shared;
        let word = |at: usize| {
            let cell = store.cells.get(store.cell_of(at * bytes))?;
            cell.state().defined.then(|| value(store.read(at * bytes, of), of))
        };
        (0..store.bytes.len() / bytes).map(word).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// An element of a buffer; negative before its beginning.
    Global {
        buffer: String,
        element: i64,
        /// The 32-byte sector, counted from the buffer's beginning.
        sector: i64,
    },
    /// A byte of shared memory, and its bank.
    Shared {
        byte: i64,
        bank: i64,
    },
    /// A byte of the thread's own arrays.
    Local {
        byte: i64,
    },
    Nowhere,
}

#[derive(Clone, Debug, PartialEq)]
pub struct VariableView {
    pub name: String,
    pub ty: Type,
    /// Its value; none if it has none yet. Arrays are lists, addresses texts.
    pub value: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedArray {
    pub name: String,
    pub of: Scalar,
    pub offset: u32,
    /// Its elements, of all dimensions together.
    pub elements: usize,
}

impl Machine {
    /// The arrays of shared memory in the order of their bytes; a dynamic one reaches to the end.
    pub fn shared_arrays(&self) -> Vec<SharedArray> {
        let all = self.shared_bytes();
        let array = |shared: &Shared| {
            let of = shared.ty.element()?;
            let bytes = match shared.bytes {
                0 => all.saturating_sub(shared.offset),
                bytes => bytes,
            };
            Some(SharedArray {
                name: shared.name.clone(),
                of,
                offset: shared.offset,
                elements: (bytes / of.bytes().max(1)) as usize,
            })
        };
        let mut arrays: Vec<SharedArray> = self.code.shared.iter().filter_map(array).collect();
        arrays.sort_by_key(|array| array.offset);
        arrays
    }

    /// State and number at a byte of a block's shared memory; none if the block is not in flight or has no such byte.
    pub fn shared_cell(&self, block: u32, byte: u32, of: Scalar) -> Option<(CellState, Value)> {
        let store = &self.resident(block)?.shared;
        let at = byte as usize;
        let end = at.checked_add(of.bytes() as usize)?;
        if end > store.bytes.len() {
            return None;
        }
        let cell = store.cells.get(store.cell_of(at))?;
        Some((cell.state(), value(store.read(at, of), of)))
    }
}
