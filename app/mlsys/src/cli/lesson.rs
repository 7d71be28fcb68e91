//! `mlsys run` and `mlsys lesson`: lessons run without a screen, written and checked.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Ci, Machine};

/// Runs lessons without a screen.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --answers, the answers that the lesson itself states are tried on its own questions. With --answers, a
learner's answers are graded; a question without an answer earns 0 points. `mlsys progress export` writes that file.

A check of class hardware that fails is tried twice more; what still fails is reported as unstable and fails the run
only with --strict-hardware. Where its device is missing it is skipped and costs nothing.

Examples:
  mlsys run systems/training-loop --device cpu
  mlsys run --all --report junit=junit.xml --report markdown=-
  mlsys run my-lesson.md --answers answers.json --report gradescope=results.json")]
pub struct RunLessons {
    /// Lessons, by id or path
    #[arg(value_name = "LESSON", required_unless_present = "all")]
    pub lessons: Vec<String>,
    /// Every lesson of the course
    #[arg(long, conflicts_with = "lessons")]
    pub all: bool,
    /// Write a report: junit, json, gradescope or markdown; - is standard output; may be given again
    #[arg(long, value_name = "FORMAT=FILE", value_parser = crate::reports::Target::parse)]
    pub report: Vec<crate::reports::Target>,
    /// Grade the answers in this file
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Grade by the complete course, or by a key, where the course's lessons have no answers
    #[arg(long, value_name = "FILE", requires = "answers")]
    pub key: Option<PathBuf>,
    /// Fail where a hardware check fails three times
    #[arg(long)]
    pub strict_hardware: bool,
    /// Give a lab's parameter a value, such as run.steps=50; may be given again
    #[arg(long, value_name = "LAB.PARAM=VALUE")]
    pub set: Vec<String>,
    /// Read data files, such as MNIST's, from this folder
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub machine: Machine,
}

/// What an author of lessons needs.
#[derive(Debug, Subcommand)]
pub enum Lesson {
    /// Check lessons: all mistakes at once, and whether labs, checks and answers hold
    Check(CheckLessons),
    /// Write a commented lesson, or with --course a course, to start from; existing files are left alone
    New {
        /// The file to write
        path: Option<PathBuf>,
        /// With --course: write a workflow that checks and runs the course on each push
        #[arg(long, value_name = "SERVICE", conflicts_with = "path")]
        ci: Option<Ci>,
    },
    /// Print the JSON Schema of lesson files' front matter and directives
    Schema,
    /// Write a file with all texts of a lesson, to be translated
    Translate {
        /// The lesson file
        path: PathBuf,
        /// The language, such as fr or pt-BR
        lang: String,
    },
    /// Open the workbench at a lesson file, or a translation of one, and follow it while it is written
    Preview {
        /// The lesson file
        path: PathBuf,
        #[command(flatten)]
        machine: Machine,
    },
}

/// Checks lessons.
#[derive(Debug, Args)]
pub struct CheckLessons {
    /// Lesson files, or folders with lesson files
    #[arg(value_name = "PATH", required_unless_present = "library")]
    pub paths: Vec<PathBuf>,
    /// The lessons of the course; without --course, the built-in ones
    #[arg(long, conflicts_with = "paths")]
    pub library: bool,
    /// Read the lessons only: run no lab
    #[arg(long)]
    pub no_run: bool,
    #[command(flatten)]
    pub machine: Machine,
}
