//! `mlsys bench kernel` and `mlsys bench collective`: what the interpreter of CUDA C takes for a launch of a million
//! threads, and what counting and timing all messages of a large all-reduce takes.

use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use mlsys_lab::control::Limits;
use mlsys_lab::device::DeviceId;
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::report::{FrameTrigger, Report, RunData, Sink};
use mlsys_lab::tables::Tables;
use mlsys_lab::{Control, Registry, Value};
use mlsys_run::console::Console;
use mlsys_run::outcome::{Outcome, guarded};
use mlsys_run::process::Failure;
use mlsys_sim::collective::{Algorithm, Plan, Tally};
use mlsys_sim::network::Network;

use crate::bench::{Sample, failed, in_turn};

/// Measures the interpreter of kernels.
#[derive(Debug, Args)]
pub struct KernelOptions {
    /// How often each kernel is launched; they take turns
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: u32,
    /// Elements of a launch
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub elements: u32,
}

/// The kernels that a course runs most: independent threads, and blocks that share memory.
const KERNELS: [&str; 2] = ["window-sum-naive", "window-sum-shared"];

pub fn kernel(
    options: &KernelOptions,
    registry: &Registry,
    console: &mut Console,
) -> Result<Vec<Sample>, Failure> {
    let lab = registry.find("kernel")?;
    let measured = in_turn(&KERNELS, options.rounds, console, |kernel| {
        let begun = Instant::now();
        let instructions = launch(lab, kernel, options.elements)?;
        Ok((begun.elapsed().as_secs_f64(), instructions))
    })?;
    Ok(samples(KERNELS, &measured, ("ms", 1e3), "warp instructions"))
}

/// Each side's times, in a fraction of a second, and its rate in millions a second.
fn samples<const N: usize>(
    names: [&str; N],
    measured: &[Vec<(f64, f64)>],
    (unit, scale): (&'static str, f64),
    counted: &str,
) -> Vec<Sample> {
    let named = names.into_iter().zip(measured);
    let samples = named.flat_map(|(name, measured)| {
        let times = measured.iter().map(|(seconds, _)| scale * seconds).collect();
        let rates = measured.iter().map(|(seconds, count)| 1e-6 * count / seconds).collect();
        [Sample::new(name, unit, times), Sample::new(format!("{name}: {counted}"), "1e6/s", rates)]
    });
    samples.collect()
}

/// One launch by the lab, without pictures: its number of warp instructions.
fn launch(lab: &dyn Lab, kernel: &str, elements: u32) -> Result<f64, Failure> {
    let [example, elements] = [format!("example={kernel}"), format!("elements={elements}")];
    let set = [&example, &elements, "block_dim=[256]", "max_instructions=1000000000"];
    let settings = Settings::from_pairs(set).map_err(failed)?;
    let params =
        Params::resolve(lab.schema(), &settings, Tables::builtin(), None).map_err(|errors| {
            let sentences: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Failure::Run(sentences.join("; "))
        })?;
    let mut sink = Numbers(RunData::default());
    let run = Run {
        params,
        device: DeviceId::CPU,
        sink: &mut sink,
        control: Control::free(Limits::default(), Arc::default()),
    };
    let outcome = guarded(lab, run);
    if !matches!(outcome, Outcome::Finished) {
        return Err(Failure::Run(format!("{outcome:?}")));
    }
    let metrics = sink.0.metrics();
    // A fast wrong result is worthless.
    if metrics.get("correct") != Some(&Value::Bool(true)) {
        return Err(Failure::Run(format!("{kernel} came out wrong")));
    }
    let instructions = metrics.get("warp_instructions").and_then(Value::as_f64);
    instructions.ok_or_else(|| Failure::Run(format!("{kernel} counted no instructions")))
}

/// Collects metrics without pictures, which are not measured here.
struct Numbers(RunData);

impl Sink for Numbers {
    fn report(&mut self, report: Report) {
        self.0.apply(report);
    }

    fn wants_frame(&mut self, _panel: &str, _trigger: FrameTrigger) -> bool {
        false
    }
}

/// Measures the walk over a collective's messages.
#[derive(Debug, Args)]
pub struct CollectiveOptions {
    /// How often each algorithm is walked; they take turns
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Ranks that sum
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(2..=65_536))]
    pub ranks: u32,
}

/// Algorithms with few enough messages for thousands of ranks; the sharded server's are all in two rounds.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::Ring, Algorithm::Tree, Algorithm::DoubleTree];

/// Elements of every rank's buffer: not divisible by any usual number of ranks.
const ELEMENTS: usize = 250_000_001;

/// Seconds of a walk and messages a second.
pub fn collective(
    options: &CollectiveOptions,
    console: &mut Console,
) -> Result<Vec<Sample>, Failure> {
    let ranks = options.ranks as usize;
    let link = "infiniband-ndr";
    let network = Network::link(link)
        .ok_or_else(|| Failure::Run(format!("the tables have no link '{link}'")))?;
    let measured = in_turn(&ALGORITHMS, options.rounds, console, |&algorithm| {
        let begun = Instant::now();
        let plan = Plan::all_reduce(algorithm, ranks, ELEMENTS).map_err(failed)?;
        let tally = Tally::from_plan(&plan);
        let modelled = tally.seconds(&network, 4.0);
        let seconds = begun.elapsed().as_secs_f64();
        verify(algorithm, ranks, &tally, modelled)?;
        Ok((seconds, tally.messages as f64))
    })?;
    Ok(samples(ALGORITHMS.map(Algorithm::name), &measured, ("s", 1.0), "messages"))
}

/// Refuses a wrong count: a ring's messages are known, and every rank but the root of a tree sends once up.
fn verify(algorithm: Algorithm, ranks: usize, tally: &Tally, modelled: f64) -> Result<(), Failure> {
    let ranks = ranks as u64;
    let least = 2 * (ranks - 1);
    let (is_right, known) = if matches!(algorithm, Algorithm::Ring) {
        (tally.messages == least * ranks, format!("{}", least * ranks))
    } else {
        (tally.messages >= least, format!("at least {least}"))
    };
    if is_right && modelled > 0.0 {
        return Ok(());
    }
    Err(Failure::Run(format!(
        "{}: counted {} messages, but there are {known}",
        algorithm.name(),
        tally.messages
    )))
}
