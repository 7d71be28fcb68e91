//! `mlsys runs`: what was recorded.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Listing;

/// Past runs.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
RUN is a run's name as `mlsys runs list` shows it, the beginning of one, the path of its folder, or last, last-1, last-2
and so on for the newest, the one before it, and the one before that.

Examples:
  mlsys runs list --lab train --limit 5
  mlsys runs compare last-1 last
  mlsys runs export last --format csv -o - | head")]
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
}

/// Lists recorded runs.
#[derive(Debug, Args)]
pub struct ListRuns {
    /// Only runs of this kind of lab
    #[arg(long, value_name = "KIND")]
    pub lab: Option<String>,
    /// Only runs that this lesson asked for
    #[arg(long, value_name = "ID")]
    pub lesson: Option<String>,
    /// Only so many of the newest
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub listing: Listing,
}

/// Writes a run for other programs.
#[derive(Debug, Args)]
pub struct ExportRun {
    /// The run
    pub run: String,
    /// csv and jsonl: one line a step; tensorboard: an event file
    #[arg(long, value_enum, default_value_t = RunFormat::Csv)]
    pub format: RunFormat,
    /// The file to write, or for tensorboard the folder that TensorBoard is told; - is standard output
    #[arg(short, long, value_name = "PATH", default_value = "-")]
    pub output: PathBuf,
}

/// The forms in which a run is written for other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RunFormat {
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object a line.
    Jsonl,
    /// TensorBoard's event file.
    Tensorboard,
}
