//! What went wrong: counted by kind, and the first of each told in full.

use crate::diagnostic::Place;

/// Kinds of what can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// A thread's access outside of its buffer, array or shared memory.
    OutOfBounds,
    /// A thread read an uninitialized cell or variable.
    Uninitialized,
    /// A cell that two threads touched with no barrier between, one of them writing.
    Race,
    /// A barrier that some live threads of its block did not reach.
    BarrierDivergence,
    /// A signed whole number that left its type, or a number that does not fit where it is converted to.
    Overflow,
    /// A whole number divided by zero.
    DivisionByZero,
    /// An address that is no multiple of what is read or written there.
    Misaligned,
    /// A shift by less than nothing or by all bits and more.
    Shift,
    /// A shuffle from a lane that takes no part, or a mask that does not name who takes part.
    LostLane,
    /// A NaN that came of numbers.
    NotANumber,
}

impl Fault {
    /// All kinds, in the order in which they are told.
    pub const ALL: [Self; 10] = [
        Self::OutOfBounds,
        Self::Uninitialized,
        Self::Race,
        Self::BarrierDivergence,
        Self::Overflow,
        Self::DivisionByZero,
        Self::Misaligned,
        Self::Shift,
        Self::LostLane,
        Self::NotANumber,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out of bounds",
            Self::Uninitialized => "uninitialized read",
            Self::Race => "race",
            Self::BarrierDivergence => "barrier divergence",
            Self::Overflow => "overflow",
            Self::DivisionByZero => "division by zero",
            Self::Misaligned => "misaligned access",
            Self::Shift => "shift too far",
            Self::LostLane => "lost lane",
            Self::NotANumber => "NaN",
        }
    }

    fn index(self) -> usize {
        self as usize
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub fault: Fault,
    pub place: Place,
    /// The block, x, y and z.
    pub block: [u32; 3],
    /// The thread, x, y and z.
    pub thread: [u32; 3],
    /// Warp instructions before it.
    pub step: u64,
    /// What happened, with its numbers.
    pub sentence: String,
}

/// Findings of one kind that are told in full; of the others there is the count.
const TOLD: usize = 64;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    counts: [u64; Fault::ALL.len()],
    told: Vec<Finding>,
}

impl Findings {
    pub fn count(&self, fault: Fault) -> u64 {
        self.counts[fault.index()]
    }

    /// Whether nothing was found. A NaN is no fault by itself.
    pub fn is_clean(&self) -> bool {
        Fault::ALL.iter().all(|fault| *fault == Fault::NotANumber || self.count(*fault) == 0)
    }

    /// Findings in the order in which they were made, of each kind the first 64.
    pub fn told(&self) -> &[Finding] {
        &self.told
    }

    pub fn first(&self) -> Option<&Finding> {
        self.told.first()
    }

    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(super) fn add(&mut self, fault: Fault, tell: impl FnOnce() -> Finding) {
        let count = &mut self.counts[fault.index()];
        *count += 1;
        if *count <= TOLD as u64 {
            self.told.push(tell());
        }
    }
}
