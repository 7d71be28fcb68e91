//! Loads and stores of 32 lanes, and the short way for lanes that stand side by side.

use super::access::Target;
use super::core::{Core, lanes};
use super::memory::{POISON, Touch, word};
use super::warp::AccessKind;
use crate::kernel::code::{At, Reg, WARP};
use crate::kernel::types::Scalar;

impl Core<'_> {
    pub(super) fn load(&mut self, ty: Scalar, into: Reg, at: At, pc: usize) {
        if let Some((buffer, begin)) = self.contiguous(at, ty) {
            self.load_swept(into, buffer, begin, pc);
            return;
        }
        let targets = self.reach(at, ty, AccessKind::Load, pc);
        let (mut narrow, mut wide) = (
            [POISON; WARP],
            [u64::from(POISON) << 32 | u64::from(POISON); WARP],
        );
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
        if ty.is_wide() {
            self.put_wide(into, &wide)
        } else {
            self.put(into, &narrow)
        }
    }

    pub(super) fn load_swept(&mut self, into: Reg, buffer: usize, begin: usize, pc: usize) {
        let (who, first) = (self.who, self.warp.first as u16);
        let store = &mut self.buffers[buffer].store;
        let mut result = [0; WARP];
        for (lane, value) in result.iter_mut().enumerate() {
            *value = word(&store.bytes[begin..begin + 4 * WARP], 4 * lane);
        }
        let mut unusual = 0_u32;
        let cell = begin >> 2;
        for (lane, cell) in store.cells[cell..cell + WARP].iter_mut().enumerate() {
            let before = *cell;
            let found = cell.touch(who, first + lane as u16, Touch::Read);
            if found.poison || found.race {
                // Told below, by the way that takes its time.
                *cell = before;
                unusual |= 1 << lane;
            }
        }
        for lane in lanes(unusual) {
            self.touch(
                Target::Global {
                    buffer,
                    offset: begin + 4 * lane,
                },
                4,
                Touch::Read,
                lane,
            );
        }
        self.swept(begin, AccessKind::Load, buffer, pc);
        self.put(into, &result);
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
        if let Some((buffer, begin)) = self.contiguous(at, ty) {
            self.store_swept(from, buffer, begin, pc);
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

    pub(super) fn store_swept(&mut self, from: Reg, buffer: usize, begin: usize, pc: usize) {
        let (who, first) = (self.who, self.warp.first as u16);
        let values = self.narrow(from);
        let store = &mut self.buffers[buffer].store;
        for (lane, bytes) in store.bytes[begin..begin + 4 * WARP]
            .chunks_exact_mut(4)
            .enumerate()
        {
            bytes.copy_from_slice(&values[lane].to_le_bytes());
        }
        let mut unusual = 0_u32;
        let cell = begin >> 2;
        for (lane, cell) in store.cells[cell..cell + WARP].iter_mut().enumerate() {
            let before = *cell;
            if cell.touch(who, first + lane as u16, Touch::Write).race {
                *cell = before;
                unusual |= 1 << lane;
            }
        }
        for lane in lanes(unusual) {
            self.touch(
                Target::Global {
                    buffer,
                    offset: begin + 4 * lane,
                },
                4,
                Touch::Write,
                lane,
            );
        }
        self.swept(begin, AccessKind::Store, buffer, pc);
    }
}
