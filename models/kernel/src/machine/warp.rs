//! A warp: 32 lanes with one instruction counter, and the masks that say which of them run.
//!
//! Registers of 32 lanes: reading, writing under the mask, and a function of one lane done in all.

use crate::bytecode::{Code, InitialValue, Pc, Reg, WARP};
use crate::diagnostic::Place;
use crate::machine::execute::{Executor, NanWatch, lanes};
use crate::machine::fault::Fault;

/// The lanes of a register.
pub(crate) type Narrow = [u32; WARP];

/// The lanes of a wide register.
pub(crate) type Wide = [u64; WARP];

/// What a warp is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpState {
    /// It can go on.
    Ready,
    /// It waits at a barrier for the rest of its block.
    Waiting,
    /// All its threads have ended.
    Done,
}

/// A place where lanes that went different ways come together, or where lanes that left come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Lanes that came to the branch, and those that wait for its other side.
    Branch {
        entry: u32,
        other: u32,
    },
    Loop {
        entry: u32,
        left: u32,
        continued: u32,
    },
    Call {
        entry: u32,
        returned: u32,
    },
}

/// The last access to memory of a warp.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Where it stands in the text.
    pub place: Place,
    /// Whether it wrote.
    pub kind: AccessKind,
    /// Bytes of each lane's number.
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

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// It reads.
    Load,
    /// It writes.
    Store,
    /// Both at once, undivided.
    Atomic,
}

#[derive(Clone, Debug, PartialEq)]
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
    pub(crate) turn: u32,
    /// The thread in lane 0, counted in its block.
    pub(crate) first: u32,
    pub(crate) access: Option<Box<Access>>,
    pub(crate) launched: u32,
}

impl Warp {
    pub(crate) fn new(code: &Code) -> Self {
        Self {
            pc: 0,
            mask: 0,
            live: 0,
            gone: 0,
            frames: Vec::new(),
            narrow: vec![[0; WARP]; code.narrow],
            wide: vec![[0; WARP]; code.wide],
            set: vec![0; code.slots],
            local: vec![0; code.local * WARP],
            written: vec![0; code.local * WARP],
            state: WarpState::Done,
            touched: 0,
            turn: 0,
            first: 0,
            access: None,
            launched: 0,
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
        self.turn = 0;
        self.access = None;
        for &(reg, preset) in &code.presets {
            self.preset(usize::from(reg), preset, start);
        }
    }

    fn preset(&mut self, reg: usize, preset: InitialValue, start: &Start<'_>) {
        let [dx, dy, _] = start.block_dim;
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
                    let thread = self.first + lane as u32;
                    *into = match axis {
                        0 => thread % dx,
                        1 => thread / dx % dy,
                        _ => thread / dx / dy,
                    };
                }
            }
        }
    }
}

/// What a warp is told when it begins.
pub(crate) struct Start<'a> {
    pub(crate) block: [u32; 3],
    pub(crate) block_dim: [u32; 3],
    pub(crate) grid_dim: [u32; 3],
    /// Arguments as bits; of a buffer its address.
    pub(crate) params: &'a [u64],
}

