//! Loads and stores of 32 lanes, and the short way for lanes that stand side by side.

use super::access::{Row, Target};
use super::core::{Core, lanes};
use super::memory::{POISON, Touch, word};
use super::warp::AccessKind;
use crate::code::{At, Reg, WARP};
use crate::types::Scalar;

impl Core<'_> {
    pub(super) fn load(&mut self, ty: Scalar, into: Reg, at: At, pc: usize) {
        if let Some(row) = self.row(at, ty) {
            self.load_row(into, row, pc);
            return;
        }
        let targets = self.reach(at, ty, AccessKind::Load, pc);
        let (mut narrow, mut wide) =
            ([POISON; WARP], [u64::from(POISON) << 32 | u64::from(POISON); WARP]);
        for lane in lanes(self.warp.mask) {
            let Some(target) = targets[lane] else {
                continue;
            };
            self.touch(target, ty.bytes(), Touch::Read, lane);
            let value = self.read(target, ty, lane);
            narrow[lane] = value as u32;
            wide[lane] = value;
        }
        if ty == Scalar::Bool {
            // A bool that nobody wrote is true, whatever its bits.
            narrow = narrow.map(|value| u32::from(value != 0));
        }
        if ty.is_wide() { self.put_wide(into, &wide) } else { self.put(into, &narrow) }
    }

    fn load_row(&mut self, into: Reg, row: Row, pc: usize) {
        let bytes = row.begin..row.begin + Row::BYTES;
        let mut result = [0; WARP];
        for (lane, four) in self.store_of(row).bytes[bytes].chunks_exact(4).enumerate() {
            result[lane] = word(four, 0);
        }
        self.touch_row(row, Touch::Read);
        self.swept(row, AccessKind::Load, pc);
        self.put(into, &result);
    }

    /// Notes the touch of all lanes in the cells of a row; what is found is told by the way that takes its time.
    #[inline(always)]
    fn touch_row(&mut self, row: Row, touch: Touch) {
        let (who, first) = (self.who, self.warp.first as u16);
        let from = row.begin >> 2;
        let mut unusual = 0_u32;
        let cells = &mut self.store_of(row).cells[from..from + WARP];
        for (lane, cell) in cells.iter_mut().enumerate() {
            let before = *cell;
            let found = cell.touch(who, first + lane as u16, touch);
            if found.poison || found.race {
                *cell = before;
                unusual |= 1 << lane;
            }
        }
        for lane in lanes(unusual) {
            self.touch(row.target(lane), 4, touch, lane);
        }
    }

    pub(super) fn read(&self, target: Target, ty: Scalar, lane: usize) -> u64 {
        match target {
            Target::Global { buffer, offset } => self.buffers[buffer].store.read(offset, ty),
            Target::Shared { offset } => self.shared.read(offset, ty),
            Target::Local { offset } => {
                let at = lane * self.code.local + offset;
                let mut value = [0; 8];
                let length = ty.bytes() as usize;
                value[..length].copy_from_slice(&self.warp.local[at..at + length]);
                u64::from_le_bytes(value)
            }
        }
    }

    pub(super) fn write(&mut self, target: Target, ty: Scalar, lane: usize, value: u64) {
        match target {
            Target::Global { buffer, offset } => {
                self.buffers[buffer].store.write(offset, ty, value)
            }
            Target::Shared { offset } => self.shared.write(offset, ty, value),
            Target::Local { offset } => {
                let at = lane * self.code.local + offset;
                let length = ty.bytes() as usize;
                self.warp.local[at..at + length].copy_from_slice(&value.to_le_bytes()[..length]);
                self.warp.written[at..at + length].fill(1);
            }
        }
    }

    pub(super) fn value(&self, reg: Reg, ty: Scalar, lane: usize) -> u64 {
        if ty.is_wide() {
            self.warp.wide[usize::from(reg)][lane]
        } else {
            u64::from(self.warp.narrow[usize::from(reg)][lane])
        }
    }

    pub(super) fn store(&mut self, ty: Scalar, from: Reg, at: At, pc: usize) {
        if let Some(row) = self.row(at, ty) {
            self.store_row(from, row, pc);
            return;
        }
        let targets = self.reach(at, ty, AccessKind::Store, pc);
        for lane in lanes(self.warp.mask) {
            let Some(target) = targets[lane] else {
                continue;
            };
            self.touch(target, ty.bytes(), Touch::Write, lane);
            self.write(target, ty, lane, self.value(from, ty, lane));
        }
    }

    fn store_row(&mut self, from: Reg, row: Row, pc: usize) {
        let values = self.narrow(from);
        let bytes = row.begin..row.begin + Row::BYTES;
        let into = self.store_of(row).bytes[bytes].chunks_exact_mut(4);
        for (value, four) in values.iter().zip(into) {
            four.copy_from_slice(&value.to_le_bytes());
        }
        self.touch_row(row, Touch::Write);
        self.swept(row, AccessKind::Store, pc);
    }
}
