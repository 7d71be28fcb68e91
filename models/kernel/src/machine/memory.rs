//! Bytes and their cells: global buffers and shared memory.

use crate::machine::atomics::combined;
use crate::machine::cell::{Cell, Joined};
use crate::machine::cells::{Cells, Shared};
use crate::typed_ast::Atomic;
use crate::types::Scalar;
use std::ops::Range;

/// Where one lane reaches, once it has been found right.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Global { buffer: usize, offset: usize },
    Shared { offset: usize },
    Local { offset: usize },
}

/// Atomics that changed a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Changes {
    #[default]
    None,
    Of(Atomic, Scalar),
    Mixed,
}

impl Changes {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, some) | (some, Self::None) => some,
            (one, other) if one == other => one,
            _ => Self::Mixed,
        }
    }
}

/// Bytes and their cells: a buffer in global memory, or a block's shared memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Store {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cells: Cells,
    /// Bytes of a cell, as a power of two.
    pub(crate) shift: u32,
    changes: Changes,
}

/// Poison in uninitialized memory: NaN as a float, NaN as a double, and an unlikely integer.
pub(crate) const POISON: u32 = 0x7ffa_dead;

impl Store {
    pub(crate) fn new(bytes: usize, shift: u32) -> Self {
        let mut store = Self::with_cells(vec![0; bytes], shift, Cell::default());
        store.poison();
        store
    }

    /// With these bytes in it.
    pub(crate) fn holding(bytes: Vec<u8>, shift: u32) -> Self {
        Self::with_cells(bytes, shift, Cell::INITIALIZED)
    }

    fn with_cells(bytes: Vec<u8>, shift: u32, first: Cell) -> Self {
        let cells = Cells::new(bytes.len().div_ceil(1 << shift), first);
        Self { bytes, cells, shift, changes: Changes::None }
    }

    pub(crate) fn reset(&mut self) {
        self.poison();
        self.cells.reset();
    }

    fn poison(&mut self) {
        // Little-endian words of poison, whatever the size is divisible by.
        let poison = POISON.to_le_bytes();
        let (words, rest) = self.bytes.as_chunks_mut();
        words.fill(poison);
        rest.copy_from_slice(&poison[..rest.len()]);
    }

    /// Notes an atomic; a difference is the sum with a negative number.
    pub(super) fn note(&mut self, atomic: Atomic, ty: Scalar) {
        let kind = if atomic == Atomic::Subtract { Atomic::Add } else { atomic };
        self.changes = self.changes.and(Changes::Of(kind, ty));
    }

    pub(super) fn is_mixed(&self) -> bool {
        self.changes == Changes::Mixed
    }

    /// A copy of a store that nothing has reached.
    pub(super) fn untouched(&self) -> Self {
        Self {
            bytes: self.bytes.clone(),
            cells: self.cells.untouched(),
            shift: self.shift,
            changes: Changes::None,
        }
    }

    /// Adds what blocks of another machine did to a store that began as `original`.
    pub(super) fn join(&mut self, mut other: Self, original: &Self) -> Joined {
        self.changes = self.changes.and(other.changes);
        for shared in self.cells.take_over(&mut other.cells) {
            match shared {
                Shared::TakenOver(cells) => {
                    let bytes = self.bytes_of(cells);
                    self.bytes[bytes.clone()].copy_from_slice(&other.bytes[bytes]);
                }
                Shared::Both(cells) => {
                    for cell in cells {
                        if self.join_cell(cell, &other, original) == Joined::Conflict {
                            return Joined::Conflict;
                        }
                    }
                }
            }
        }
        Joined::Own
    }

    fn join_cell(&mut self, cell: usize, other: &Self, original: &Self) -> Joined {
        let others = other.cells.get(cell).unwrap_or_default();
        let joined = self.cells.at(cell).join(others);
        let bytes = self.bytes_of(cell..cell + 1);
        match joined {
            Joined::Own | Joined::Conflict => {}
            Joined::Other => self.bytes[bytes.clone()].copy_from_slice(&other.bytes[bytes]),
            Joined::Combined => {
                let Changes::Of(atomic, ty) = self.changes else { return Joined::Conflict };
                if ty.bytes() != 1 << self.shift {
                    return Joined::Conflict;
                }
                let from = bytes.start;
                let [own, other, first] =
                    [&*self, other, original].map(|store| store.read(from, ty));
                self.write(from, ty, combined(atomic, ty, own, other, first));
            }
        }
        joined
    }

    fn bytes_of(&self, cells: Range<usize>) -> Range<usize> {
        cells.start << self.shift..(cells.end << self.shift).min(self.bytes.len())
    }

    pub(crate) fn cell_of(&self, offset: usize) -> usize {
        offset >> self.shift
    }

    pub(crate) fn read(&self, offset: usize, scalar: Scalar) -> u64 {
        match scalar.bytes() {
            1 => scalar.register(u64::from(self.bytes[offset])),
            2 => {
                let two = [self.bytes[offset], self.bytes[offset + 1]];
                scalar.register(u64::from(u16::from_le_bytes(two)))
            }
            4 => u64::from(word(&self.bytes, offset)),
            _ => {
                u64::from(word(&self.bytes, offset))
                    | u64::from(word(&self.bytes, offset + 4)) << 32
            }
        }
    }

    pub(crate) fn write(&mut self, offset: usize, scalar: Scalar, value: u64) {
        let length = scalar.bytes() as usize;
        let value = scalar.memory(value);
        self.bytes[offset..offset + length].copy_from_slice(&value.to_le_bytes()[..length]);
    }
}

#[inline(always)]
pub(crate) fn word(bytes: &[u8], offset: usize) -> u32 {
    match bytes.get(offset..offset + 4) {
        Some(four) => u32::from_le_bytes([four[0], four[1], four[2], four[3]]),
        None => POISON,
    }
}
