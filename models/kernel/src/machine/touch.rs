//! What lanes do wrong as they reach for cells: outside of a row or an array, misaligned, uninitialized, in a race.

use crate::bytecode::{Array, Reg, Row, RowEnd, address};
use crate::machine::cell::{CellAccess, Rival};
use crate::machine::execute::Executor;
use crate::machine::fault::{Fault, index};
use crate::machine::memory::Target;
use crate::machine::warp::{AccessKind, lanes, position};
use crate::typed_ast::RowBound;
use crate::types::Scalar;
use mlsys_lab::frame::kernel::Outside;

impl Executor<'_> {
    /// Where an address leads; nowhere, with a fault, where that is outside or misaligned.
    pub(super) fn target(
        &mut self,
        address: u64,
        bytes: u32,
        array: Option<u16>,
        kind: AccessKind,
        lane: usize,
    ) -> Option<Target> {
        let offset = address::offset(address);
        let code = self.code;
        // An index past the end of an array reaches the next one.
        if let Some(Array { name, bytes: ends }) =
            array.map(|array| &code.arrays[usize::from(array)])
            && (offset < i64::from(ends.start) || offset + i64::from(bytes) > i64::from(ends.end))
        {
            let index = (offset - i64::from(ends.start)).div_euclid(i64::from(bytes));
            let end = match ends.end {
                u32::MAX => self.shared.bytes.len() as u32,
                end => end,
            };
            let last = end.saturating_sub(ends.start) / bytes;
            let verb = kind.verb();
            self.find(Fault::OutOfBounds, lane, || beyond(verb, index, name, u64::from(last)));
            return None;
        }
        let space = address::space(address);
        let (what, size) = match space {
            address::GLOBAL => {
                let buffer = self.buffers.get(address::buffer(address));
                ("", buffer.map_or(0, |buffer| buffer.store.bytes.len()))
            }
            address::SHARED => ("shared memory", self.shared.bytes.len()),
            address::LOCAL => ("the thread's own arrays", self.code.local),
            _ => ("", 0),
        };
        let inside = offset >= 0 && (offset as u64).saturating_add(u64::from(bytes)) <= size as u64;
        if !inside {
            let verb = kind.verb();
            let index = offset.div_euclid(i64::from(bytes));
            let last = size / bytes as usize;
            let buffer = self.buffers.get(address::buffer(address));
            if let Some(buffer) = buffer.filter(|_| space == address::GLOBAL) {
                let (buffer, size) = (buffer.name.clone(), i64::from(buffer.of.bytes()));
                self.find_outside(lane, || {
                    let sentence = beyond(verb, index, &buffer, last as u64);
                    (sentence, Outside { buffer, at: offset.div_euclid(size) })
                });
                return None;
            }
            self.find(Fault::OutOfBounds, lane, || match what {
                "" => format!("{verb} through a pointer that points nowhere"),
                what => beyond(verb, index, what, last as u64),
            });
            return None;
        }
        let offset = offset as usize;
        if !offset.is_multiple_of(bytes as usize) {
            let verb = kind.verb();
            self.find(Fault::Misaligned, lane, || {
                format!("{verb} {bytes} bytes at byte {offset}, which is no multiple of {bytes}")
            });
            return None;
        }
        Some(match space {
            address::GLOBAL => Target::Global { buffer: address::buffer(address), offset },
            address::SHARED => Target::Shared { offset },
            _ => Target::Local { offset },
        })
    }

    /// An index into a row stays in it. Where the sum leaves the whole variable, the access is found to.
    #[inline(always)]
    pub(super) fn require_in_row(&mut self, ty: Scalar, begin: Reg, index: Reg, row: u16) {
        let row = &self.code.rows[usize::from(row)];
        let numbers = row.bound.numbers() + u64::from(row.end == RowEnd::Included);
        let outside = if ty.is_wide() {
            let at = &self.warp.wide[usize::from(index)];
            at.iter().any(|at| *at >= numbers)
        } else {
            let at = &self.warp.narrow[usize::from(index)];
            at.iter().fold(false, |any, at| any | (*at >= numbers as u32))
        };
        if outside {
            self.find_outside_row(ty, begin, index, row, numbers);
        }
    }

    #[cold]
    fn find_outside_row(&mut self, ty: Scalar, begin: Reg, index: Reg, row: &Row, numbers: u64) {
        let RowBound { elements, stride, whole } = row.bound;
        for lane in lanes(self.warp.mask) {
            let [begin, index] = [begin, index].map(|reg| match (self.value(reg, ty, lane), ty) {
                (bits, Scalar::Int) => i64::from(bits as i32),
                (bits, _) => bits as i64,
            });
            let sum = begin.wrapping_add(index);
            let is_in_variable = sum >= 0 && whole.is_none_or(|whole| sum < i64::from(whole));
            if index as u64 >= numbers && is_in_variable {
                let (name, at) = (&row.name, index / i64::from(stride.max(1)));
                self.find(Fault::OutOfBounds, lane, || {
                    format!("takes element {at} of a row of {name}, which has {elements}: it lies in another row")
                });
            }
        }
    }

    /// Notes the touch of a lane in the cells it reaches.
    pub(super) fn touch(&mut self, target: Target, bytes: u32, touch: CellAccess, lane: usize) {
        let thread = (self.warp.first + lane as u32) as u16;
        let who = self.who;
        let (buffer, offset) = match target {
            Target::Global { buffer, offset } => (Some(buffer), offset),
            Target::Shared { offset } => (None, offset),
            Target::Local { offset } => {
                let at = lane * self.code.local + offset;
                let written = &self.warp.written[at..at + bytes as usize];
                if touch.is_read() && written.contains(&0) {
                    self.find(Fault::Uninitialized, lane, || {
                        "reads its own array where it has not written".to_owned()
                    });
                }
                return;
            }
        };
        let store = self.store_of(buffer);
        let (from, to) = (store.cell_of(offset), store.cell_of(offset + bytes as usize - 1));
        let mut poison = false;
        for cell in from..=to {
            let before = *self.store_of(buffer).cells.at(cell);
            let who = self.warp.ordered(who, before, thread);
            let cell = self.store_of(buffer).cells.at(cell);
            let other = cell.other();
            let found = cell.touch(who, thread, touch);
            poison |= found.poison;
            if let Some(rival) = found.race {
                self.meeting(Meeting::Race(rival), target, bytes, touch, lane, other);
            }
            if found.repeat {
                self.meeting(Meeting::EqualWrites, target, bytes, touch, lane, other);
            }
        }
        if poison {
            let name = self.name(target, bytes);
            self.find(Fault::Uninitialized, lane, || {
                format!("reads {name}, which was never written")
            });
        }
    }

    fn meeting(
        &mut self,
        meeting: Meeting,
        target: Target,
        bytes: u32,
        touch: CellAccess,
        lane: usize,
        (block, thread): (u32, u16),
    ) {
        let name = self.name(target, bytes);
        let own = (self.block, position(self.warp.first + lane as u32, self.block_dim));
        let other = (position(block, self.grid_dim), position(u32::from(thread), self.block_dim));
        let verb = match touch {
            CellAccess::Write | CellAccess::Repeat => "writes",
            CellAccess::Read => "reads",
            CellAccess::Atomic => "changes",
        };
        let (fault, does) = match meeting {
            Meeting::EqualWrites => (Fault::EqualWrites, "writes the same value there"),
            Meeting::Race(Rival::Reads) => (Fault::Race, "reads it"),
            Meeting::Race(Rival::Writes) => (Fault::Race, "writes it"),
            Meeting::Race(Rival::Atomics) => (Fault::Race, "changes it by an atomic"),
            Meeting::Race(Rival::Mixed) => (Fault::Race, "accesses it too"),
        };
        self.find(fault, lane, || {
            let (block, thread) = other;
            // A cell has the place of one thread alone, which may be this one.
            let other = if other == own {
                "another thread".to_owned()
            } else if block == own.0 {
                format!("thread {} of the same block", index(thread))
            } else {
                format!("thread {} of block {}", index(thread), index(block))
            };
            format!("{verb} {name}, and {other} {does} with no barrier between")
        });
    }

    pub(super) fn name(&self, target: Target, bytes: u32) -> String {
        match target {
            Target::Global { buffer, offset } => {
                let buffer = &self.buffers[buffer];
                format!("{}[{}]", buffer.name, offset / buffer.of.bytes() as usize)
            }
            Target::Shared { offset } => {
                let at = offset as u32;
                let element = self.code.shared_element(at, bytes);
                element.unwrap_or_else(|| format!("byte {at} of shared memory"))
            }
            Target::Local { offset } => format!("byte {offset} of its own arrays"),
        }
    }
}

/// How accesses of two threads to one cell meet.
#[derive(Clone, Copy)]
enum Meeting {
    Race(Rival),
    EqualWrites,
}

/// An access to an element that an array does not have.
fn beyond(verb: &str, index: i64, name: &str, count: u64) -> String {
    let end = match count.checked_sub(1) {
        None => "has none".to_owned(),
        Some(_) if index < 0 => "begins at 0".to_owned(),
        Some(last) => format!("ends at {last}"),
    };
    format!("{verb} element {index} of {name}, which {end}")
}
