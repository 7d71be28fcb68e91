//! The command line: what can be typed, and the texts that explain it.

mod lab;
mod lesson;
mod limits;
mod model;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use mlsys_lab::device::DeviceChoice;
use mlsys_lab::nearest::nearest;

pub use lab::{
    AboutLabs, Bench, DeviceWorkload, ExportRun, Lab, ListRuns, PruneRuns, RunFormat, Runs,
    Workload,
};
pub use lesson::{
    CheckLessons, Ci, CohortOf, Course, Grade, Lesson, PackCourse, RunLessons, Shard,
};
pub use limits::{AnswerLimits, GradeFile, ProcessLimits};
pub use model::Model;

/// The heading of the options that every command takes, below its own.
const EVERYWHERE: &str = "Options of every command";

/// The variable that names the learner.
pub const LEARNER: &str = "MLSYS_LEARNER";

/// An interactive workbench for learning machine-learning systems.
#[derive(Debug, Parser)]
#[command(name = "mlsys", version, infer_long_args = true, max_term_width = 100)]
#[command(disable_version_flag = true, after_help = include_str!("cli/help/mlsys.txt"))]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub display: Display,
    /// Work on this course: a folder with a course.toml, or an archive that `mlsys course pack` wrote
    #[arg(long, global = true, help_heading = EVERYWHERE, env = "MLSYS_COURSE", value_name = "DIR|FILE")]
    pub course: Option<OsString>,
    /// The learner's id: questions with numbers of the learner's own show those, and an export is a submission
    ///
    /// Without it questions show their printed numbers.
    #[arg(long, global = true, help_heading = EVERYWHERE, env = LEARNER, value_name = "ID", hide_env_values = true)]
    pub learner: Option<String>,
    /// Show lessons in this language where they are translated: fr, pt-BR
    #[arg(long, global = true, help_heading = EVERYWHERE, env = "MLSYS_LANG", value_name = "LANG")]
    pub lang: Option<String>,
    /// Labs that split their work: devices of these processes for the workers, in turn (`mlsys worker`)
    ///
    /// Each as the worker has printed it, with its token: ws://127.0.0.1:4100/#TOKEN. @FILE reads them from a file, a line
    /// each, because other accounts of this machine can see what is typed here.
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "URL,URL", value_parser = mlsys_run::settings::workers)]
    pub workers: Option<String>,
    #[command(flatten)]
    pub reader: Reader,
    /// Print the version
    #[arg(short = 'V', long)]
    pub version: bool,
    /// With --version: also the commit, the platform and the back ends
    #[arg(long, requires = "version")]
    pub verbose: bool,
}

impl Cli {
    /// Reads what was typed. An option of the workbench before a command is refused: the command has options of its own.
    pub fn read(typed: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut workbench = Self::command();
        let matches = workbench.try_get_matches_from_mut(typed)?;
        if let Some((command, _)) = matches.subcommand() {
            let source = |option: &clap::Arg| matches.value_source(option.get_id().as_str());
            let ignored = |option: &&clap::Arg| {
                !option.is_global_set() && source(option) == Some(ValueSource::CommandLine)
            };
            let found = workbench.get_arguments().find(ignored).map(ToString::to_string);
            if let Some(option) = found {
                let message = format!(
                    "'{option}' has no effect before '{command}': options of a command follow its name"
                );
                return Err(workbench.error(ErrorKind::ArgumentConflict, message));
            }
        }
        Self::from_arg_matches(&matches)
    }
}

#[derive(Clone, Debug, Default, Args)]
pub struct Reader {
    /// Allow the instructor view: key i shows notes and answers; nothing that is answered is kept
    #[arg(long)]
    pub instructor: bool,
}

#[derive(Clone, Debug, Default, Args)]
pub struct Display {
    /// Colours: auto, dark, light, another theme's name, or a theme file
    ///
    /// auto asks the terminal what colour is behind its text. `mlsys theme list` shows all names.
    #[arg(long, env = "MLSYS_THEME", value_name = "THEME", hide_env_values = true)]
    pub theme: Option<String>,
    /// Go line by line, without a screen: for screen readers, logs and scripts
    #[arg(long, env = "MLSYS_PLAIN", value_parser = clap::builder::FalseyValueParser::new(), hide_env_values = true)]
    pub plain: bool,
}

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
    /// Describe a language model from its Hugging Face config.json
    #[command(subcommand)]
    Model(Model),
    /// Run lessons without a screen: labs, checks and answers, with reports for CI and graders
    Run(RunLessons),
    /// Grade learners' submissions: a table for spreadsheets, JSON and a page
    Grade(Grade),
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
    /// Serve this machine's device to runs elsewhere, which name it with --workers
    Worker(Worker),
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
    /// Print the completions of a shell
    Completions {
        /// The shell that reads them
        shell: Shell,
    },
    /// Write the manual pages, one for each command
    Manual {
        /// The folder to write them into
        folder: PathBuf,
    },
    /// Grade the answer on standard input in this process, which its parent may kill
    #[command(hide = true)]
    GradeAnswer(ProcessLimits),
    /// Grade one submission in this process
    #[command(hide = true)]
    GradeFile(GradeFile),
    /// List the devices as JSON in this process, which its parent may kill
    #[command(hide = true)]
    ProbeDevices,
    /// Measure what the workbench itself costs, on this machine
    #[command(subcommand)]
    Bench(Bench),
}

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

