//! How fast the interpreter is: window sums of a million elements, all counters on, on one core.
//!
//! `cargo run --release -p mlsys-kernel --example kernel_speed --config 'profile.release.package.mlsys-kernel.opt-level=3'`

use std::time::Instant;

use mlsys_kernel::{Argument, Kernel, Launch, Schedule, Values};

const NAIVE: &str = include_str!("../src/examples/window-sum-naive.cu");
const SHARED: &str = include_str!("../src/examples/window-sum-shared.cu");

const ELEMENTS: usize = 1_000_000;
const RADIUS: usize = 2;
const THREADS: u32 = 256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (name, text) in [("naive", NAIVE), ("shared", SHARED)] {
        let kernel = Kernel::parse(name, text)?;
        for schedule in [Schedule::InOrder, Schedule::RoundRobin, Schedule::Random] {
            let mut best = f64::INFINITY;
            let mut instructions = 0;
            for _ in 0..5 {
                let input = (0..ELEMENTS + 2 * RADIUS).map(|i| i as f32).collect();
                let mut launch = Launch::line(ELEMENTS.div_ceil(THREADS as usize) as u32, THREADS);
                launch.schedule = schedule;
                launch.dynamic_shared = 4 * (THREADS + 2 * RADIUS as u32);
                let arguments = [
                    Argument::Buffer(Values::Float(input)),
                    Argument::Buffer(Values::Poison(ELEMENTS)),
                    Argument::Whole(ELEMENTS as i64),
                    Argument::Whole(RADIUS as i64),
                ];
                let mut machine = kernel.launch(launch, &arguments)?;
                let start = Instant::now();
                machine.run(u64::MAX);
                best = best.min(start.elapsed().as_secs_f64());
                instructions = machine.clock();
                assert!(
                    machine.findings().is_clean()
                        && machine.element("B", 999_999) == Some(5.0 * 1_000_001.0)
                );
            }
            let nanoseconds = best * 1e9 / instructions as f64;
            println!(
                "{name:>7} {schedule:?}: {best:.3} s, {instructions} warp instructions, {nanoseconds:.0} ns each"
            );
        }
    }
    Ok(())
}
