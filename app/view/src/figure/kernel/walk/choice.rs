//! What of a launch is looked at: a block, a warp, a lane, a variable, a line.

use super::{KernelDebugger, Thread};
use crate::figure::kernel::lanes;

impl KernelDebugger {
    /// Another lane of the warp.
    pub fn choose_lane(&mut self, by: isize) {
        let Thread { warp, lane, .. } = self.here();
        self.lane = around(lane, by, self.lanes_of(warp));
    }

    /// Another warp of the block, which is followed from now on.
    pub fn choose_warp(&mut self, by: isize) {
        let Thread { block, warp, .. } = self.here();
        self.pinned = Some((block, around(warp, by, self.warps())));
        self.marked = None;
    }

    /// Another block; its warp is followed from now on.
    pub fn choose_block(&mut self, by: isize) {
        let Thread { block, warp, .. } = self.here();
        let blocks = u32::try_from(self.blocks()).unwrap_or(u32::MAX);
        self.pinned = Some((around(block, by, blocks), warp));
        self.marked = None;
    }

    /// A thread by its place, which is followed from now on; false if there is none.
    pub fn choose(&mut self, thread: Thread) -> bool {
        let there = u64::from(thread.block) < self.blocks()
            && thread.warp < self.warps()
            && thread.lane < self.lanes_of(thread.warp);
        if there {
            self.pinned = Some((thread.block, thread.warp));
            self.lane = thread.lane;
            self.marked = None;
        }
        there
    }

    /// The next variable; after the last the first again.
    pub fn next_variable(&mut self) {
        let names = lanes::names(self);
        let shown = lanes::shown_variable(self);
        let at = names.iter().position(|name| Some(name) == shown.as_ref());
        let next = at.map_or(0, |at| at + 1);
        self.variable = names.get(next).or(names.first()).cloned();
    }

    /// A variable by its name; false if there is none.
    pub fn choose_variable(&mut self, name: &str) -> bool {
        let known = lanes::names(self).iter().any(|known| known == name);
        if known {
            self.variable = Some(name.to_owned());
        }
        known
    }

    /// Marks another line of the text.
    pub fn mark(&mut self, to: impl FnOnce(usize, usize) -> usize) {
        let last = self.source().lines().count().saturating_sub(1);
        let at = self.marked() as usize - 1;
        self.marked = Some(to(at, last) as u32 + 1);
    }

    /// Sets a breakpoint on the marked line, or takes it away; returns what is to be said.
    pub fn change_breakpoint(&mut self) -> String {
        let line = self.marked();
        let Ok(replay) = &mut self.replay else {
            return String::new();
        };
        let all = replay.breakpoints_mut();
        if all.remove(&line) {
            format!("no breakpoint on line {line} any more")
        } else {
            all.insert(line);
            format!("a breakpoint on line {line}: N runs on until a warp comes to it")
        }
    }

    /// Follows whichever warp goes; returns whether another was followed.
    pub fn follow(&mut self) -> bool {
        let mark = self.marked.take().is_some();
        self.pinned.take().is_some() || mark
    }
}

/// The index `n` further among `count`, wrapping around.
fn around(at: u32, by: isize, count: u32) -> u32 {
    let count = i64::from(count.max(1));
    (i64::from(at) + by as i64).rem_euclid(count) as u32
}
