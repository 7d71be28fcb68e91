//! What can be typed about courses.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Machine;

/// What an author of courses needs.
#[derive(Debug, Subcommand)]
pub enum Course {
    /// Check a course: all mistakes in its course.toml, between its lessons and in them, and whether they hold
    Check(CheckCourse),
    /// Pack a course into one file for learners or graders; the same course gives the same bytes
    Pack(PackCourse),
    /// Write a course to start from; existing files are left alone
    New {
        /// The folder to write it into
        folder: PathBuf,
        /// Write a workflow that checks and runs the course on each push
        #[arg(long, value_name = "SERVICE")]
        ci: Option<Ci>,
    },
}

/// Checks a course.
#[derive(Debug, Args)]
pub struct CheckCourse {
    /// A folder with a course.toml, or an archive that `mlsys course pack` wrote
    #[arg(value_name = "DIR|FILE")]
    pub path: PathBuf,
    /// Read the course only: run no lab
    #[arg(long)]
    pub no_run: bool,
    #[command(flatten)]
    pub machine: Machine,
}

/// Packs a course.
#[derive(Debug, Args)]
#[command(after_help = "\
Packed are course.toml, the lessons it lists with their translations, README.md and licences, and a manifest.json with
the SHA-256 of each. Without answers, questions keep what is asked and lose answers, tolerances, wrong answers,
explanations and notes; learners' answers are then recorded, exported with `mlsys progress export`, and graded with
`mlsys run --all --key FILE --answers answers.json`, where FILE is the complete course, or a key written with --key
(then with --course as well).

Examples:
  mlsys course pack my-course -o my-course.tar.gz
  mlsys course pack my-course -o for-learners.tar.gz --without-answers --key key.json")]
pub struct PackCourse {
    /// A folder with a course.toml, or an archive that `mlsys course pack` wrote
    #[arg(value_name = "DIR|FILE")]
    pub path: PathBuf,
    /// The archive to write
    #[arg(long, short, value_name = "FILE.tar.gz")]
    pub output: PathBuf,
    /// Leave out answers, what is said to wrong ones, and notes
    #[arg(long)]
    pub without_answers: bool,
    /// Write what was left out into this file
    #[arg(long, value_name = "FILE", requires = "without_answers")]
    pub key: Option<PathBuf>,
}

/// A service that runs workflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Ci {
    /// GitHub Actions
    Github,
}

/// Reports on a cohort.
#[derive(Debug, Args)]
#[command(after_help = "\
Files are what `mlsys progress export` writes, of the course that is worked on. One that is something else, is cut off
or was written by a newer program is named and left out; the exit code is then 2, and the report is of the others.
Learners are not named without --names, which takes the names of their files.

Example:
  mlsys --course my-course.tar.gz progress cohort exports/*.json --html -o report.html")]
pub struct CohortOf {
    /// Exported files, one a learner
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub format: CohortFormat,
    /// Name learners by their files
    #[arg(long)]
    pub names: bool,
    /// The file to write; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// How a cohort's report is written; without any, as text.
#[derive(Clone, Copy, Debug, Args)]
#[group(multiple = false)]
pub struct CohortFormat {
    /// Write comma-separated values, one fact a row
    #[arg(long)]
    pub csv: bool,
    /// Write one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write one page for a browser
    #[arg(long)]
    pub html: bool,
}
