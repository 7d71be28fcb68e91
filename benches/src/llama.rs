//! `mlsys bench llama`: where the time of a training step of the tiny llama goes.

use crate::bare::{self, Part, Parts};
use clap::Args;
use mlsys_lab::device::DeviceInfo;

use crate::sample::Sample;
use mlsys_run::process::Failure;

/// Measures the parts of a training step.
#[derive(Debug, Args)]
pub struct Options {
    /// How often step and parts are run; they take turns
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub rounds: u32,
}

/// Measures the step and its parts and prints milliseconds a step.
pub fn run(options: &Options, device: DeviceInfo) -> Result<Vec<Sample>, Failure> {
    let parts =
        bare::parts(device.id, options.rounds).map_err(|error| Failure::Run(error.to_string()))?;
    let samples = figures(&parts);
    Ok(samples)
}

/// The whole step by phases, then every part's share of it, then its matrix products alone.
fn figures(parts: &Parts) -> Vec<Sample> {
    let whole = sums([&parts.step.forward, &parts.step.backward, &parts.update]);
    let rate = whole.iter().map(|seconds| 1.0 / seconds).collect();
    let mut samples = vec![
        milliseconds("step", 1, &whole),
        milliseconds("step: forward", 1, &parts.step.forward),
        milliseconds("step: backward", 1, &parts.step.backward),
        milliseconds("step: update", 1, &parts.update),
        Sample::new("steps", "1/s", rate),
    ];
    for Part { name, times, timed } in &parts.parts {
        let name = match times {
            1 => (*name).to_owned(),
            times => format!("{name}, {times} times"),
        };
        samples.push(milliseconds(&format!("{name}: forward"), *times, &timed.forward));
        samples.push(milliseconds(&format!("{name}: backward"), *times, &timed.backward));
    }
    let products = &parts.products;
    samples.push(milliseconds("all matrix products: forward", 1, &products.forward));
    samples.push(milliseconds("all matrix products: backward", 1, &products.backward));
    samples
}

fn milliseconds(name: &str, times: usize, seconds: &[f64]) -> Sample {
    let each = seconds.iter().map(|one| 1e3 * one * times as f64);
    Sample::new(name, "ms a step", each.collect())
}

/// The sum of every round.
fn sums(phases: [&Vec<f64>; 3]) -> Vec<f64> {
    let [forward, backward, update] = phases;
    let rounds = forward.iter().zip(backward).zip(update);
    rounds.map(|((a, b), c)| a + b + c).collect()
}
