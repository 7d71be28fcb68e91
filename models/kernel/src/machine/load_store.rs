//! Loads and stores of 32 lanes: targets, traffic and faults; with a fast path for consecutive addresses.

use crate::bytecode::{Address, IndexOperand, Reg, WARP, address};
use crate::machine::cell::CellAccess;
use crate::machine::counters::{Moved, moved, replays};
use crate::machine::execute::Executor;
use crate::machine::memory::{POISON, Store, Target, word};
use crate::machine::warp::{Access, AccessKind, Wide, lanes};
use crate::typed_ast::Part;
use crate::types::Scalar;

/// A row of four bytes a lane, one lane after the other.
#[derive(Clone, Copy)]
struct Row {
    /// The buffer in global memory; none for shared memory.
    buffer: Option<usize>,
    begin: usize,
}

impl Row {
    const BYTES: usize = 4 * WARP;
}

impl Executor<'_> {
    #[inline(always)]
    pub(super) fn addresses(&self, at: Address, bytes: u32) -> Wide {
        let mut addresses = self.warp.wide[usize::from(at.pointer)];
        let bytes = u64::from(bytes);
        let mut add = |lane: usize, index: u64| {
            addresses[lane] = addresses[lane].wrapping_add(index.wrapping_mul(bytes));
        };
        match at.index {
            IndexOperand::Nothing => {}
            IndexOperand::Int(reg) => {
                let index = &self.warp.narrow[usize::from(reg)];
                (0..WARP).for_each(|lane| add(lane, index[lane] as i32 as u64));
            }
            IndexOperand::Unsigned(reg) => {
                let index = &self.warp.narrow[usize::from(reg)];
                (0..WARP).for_each(|lane| add(lane, u64::from(index[lane])));
            }
            IndexOperand::Long(reg) => {
                let index = &self.warp.wide[usize::from(reg)];
                (0..WARP).for_each(|lane| add(lane, index[lane]));
            }
        }
        addresses
    }

    /// The row that all lanes reach one after the other, if they do.
    #[inline(always)]
    fn row(&self, at: Address, ty: Scalar) -> Option<Row> {
        if self.warp.mask != u32::MAX
            || ty.bytes() != 4
            || !at.uniform
            || self.warp.parted.is_some()
        {
            return None;
        }
        let (first, follow) = match at.index {
            IndexOperand::Int(reg) | IndexOperand::Unsigned(reg) => {
                let index = &self.warp.narrow[usize::from(reg)];
                let first = index[0];
                let wrong = (0..WARP as u32).fold(0, |wrong, lane| {
                    wrong | (index[lane as usize].wrapping_sub(first) ^ lane)
                });
                (i64::from(first as i32), wrong == 0 && first < i32::MAX as u32 - 32)
            }
            IndexOperand::Nothing | IndexOperand::Long(_) => return None,
        };
        if !follow {
            return None;
        }
        let pointer = self.warp.wide[usize::from(at.pointer)][0];
        let (buffer, ends) = match address::space(pointer) {
            address::GLOBAL => (Some(address::buffer(pointer)), None),
            address::SHARED => {
                (None, at.array.map(|array| &self.code.arrays[usize::from(array)].bytes))
            }
            _ => return None,
        };
        let begin = address::offset(pointer) + 4 * first;
        let store = match buffer {
            Some(buffer) => &self.buffers.get(buffer)?.store,
            None => &*self.shared,
        };
        let fits = ends.is_none_or(|ends| {
            begin >= i64::from(ends.start) && begin + Row::BYTES as i64 <= i64::from(ends.end)
        });
        let inside = fits
            && begin >= 0
            && begin % 4 == 0
            && begin as usize + Row::BYTES <= store.bytes.len()
            && store.shift == 2;
        let begin = begin as usize;
        inside.then_some(Row { buffer, begin })
    }

    /// A buffer's bytes and cells, or those of shared memory.
    #[inline(always)]
    pub(super) fn store_of(&mut self, buffer: Option<usize>) -> &mut Store {
        match buffer {
            Some(buffer) => &mut self.buffers[buffer].store,
            None => self.shared,
        }
    }

    /// Counts and remembers the access to a row. Its 32 words lie in 32 banks, so that none waits in shared memory.
    fn count_row(&mut self, row: Row, kind: AccessKind, pc: usize) {
        let begin = row.begin;
        let (base, moved) = match row.buffer {
            Some(buffer) => {
                let last = begin + Row::BYTES - 1;
                let moved = Moved {
                    sectors: (last / 32 - begin / 32 + 1) as u64,
                    lines: (last / 128 - begin / 128 + 1) as u64,
                    used: Row::BYTES as u64,
                };
                self.count(kind, pc, WARP as u64, moved);
                (address::global(buffer), moved)
            }
            None => {
                self.counts[pc].shared += 1;
                (address::shared(0), Moved::default())
            }
        };
        let base = base + begin as u64;
        let addresses = std::array::from_fn(|lane| base + 4 * lane as u64);
        self.remember(kind, pc, 4, addresses, moved, 0);
        self.warp.touched = u32::MAX;
    }

    fn remember(
        &mut self,
        kind: AccessKind,
        pc: usize,
        bytes: u32,
        addresses: Wide,
        moved: Moved,
        replays: u64,
    ) {
        let place = self.code.place(pc);
        let mask = self.warp.mask;
        let Moved { sectors, lines, used } = moved;
        let access = Access { place, kind, bytes, addresses, mask, sectors, lines, used, replays };
        match &mut self.warp.access {
            Some(old) => **old = access,
            none => *none = Some(Box::new(access)),
        }
    }

    fn count(&mut self, kind: AccessKind, pc: usize, elements: u64, moved: Moved) {
        let counts = &mut self.counts[pc];
        let traffic = match kind {
            AccessKind::Load => &mut counts.load,
            AccessKind::Store => &mut counts.store,
            AccessKind::Atomic => &mut counts.atomic,
        };
        traffic.accesses += 1;
        traffic.elements += elements;
        traffic.sectors += moved.sectors;
        traffic.lines += moved.lines;
        traffic.used += moved.used;
    }

    /// Looks where the running lanes reach, counts what that moves, and tells what is wrong; lanes that are wrong reach nowhere.
    pub(super) fn reach(
        &mut self,
        at: Address,
        ty: Scalar,
        kind: AccessKind,
        pc: usize,
    ) -> [Option<Target>; WARP] {
        let bytes = ty.bytes();
        let addresses = self.addresses(at, bytes);
        let mut targets = [None; WARP];
        let mut global = [0_u64; WARP];
        let mut shared = [(0_usize, 0_u32); WARP];
        let (mut globals, mut shareds) = (0, 0);
        let moved_bytes = if let Part::First(all) = at.part { all } else { bytes };
        for lane in lanes(self.warp.mask) {
            let target = self.target(addresses[lane], moved_bytes, at.array, kind, lane);
            match target {
                Some(Target::Global { .. }) => {
                    global[globals] = addresses[lane];
                    globals += 1;
                    self.warp.touched |= 1 << lane;
                }
                Some(Target::Shared { offset }) => {
                    shared[shareds] = (lane, offset as u32);
                    shareds += 1;
                    self.warp.touched |= 1 << lane;
                }
                Some(Target::Local { .. }) => {}
                // A thread that reaches past the end has tried.
                None => self.warp.touched |= 1 << lane,
            }
            targets[lane] = target;
        }
        if at.part == Part::Rest {
            return targets;
        }
        let mut total = Moved::default();
        if globals > 0 {
            total = moved(&mut global[..globals], u64::from(moved_bytes));
            // A vector has several.
            let elements = globals as u64 * u64::from(moved_bytes / bytes.max(1));
            self.count(kind, pc, elements, total);
        }
        let mut passes = 0;
        if shareds > 0 {
            passes = replays(&shared[..shareds], moved_bytes);
            let counts = &mut self.counts[pc];
            counts.shared += 1;
            counts.replays += passes;
            counts.shared_atomics += if kind == AccessKind::Atomic { shareds as u64 } else { 0 };
        }
        self.remember(kind, pc, moved_bytes, addresses, total, passes);
        targets
    }

    pub(super) fn load(&mut self, ty: Scalar, into: Reg, at: Address, pc: usize) {
        if let Some(row) = self.row(at, ty) {
            self.load_row(into, row, pc);
            return;
        }
        let targets = self.reach(at, ty, AccessKind::Load, pc);
        let mut values = [u64::from(POISON) << 32 | u64::from(POISON); WARP];
        for lane in lanes(self.warp.mask) {
            if let Some(target) = targets[lane] {
                self.touch(target, ty.bytes(), CellAccess::Read, lane);
                values[lane] = self.read(target, ty, lane);
            }
        }
        if ty == Scalar::Bool {
            // An uninitialized bool is true, whatever its bits.
            values = values.map(|value| u64::from(value != 0));
        }
        self.put_values(into, ty, &values);
    }

    fn load_row(&mut self, into: Reg, row: Row, pc: usize) {
        let bytes = row.begin..row.begin + Row::BYTES;
        let mut result = [0; WARP];
        for (lane, four) in self.store_of(row.buffer).bytes[bytes].chunks_exact(4).enumerate() {
            result[lane] = word(four, 0);
        }
        self.touch_row(row, |_| CellAccess::Read);
        self.count_row(row, AccessKind::Load, pc);
        self.put(into, &result);
    }

    /// Notes the touch of all lanes in the cells of a row; findings are reported lane by lane.
    #[inline(always)]
    fn touch_row(&mut self, row: Row, touch: impl Fn(usize) -> CellAccess) {
        let (who, first) = (self.who, self.warp.first as u16);
        let from = row.begin >> 2;
        let mut unusual = 0_u32;
        let cells = self.store_of(row.buffer).cells.row(from, WARP);
        if cells.is_none() {
            unusual = u32::MAX;
        }
        for (lane, cell) in cells.into_iter().flatten().enumerate() {
            let before = *cell;
            let found = cell.touch(who, first + lane as u16, touch(lane));
            if found.poison | found.race.is_some() | found.repeat {
                *cell = before;
                unusual |= 1 << lane;
            }
        }
        for lane in lanes(unusual) {
            let offset = row.begin + 4 * lane;
            let target = match row.buffer {
                Some(buffer) => Target::Global { buffer, offset },
                None => Target::Shared { offset },
            };
            self.touch(target, 4, touch(lane), lane);
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
                ty.register(u64::from_le_bytes(value))
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
                let value = ty.memory(value);
                self.warp.local[at..at + length].copy_from_slice(&value.to_le_bytes()[..length]);
                self.warp.written[at..at + length].fill(1);
            }
        }
    }

    pub(super) fn store(&mut self, ty: Scalar, from: Reg, at: Address, pc: usize) {
        if let Some(row) = self.row(at, ty) {
            self.store_row(from, row, pc);
            return;
        }
        let targets = self.reach(at, ty, AccessKind::Store, pc);
        for lane in lanes(self.warp.mask) {
            let Some(target) = targets[lane] else { continue };
            let (old, new) = (self.read(target, ty, lane), self.value(from, ty, lane));
            let touch = CellAccess::of_write(ty.memory(old) != ty.memory(new));
            self.touch(target, ty.bytes(), touch, lane);
            self.write(target, ty, lane, new);
        }
    }

    fn store_row(&mut self, from: Reg, row: Row, pc: usize) {
        let values = self.narrow(from);
        let bytes = row.begin..row.begin + Row::BYTES;
        let into = self.store_of(row.buffer).bytes[bytes].chunks_exact_mut(4);
        let mut changed = 0_u32;
        for (lane, (value, four)) in values.iter().zip(into).enumerate() {
            changed |= u32::from(word(four, 0) != *value) << lane;
            four.copy_from_slice(&value.to_le_bytes());
        }
        self.touch_row(row, |lane| CellAccess::of_write(changed >> lane & 1 != 0));
        self.count_row(row, AccessKind::Store, pc);
    }
}
