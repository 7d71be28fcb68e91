//! Reads of uninitialized memory and data races, as lanes touch the cells that they reach.

use crate::machine::execute::Executor;
use crate::machine::fault::Fault;
use crate::machine::memory::{CellAccess, Target};
use crate::machine::warp::position;

impl Executor<'_> {
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
                if touch != CellAccess::Write && written.contains(&0) {
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
            let cell = &mut self.store_of(buffer).cells[cell];
            let other = cell.other();
            let found = cell.touch(who, thread, touch);
            poison |= found.poison;
            if found.race {
                self.race(target, bytes, touch, lane, other);
            }
        }
        if poison {
            let name = self.name(target, bytes);
            self.find(Fault::Uninitialized, lane, || {
                format!("reads {name}, which was never written")
            });
        }
    }

    pub(super) fn race(
        &mut self,
        target: Target,
        bytes: u32,
        touch: CellAccess,
        lane: usize,
        (block, thread): (u32, u16),
    ) {
        let name = self.name(target, bytes);
        let (own, block) = (self.block, position(block, self.grid_dim));
        let thread = position(u32::from(thread), self.block_dim);
        let verb = match touch {
            CellAccess::Write => "writes",
            CellAccess::Read => "reads",
            CellAccess::Atomic => "changes",
        };
        self.find(Fault::Race, lane, || {
            let of = if block == own {
                "of the same block".to_owned()
            } else {
                format!("of block {block:?}")
            };
            format!(
                "{verb} {name}, and thread {thread:?} {of} touches it too with no barrier between"
            )
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
