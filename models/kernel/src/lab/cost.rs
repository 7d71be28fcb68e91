//! What a launch costs on a model GPU, from counts alone: the same number on any machine.
//!
//! Four bounds, in cycles; the largest is the cost, as in a roofline model. With S = min(blocks, 80) multiprocessors in use:
//!
//! | bound | cycles |
//! |---|---|
//! | issue | warp instructions / (4 S): four schedulers issue one instruction a cycle |
//! | shared memory | (accesses + bank replays) / S: one pass a cycle |
//! | bandwidth | 32 · sectors / 588: 900 GB/s at 1.53 GHz |
//! | latency | the sum over warp instructions of 4, 19 (shared memory) or 400 (global memory) / min(warps, 64 S): a warp's next instruction waits for its last, other warps fill the gap |
//!
//! Sources: NVIDIA, "Tesla V100 GPU architecture" (80 multiprocessors, 64 warps each, 900 GB/s, boost clock 1.53 GHz);
//! latencies as in [`super::scoreboard`].
//!
//! Left out: caches (each sector comes from memory, so data that is used again costs again), independent instructions of
//! one warp, barriers, atomics on one address, and the launch itself. Where a cache would serve the reuse, the model is
//! too hard on the kernel that does not stage its data.

use std::fmt;

use super::scoreboard::{ARITHMETIC, GLOBAL, SHARED};
use crate::{Counts, Launch};

const MULTIPROCESSORS: u64 = 80;
const SCHEDULERS: u64 = 4;
const RESIDENT_WARPS: u64 = 64;
/// 900 GB/s over 1.53 GHz.
const BYTES_PER_CYCLE: u64 = 588;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) cycles: u64,
    pub(super) bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Issue,
    Shared,
    Bandwidth,
    Latency,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Issue => "issue",
            Self::Shared => "shared memory",
            Self::Bandwidth => "bandwidth",
            Self::Latency => "latency",
        })
    }
}

impl Cost {
    pub(super) fn of(totals: &Counts, launch: &Launch) -> Self {
        let multiprocessors = launch.blocks().clamp(1, MULTIPROCESSORS);
        let warps = launch.blocks() * launch.warps_per_block() as u64;
        let resident = warps.clamp(1, RESIDENT_WARPS * multiprocessors);
        let global = totals.load.accesses + totals.atomic.accesses;
        let plain = totals.issues.saturating_sub(global + totals.shared);
        let waits = ARITHMETIC * plain + SHARED * totals.shared + GLOBAL * global;
        let bounds = [
            (totals.issues.div_ceil(SCHEDULERS * multiprocessors), Bound::Issue),
            ((totals.shared + totals.replays).div_ceil(multiprocessors), Bound::Shared),
            (totals.moved().div_ceil(BYTES_PER_CYCLE), Bound::Bandwidth),
            (waits.div_ceil(resident), Bound::Latency),
        ];
        let largest = bounds.into_iter().max_by_key(|(cycles, _)| *cycles);
        let (cycles, bound) = largest.unwrap_or((0, Bound::Issue));
        Self { cycles, bound }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Traffic;

    #[test]
    fn the_largest_bound_is_the_cost() {
        let traffic = |accesses, sectors| Traffic { accesses, sectors, ..Traffic::default() };
        let counts = |issues, shared, replays, load| Counts {
            issues,
            shared,
            replays,
            load,
            ..Counts::default()
        };
        for (blocks, threads, counts, cycles, bound) in [
            // One warp: 10 instructions, one of them a load: 9 · 4 + 400.
            (1, 32, counts(10, 0, 0, traffic(1, 4)), 436, Bound::Latency),
            // 80 · 64 warps hide the latency: 32 · 1,000,000 / 588.
            (640, 256, counts(50_000, 0, 0, traffic(5_000, 1_000_000)), 54_422, Bound::Bandwidth),
            // 5,120 warps with 1,000 instructions each: 5,120,000 / 320, and latency 4 · 5,120,000 / 5,120.
            (640, 256, counts(5_120_000, 0, 0, traffic(0, 0)), 16_000, Bound::Issue),
            // 32 passes for each of 100,000 accesses, on 80 multiprocessors.
            (80, 1024, counts(100_000, 100_000, 3_100_000, traffic(0, 0)), 40_000, Bound::Shared),
        ] {
            let cost = Cost::of(&counts, &Launch::line(blocks, threads));
            assert_eq!(cost, Cost { cycles, bound }, "{blocks} blocks of {threads}");
        }
    }
}
