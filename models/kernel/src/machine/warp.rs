//! A warp: 32 lanes with one instruction counter, and the masks that say which of them run.

use crate::bytecode::{Code, InitialValue, Pc, WARP};
use crate::diagnostic::Place;
use crate::machine::cell::{Accessor, Cell};

pub(crate) type Narrow = [u32; WARP];

pub(crate) type Wide = [u64; WARP];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WarpState {
    Ready,
    /// It waits at a barrier for the rest of its block.
    Waiting,
    #[default]
    Done,
}

/// A place where lanes that went different ways come together, or where lanes that left come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    pub(crate) entry: u32,
    /// Lanes that wait for the other side of a branch, have left the loop, or have returned.
    pub(crate) away: u32,
    /// Lanes that have gone ahead to the next turn of the loop.
    pub(crate) continued: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    Branch,
    Loop,
    Call,
}

impl Frame {
    pub(crate) fn new(kind: FrameKind, entry: u32, away: u32) -> Self {
        Self { kind, entry, away, continued: 0 }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    pub place: Place,
    pub kind: AccessKind,
    pub bytes: u32,
    /// Each lane's address; [`crate::machine::Reach`] says what it means. None for lanes that took no part.
    pub(crate) addresses: [u64; WARP],
    pub(crate) mask: u32,
    /// 32-byte sectors it moved in global memory.
    pub sectors: u64,
    /// 128-byte lines these lie in.
    pub lines: u64,
    /// Distinct bytes it asked of global memory.
    pub used: u64,
    /// Extra passes that conflicts of banks in shared memory cost.
    pub replays: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    Load,
    Store,
    /// Both at once, undivided.
    Atomic,
}

impl AccessKind {
    /// What a thread does.
    pub fn verb(self) -> &'static str {
        match self {
            AccessKind::Load => "reads",
            AccessKind::Store => "writes",
            AccessKind::Atomic => "changes",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Warp {
    pub(crate) pc: Pc,
    /// Lanes that run now.
    pub(crate) mask: u32,
    /// Lanes with a running thread.
    pub(crate) live: u32,
    /// Lanes that are away: ended, or gone ahead to the end of a loop or call.
    pub(crate) gone: u32,
    pub(crate) frames: Vec<Frame>,
    pub(crate) narrow: Vec<Narrow>,
    pub(crate) wide: Vec<Wide>,
    /// Lanes that have given a variable a value, by slot.
    pub(crate) set: Vec<u32>,
    /// Each lane's own bytes, one lane after the other, and which of them were written.
    pub(crate) local: Vec<u8>,
    pub(crate) written: Vec<u8>,
    pub(crate) state: WarpState,
    /// Lanes that accessed global or shared memory.
    pub(crate) touched: u32,
    /// Barriers of the warp alone.
    pub(crate) warp_epoch: u32,
    /// Since its lanes parted at a barrier: for each lane, the barrier before which the accesses of each other lane are
    /// ordered before what it does now.
    pub(crate) parted: Option<Box<[Narrow; WARP]>>,
    /// The thread in lane 0, counted in its block.
    pub(crate) first: u32,
    pub(crate) access: Option<Box<Access>>,
    pub(crate) launched: u32,
}

impl Warp {
    pub(crate) fn new(code: &Code) -> Self {
        Self {
            narrow: vec![[0; WARP]; code.narrow],
            wide: vec![[0; WARP]; code.wide],
            set: vec![0; code.slots],
            local: vec![0; code.local * WARP],
            written: vec![0; code.local * WARP],
            ..Self::default()
        }
    }

    /// Begins anew as the `index`-th warp of a block.
    pub(crate) fn start(&mut self, code: &Code, start: &Start<'_>, index: u32) {
        let threads: u32 = start.block_dim.iter().product();
        self.first = index * WARP as u32;
        let lanes = (threads - self.first).min(WARP as u32);
        self.launched = u32::MAX >> (WARP as u32 - lanes);
        self.mask = self.launched;
        self.live = self.launched;
        self.gone = 0;
        self.pc = 0;
        self.frames.clear();
        self.set.fill(0);
        self.written.fill(0);
        self.state = WarpState::Ready;
        self.touched = 0;
        self.warp_epoch = 0;
        self.parted = None;
        self.access = None;
        for &(reg, preset) in &code.presets {
            self.preset(usize::from(reg), preset, start);
        }
    }

    /// Lets the running lanes pass a barrier of the warp, each together with those of its group.
    pub(crate) fn synchronize(&mut self, groups: &Narrow) {
        let before = self.warp_epoch;
        self.warp_epoch += 1;
        if self.mask == self.live && lanes(self.live).all(|lane| groups[lane] == self.live) {
            self.parted = None;
            return;
        }
        let mut known = self.parted.take().unwrap_or_else(|| Box::new([[before; WARP]; WARP]));
        let old = known.clone();
        for lane in lanes(self.mask) {
            for other in 0..WARP {
                let by_others = lanes(groups[lane]).map(|member| old[member][other]).max();
                let own = if groups[lane] >> other & 1 != 0 { self.warp_epoch } else { 0 };
                known[lane][other] = by_others.unwrap_or(0).max(own).max(old[lane][other]);
            }
        }
        self.parted = Some(known);
    }

    /// A thread about to touch a cell: one of no barrier between where a barrier did not order it with the last accesses.
    pub(crate) fn ordered(&self, who: Accessor, cell: Cell, thread: u16) -> Accessor {
        let Some(known) = &self.parted else { return who };
        let Some(epoch) = cell.warp_epoch_of(who, thread) else { return who };
        let [lane, other] = [thread, cell.other().1].map(|thread| usize::from(thread) % WARP);
        if lane == other || epoch < known[lane][other] {
            who
        } else {
            Accessor { warp_epoch: epoch, ..who }
        }
    }

    fn preset(&mut self, reg: usize, preset: InitialValue, start: &Start<'_>) {
        match preset {
            InitialValue::Narrow(value) => self.narrow[reg] = [value; WARP],
            InitialValue::Param(index) => self.narrow[reg] = [start.params[index] as u32; WARP],
            InitialValue::BlockIdx(axis) => self.narrow[reg] = [start.block[axis]; WARP],
            InitialValue::BlockDim(axis) => self.narrow[reg] = [start.block_dim[axis]; WARP],
            InitialValue::GridDim(axis) => self.narrow[reg] = [start.grid_dim[axis]; WARP],
            InitialValue::Wide(value) => self.wide[reg] = [value; WARP],
            InitialValue::WideParam(index) => self.wide[reg] = [start.params[index]; WARP],
            InitialValue::ThreadIdx(axis) => {
                for (lane, into) in self.narrow[reg].iter_mut().enumerate() {
                    *into = position(self.first + lane as u32, start.block_dim)[axis];
                }
            }
        }
    }
}

pub(crate) struct Start<'a> {
    pub(crate) block: [u32; 3],
    pub(crate) block_dim: [u32; 3],
    pub(crate) grid_dim: [u32; 3],
    /// Arguments as bits; of a buffer its address.
    pub(crate) params: &'a [u64],
}

pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..WARP).filter(move |lane| mask >> lane & 1 != 0)
}

/// The indices of a thread in its block, or of a block in its grid.
pub(crate) fn position(number: u32, dim: [u32; 3]) -> [u32; 3] {
    [number % dim[0], number / dim[0] % dim[1], number / dim[0] / dim[1]]
}
