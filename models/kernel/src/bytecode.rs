//! The instructions that a kernel becomes: each works on the 32 lanes of a warp at once.

use crate::diagnostic::Place;
use crate::math::Math;
use crate::typed_ast::{
    Atomic, Comparison, Global, Operation, Param, Part, RowBound, Shuffle, Vote,
};
use crate::types::{Scalar, Type};
use std::ops::Range;

pub(crate) const WARP: usize = 32;

/// A register: 32 lanes of 32 bits, or of 64 where the type is wide.
pub(crate) type Reg = u16;

pub(crate) type Pc = u32;

/// Where an access goes: `pointer + index * bytes of the type`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) pointer: Reg,
    pub(crate) index: IndexOperand,
    /// Whether all lanes are known to have the same pointer, and the access is no part of a vector.
    pub(crate) uniform: bool,
    pub(crate) part: Part,
    /// The variable that the text names, of [`Code::arrays`]: an access stays in it, not only in its memory.
    pub(crate) array: Option<u16>,
}

/// The index of an address.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IndexOperand {
    Nothing,
    Int(Reg),
    Unsigned(Reg),
    Long(Reg),
}

impl IndexOperand {
    /// A register as an index of its type.
    pub(crate) fn new(ty: Type, reg: Reg) -> Self {
        match ty {
            Type::Scalar(Scalar::Unsigned) => Self::Unsigned(reg),
            Type::Scalar(Scalar::Long | Scalar::UnsignedLong) => Self::Long(reg),
            Type::Void | Type::Scalar(_) | Type::Pointer { .. } | Type::Array { .. } => {
                Self::Int(reg)
            }
        }
    }
}

/// One instruction; the first register is the one that is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Instr {
    Arithmetic(Operation, Scalar, Reg, Reg, Reg),
    // The sum of where a row begins and an index, which stays in the row.
    Row { ty: Scalar, into: Reg, begin: Reg, index: Reg, row: u16 },
    Compare(Comparison, Scalar, Reg, Reg, Reg),
    // Pointers compare as unsigned 64 bits.
    Negate(Scalar, Reg, Reg),
    Complement(Scalar, Reg, Reg),
    Not(Reg, Reg),
    // Of two truth values.
    Both(Reg, Reg, Reg),
    Either(Reg, Reg, Reg),
    Convert { from: Scalar, to: Scalar, into: Reg, of: Reg },
    Move(Reg, Reg),
    MoveWide(Reg, Reg),
    Select(Reg, Reg, Reg, Reg),
    SelectWide(Reg, Reg, Reg, Reg),
    Math(Math, Scalar, Reg, [Reg; 3]),
    // A pointer offset by a number of elements.
    Offset { into: Reg, at: Address, bytes: u32 },
    Distance { into: Reg, left: Reg, right: Reg, bytes: u32 },
    Load { ty: Scalar, into: Reg, at: Address },
    Store { ty: Scalar, from: Reg, at: Address },
    Atomic { atomic: Atomic, ty: Scalar, into: Reg, at: Address, operands: [Reg; 2] },
    // The operands are mask, value and lane.
    Shuffle { shuffle: Shuffle, ty: Scalar, into: Reg, operands: [Reg; 3], width: Option<Reg> },
    Vote { vote: Vote, into: Reg, mask: Reg, value: Reg },
    Barrier,
    WarpBarrier(Option<Reg>),
    // Lanes where the register is false go to `otherwise`.
    If { condition: Reg, otherwise: Pc, how: BranchKind },
    // Lanes where the register is false leave.
    LoopTest { condition: Reg, end: Pc },
    // Back to the top.
    LoopBack { top: Pc },
    // Bookkeeping that a device has no counterpart for, and where the warp goes if no lane is left to run.
    Mask(MaskOp, Pc),
}

/// What happens to the lanes that run, or to what is known of their variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskOp {
    Else,
    EndIf,
    LoopEnter,
    // Lanes that said `continue` are back.
    LoopNext,
    LoopEnd,
    Break,
    Continue,
    CallEnter,
    CallEnd,
    Return,
    // Lanes end.
    Exit,
    // The end of the kernel.
    End,
    // A variable without a value, by its slot; then with one; then it must have one.
    Forget(Reg),
    Learn(Reg),
    Expect(Reg),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BranchKind {
    /// A branch: a warp diverges where its lanes disagree.
    Branch,
    /// Part of an expression, which a compiler predicates.
    Predicate,
}

/// What a register holds from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InitialValue {
    Narrow(u32),
    Param(usize),
    ThreadIdx(usize),
    BlockIdx(usize),
    BlockDim(usize),
    GridDim(usize),
    Wide(u64),
    WideParam(usize),
}

