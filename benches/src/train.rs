//! `mlsys bench train`: training steps a second of a loop written by hand, of the lab without a screen, and on one.
//!
//! All sides train the same network on the same data with the same metrics at the same cadence, turn by turn in one
//! process, and are timed from the first loss to the end of the run: what was compiled is compiled by then.

mod sides;
mod timed;
mod unseen;

use std::fs;

use crate::bare::{TASKS, Task};
use clap::Args;
use mlsys_lab::device::DeviceInfo;

use crate::sample::Sample;
use mlsys_run::console::Console;
use mlsys_run::process::Failure;
use sides::{Bench, Side};

/// Measures training steps.
#[derive(Debug, Args)]
pub struct Options {
    /// How often each side is run; the sides take turns
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Which network: spiral, digits, wide (784-512-512-10) or llama; all if not given
    #[arg(long, value_name = "NAME", value_parser = ["spiral", "digits", "wide", "llama"])]
    pub network: Option<String>,
}

/// Measures every side and prints seconds and ratios.
pub fn run(
    options: &Options,
    device: DeviceInfo,
    console: &mut Console,
) -> Result<Vec<Sample>, Failure> {
    let bench = Bench::new(device)?;
    let wanted = |task: &&Task| options.network.as_deref().is_none_or(|name| name == task.name);
    let mut samples = Vec::new();
    for task in TASKS.iter().filter(wanted) {
        let mut sides: Vec<(Side, Vec<f64>)> = Side::ALL.map(|side| (side, Vec::new())).to_vec();
        // The first round warms caches and clocks up and does not count.
        for round in 0..=options.rounds {
            for (side, seconds) in &mut sides {
                let measured = bench.seconds(*side, task)?;
                if round > 0 {
                    seconds.push(measured);
                }
                console.progress(|| {
                    format!("{}, round {round} of {}: {}", task.name, options.rounds, side.name())
                });
            }
        }
        console.clear_progress();
        samples.extend(figures(task, &sides));
    }
    fs::remove_dir_all(&bench.folder).ok();
    Ok(samples)
}

/// Seconds a step of every side, and how they compare round by round with the loop written by hand.
fn figures(task: &Task, sides: &[(Side, Vec<f64>)]) -> Vec<Sample> {
    let steps = task.steps.saturating_sub(1) as f64;
    let mut samples: Vec<Sample> = sides
        .iter()
        .map(|(side, seconds)| {
            let each = seconds.iter().map(|s| 1e3 * s / steps).collect();
            Sample::new(format!("{}: {}", task.name, side.name()), "ms a step", each)
        })
        .collect();
    let of = |wanted: Side| sides.iter().find(|(side, _)| *side == wanted).map(|(_, s)| s);
    if let Some(by_hand) = of(Side::ByHand) {
        for (side, seconds) in sides.iter().filter(|(side, _)| *side != Side::ByHand) {
            let ratios = seconds.iter().zip(by_hand).map(|(a, b)| a / b).collect();
            let name = format!("{}: {} over {}", task.name, side.name(), Side::ByHand.name());
            samples.push(Sample::new(name, "ratio", ratios));
        }
    }
    samples
}
