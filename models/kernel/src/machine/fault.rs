//! Faults: counted by kind, and the first of each in full.

use crate::diagnostic::Place;
use mlsys_lab::frame::kernel::Outside;

mlsys_lab::named_enum! {
    /// Kinds of what can go wrong, in the order of reports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Fault {
        /// A thread's access outside of its buffer, array or shared memory.
        OutOfBounds = "out of bounds",
        Uninitialized = "uninitialized read",
        /// A cell that two threads touched with no barrier between, one of them writing.
        Race = "race",
        /// A barrier that some live threads of its block did not reach.
        BarrierDivergence = "barrier divergence",
        /// A signed whole number that left its type, or a number that does not fit where it is converted to.
        Overflow = "overflow",
        DivisionByZero = "division by zero",
        /// An address that is no multiple of what is read or written there.
        Misaligned = "misaligned access",
        /// A shift by less than nothing or by all bits and more.
        Shift = "shift too far",
        /// A shuffle from a lane that takes no part, or a mask that does not name who takes part.
        LostLane = "lost lane",
        /// A NaN that came of numbers.
        NotANumber = "NaN",
        /// A cell to which two threads wrote the same value with no barrier between.
        EqualWrites = "equal writes",
    }
}

impl Fault {
    /// Whether it is listed, and makes no launch wrong by itself.
    pub fn is_note(self) -> bool {
        matches!(self, Self::NotANumber | Self::EqualWrites)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub fault: Fault,
    pub place: Place,
    pub block: [u32; 3],
    pub thread: [u32; 3],
    /// Warp instructions before it.
    pub step: u64,
    /// What happened, with its numbers.
    pub sentence: String,
    /// The element of a buffer that it reached for in vain.
    pub outside: Option<Outside>,
}

const LISTED: usize = 64;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    counts: [u64; Fault::ALL.len()],
    listed: Vec<Finding>,
}

/// An index as `(1,0,0)`, the way in which CUDA's debugger writes it.
pub(crate) fn index([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}

impl Findings {
    pub fn count(&self, fault: Fault) -> u64 {
        self.counts[fault as usize]
    }

    /// Whether nothing but notes was found.
    pub fn is_clean(&self) -> bool {
        Fault::ALL.iter().all(|fault| fault.is_note() || self.count(*fault) == 0)
    }

    /// Findings in the order in which they were made, of each kind the first 64.
    pub fn listed(&self) -> &[Finding] {
        &self.listed
    }

    pub fn first(&self) -> Option<&Finding> {
        self.listed.first()
    }

    /// What was found first, with its place; a NaN too, which a fault may have caused.
    pub(crate) fn first_problem(&self) -> Option<String> {
        let mut listed = self.listed.iter();
        listed.find(|finding| finding.fault != Fault::EqualWrites).map(|first| {
            let [block, thread] = [first.block, first.thread].map(index);
            format!("line {}, block {block}, thread {thread}: {}", first.place.line, first.sentence)
        })
    }

    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(super) fn add(&mut self, fault: Fault, tell: impl FnOnce() -> Finding) {
        let count = &mut self.counts[fault as usize];
        *count += 1;
        if *count <= LISTED as u64 {
            self.listed.push(tell());
        }
    }
}