impl InitialValue {
    pub(crate) fn is_wide(self) -> bool {
        matches!(self, Self::Wide(_) | Self::WideParam(_))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct DebugVariable {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) home: VariableHome,
    /// Instructions during which it exists.
    pub(crate) from: Pc,
    pub(crate) to: Pc,
    /// The slot that knows which lanes have given it a value.
    pub(crate) slot: Option<Reg>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum VariableHome {
    Register(Reg),
    /// Bytes from the start of local memory.
    Local(u32),
}

impl VariableHome {
    pub(crate) fn register(self) -> Option<Reg> {
        match self {
            Self::Register(reg) => Some(reg),
            Self::Local(_) => None,
        }
    }
}

/// A variable in shared memory, or in a thread's own.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) name: String,
    pub(crate) bytes: Range<u32>,
}

/// The rows of an array that an index stays in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) bound: RowBound,
    pub(crate) end: RowEnd,
}

/// Whether an index may be that of the end of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowEnd {
    /// For an address that is not accessed here.
    Included,
    Excluded,
}

#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) name: String,
    pub(crate) params: Vec<Param>,
    /// What the last of these begin with, where a launch does not say.
    pub(crate) globals: Vec<Global>,
    pub(crate) instrs: Vec<Instr>,
    /// Where each came from.
    pub(crate) places: Vec<Place>,
    pub(crate) presets: Vec<(Reg, InitialValue)>,
    pub(crate) narrow: usize,
    pub(crate) wide: usize,
    /// Variables that have no value before their declaration, or before what assigns to them.
    pub(crate) slots: usize,
    /// Bytes of each thread's own memory.
    pub(crate) local: usize,
    pub(crate) shared: Vec<crate::typed_ast::Shared>,
    /// The variables of shared memory, by their numbers there, then arrays of one thread.
    pub(crate) arrays: Vec<Array>,
    pub(crate) rows: Vec<Row>,
    pub(crate) static_shared: u32,
    /// Atomics with an outcome that depends on the order of threads: their results are used, they add floats, or they do
    /// not commute.
    pub(crate) ordered_atomics: usize,
    /// Whether a `__threadfence` orders blocks.
    pub(crate) is_fenced: bool,
    /// Whether an address is cast to a number or back, of which a device has others.
    pub(crate) has_numbered_addresses: bool,
    pub(crate) shown: Vec<DebugVariable>,
}

impl Code {
    /// Where an instruction comes from; the default place past the last one, where a warp has ended.
    pub(crate) fn place(&self, pc: usize) -> Place {
        self.places.get(pc).copied().unwrap_or(Place { line: 0, column: 0 })
    }

    /// The `__shared__` variable that a byte belongs to, with the indices that the text would write, where each access is
    /// of `bytes` bytes. None where no variable is.
    pub(crate) fn shared_element(&self, at: u32, bytes: u32) -> Option<String> {
        let mut variables = self.shared.iter().zip(&self.arrays);
        let (variable, _) = variables.find(|(_, array)| array.bytes.contains(&at))?;
        let mut written = variable.name.clone();
        let inner = match &variable.ty {
            Type::Scalar(_) => return Some(written),
            Type::Array { extents, .. } => &extents.list()[1..],
            Type::Void | Type::Pointer { .. } => &[],
        };
        let mut rest = u64::from((at - variable.offset) / bytes.max(1));
        let mut stride: u64 = inner.iter().map(|extent| u64::from(*extent)).product();
        for extent in inner.iter().chain([&1]) {
            written.push_str(&format!("[{}]", rest / stride.max(1)));
            rest %= stride.max(1);
            stride /= u64::from(*extent).max(1);
        }
        Some(written)
    }
}

/// Addresses: what they point into stands in the high bits, and the offset lies far from both ends of its field, so that
/// running past either end of a buffer stays a fault of that buffer.
pub(crate) mod address {
    pub(crate) const GLOBAL: u64 = 1;
    pub(crate) const SHARED: u64 = 2;
    pub(crate) const LOCAL: u64 = 3;
    const ZERO: u64 = 1 << 44;

    pub(crate) fn global(buffer: usize) -> u64 {
        GLOBAL << 56 | (buffer as u64) << 48 | ZERO
    }

    pub(crate) fn shared(offset: u32) -> u64 {
        SHARED << 56 | (ZERO + u64::from(offset))
    }

    pub(crate) fn local(offset: u32) -> u64 {
        LOCAL << 56 | (ZERO + u64::from(offset))
    }

    pub(crate) fn space(address: u64) -> u64 {
        address >> 56
    }

    pub(crate) fn buffer(address: u64) -> usize {
        (address >> 48 & 0xff) as usize
    }

    /// Bytes from the beginning; negative before it.
    pub(crate) fn offset(address: u64) -> i64 {
        (address & ((1 << 48) - 1)) as i64 - ZERO as i64
    }
}
