//! What each instruction cost so far; lines and totals are sums of these.
//!
//! What one access of a warp moves: sectors and lines of global memory, banks of shared memory.

use crate::bytecode::{Instr, WARP};
use crate::machine::Machine;
use crate::math::Math;
use crate::typed_ast::Atomic;
use mlsys_lab::frame::kernel::LineCost;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub issues: u64,
    pub lanes: u64,
    /// Times the lanes of a warp disagreed where to go.
    pub divergent: u64,
    pub load: Traffic,
    pub store: Traffic,
    pub atomic: Traffic,
    pub shared: u64,
    /// Elements of shared memory that atomics changed.
    pub shared_atomics: u64,
    /// Passes beyond the first that bank conflicts made of them.
    pub replays: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    pub accesses: u64,
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
    if let Instr::Arithmetic(_, ty, ..) = instr {
        // On numbers with a fraction there are only the four operations.
        u64::from(ty.is_real())
    } else if let Instr::Math(function, ty, ..) = instr {
        let free = matches!(function, Math::Abs | Math::IsNan | Math::IsInf | Math::CopySign);
        let times = if *function == Math::Fma { 2 } else { 1 };
        times * u64::from(ty.is_real() && !free)
    } else if let Instr::Atomic { atomic, ty, .. } = instr {
        u64::from(ty.is_real() && matches!(atomic, Atomic::Add | Atomic::Subtract))
    } else {
        0
    }
}

impl Machine {
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

    pub fn add(&mut self, other: &Self) {
        self.issues += other.issues;
        self.lanes += other.lanes;
        self.divergent += other.divergent;
        self.load.add(&other.load);
        self.store.add(&other.store);
        self.atomic.add(&other.atomic);
        self.shared += other.shared;
        self.shared_atomics += other.shared_atomics;
        self.replays += other.replays;
    }
}

/// Distinct sectors, lines and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) sectors: u64,
    pub(crate) lines: u64,
    pub(crate) used: u64,
}

/// What lanes that access `bytes` bytes each at these addresses move.
///
/// Source: CUDA C++ Best Practices Guide, section 10.2.1 (32-byte segments).
pub(crate) fn moved(addresses: &mut [u64], bytes: u64) -> Moved {
    if !addresses.is_sorted() {
        addresses.sort_unstable();
    }
    let mut moved = Moved::default();
    let (mut sector, mut line, mut end) = (0, 0, 0);
    for &first in addresses.iter() {
        let last = first + bytes - 1;
        // Addresses begin far above zero, so that zero stands for "none before".
        let from = (first >> 5).max(sector + u64::from(sector != 0));
        if last >> 5 >= from {
            moved.sectors += (last >> 5) - from + 1;
            sector = last >> 5;
        }
        let from = (first >> 7).max(line + u64::from(line != 0));
        if last >> 7 >= from {
            moved.lines += (last >> 7) - from + 1;
            line = last >> 7;
        }
        let from = first.max(end);
        moved.used += (last + 1).saturating_sub(from);
        end = end.max(last + 1);
    }
    moved
}

/// Extra passes (bank conflicts) of a shared-memory access: per pass a bank serves one word, to all lanes that read it.
///
/// Lanes that take 8 bytes go in two halves of a warp, those that take 16 in four quarters, which is no conflict by itself.
/// Source: CUDA C++ Programming Guide 13.1, section 20.4.3.
pub(crate) fn replays(offsets: &[(usize, u32)], bytes: u32) -> u64 {
    if bytes <= 4 {
        return degree(offsets.iter().map(|(_, offset)| offset / 4)).saturating_sub(1);
    }
    let words = bytes / 4;
    let group = |number: u32| {
        let of = move |lane: usize| lane as u32 * words / WARP as u32 == number;
        let lanes = offsets.iter().filter(move |(lane, _)| of(*lane));
        degree(lanes.flat_map(|(_, offset)| (0..words).map(move |word| offset / 4 + word)))
            .saturating_sub(1)
    };
    (0..words).map(group).sum()
}

/// Most distinct words asked of one bank.
fn degree(words: impl Iterator<Item = u32>) -> u64 {
    let mut sorted = [0_u32; 2 * WARP];
    let mut count = 0;
    for word in words {
        sorted[count] = word;
        count += 1;
    }
    let sorted = &mut sorted[..count];
    if !sorted.is_sorted() {
        sorted.sort_unstable();
    }
    let mut banks = [0_u8; 32];
    let mut most = 0;
    let mut before = None;
    for &word in sorted.iter() {
        if before != Some(word) {
            let bank = &mut banks[word as usize % 32];
            *bank += 1;
            most = most.max(*bank);
        }
        before = Some(word);
    }
    u64::from(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved_by(byte: impl Fn(u64) -> u64, bytes: u64) -> Moved {
        let mut addresses: Vec<u64> = (0..32).map(|lane| (1 << 44) + byte(lane)).collect();
        moved(&mut addresses, bytes)
    }

    #[test]
    fn sectors_are_those_of_the_coalescing_lab() {
        for (bytes, sectors, lines, used) in [
            (moved_by(|lane| 4 * lane, 4), 4, 1, 128),
            (moved_by(|lane| 4096 * lane, 4), 32, 32, 128),
            (moved_by(|lane| 8 * lane, 4), 8, 2, 128),
            (moved_by(|lane| 4 * lane + 4, 4), 5, 2, 128),
            (moved_by(|lane| 12 * lane, 4), 12, 3, 128),
            (moved_by(|lane| lane / 8 * 4096 + lane % 8 * 4, 4), 4, 4, 128),
            (moved_by(|_| 64, 4), 1, 1, 4),
            (moved_by(|lane| 4 * (31 - lane), 4), 4, 1, 128),
            (moved_by(|lane| 8 * lane, 8), 8, 2, 256),
            // 33 bytes from each of two lanes' places overlap.
            (moved_by(|lane| lane % 2 * 16, 33), 2, 1, 49),
        ] {
            assert_eq!((bytes.sectors, bytes.lines, bytes.used), (sectors, lines, used));
        }
    }

    #[test]
    fn conflicts_are_those_of_the_bank_lab() {
        let passes = |word: &dyn Fn(u32) -> u32| {
            let offsets: Vec<(usize, u32)> =
                (0..32).map(|lane| (lane as usize, 4 * word(lane))).collect();
            replays(&offsets, 4) + 1
        };
        // The degree of word k * lane is gcd(k, 32).
        for (stride, degree) in
            [(0, 1), (1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (12, 4), (16, 16), (32, 32), (33, 1)]
        {
            assert_eq!(passes(&|lane| stride * lane), degree, "stride {stride}");
        }
        assert_eq!(passes(&|lane| lane / 2), 1);
        let doubles: Vec<(usize, u32)> = (0..32).map(|lane| (lane, 8 * lane as u32)).collect();
        assert_eq!(replays(&doubles, 8), 0);
        let far: Vec<(usize, u32)> = (0..32).map(|lane| (lane, 16 * lane as u32)).collect();
        assert_eq!(replays(&far, 8), 2);
    }
}
