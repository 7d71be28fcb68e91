//! What each instruction cost so far; lines and totals are sums of these.

use mlsys_lab::frame::kernel::LineCost;

use super::Machine;
use crate::code::Instr;
use crate::math::Math;
use crate::typed::{Atomic, Operation};
use crate::types::Scalar;

/// Counts of one instruction, of a line, or of a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Times a warp issued it.
    pub issues: u64,
    /// Active lanes, summed over those.
    pub lanes: u64,
    /// Times the lanes of a warp disagreed where to go.
    pub divergent: u64,
    /// Loads from global memory.
    pub load: Traffic,
    /// Stores to global memory.
    pub store: Traffic,
    /// Atomics on global memory.
    pub atomic: Traffic,
    /// Warp accesses to shared memory.
    pub shared: u64,
    /// Passes beyond the first that bank conflicts made of them.
    pub replays: u64,
}

/// Accesses of warps to global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Warp accesses.
    pub accesses: u64,
    /// Elements, one a thread.
    pub elements: u64,
    /// 32-byte sectors moved.
    pub sectors: u64,
    /// 128-byte lines these lie in.
    pub lines: u64,
    /// Distinct bytes that were asked for.
    pub used: u64,
}

impl Traffic {
    fn add(&mut self, other: &Self) {
        self.accesses += other.accesses;
        self.elements += other.elements;
        self.sectors += other.sectors;
        self.lines += other.lines;
        self.used += other.used;
    }

    /// Bytes moved.
    pub fn moved(&self) -> u64 {
        32 * self.sectors
    }

    /// Sectors moved by one warp access on average; 0 where there was none.
    pub fn sectors_per_access(&self) -> f64 {
        self.sectors as f64 / self.accesses.max(1) as f64
    }

    /// Bytes used over bytes moved; 1 where nothing was moved.
    pub fn efficiency(&self) -> f64 {
        if self.sectors == 0 { 1.0 } else { self.used as f64 / self.moved() as f64 }
    }
}

/// Floating-point operations that one lane does in an instruction: sums, differences, products, quotients and functions
/// count one, a fused multiply-add two; comparisons, conversions and signs none.
fn flops(instr: &Instr) -> u64 {
    let real = |ty: Scalar| matches!(ty, Scalar::Float | Scalar::Double);
    let one = |counts: bool| u64::from(counts);
    if let Instr::Arithmetic(operation, ty, ..) = instr {
        let counts = matches!(
            operation,
            Operation::Add
                | Operation::Subtract
                | Operation::Multiply
                | Operation::Divide
                | Operation::Remainder
        );
        return one(real(*ty) && counts);
    }
    if let Instr::Math(function, ty, ..) = instr {
        let free = matches!(function, Math::Abs | Math::IsNan | Math::IsInf | Math::CopySign);
        let times = if *function == Math::Fma { 2 } else { 1 };
        return times * one(real(*ty) && !free);
    }
    if let Instr::Atomic { atomic, ty, .. } = instr {
        return one(real(*ty) && matches!(atomic, Atomic::Add | Atomic::Subtract));
    }
    0
}

impl Machine {
    /// Floating-point operations of all threads so far; a fused multiply-add is two.
    pub fn flops(&self) -> u64 {
        let counted = self.code.instrs.iter().zip(&self.counts);
        counted
            .map(|(instr, counts)| flops(instr).saturating_mul(counts.lanes))
            .fold(0, u64::saturating_add)
    }
}

impl Counts {
    /// Bytes moved between global memory and the multiprocessors: whole sectors, as if no cache kept any.
    pub fn moved(&self) -> u64 {
        self.load.moved() + self.store.moved() + self.atomic.moved()
    }

    /// As the counts of a line of the text.
    pub fn of_line(&self, line: u32) -> LineCost {
        let global = [&self.load, &self.store, &self.atomic];
        LineCost {
            line,
            issues: self.issues,
            lanes: self.lanes,
            divergent: self.divergent,
            accesses: global.iter().map(|traffic| traffic.accesses).sum(),
            sectors: global.iter().map(|traffic| traffic.sectors).sum(),
            replays: self.replays,
        }
    }

    /// Adds those of another.
    pub fn add(&mut self, other: &Self) {
        self.issues += other.issues;
        self.lanes += other.lanes;
        self.divergent += other.divergent;
        self.load.add(&other.load);
        self.store.add(&other.store);
        self.atomic.add(&other.atomic);
        self.shared += other.shared;
        self.replays += other.replays;
    }
}
