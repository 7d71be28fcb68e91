//! Reads of uninitialized memory and data races, as lanes touch the cells that they reach.

use crate::machine::execute::{Executor, block_of, thread_of};
use crate::machine::fault::Fault;
use crate::machine::memory::{CellAccess, Target};

impl Executor<'_> {
    /// Notes the touch of a lane in the cells it reaches.
    pub(super) fn touch(&mut self, target: Target, bytes: u32, touch: CellAccess, lane: usize) {
        let thread = (self.warp.first + lane as u32) as u16;
        let who = self.who;
        let (store, offset) = match target {
            Target::Global { buffer, offset } => (&mut self.buffers[buffer].store, offset),
            Target::Shared { offset } => (&mut *self.shared, offset),
            Target::Local { .. } => {
                if touch != CellAccess::Write {
                    self.check_local(target, bytes, lane);
                }
                return;
            }
        };
        let (from, to) = (store.cell_of(offset), store.cell_of(offset + bytes as usize - 1));
        let mut poison = false;
        for cell in from..=to {
            let store = match target {
                Target::Global { buffer, .. } => &mut self.buffers[buffer].store,
                Target::Shared { .. } | Target::Local { .. } => &mut *self.shared,
            };
            let other = store.cells[cell].other();
            let found = store.cells[cell].touch(who, thread, touch);
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
        let (own, block) = (self.block, block_of(block, self.grid_dim));
        let thread = thread_of(u32::from(thread), self.block_dim);
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

    /// Tells of reads of the thread's own arrays that it never wrote.
    fn check_local(&mut self, target: Target, bytes: u32, lane: usize) {
        if let Target::Local { offset } = target {
            let at = lane * self.code.local + offset;
            if self.warp.written[at..at + bytes as usize].contains(&0) {
                self.find(Fault::Uninitialized, lane, || {
                    "reads its own array where it has not written".to_owned()
                });
            }
        }
    }
}
