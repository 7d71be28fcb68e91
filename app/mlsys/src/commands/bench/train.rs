//! `mlsys bench train`: training steps a second of a loop written by hand, of the lab without a screen, and on one.
//!
//! All sides train the same network on the same data with the same metrics at the same cadence, turn by turn in one
//! process, and are timed from the first loss to the end of the run: what was compiled is compiled by then.

mod sides;
mod timed;
mod unseen;

use std::fs;

use mlsys_lab::device::Backend;
use mlsys_nn::bare::{TASKS, Task};

use super::sample::{self, Sample};
use crate::cli::BenchTrain;
use crate::context::Context;
use mlsys_run::exit::{Exit, Failure};
use sides::{Bench, Side};

/// Measures every side and prints seconds and ratios.
pub fn run(options: &BenchTrain, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let device = context.devices.choose(options.machine.device, &Backend::ALL)?;
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
                context.console.progress(|| {
                    format!("{}, round {round} of {}: {}", task.name, options.rounds, side.name())
                });
            }
        }
        context.console.clear_progress();
        samples.extend(figures(task, &sides));
    }
    fs::remove_dir_all(&bench.folder).ok();
    sample::show("train", &samples, options.listing.json, context.console)?;
    Ok(Exit::Passed)
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
