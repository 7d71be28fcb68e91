//! What a kernel needs, and how often that goes into what a multiprocessor has.

use mlsys_lab::LabError;

use mlsys_sim::integer::{div_up, too_large, up};
use mlsys_sim::multiprocessor::{Multiprocessor, WARP};

/// Registers are handed to a warp in units of this many (cuda_occupancy.h, every generation in the table).
const REGISTER_UNIT: i64 = 256;

/// What one block of a kernel needs.
pub(super) struct Kernel {
    pub(super) threads_per_block: i64,
    pub(super) registers_per_thread: i64,
    pub(super) static_shared_bytes: i64,
    pub(super) dynamic_shared_bytes: i64,
}

impl Kernel {
    /// Registers are handed out by warp: R = up(32*registers_per_thread, 256)
    pub(super) fn registers_per_warp(&self) -> Result<i64, LabError> {
        WARP.checked_mul(self.registers_per_thread)
            .and_then(|registers| up(registers, REGISTER_UNIT))
            .ok_or_else(too_many_registers)
    }

    /// What a block takes of the shared memory: S = up(static + dynamic + r, g)
    pub(super) fn shared_per_block(&self, sm: &Multiprocessor) -> Result<i64, LabError> {
        self.static_shared_bytes
            .checked_add(self.dynamic_shared_bytes)
            .and_then(|bytes| bytes.checked_add(sm.shared_reserved_bytes))
            .and_then(|bytes| up(bytes, sm.shared_granularity_bytes))
            .ok_or_else(|| {
                too_large(
                    ["static_shared_bytes", "dynamic_shared_bytes"],
                    "the shared memory of a block",
                )
            })
    }
}

fn too_many_registers() -> LabError {
    too_large(["registers_per_thread"], "the registers of a block")
}

/// A resource that bounds the blocks on a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Warps,
    Registers,
    Shared,
    Blocks,
}

impl Resource {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Warps => "warps",
            Self::Registers => "registers",
            Self::Shared => "shared",
            Self::Blocks => "blocks",
        }
    }
}

/// What of a kernel is resident on one multiprocessor.
pub(super) struct Residency {
    limits: [Option<(Resource, i64)>; 4],
    pub(super) warps_per_block: i64,
    pub(super) blocks_per_sm: i64,
    pub(super) warps_per_sm: i64,
    pub(super) occupancy: f64,
}

impl Residency {
    /// Follows NVIDIA's cuda_occupancy.h (12.9), with the largest shared-memory carveout.
    pub(super) fn of(kernel: &Kernel, sm: &Multiprocessor) -> Result<Self, LabError> {
        // w = div_up(threads_per_block, 32); limit_warps = W div w
        let warps_per_block = div_up(kernel.threads_per_block, WARP);
        let limits = [
            Some((Resource::Warps, sm.max_warps / warps_per_block)),
            Some((Resource::Registers, limit_registers(kernel, sm, warps_per_block)?)),
            limit_shared(kernel, sm)?.map(|limit| (Resource::Shared, limit)),
            Some((Resource::Blocks, sm.max_blocks)),
        ];
        // blocks_per_sm = min of the limits; warps_per_sm = blocks_per_sm*w; occupancy = warps_per_sm/W
        let least = |least: i64, (_, limit): (Resource, i64)| least.min(limit);
        let blocks_per_sm = limits.into_iter().flatten().fold(sm.max_blocks, least);
        let warps_per_sm = blocks_per_sm * warps_per_block;
        Ok(Self {
            limits,
            warps_per_block,
            blocks_per_sm,
            warps_per_sm,
            occupancy: warps_per_sm as f64 / sm.max_warps as f64,
        })
    }

    /// Blocks that fit by each resource, in the order warps, registers, shared, blocks.
    pub(super) fn limits(&self) -> impl Iterator<Item = (Resource, i64)> {
        self.limits.into_iter().flatten()
    }

    /// The resources that run out first.
    pub(super) fn limiters(&self) -> impl Iterator<Item = Resource> {
        let least = self.blocks_per_sm;
        self.limits().filter(move |&(_, limit)| limit == least).map(|(resource, _)| resource)
    }
}

