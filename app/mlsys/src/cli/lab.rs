//! Options of `mlsys lab`, `mlsys runs` and `mlsys bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::{Listing, Machine};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = include_str!("help/lab.txt"))]
pub struct Lab {
    #[command(subcommand)]
    pub about: Option<AboutLabs>,
    /// The lab's kind, as `mlsys lab list` shows it
    #[arg(required = true)]
    pub kind: Option<String>,
    /// Begin with the lab's preset of this name, as `mlsys lab show KIND` lists them
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Give a parameter a value, over the preset's; may be given again
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Set the lab's model to the one of this Hugging Face config.json
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Run the lab once with each of these texts as its source, and print what they cost side by side
    #[arg(long, value_name = "FILE", num_args = 2.., conflicts_with = "save_weights")]
    pub compare: Vec<PathBuf>,
    /// Read data files, such as MNIST's, from this folder
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    /// Start from the weights in this file or folder instead of random ones
    #[arg(long, value_name = "FILE")]
    pub load_weights: Option<PathBuf>,
    /// Write the weights to this file at the end: .bpk to go on with, .safetensors for other programs and labs, FOLDER/ for transformers
    #[arg(long, value_name = "FILE")]
    pub save_weights: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub machine: Machine,
}

#[derive(Debug, Subcommand)]
pub enum AboutLabs {
    /// Check files of labs that are data: every mistake at once, and a run with the defaults and each preset
    Check {
        /// The files, such as labs/my-lab.toml of a course
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// List all labs
    List(Listing),
    /// Describe a lab: parameters, metrics, formula, source
    Show {
        /// The lab's kind
        kind: String,
        #[command(flatten)]
        listing: Listing,
    },
}

#[derive(Debug, Subcommand)]
#[command(after_help = include_str!("help/runs.txt"))]
pub enum Runs {
    /// List recorded runs, the newest last
    List(ListRuns),
    /// Show what a run was and what it reported, also while it goes on
    Show {
        /// The run
        run: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Put runs side by side: which parameters differ, and what the metrics came to
    Compare {
        /// The runs; ratios are to the first
        #[arg(value_name = "RUN", num_args = 2.., required = true)]
        runs: Vec<String>,
        #[command(flatten)]
        listing: Listing,
    },
    /// Write a run's series in a form that other programs read
    Export(ExportRun),
    /// Delete runs; one that goes on is left alone
    Remove {
        /// The runs
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
    },
    /// Delete old runs, or the oldest of too many; one that goes on is left alone
    Prune(PruneRuns),
}

#[derive(Debug, Args)]
#[group(id = "limits", required = true, multiple = true, args = ["older", "above"])]
pub struct PruneRuns {
    /// Delete runs that started longer ago than this: 30days, 12h
    #[arg(long, value_name = "AGE", value_parser = humantime::parse_duration)]
    pub older: Option<Duration>,
    /// Delete the oldest until all take at most this: 500MB, 2GB
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub above: Option<u64>,
    /// Say what would be deleted, and delete nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// A text that is no size, or no parameter with a value.
#[derive(Debug, thiserror::Error)]
pub enum BadOption {
    #[error("write a size such as 500MB or 2GB")]
    Size,
    #[error("write a parameter and its value, such as learning_rate=0.1")]
    Setting,
}

fn bytes(text: &str) -> Result<u64, BadOption> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let scale = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "KB" | "K" => 1_000,
        "MB" | "M" => 1_000_000,
        "GB" | "G" => 1_000_000_000,
        "TB" | "T" => 1_000_000_000_000,
        _ => return Err(BadOption::Size),
    };
    let number: u64 = number.parse().map_err(|_| BadOption::Size)?;
    number.checked_mul(scale).ok_or(BadOption::Size)
}

fn setting(text: &str) -> Result<(String, String), BadOption> {
    let (name, value) = text.split_once('=').ok_or(BadOption::Setting)?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

#[derive(Debug, Args)]
pub struct ListRuns {
    /// Only runs of this kind of lab
    #[arg(long, value_name = "KIND")]
    pub lab: Option<String>,
    /// Only runs that this lesson asked for
    #[arg(long, value_name = "ID")]
    pub lesson: Option<String>,
    /// Only runs with this parameter at this value; may be given again
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// Only this number of the newest
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub listing: Listing,
}

#[derive(Debug, Args)]
pub struct ExportRun {
    /// The run
    pub run: String,
    /// csv and jsonl: one line a step; tensorboard: an event file in a folder of the run's own, with its parameters
    #[arg(long, value_enum, default_value_t = RunFormat::Csv)]
    pub format: RunFormat,
    /// The file to write, or for tensorboard the folder that TensorBoard is told; - is standard output
    #[arg(short, long, value_name = "PATH", default_value = "-")]
    pub output: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RunFormat {
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object a line.
    Jsonl,
    /// TensorBoard's event file.
    Tensorboard,
}

#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Training steps: a loop written by hand, the same without a screen, and on the screen
    Train(DeviceWorkload<mlsys_benches::train::Options>),
    /// Where the time of a training step of the tiny llama goes: phases, and each part on its own
    Llama(DeviceWorkload<mlsys_benches::llama::Options>),
    /// Training steps of the tiny llama at several widths and contexts, next to their operations
    Scaling(DeviceWorkload<mlsys_benches::scaling::Options>),
    /// Generation: tokens of the tiny llama with cached keys and values, by hand and as the lab
    Generate(DeviceWorkload<mlsys_benches::generate::Options>),
    /// Kernels: what the interpreter takes for a launch of a million threads with everything counted
    Kernel(Workload<mlsys_benches::simulated::KernelOptions>),
    /// Collectives: what counting every message of a large all-reduce takes
    Collective(Workload<mlsys_benches::simulated::CollectiveOptions>),
    /// The screen: the time of a frame with four charts, its bytes, and what recording a metric costs
    Screen(Workload<mlsys_benches::screen::Options>),
    /// The first frame, memory, and the time from a key to the frame that answers it
    #[cfg(unix)]
    Start(Workload<mlsys_benches::start::Options>),
    /// Records: what a value costs the run that reports it, and how long a record of millions takes to load
    Load(Workload<mlsys_benches::load::Options>),
}

#[derive(Debug, Args)]
pub struct Workload<O: Args> {
    #[command(flatten)]
    pub options: O,
    #[command(flatten)]
    pub listing: Listing,
}

#[derive(Debug, Args)]
pub struct DeviceWorkload<O: Args> {
    #[command(flatten)]
    pub workload: Workload<O>,
    #[command(flatten)]
    pub machine: Machine,
}
