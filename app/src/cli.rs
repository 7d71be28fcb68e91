//! The command line: what can be typed, and the texts that explain it.

mod course;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, Parser, Subcommand};
use mlsys_lab::device::DeviceChoice;
use mlsys_lab::nearest::nearest;

pub use course::{Ci, CohortOf, Course, PackCourse};

/// An interactive workbench for learning machine-learning systems.
#[derive(Debug, Parser)]
#[command(name = "mlsys", version, infer_long_args = true, max_term_width = 100)]
#[command(after_help = "\
Without a command, mlsys opens the workbench.

Environment:
  MLSYS_DEVICE    the device where --device is not given
  MLSYS_COURSE    the course where --course is not given
  MLSYS_DATA_DIR  the folder that keeps runs and progress
  MLSYS_THEME     the theme where --theme is not given
  MLSYS_PLAIN     1 goes line by line, as --plain does
  NO_COLOR        no colours

Exit codes, the first that applies of 130, 2, 3, 4, 1:
  0    all passed
  1    a check or an answer failed
  2    something was typed wrong, or a lesson is not valid
  3    a device that is needed is missing
  4    a run failed: out of memory, device lost, too slow, not finite
  130  interrupted; a second Ctrl-C ends at once")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Where and from which random numbers the workbench runs labs.
    #[command(flatten)]
    pub machine: Machine,
    /// How the workbench is shown.
    #[command(flatten)]
    pub display: Display,
    /// Work on this course: a folder with a course.toml, or an archive that `mlsys course pack` wrote
    #[arg(long, global = true, env = "MLSYS_COURSE", value_name = "DIR|FILE")]
    pub course: Option<OsString>,
    /// Show lessons in this language where they are translated: fr, pt-BR
    #[arg(long, global = true, env = "MLSYS_LANG", value_name = "LANG")]
    pub lang: Option<String>,
    /// For whom lessons are shown.
    #[command(flatten)]
    pub reader: Reader,
}

/// For whom lessons are shown.
#[derive(Clone, Debug, Default, Args)]
pub struct Reader {
    /// Allow the instructor view: key i shows notes and answers; nothing that is answered is kept
    #[arg(long)]
    pub instructor: bool,
}

/// How the workbench is shown.
#[derive(Clone, Debug, Default, Args)]
pub struct Display {
    /// Colours: auto, dark, light, another theme's name, or a theme file
    ///
    /// auto asks the terminal what colour is behind its text. `mlsys theme list` shows all names.
    #[arg(
        long,
        env = "MLSYS_THEME",
        value_name = "THEME",
        hide_env_values = true
    )]
    pub theme: Option<String>,
    /// Go line by line, without a screen: for screen readers, logs and scripts
    #[arg(long, env = "MLSYS_PLAIN", value_parser = clap::builder::FalseyValueParser::new(), hide_env_values = true)]
    pub plain: bool,
}

/// What can be asked for.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open the workbench at a lesson
    Open(Open),
    /// Show the course: its lessons, how long they take and what they need
    List(Listing),
    /// Say what a term means, or print the course's whole vocabulary
    Glossary(AskGlossary),
    /// Run one lab and print what it finds, or list and describe labs
    Lab(Lab),
    /// Run lessons without a screen: labs, checks and answers, with reports for CI and graders
    Run(RunLessons),
    /// Write, check and preview lessons
    #[command(subcommand)]
    Lesson(Lesson),
    /// Write, check and pack courses
    #[command(subcommand)]
    Course(Course),
    /// Show, print and check themes
    #[command(subcommand)]
    Theme(Theme),
    /// Show the keys of the workbench
    Keys(Keys),
    /// Say what this machine has: devices, terminal, folders
    Doctor(Listing),
    /// Show past runs
    #[command(subcommand)]
    Runs(Runs),
    /// Write a run, or a lesson with its runs and answers, as one HTML page
    Report(Report),
    /// Show, export and import answers and progress
    #[command(subcommand)]
    Progress(Progress),
    /// Measure what the workbench itself costs, on this machine
    #[command(subcommand)]
    Bench(Bench),
}