/// Registers live in sub-partitions, and a warp takes all of its own from one of them.
fn limit_registers(kernel: &Kernel, sm: &Multiprocessor, warps: i64) -> Result<i64, LabError> {
    let per_warp = kernel.registers_per_warp()?;
    // if R*up(w, 4) > 65536 then 0: the launch check rounds the warps of a block up to the sub-partitions
    let launch = up(warps, sm.sub_cores)
        .and_then(|warps| warps.checked_mul(per_warp))
        .ok_or_else(too_many_registers)?;
    if launch > sm.registers {
        return Ok(0);
    }
    // (4*(16384 div R)) div w
    let warps_that_fit = sm.sub_cores * (sm.registers / sm.sub_cores / per_warp);
    Ok(warps_that_fit / warps)
}

/// `None` if a block allocates no shared memory at all.
fn limit_shared(kernel: &Kernel, sm: &Multiprocessor) -> Result<Option<i64>, LabError> {
    let bytes = kernel.shared_per_block(sm)?;
    // limit_shared = 0 if S > max_shared_bytes_per_block + r, else shared_bytes_per_sm div S (left out if S = 0)
    Ok(if bytes == 0 {
        None
    } else if bytes > sm.max_shared_bytes_per_block + sm.shared_reserved_bytes {
        Some(0)
    } else {
        Some(sm.shared_bytes / bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::Tables;

    #[test]
    fn registers_are_counted_by_sub_partition() -> Result<(), LabError> {
        let sm = Multiprocessor::of("8.0")?;
        let kernel = Kernel {
            threads_per_block: 64,
            registers_per_thread: 42,
            static_shared_bytes: 0,
            dynamic_shared_bytes: 0,
        };
        // 65536 div (64*48) is 21; four sub-partitions of 10 warps each hold 20 blocks of two.
        assert_eq!(Residency::of(&kernel, &sm)?.limits().nth(1), Some((Resource::Registers, 20)));
        Ok(())
    }

    #[test]
    fn limits_bound_the_blocks_on_every_generation() -> Result<(), LabError> {
        for capability in Tables::builtin().names("compute_capability") {
            let sm = Multiprocessor::of(capability)?;
            for threads_per_block in (1..=1024).step_by(31) {
                for registers_per_thread in (1..=255).step_by(2) {
                    for static_shared_bytes in [0, 1, 4096, 40_000, 101_376, 1 << 20] {
                        let kernel = Kernel {
                            threads_per_block,
                            registers_per_thread,
                            static_shared_bytes,
                            dynamic_shared_bytes: 512,
                        };
                        check(&kernel, &sm, &Residency::of(&kernel, &sm)?);
                    }
                }
            }
        }
        Ok(())
    }

    /// The blocks fit by every resource counted on its own, and one more would not fit by each limiter.
    fn check(kernel: &Kernel, sm: &Multiprocessor, resident: &Residency) {
        let blocks = resident.blocks_per_sm;
        assert_eq!(resident.limits().map(|(_, limit)| limit).min(), Some(blocks));
        assert!(resident.limiters().count() > 0);
        assert!((0.0..=1.0).contains(&resident.occupancy));
        let threads = blocks * kernel.threads_per_block;
        assert!(threads <= sm.max_warps * WARP);
        assert!(threads * kernel.registers_per_thread <= sm.registers);
        let shared =
            kernel.static_shared_bytes + kernel.dynamic_shared_bytes + sm.shared_reserved_bytes;
        assert!(blocks * shared <= sm.shared_bytes);
        assert!(blocks <= sm.max_blocks);
        for limiter in resident.limiters() {
            let one_more = blocks + 1;
            match limiter {
                Resource::Warps => assert!(one_more * resident.warps_per_block > sm.max_warps),
                Resource::Blocks => assert_eq!(blocks, sm.max_blocks),
                // Their allocation units may refuse a block that the plain sum would still admit.
                Resource::Registers | Resource::Shared => {}
            }
        }
    }
}
