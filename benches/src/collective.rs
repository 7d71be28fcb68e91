//! `mlsys bench collective`: what it takes to walk a large all-reduce and count and time all its messages.

use std::time::Instant;

use clap::Args;
use mlsys_sim::collective::{Algorithm, Plan, Tally};
use mlsys_sim::network::Network;

use crate::sample::Sample;
use mlsys_run::console::Console;
use mlsys_run::process::Failure;

/// Measures the walk over a collective's messages.
#[derive(Debug, Args)]
pub struct Options {
    /// How often each algorithm is walked; they take turns
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Ranks that sum
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(2..=65_536))]
    pub ranks: u32,
}

/// Algorithms with few enough messages for a walk at thousands of ranks: the sharded server's are as many as the ring's,
/// but all of them in two rounds.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::Ring, Algorithm::Tree, Algorithm::DoubleTree];

/// Elements of every rank's buffer: not divisible by any usual number of ranks.
const ELEMENTS: usize = 250_000_001;

/// Measures and prints seconds a walk and messages a second.
pub fn run(options: &Options, console: &mut Console) -> Result<Vec<Sample>, Failure> {
    let ranks = options.ranks as usize;
    let link = "infiniband-ndr";
    let network = Network::link(link)
        .ok_or_else(|| Failure::Run(format!("the tables have no link '{link}'")))?;
    let mut times = ALGORITHMS.map(|_| Vec::new());
    let mut rates = ALGORITHMS.map(|_| Vec::new());
    for round in 0..options.rounds {
        for (at, algorithm) in ALGORITHMS.into_iter().enumerate() {
            let begun = Instant::now();
            let plan = Plan::all_reduce(algorithm, ranks, ELEMENTS)
                .map_err(|error| Failure::Run(error.to_string()))?;
            let tally = Tally::of(&plan);
            let modelled = tally.seconds(&network, 4.0);
            let seconds = begun.elapsed().as_secs_f64();
            right(algorithm, ranks, &tally, modelled)?;
            times[at].push(seconds);
            rates[at].push(1e-6 * tally.messages as f64 / seconds);
        }
        console.progress(|| format!("round {} of {}", round + 1, options.rounds));
    }
    console.clear_progress();
    let named = ALGORITHMS.into_iter().zip(times.into_iter().zip(rates));
    let samples: Vec<Sample> = named
        .flat_map(|(algorithm, (times, rates))| {
            let name = algorithm.name();
            [
                Sample::new(name, "s", times),
                Sample::new(format!("{name}: messages"), "1e6/s", rates),
            ]
        })
        .collect();
    Ok(samples)
}

/// A wrong count soon is no count: a ring's messages are known, and every rank but the root of a tree sends once up.
fn right(algorithm: Algorithm, ranks: usize, tally: &Tally, modelled: f64) -> Result<(), Failure> {
    let ranks = ranks as u64;
    let (is_right, known) = match algorithm {
        Algorithm::Ring => {
            let all = 2 * (ranks - 1) * ranks;
            (tally.messages == all, format!("{all}"))
        }
        Algorithm::RecursiveHalvingDoubling
        | Algorithm::Tree
        | Algorithm::DoubleTree
        | Algorithm::ParameterServer
        | Algorithm::ShardedParameterServer => {
            let least = 2 * (ranks - 1);
            (tally.messages >= least, format!("at least {least}"))
        }
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
