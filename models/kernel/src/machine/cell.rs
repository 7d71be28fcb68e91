//! Shadow memory: which threads wrote and read a cell, and the barriers between.

/// What is known of one cell.
///
/// Two accesses race if two threads make them, one at least writes, not both are atomic, and no barrier lies between. Kept are
/// not the accesses but the sets they form, at three levels: over the grid, where nothing orders two blocks; within a
/// block since its last barrier; within a warp since its last `__syncwarp`. So what is found does not depend on who came
/// first. A set of writes of one value alone is no race: every order leaves the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The block that touched it first, from 1 on; 0 for none.
    block: u32,
    /// Barriers that block had passed when it last touched the cell.
    epoch: u32,
    /// The same of the warp's own barriers.
    warp_epoch: u32,
    /// The thread of that block which touched it first since then.
    thread: u16,
    flags: u16,
}

const INITIAL: u16 = 1;
const WRITTEN: u16 = 1 << 1;
const REWRITTEN: u16 = 1 << 2;
const RACED: u16 = 1 << 3;
/// Three bits a level (written, read, atomic) and one for "by more than one". A level with differing writes is marked as
/// atomic too.
const GRID: u32 = 4;
const BLOCK: u32 = 8;
const WARP: u32 = 12;
const SEVERAL: u16 = 8;
const ALL: u16 = 1 << GRID | 1 << BLOCK | 1 << WARP;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellAccess {
    /// A write of another value than is there.
    Write,
    /// A write of the value that is there.
    Repeat,
    Read,
    Atomic,
}

impl CellAccess {
    fn bit(self) -> u16 {
        match self {
            Self::Write | Self::Repeat => 1,
            Self::Read => 2,
            Self::Atomic => 4,
        }
    }

    pub(super) fn of_write(changes: bool) -> Self {
        if changes { Self::Write } else { Self::Repeat }
    }

