//! The calculation written out, and the smallest change of one parameter that lifts the occupancy.

use mlsys_lab::{Frame, Value};

use super::residency::{Kernel, Residency, Resource};
use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, percent};
use mlsys_sim::multiprocessor::Multiprocessor;

/// Every limit with its roundings.
pub(super) fn steps(kernel: &Kernel, sm: &Multiprocessor, resident: &Residency) -> Frame {
    let mut steps = Steps::default();
    let w = resident.warps_per_block;
    let numbers = format!("div_up({}, 32)", kernel.threads_per_block);
    let formula = "w = div_up(threads_per_block, 32)";
    steps.add("warps_per_block", formula, numbers, w);
    for (resource, blocks) in resident.limits() {
        match resource {
            Resource::Warps => {
                let numbers = format!("{} div {w}", sm.max_warps);
                steps.add("limit_warps", "W div w", numbers, blocks);
            }
            Resource::Registers => registers(&mut steps, kernel, sm, w, blocks),
            Resource::Shared => shared(&mut steps, kernel, sm, blocks),
            Resource::Blocks => steps.add("limit_blocks", "block slots", "", blocks),
        }
    }
    let names: Vec<&str> = resident.limiters().map(Resource::name).collect();
    let all: Vec<String> = resident.limits().map(|(_, n)| n.to_string()).collect();
    steps.add(
        "blocks_per_sm",
        "the least of the limits",
        format!("min({}), from {}", all.join(", "), names.join(" and ")),
        resident.blocks_per_sm,
    );
    steps.add(
        "warps_per_sm",
        "blocks_per_sm*w",
        format!("{}*{w}", resident.blocks_per_sm),
        resident.warps_per_sm,
    );
    steps.add(
        "occupancy",
        "warps_per_sm/W",
        format!("{}/{}", resident.warps_per_sm, sm.max_warps),
        resident.occupancy,
    );
    steps.table()
}

fn registers(steps: &mut Steps, kernel: &Kernel, sm: &Multiprocessor, w: i64, blocks: i64) {
    let Ok(per_warp) = kernel.registers_per_warp() else {
        return;
    };
    steps.add(
        "registers per warp",
        "R = up(32*registers_per_thread, 256)",
        format!("up(32*{}, 256)", kernel.registers_per_thread),
        per_warp,
    );
    let (cores, part) = (sm.sub_cores, sm.registers / sm.sub_cores);
    steps.add(
        "limit_registers",
        "(sub_cores*(registers of one div R)) div w; 0 if the launch check fails",
        if blocks == 0 {
            format!("R*up(w, {cores}) = {per_warp}*up({w}, {cores}) is above {}", sm.registers)
        } else {
            format!("({cores}*({part} div {per_warp})) div {w}")
        },
        blocks,
    );
}

fn shared(steps: &mut Steps, kernel: &Kernel, sm: &Multiprocessor, blocks: i64) {
    let Ok(bytes) = kernel.shared_per_block(sm) else {
        return;
    };
    let (reserved, granularity) = (sm.shared_reserved_bytes, sm.shared_granularity_bytes);
    steps.add(
        "shared memory per block",
        "S = up(static + dynamic + reserved, granularity)",
        format!(
            "up({} + {} + {reserved}, {granularity})",
            kernel.static_shared_bytes, kernel.dynamic_shared_bytes
        ),
        bytes,
    );
    let most = sm.max_shared_bytes_per_block + reserved;
    steps.add(
        "limit_shared",
        "shared_bytes_per_sm div S; 0 if a block may not have S",
        if blocks == 0 {
            format!("{bytes} is above {most}")
        } else {
            format!("{} div {bytes}", sm.shared_bytes)
        },
        blocks,
    );
}

/// For each parameter the nearest value that, alone, gives a higher occupancy.
pub(super) fn lifts(kernel: &Kernel, sm: &Multiprocessor, resident: &Residency) -> Frame {
    let higher = |other: &Kernel| {
        let lifted = Residency::of(other, sm).ok()?;
        (lifted.occupancy > resident.occupancy).then_some(lifted)
    };
    let row = |name: &str, from: i64, to: Option<(i64, Residency)>| match to {
        Some((to, lifted)) => {
            let names: Vec<&str> = lifted.limiters().map(Resource::name).collect();
            [
                name.into(),
                Value::Int(from),
                Value::Int(to),
                percent(lifted.occupancy).into(),
                names.join(" and ").into(),
            ]
        }
        None => [
            name.into(),
            Value::Int(from),
            "no value helps".into(),
            percent(resident.occupancy).into(),
            "".into(),
        ],
    };
    let with_threads = |threads_per_block: i64| {
        let other = Kernel { threads_per_block, ..*kernel };
        Some((threads_per_block, higher(&other)?))
    };
    let own = kernel.threads_per_block;
    let threads = (1..1024)
        .flat_map(|apart| [own - apart, own + apart])
        .filter(|threads| (1..=1024).contains(threads))
        .find_map(with_threads);
    let with_registers = |registers_per_thread: i64| {
        let other = Kernel { registers_per_thread, ..*kernel };
        Some((registers_per_thread, higher(&other)?))
    };
    let registers = (1..kernel.registers_per_thread).rev().find_map(with_registers);
    let static_shared = largest(kernel.static_shared_bytes, |static_shared_bytes| {
        higher(&Kernel { static_shared_bytes, ..*kernel })
    });
    let dynamic_shared = largest(kernel.dynamic_shared_bytes, |dynamic_shared_bytes| {
        higher(&Kernel { dynamic_shared_bytes, ..*kernel })
    });
    let rows = vec![
        row("threads_per_block", own, threads),
        row("registers_per_thread", kernel.registers_per_thread, registers),
        row("static_shared_bytes", kernel.static_shared_bytes, static_shared),
        row("dynamic_shared_bytes", kernel.dynamic_shared_bytes, dynamic_shared),
    ];
    picture::table(["parameter", "from", "to", "occupancy", "then limited by"], rows)
}

/// The largest value below `from` that lifts; what lifts at some value does so at every smaller one.
fn largest(from: i64, lifted: impl Fn(i64) -> Option<Residency>) -> Option<(i64, Residency)> {
    lifted(0)?;
    let (mut lifts, mut not) = (0, from);
    while not - lifts > 1 {
        let middle = lifts + (not - lifts) / 2;
        if lifted(middle).is_some() {
            lifts = middle;
        } else {
            not = middle;
        }
    }
    Some((lifts, lifted(lifts)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::LabError;

    #[test]
    fn the_smallest_change_lifts_and_none_smaller_does() -> Result<(), LabError> {
        let sm = Multiprocessor::of("8.0")?;
        let kernel = Kernel {
            threads_per_block: 256,
            registers_per_thread: 42,
            static_shared_bytes: 40_000,
            dynamic_shared_bytes: 9_000,
        };
        let resident = Residency::of(&kernel, &sm)?;
        let Frame::Table(table) = lifts(&kernel, &sm, &resident) else {
            panic!("lifts stand in a table");
        };
        // Shared memory alone limits: up(40000 + 9000 + 1024, 128) = 50048 goes 3 times into 167936, and 41984 four times.
        assert_eq!(table.rows[2][2], Value::Int(41_984 - 9_000 - 1024));
        assert_eq!(table.rows[3][2], Value::Int(41_984 - 40_000 - 1024));
        assert_eq!(table.rows[1][2], Value::from("no value helps"));
        assert!(matches!(table.rows[0][2], Value::Int(257..=288)));
        Ok(())
    }
}
