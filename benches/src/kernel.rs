//! `mlsys bench kernel`: what the interpreter of CUDA C takes for a launch of a million threads, with everything counted.

use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use mlsys_lab::control::Limits;
use mlsys_lab::device::DeviceId;
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::params::{Given, Params, Settings};
use mlsys_lab::report::{FrameTrigger, Report, RunData, Sink};
use mlsys_lab::tables::Tables;
use mlsys_lab::{Control, Value};

use crate::sample::Sample;
use mlsys_run::console::Console;
use mlsys_run::outcome::{Outcome, guarded};
use mlsys_run::process::Failure;

/// Measures the interpreter of kernels.
#[derive(Debug, Args)]
pub struct Options {
    /// How often each kernel is launched; they take turns
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: u32,
    /// Elements of a launch
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub elements: u32,
}

/// The kernels that a course runs most: every thread by itself, and blocks that share memory.
const KERNELS: [&str; 2] = ["window-sum-naive", "window-sum-shared"];

/// Measures and prints milliseconds a launch and instructions a second.
pub fn run(options: &Options, console: &mut Console) -> Result<Vec<Sample>, Failure> {
    let lab = mlsys_registry::registry()
        .find("kernel")
        .map_err(|error| Failure::Run(error.to_string()))?;
    let mut times = KERNELS.map(|_| Vec::new());
    let mut rates = KERNELS.map(|_| Vec::new());
    // The kernels take turns, and the first turn warms memory up and does not count.
    for round in 0..=options.rounds {
        for (at, kernel) in KERNELS.iter().enumerate() {
            let begun = Instant::now();
            let instructions = launch(lab, kernel, options.elements)?;
            let seconds = begun.elapsed().as_secs_f64();
            if round > 0 {
                times[at].push(1e3 * seconds);
                rates[at].push(1e-6 * instructions / seconds);
            }
        }
        console.progress(|| format!("round {round} of {}", options.rounds));
    }
    console.clear_progress();
    let named = KERNELS.iter().zip(times.into_iter().zip(rates));
    let samples: Vec<Sample> = named
        .flat_map(|(kernel, (times, rates))| {
            [
                Sample::new(*kernel, "ms", times),
                Sample::new(format!("{kernel}: warp instructions"), "1e6/s", rates),
            ]
        })
        .collect();
    Ok(samples)
}

/// One launch as the lab does it, without pictures; the warp instructions of it.
fn launch(lab: &'static dyn Lab, kernel: &str, elements: u32) -> Result<f64, Failure> {
    let mut settings = Settings::new();
    let set = [
        ("example", Value::from(kernel)),
        ("elements", Value::Int(elements.into())),
        ("block_dim", Value::Array(vec![Value::Int(256)])),
        ("max_instructions", Value::Int(1_000_000_000)),
    ];
    for (name, value) in set {
        settings.push(name, Given::Value(value));
    }
    let params =
        Params::resolve(lab.schema(), &settings, Tables::builtin(), None).map_err(|errors| {
            let sentences: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Failure::Run(sentences.join("; "))
        })?;
    let mut sink = Numbers(RunData::default());
    let mut run = Run {
        params,
        device: DeviceId::CPU,
        sink: &mut sink,
        control: Control::free(Limits::default(), Arc::default()),
    };
    match guarded(lab, &mut run) {
        Outcome::Finished => {}
        outcome @ (Outcome::Stopped(_) | Outcome::Failed(_) | Outcome::Panicked(_)) => {
            return Err(Failure::Run(format!("{outcome:?}")));
        }
    }
    let metrics = sink.0.metrics();
    // A wrong result soon is no result.
    if metrics.get("correct") != Some(&Value::Bool(true)) {
        return Err(Failure::Run(format!("{kernel} came out wrong")));
    }
    let instructions = metrics.get("warp_instructions").and_then(Value::as_f64);
    instructions.ok_or_else(|| Failure::Run(format!("{kernel} counted no instructions")))
}

/// Takes metrics and wants no pictures, which are not what is measured.
struct Numbers(RunData);

impl Sink for Numbers {
    fn report(&mut self, report: Report) {
        self.0.apply(report);
    }

    fn wants_frame(&mut self, _panel: &str, _moment: FrameTrigger) -> bool {
        false
    }
}
