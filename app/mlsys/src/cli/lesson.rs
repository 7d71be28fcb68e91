//! Options of `mlsys lesson`, `mlsys run` and `mlsys course`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use mlsys_lesson::Timestamp;

use super::AnswerLimits;
use super::Machine;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/run.txt"))]
pub struct RunLessons {
    /// Lessons, by id or path
    #[arg(value_name = "LESSON", required_unless_present = "all")]
    pub lessons: Vec<String>,
    /// Every lesson of the course
    #[arg(long, conflicts_with = "lessons")]
    pub all: bool,
    /// With --all: only lessons with this text in their id or title
    #[arg(long, value_name = "TEXT", requires = "all", conflicts_with = "lessons")]
    pub filter: Option<String>,
    /// With --all: the I-th of N parts, such as 1/4, of about equal numbers of lessons
    #[arg(long, value_name = "I/N", requires = "all", conflicts_with = "lessons", value_parser = Shard::parse)]
    pub shard: Option<Shard>,
    /// Lessons at a time; a lab with a judged time runs alone [default: the number of processors]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Write a report: junit, json, gradescope, markdown or github; - is standard output; may be given again
    #[arg(long, value_name = "FORMAT=FILE", value_parser = crate::reports::Target::parse)]
    pub report: Vec<crate::reports::Target>,
    /// Grade the answers in this file
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Grade by the complete course, or by a key, where the course's lessons have no answers
    #[arg(long, value_name = "FILE", requires = "answers")]
    pub key: Option<PathBuf>,
    #[command(flatten)]
    pub limits: AnswerLimits,
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

/// One of `of` parts, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    pub index: usize,
    pub of: usize,
}

impl Shard {
    fn parse(text: &str) -> Result<Self, &'static str> {
        let parts = text.split_once('/').map(|(index, of)| (index.parse(), of.parse()));
        match parts {
            Some((Ok(index), Ok(of))) if (1..=of).contains(&index) => Ok(Self { index, of }),
            _ => Err("write I/N with I from 1 to N, such as 2/4"),
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Lesson {
    /// Check lessons: all mistakes at once, and whether labs, checks and answers hold
    Check(CheckLessons),
    /// Write a commented lesson, or with --course a course, to start from; existing files are left alone
    New {
        /// The file to write
        path: Option<PathBuf>,
        /// With --course: write the files of a service that checks the course or grades submissions
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
        /// Write the files of a service that checks the course or grades submissions
        #[arg(long, value_name = "SERVICE")]
        ci: Option<Ci>,
    },
}

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

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/course-pack.txt"))]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Ci {
    /// GitHub Actions: check and run the course, and grade the files in submissions/
    Github,
    /// An autograder for Gradescope
    Gradescope,
    /// A template repository for GitHub Classroom
    Classroom,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/grade.txt"))]
pub struct Grade {
    /// Submissions, or folders with submissions
    #[arg(value_name = "FILE|DIR", required = true)]
    pub submissions: Vec<PathBuf>,
    /// Grade by the complete course, or by a key, where the course's lessons have no answers
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The table to write; the same name with .json and .html for the other two
    #[arg(long, short, value_name = "FILE.csv")]
    pub output: PathBuf,
    /// Write a report, too: junit, json, gradescope, markdown or github; - is standard output; may be given again
    #[arg(long, value_name = "FORMAT=FILE", value_parser = crate::reports::Target::parse)]
    pub report: Vec<crate::reports::Target>,
    /// Count all answers as given at this time, not when the learners' clocks say: 2027-03-01T23:59:00+01:00
    #[arg(long, value_name = "TIME")]
    pub received: Option<Timestamp>,
    /// Submissions at a time [default: the number of processors]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub limits: AnswerLimits,
    #[command(flatten)]
    pub machine: Machine,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/progress-cohort.txt"))]
pub struct CohortOf {
    /// Exported files, one a learner
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub format: CohortFormat,
    #[command(flatten)]
    pub limits: AnswerLimits,
    /// Name learners by their files
    #[arg(long)]
    pub names: bool,
    /// The file to write; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

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
