//! What the grading of one answer may take.

use std::path::PathBuf;

use clap::Args;

const SECONDS: u64 = 30;

const MEMORY: u64 = 1024;

#[derive(Clone, Copy, Debug, Args)]
pub struct AnswerLimits {
    /// Seconds that the grading of one answer may take
    #[arg(long, value_name = "N", default_value_t = SECONDS, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub answer_seconds: u64,
    /// MiB of memory that it may take
    #[arg(long, value_name = "N", default_value_t = MEMORY, value_parser = clap::value_parser!(u64).range(64..=1 << 20))]
    pub answer_memory: u64,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        Self { answer_seconds: SECONDS, answer_memory: MEMORY }
    }
}

/// The limits that the process sets itself; its parent watches the clock.
#[derive(Clone, Copy, Debug, Args)]
pub struct ProcessLimits {
    #[arg(long)]
    pub seconds: u64,
    #[arg(long)]
    pub memory: u64,
}

/// A file that a process grades.
#[derive(Clone, Debug, Args)]
pub struct GradeFile {
    pub file: PathBuf,
    #[arg(long)]
    pub answer_seconds: u64,
    #[command(flatten)]
    pub process: ProcessLimits,
}