#[derive(Clone, Copy, Debug, Args)]
pub struct Machine {
    /// Where to run: auto, cpu, wgpu, wgpu:N, cuda or cuda:N
    ///
    /// auto takes CUDA if a driver and a device answer, else a GPU through wgpu, else the processor.
    #[arg(
        long,
        env = "MLSYS_DEVICE",
        value_name = "DEVICE",
        default_value_t,
        hide_default_value = true
    )]
    pub device: DeviceChoice,
    /// The seed of everything drawn at random: data, first weights, shuffles
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u64>,
}

#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = include_str!("cli/help/worker.txt"))]
pub struct Worker {
    /// Listen on this address of this machine; port 0 takes any that is free
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4100", value_parser = mlsys_device::workers::listening)]
    pub listen: SocketAddr,
    /// The device that is served: auto, cpu, wgpu, wgpu:N, cuda or cuda:N
    #[arg(
        long,
        env = "MLSYS_DEVICE",
        value_name = "DEVICE",
        default_value_t,
        hide_default_value = true
    )]
    pub device: DeviceChoice,
}

#[derive(Debug, Args)]
pub struct Open {
    /// A lesson's id, such as systems/training-loop, or the path of a lesson file
    #[arg(required_unless_present = "model")]
    pub lesson: Option<String>,
    /// Open the page of the model of this Hugging Face config.json, with the labs that take it
    #[arg(long, value_name = "FILE", conflicts_with = "lesson")]
    pub model: Option<PathBuf>,
    /// Put a knob where it is wanted, such as run.learning_rate=0.1; may be given again
    #[arg(long, value_name = "LAB.KNOB=VALUE")]
    pub set: Vec<String>,
    /// Run the lesson's first lab and draw the screen into this SVG file instead
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Columns and rows of the drawn screen
    #[arg(long, value_name = "WxH", default_value = "120x40", value_parser = size, requires = "svg")]
    pub size: (u16, u16),
    /// Type these keys before the screen is drawn, such as `....` to step on four times
    #[arg(
        long,
        value_name = "KEYS",
        default_value = "",
        hide_default_value = true,
        requires = "svg"
    )]
    pub keys: String,
    #[command(flatten)]
    pub display: Display,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub reader: Reader,
}

/// A size that no screen has, or none at all.
#[derive(Debug, thiserror::Error)]
#[error("write columns and rows, such as 120x40")]
struct BadSize;

fn size(text: &str) -> Result<(u16, u16), BadSize> {
    let parsed = text.split_once('x').and_then(|(width, height)| {
        Some((width.parse::<u16>().ok()?, height.parse::<u16>().ok()?))
    });
    match parsed {
        Some((width @ 20..=500, height @ 5..=200)) => Ok((width, height)),
        Some(_) | None => Err(BadSize),
    }
}

#[derive(Clone, Copy, Debug, Args)]
pub struct Listing {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AskGlossary {
    /// The term, by any of its names; all terms without it
    pub term: Option<String>,
    #[command(flatten)]
    pub listing: Listing,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct Keys {
    /// As the page docs/keys.md
    #[arg(long)]
    pub markdown: bool,
}

#[derive(Debug, Args)]
pub struct Report {
    /// A lesson's id, or a run as `mlsys runs show` takes it, such as last
    #[arg(value_name = "RUN|LESSON")]
    pub subject: String,
    /// The file to write; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

#[derive(Debug, Subcommand)]
pub enum Progress {
    /// Show points and answers by lesson
    Show(Listing),
    /// Write all answers to a file that `mlsys run --answers` grades, with --learner a submission; - is standard output
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

/// The command that an unknown one most likely stands for, where clap suggests none: one with two letters swapped, or one of
/// the workbench after the name of a family (`mlsys lesson list`).
pub fn meant(error: &clap::Error) -> Option<String> {
    let (Some(ContextValue::String(typed)), None) =
        (error.get(ContextKind::InvalidSubcommand), error.get(ContextKind::SuggestedSubcommand))
    else {
        return None;
    };
    let known = Cli::command();
    let shown = known.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<&str> = shown.map(clap::Command::get_name).collect();
    nearest(typed, names).map(|near| format!("mlsys {near}"))
}

#[cfg(test)]
mod documents;
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
        assert_eq!(meant("lba").as_deref(), Some("mlsys lab"));
        assert_eq!(meant("zzzzzz"), None);
    }
}