/// Themes.
#[derive(Debug, Subcommand)]
pub enum Theme {
    /// List all themes
    List,
    /// Print a theme as a file, to begin one of your own with
    Show {
        /// The theme's name
        name: String,
    },
    /// Check theme files: all mistakes at once, and whether every role can be seen
    Check {
        /// The files
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

/// What can be measured.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Training steps: a loop written by hand, the same without a screen, and on the screen
    Train(BenchTrain),
    /// Where the time of a training step of the tiny llama goes: phases, and each part on its own
    Llama(BenchLlama),
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

/// Measures the screen.
#[derive(Debug, Args)]
pub struct BenchScreen {
    /// How many frames are drawn of each kind
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: u32,
    #[command(flatten)]
    pub listing: Listing,
}

/// Where a run takes place and from which random numbers.
#[derive(Clone, Copy, Debug, Args)]
pub struct Machine {
    /// Where to run: auto, cpu, wgpu, wgpu:N, cuda or cuda:N
    ///
    /// auto takes CUDA if a driver and a device answer, else a GPU through wgpu, else the processor.
    #[arg(long, env = "MLSYS_DEVICE", value_name = "DEVICE", default_value_t, hide_default_value = true, value_parser = device)]
    pub device: DeviceChoice,
    /// The seed of everything drawn at random: data, first weights, shuffles
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u64>,
}

/// Opens a lesson.
#[derive(Debug, Args)]
pub struct Open {
    /// A lesson's id, such as systems/training-loop, or the path of a lesson file
    pub lesson: String,
    /// Put a knob where it is wanted, such as run.learning_rate=0.1; may be given again
    #[arg(long, value_name = "LAB.KNOB=VALUE")]
    pub set: Vec<String>,
    /// Run the lesson's first lab and draw the screen into this SVG file instead
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Columns and rows of the drawn screen
    #[arg(long, value_name = "WxH", default_value = "120x40", value_parser = size, requires = "svg")]
    pub size: (u16, u16),
    #[command(flatten)]
    pub display: Display,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub reader: Reader,
}

/// Reads a size such as `120x40`; what no screen has is refused.
fn size(text: &str) -> Result<(u16, u16), String> {
    let parsed = text.split_once('x').and_then(|(width, height)| {
        Some((width.parse::<u16>().ok()?, height.parse::<u16>().ok()?))
    });
    match parsed {
        Some((width @ 20..=500, height @ 5..=200)) => Ok((width, height)),
        Some(_) | None => Err("write columns and rows, such as 120x40".to_owned()),
    }
}

/// Prints something for people or for programs.
#[derive(Clone, Copy, Debug, Args)]
pub struct Listing {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Asks what a term means.
#[derive(Debug, Args)]
pub struct AskGlossary {
    /// The term, by any of its names; all terms without it
    pub term: Option<String>,
    #[command(flatten)]
    pub listing: Listing,
}

/// Shows the keys.
#[derive(Clone, Copy, Debug, Args)]
pub struct Keys {
    /// As the page docs/keys.md
    #[arg(long)]
    pub markdown: bool,
}

/// Runs or explains labs.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Examples:
  mlsys lab list
  mlsys lab show train
  mlsys lab train --preset diverging
  mlsys lab train --set optimizer=sgd --set learning_rate=0.1 --seed 7
  mlsys lab train --preset chain --save-weights chain.safetensors
  mlsys lab graph --set expression=@formula.txt --json

A value is TOML; text and the names of an enum stand as typed. A value that begins with @ is the content of the
file of that name; @@ stands for one @. With --json, one object is printed and nothing else. On a terminal, without
--json, the lab opens in the workbench.")]
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
    /// Read data files, such as MNIST's, from this folder
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    /// Start from the weights in this file instead of random ones
    #[arg(long, value_name = "FILE.bpk")]
    pub load_weights: Option<PathBuf>,
    /// Write the weights to this file at the end: .bpk to load again, .safetensors for other programs
    #[arg(long, value_name = "FILE")]
    pub save_weights: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub machine: Machine,
}

/// What can be asked about labs.
#[derive(Debug, Subcommand)]
pub enum AboutLabs {
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

/// Writes a page about a run or a lesson.
#[derive(Debug, Args)]
pub struct Report {
    /// A lesson's id, or a run as `mlsys runs show` takes it, such as last
    #[arg(value_name = "RUN|LESSON")]
    pub subject: String,
    /// The file to write; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

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

/// Answers and progress.
#[derive(Debug, Subcommand)]
pub enum Progress {
    /// Show points and answers by lesson
    Show(Listing),
    /// Write all answers to a file that `mlsys run --answers` grades; - is standard output
    Export {
        /// The file to write
        file: PathBuf,
    },
    /// Take over the answers of such a file
    Import {
        /// The file to read
        file: PathBuf,
    },
    /// Report on the exported files of many learners: points, wrong answers, predictions
    Cohort(CohortOf),
}

/// The command that a misspelt one most likely meant, where clap has none to suggest: it does not see swapped letters.
pub fn meant(error: &clap::Error) -> Option<String> {
    let (Some(ContextValue::String(typed)), None) = (
        error.get(ContextKind::InvalidSubcommand),
        error.get(ContextKind::SuggestedSubcommand),
    ) else {
        return None;
    };
    let known = Cli::command();
    let names: Vec<&str> = known
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    nearest(typed, names).map(str::to_owned)
}

fn device(text: &str) -> Result<DeviceChoice, String> {
    text.parse()
        .map_err(|error: mlsys_lab::device::ParseDeviceError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_contradicts_itself_nowhere() {
        Cli::command().debug_assert();
    }

    #[test]
    fn swapped_letters_are_seen() {
        let meant = |typed: &str| meant(&Cli::try_parse_from(["mlsys", typed]).unwrap_err());
        assert_eq!(meant("lba").as_deref(), Some("lab"));
        assert_eq!(meant("zzzzzz"), None);
    }
}