    pub(super) fn is_read(self) -> bool {
        matches!(self, Self::Read | Self::Atomic)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Accessor {
    /// From 1 on.
    pub(crate) block: u32,
    pub(crate) epoch: u32,
    pub(crate) warp_epoch: u32,
    /// Whether fences order blocks: then nothing is known of two that touch one cell.
    pub(crate) is_fenced: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellFinding {
    /// The cell is uninitialized.
    pub(crate) poison: bool,
    /// The access races, for the first time on this cell, with accesses of this kind.
    pub(crate) race: Option<Rival>,
    /// Several threads have now written one value.
    pub(crate) repeat: bool,
}

/// How the earlier accesses of a race reached the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rival {
    Reads,
    Writes,
    Atomics,
    /// In more than one of these ways: which thread did which is not kept.
    Mixed,
}

impl Rival {
    /// From the flags of a cell before and after an access that races; `is_other` if the thread that the cell names is not
    /// the one that makes it.
    #[cold]
    fn of(before: u16, after: u16, touch: CellAccess, is_other: bool) -> Self {
        // Of the levels at which it races, the narrowest.
        let level = raced_levels(after).checked_ilog2().unwrap_or(GRID);
        match Self::of_set(before >> level & 7) {
            // The warp's flags are those of this thread, or of threads that did the same.
            Self::Mixed if is_other => match (touch, before >> WARP & 7) {
                (CellAccess::Read, accesses) => Self::of_set(accesses & 5),
                (_, accesses) => Self::of_set(accesses),
            },
            rival @ (Self::Reads | Self::Writes | Self::Atomics | Self::Mixed) => rival,
        }
    }

    fn of_set(accesses: u16) -> Self {
        match accesses {
            // Differing writes are marked as atomic too.
            1 | 5 => Self::Writes,
            2 => Self::Reads,
            4 => Self::Atomics,
            _ => Self::Mixed,
        }
    }
}

/// Whether several threads touched a cell and one wrote, at one level at least.
fn conflicts(flags: u16) -> bool {
    let several = flags >> 3;
    several & (flags | flags >> 1 & flags >> 2) & ALL != 0
}

/// Whether several threads wrote one value and did nothing else, at one level at least.
fn repeats(flags: u16) -> bool {
    let several = flags >> 3;
    several & flags & !(flags >> 1) & !(flags >> 2) & ALL != 0
}

/// The levels at which accesses of several threads race: not all are reads, and not all are atomics or writes of one value.
fn raced_levels(flags: u16) -> u16 {
    let several = flags >> 3;
    let (written, read, atomic) = (flags, flags >> 1, flags >> 2);
    several & (written & (read | atomic) | read & atomic) & ALL
}

impl Cell {
    /// Of memory that holds values from the start.
    pub(super) const INITIALIZED: Self =
        Self { block: 0, epoch: 0, warp_epoch: 0, thread: 0, flags: INITIAL };

    #[inline(always)]
    pub(crate) fn touch(&mut self, who: Accessor, thread: u16, touch: CellAccess) -> CellFinding {
        let before = self.flags;
        let is_other = (self.block, self.thread) != (who.block, thread);
        let mut flags = before;
        // The levels at which the access belongs to the set.
        let mut levels = ALL;
        if self.block != who.block {
            if who.is_fenced {
                flags &= (1 << GRID) - 1;
                self.block = 0;
            }
            if self.block == 0 {
                self.start(who, thread);
            } else {
                flags |= SEVERAL << GRID;
                levels = 1 << GRID;
            }
        } else if self.epoch != who.epoch {
            flags &= (1 << BLOCK) - 1;
            self.start(who, thread);
        } else if self.thread / 32 != thread / 32 {
            flags |= SEVERAL << BLOCK;
            levels = 1 << GRID | 1 << BLOCK;
        } else if self.warp_epoch != who.warp_epoch {
            flags &= (1 << WARP) - 1;
            self.start(who, thread);
        } else if self.thread != thread {
            flags |= SEVERAL << WARP;
        }
        if touch == CellAccess::Write {
            flags |= (flags & levels) << 2;
        }
        flags |= levels * touch.bit();
        let mut found =
            CellFinding { poison: touch.is_read() && before & INITIAL == 0, ..Default::default() };
        if touch != CellAccess::Read {
            if flags & WRITTEN != 0 {
                flags |= REWRITTEN;
            }
            flags |= WRITTEN | INITIAL;
        }
        if flags & RACED == 0 && conflicts(flags) {
            if raced_levels(flags) != 0 {
                found.race = Some(Rival::of(before, flags, touch, is_other));
                flags |= RACED;
            } else {
                found.repeat = !repeats(before);
            }
        }
        self.flags = flags;
        found
    }

    fn start(&mut self, who: Accessor, thread: u16) {
        self.block = who.block;
        self.epoch = who.epoch;
        self.warp_epoch = who.warp_epoch;
        self.thread = thread;
    }

    /// Barriers of the warp before the last accesses, if its own block and warp made them since the block's last barrier.
    pub(super) fn warp_epoch_of(&self, who: Accessor, thread: u16) -> Option<u32> {
        let is_own =
            self.block == who.block && self.epoch == who.epoch && self.thread / 32 == thread / 32;
        is_own.then_some(self.warp_epoch)
    }

    /// Block (from 0) and thread of the previous access to the cell.
    pub(crate) fn other(&self) -> (u32, u16) {
        (self.block.saturating_sub(1), self.thread)
    }

    /// What blocks of two machines did to the same cell, if that is the same in any order of blocks.
    pub(super) fn join(&mut self, other: Self) -> Joined {
        if other.block == 0 {
            return Joined::Own;
        }
        if self.block == 0 {
            *self = other;
            return Joined::Other;
        }
        self.flags |= other.flags | SEVERAL << GRID;
        if conflicts(self.flags) {
            return Joined::Conflict;
        }
        if self.flags & WRITTEN == 0 {
            return Joined::Own;
        }
        self.flags |= REWRITTEN;
        Joined::Combined
    }

    pub(crate) fn state(self) -> CellState {
        let has = |flag: u16| self.flags & flag != 0;
        CellState {
            defined: has(INITIAL),
            read: has(2 << GRID),
            written: has(WRITTEN),
            rewritten: has(REWRITTEN),
            raced: has(RACED),
        }
    }
}

/// Which machine's value a cell has that blocks of two machines touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    Own,
    Other,
    /// What both changed by atomics.
    Combined,
    Conflict,
}

/// What happened to a cell so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "five independent facts of a cell, each drawn by itself"
)]
pub struct CellState {
    /// It has a value, from the start or since.
    pub defined: bool,
    pub read: bool,
    pub written: bool,
    /// Threads wrote it more than once.
    pub rewritten: bool,
    /// Two threads touched it with nothing between.
    pub raced: bool,
}
