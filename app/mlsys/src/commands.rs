//! The commands, one module each, and what they share.

mod bench;
mod course;
mod doctor;
mod glossary;
mod keys;
mod lab;
mod lesson;
mod list;
mod open;
mod progress;
mod report;
mod run;
mod runs;
mod theme;
mod worker;

use std::path::PathBuf;
use std::{fs, io};

use mlsys_lesson::{CourseId, Progress};

use crate::cli::{Cli, Command, Display, Lesson, Reader};
use mlsys_run::console::Console;
use mlsys_run::devices::Devices;
use mlsys_run::exit::{Exit, Failure};
use mlsys_run::interrupt::Interrupt;
use mlsys_run::library::Library;
use mlsys_run::library::languages::Languages;
use mlsys_run::paths::{NoDataFolder, Paths};
use mlsys_run::peaks;
use mlsys_run::sources::Store;

/// What commands work with.
pub struct World<'a> {
    /// Where results and messages go.
    pub console: &'a mut Console,
    /// The devices of this machine.
    pub devices: Devices,
    /// Ctrl-C, once somebody listens for it.
    pub interrupt: Interrupt,
    /// Where runs and progress are kept, if there is a place.
    pub paths: Result<Paths, NoDataFolder>,
    /// What runs have left for others so far.
    pub left: Store,
    /// The course that was asked for; without one, the built-in course.
    pub course: Option<PathBuf>,
    /// The languages in which lessons are shown.
    pub languages: Languages,
    /// The processes whose devices the workers of labs take, as `--workers` names them.
    pub workers: Option<String>,
    /// For whom the workbench shows lessons.
    pub reader: Reader,
    /// How the workbench is to be shown.
    pub display: Display,
}

/// Does what the command line asks for.
pub fn dispatch(cli: Cli, console: &mut Console) -> Result<Exit, Failure> {
    if cli.workers.is_some() && !may_split(cli.command.as_ref()) {
        return Err(Failure::usage(
            "--workers changes nothing here: it is for labs that split their work, in `mlsys lab KIND`, `mlsys run`, \
             `mlsys open`, `mlsys lesson preview` and the workbench",
        ));
    }
    let mut world = World {
        console,
        devices: Devices::default(),
        interrupt: Interrupt::default(),
        paths: Paths::find(),
        left: Store::default(),
        display: cli.display,
        course: cli.course.filter(|course| !course.is_empty()).map(PathBuf::from),
        languages: Languages::detect(cli.lang.as_deref(), &|name| std::env::var(name).ok()),
        reader: cli.reader,
        workers: cli.workers,
    };
    match cli.command {
        None => open::course(cli.machine, &mut world),
        Some(Command::Open(options)) => {
            world.display = options.display.clone();
            open::lesson(&options, &mut world)
        }
        Some(Command::List(listing)) => list::run(listing, &mut world),
        Some(Command::Lab(options)) => lab::run(&options, &mut world),
        Some(Command::Run(options)) => run::run(&options, &mut world),
        Some(Command::Lesson(asked)) => lesson::run(&asked, &mut world),
        Some(Command::Glossary(asked)) => glossary::run(&asked, world.console),
        Some(Command::Theme(asked)) => theme::run(&asked, &mut world),
        Some(Command::Keys(options)) => keys::run(options, world.console),
        Some(Command::Course(asked)) => course::run(&asked, &mut world),
        Some(Command::Worker(options)) => worker::run(options, &mut world),
        Some(Command::Doctor(listing)) => doctor::run(listing, &mut world),
        Some(Command::Runs(asked)) => runs::run(&asked, &mut world),
        Some(Command::Report(options)) => report::run(&options, &mut world),
        Some(Command::Progress(asked)) => progress::run(&asked, &mut world),
        Some(Command::Bench(asked)) => bench::run(&asked, &mut world),
    }
}

/// Whether a command runs labs on whose workers `--workers` has a say.
fn may_split(command: Option<&Command>) -> bool {
    match command {
        None | Some(Command::Open(_) | Command::Run(_)) => true,
        Some(Command::Lab(options)) => options.about.is_none(),
        Some(Command::Lesson(asked)) => matches!(asked, Lesson::Preview { .. }),
        Some(
            Command::List(_)
            | Command::Glossary(_)
            | Command::Course(_)
            | Command::Theme(_)
            | Command::Keys(_)
            | Command::Worker(_)
            | Command::Doctor(_)
            | Command::Runs(_)
            | Command::Report(_)
            | Command::Progress(_)
            | Command::Bench(_),
        ) => false,
    }
}

impl World<'_> {
    /// From now on Ctrl-C ends runs in order.
    pub fn listen(&mut self) {
        match Interrupt::listen() {
            Ok(interrupt) => self.interrupt = interrupt,
            Err(error) => {
                self.console.warn(format_args!("Ctrl-C will end runs without a record: {error}"))
            }
        }
    }

    /// The files of the course that is worked on.
    pub fn library(&self) -> Result<Library, Failure> {
        match &self.course {
            Some(path) => Library::open(path),
            None => Ok(Library::built_in()),
        }
    }

    /// What the learner has done in a course; the log need not be writable to be read.
    pub fn progress(&mut self, course: &CourseId) -> Result<Progress, Failure> {
        let paths = self.paths.as_ref();
        let path = paths.map_err(|error| Failure::usage(error.to_string()))?.progress();
        match fs::read(&path) {
            Ok(log) => {
                let replay = Progress::replay_course(&log, course);
                if let Some(trouble) = replay.trouble() {
                    self.console.warn(format_args!("progress in {}: {trouble}", path.display()));
                }
                Ok(replay.progress)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Progress::of_course(course.clone()))
            }
            Err(error) => {
                Err(Failure::Usage(format!("{} cannot be read: {error}", path.display())))
            }
        }
    }

    /// The folder for records of runs; without one, a warning.
    pub fn runs(&mut self) -> Option<PathBuf> {
        match &self.paths {
            Ok(paths) => Some(paths.runs()),
            Err(error) => {
                self.console.warn(format_args!("runs are not recorded: {error}"));
                None
            }
        }
    }

    /// The highest rate measured on a device, if a saved run of lab `device-peak` tells it.
    pub fn measured_peak(&self, device: &str) -> Option<f64> {
        peaks::recorded(&self.paths.as_ref().ok()?.runs(), device)
    }

    /// Tells why a command did not do what was asked.
    pub fn failed(&mut self, exit: Exit, reason: &str) -> Exit {
        self.console.note(format_args!("error: {reason}"));
        exit
    }
}