impl Executor<'_> {
    /// Writes the lanes that run.
    #[inline(always)]
    pub(super) fn put(&mut self, into: Reg, result: &Narrow) {
        let mask = self.warp.mask;
        let register = &mut self.warp.narrow[usize::from(into)];
        if mask == u32::MAX {
            *register = *result;
        } else {
            for lane in 0..WARP {
                let runs = mask & (1 << lane) != 0;
                register[lane] = if runs { result[lane] } else { register[lane] };
            }
        }
    }

    #[inline(always)]
    pub(super) fn put_wide(&mut self, into: Reg, result: &Wide) {
        let mask = self.warp.mask;
        let register = &mut self.warp.wide[usize::from(into)];
        if mask == u32::MAX {
            *register = *result;
        } else {
            for lane in 0..WARP {
                let runs = mask & (1 << lane) != 0;
                register[lane] = if runs { result[lane] } else { register[lane] };
            }
        }
    }

    #[inline(always)]
    pub(super) fn narrow(&self, reg: Reg) -> Narrow {
        self.warp.narrow[usize::from(reg)]
    }

    #[inline(always)]
    pub(super) fn wide(&self, reg: Reg) -> Wide {
        self.warp.wide[usize::from(reg)]
    }

    #[inline(always)]
    pub(super) fn narrow2(&mut self, into: Reg, a: Reg, b: Reg, f: impl Fn(u32, u32) -> u32) {
        let (x, y) = (self.narrow(a), self.narrow(b));
        let mut result = [0; WARP];
        for lane in 0..WARP {
            result[lane] = f(x[lane], y[lane]);
        }
        self.put(into, &result);
    }

    #[inline(always)]
    pub(super) fn wide2(&mut self, into: Reg, a: Reg, b: Reg, f: impl Fn(u64, u64) -> u64) {
        let (x, y) = (self.wide(a), self.wide(b));
        let mut result = [0; WARP];
        for lane in 0..WARP {
            result[lane] = f(x[lane], y[lane]);
        }
        self.put_wide(into, &result);
    }

    /// A signed operation with a mark, its highest bit, where it left its type.
    #[inline(always)]
    pub(super) fn signed(
        &mut self,
        sign: &str,
        into: Reg,
        a: Reg,
        b: Reg,
        f: impl Fn(i32, i32) -> (i32, u32),
    ) {
        let (x, y) = (self.narrow(a), self.narrow(b));
        let mut result = [0; WARP];
        let mut over = [0; WARP];
        let mut any = 0;
        for lane in 0..WARP {
            let (value, mark) = f(x[lane] as i32, y[lane] as i32);
            result[lane] = value as u32;
            over[lane] = mark;
            any |= mark;
        }
        if any >> 31 != 0 {
            for lane in lanes(self.warp.mask).filter(|lane| over[*lane] >> 31 != 0) {
                let (x, y, r) = (x[lane] as i32, y[lane] as i32, result[lane] as i32);
                self.find(Fault::Overflow, lane, || {
                    format!("{x} {sign} {y} does not fit into an int and becomes {r}")
                });
            }
        }
        self.put(into, &result);
    }

    #[inline(always)]
    pub(super) fn signed_wide(
        &mut self,
        sign: &str,
        into: Reg,
        a: Reg,
        b: Reg,
        f: impl Fn(i64, i64) -> (i64, bool),
    ) {
        let (x, y) = (self.wide(a), self.wide(b));
        let mut result = [0; WARP];
        let mut over = 0_u32;
        for lane in 0..WARP {
            let (value, left) = f(x[lane] as i64, y[lane] as i64);
            result[lane] = value as u64;
            over |= u32::from(left) << lane;
        }
        for lane in lanes(over & self.warp.mask) {
            let (x, y, r) = (x[lane] as i64, y[lane] as i64, result[lane] as i64);
            self.find(Fault::Overflow, lane, || {
                format!("{x} {sign} {y} does not fit into a long long and becomes {r}")
            });
        }
        self.put_wide(into, &result);
    }

    #[inline(always)]
    pub(super) fn floats(&mut self, into: Reg, a: Reg, b: Reg, f: impl Fn(f32, f32) -> f32) {
        if self.nan == NanWatch::On {
            let (x, y) = (self.narrow(a), self.narrow(b));
            for lane in lanes(self.warp.mask) {
                let (x, y) = (float(x[lane]), float(y[lane]));
                if f(x, y).is_nan() && !x.is_nan() && !y.is_nan() {
                    self.find(Fault::NotANumber, lane, || format!("of {x} and {y} comes NaN"));
                }
            }
        }
        self.narrow2(into, a, b, |x, y| f(float(x), float(y)).to_bits());
    }

    #[inline(always)]
    pub(super) fn doubles(&mut self, into: Reg, a: Reg, b: Reg, f: impl Fn(f64, f64) -> f64) {
        if self.nan == NanWatch::On {
            let (x, y) = (self.wide(a), self.wide(b));
            for lane in lanes(self.warp.mask) {
                let (x, y) = (double(x[lane]), double(y[lane]));
                if f(x, y).is_nan() && !x.is_nan() && !y.is_nan() {
                    self.find(Fault::NotANumber, lane, || format!("of {x} and {y} comes NaN"));
                }
            }
        }
        self.wide2(into, a, b, |x, y| f(double(x), double(y)).to_bits());
    }
}

pub(super) fn float(bits: u32) -> f32 {
    f32::from_bits(bits)
}

pub(super) fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}
