//! `mlsys bench`: what measures the workbench itself.

use clap::{Args, Subcommand};

use super::{Listing, Machine};

/// What can be measured.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Training steps: a loop written by hand, the same without a screen, and on the screen
    Train(BenchTrain),
    /// Where the time of a training step of the tiny llama goes: phases, and each part on its own
    Llama(BenchLlama),
    /// Kernels: what the interpreter takes for a launch of a million threads with everything counted
    Kernel(BenchKernel),
    /// Collectives: what counting every message of a large all-reduce takes
    Collective(BenchCollective),
    /// The screen: the time of a frame with four charts, its bytes, and what recording a metric costs
    Screen(BenchScreen),
    /// The first frame, memory, and the time from a key to the frame that answers it
    Start(BenchStart),
    /// Records: what a value costs the run that reports it, and how long a record of millions takes to load
    Load(BenchLoad),
}

/// Measures the program on a pseudo-terminal.
#[derive(Debug, Args)]
pub struct BenchStart {
    /// How often the program is started
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: u32,
    /// How long keys are typed while a network trains
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub seconds: u32,
    #[command(flatten)]
    pub listing: Listing,
}

/// Measures records.
#[derive(Debug, Args)]
pub struct BenchLoad {
    /// Steps of the run that is recorded
    #[arg(long, value_name = "N", default_value_t = 400_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub steps: u64,
    /// Metrics that it reports at every step
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=30))]
    pub metrics: u64,
    /// How often the record is loaded
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    #[command(flatten)]
    pub listing: Listing,
}

/// Measures training steps.
#[derive(Debug, Args)]
pub struct BenchTrain {
    /// How often each side is run; the sides take turns
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Which network: spiral, digits, wide (784-512-512-10) or llama; all if not given
    #[arg(long, value_name = "NAME", value_parser = ["spiral", "digits", "wide", "llama"])]
    pub network: Option<String>,
    #[command(flatten)]
    pub listing: Listing,
    #[command(flatten)]
    pub machine: Machine,
}

/// Measures the parts of a training step.
#[derive(Debug, Args)]
pub struct BenchLlama {
    /// How often step and parts are run; they take turns
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub rounds: u32,
    #[command(flatten)]
    pub listing: Listing,
    #[command(flatten)]
    pub machine: Machine,
}

/// Measures the interpreter of kernels.
#[derive(Debug, Args)]
pub struct BenchKernel {
    /// How often each kernel is launched; they take turns
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: u32,
    /// Elements of a launch
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub elements: u32,
    #[command(flatten)]
    pub listing: Listing,
}

/// Measures the walk over a collective's messages.
#[derive(Debug, Args)]
pub struct BenchCollective {
    /// How often each algorithm is walked; they take turns
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Ranks that sum
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(2..=65_536))]
    pub ranks: u32,
    #[command(flatten)]
    pub listing: Listing,
}

/// Measures the screen.
#[derive(Debug, Args)]
pub struct BenchScreen {
    /// How many frames are drawn of each kind
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: u32,
    #[command(flatten)]
    pub listing: Listing,
}
