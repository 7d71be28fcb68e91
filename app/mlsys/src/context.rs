//! The context of a command: console, devices, folders, and the global options.

use std::path::{Path, PathBuf};

use mlsys_lab::Registry;
use mlsys_lesson::{CourseId, LearnerId, Progress, Sheet};
use mlsys_run::console::Console;
use mlsys_run::devices::Devices;
use mlsys_run::library::Library;
use mlsys_run::library::languages::Languages;
use mlsys_run::process::{Exit, Failure, Interrupt};
use mlsys_run::sources::Store;
use mlsys_run::storage::{self, NoDataFolder, Paths};

use crate::cli::{Display, Reader};

pub struct Context<'a> {
    pub console: &'a mut Console,
    pub devices: Devices,
    /// Ctrl-C, once [`Context::listen`] was called.
    pub interrupt: Interrupt,
    /// The data folder, if there is a place for it.
    pub paths: Result<Paths, NoDataFolder>,
    pub store: Store,
    pub built_in: &'static Registry,
    /// These and those of the course that was opened last.
    pub registry: &'static Registry,
    /// `--course`; without it the built-in course.
    pub course: Option<PathBuf>,
    /// `--learner`: the learner that questions draw their numbers for, and the id of a submission.
    pub learner: Option<LearnerId>,
    pub languages: Languages,
    /// `--workers`: processes that lend their devices to the workers of labs.
    pub workers: Option<String>,
    pub reader: Reader,
    pub display: Display,
}

impl Context<'_> {
    /// From now on Ctrl-C ends runs in order.
    pub fn listen(&mut self) {
        match Interrupt::listen() {
            Ok(interrupt) => self.interrupt = interrupt,
            Err(error) => {
                self.console.warn(format_args!("Ctrl-C will end runs without a record: {error}"))
            }
        }
    }

    /// The course, with the learner's numbers in its questions.
    pub fn library(&mut self) -> Result<Library, Failure> {
        let library = match self.course.clone() {
            Some(path) => self.open_course(&path)?,
            None => Library::built_in(self.built_in),
        };
        Ok(match &self.learner {
            Some(learner) => library.for_learner(learner),
            None => library,
        })
    }

    /// What the learner's numbers depend on, if there is a learner.
    pub fn sheet(&mut self) -> Result<Option<Sheet>, Failure> {
        let Some(learner) = self.learner.clone() else { return Ok(None) };
        Ok(Some(self.library()?.sheet(&learner)))
    }

    /// A course, the labs of which are known from now on.
    pub fn open_course(&mut self, path: &Path) -> Result<Library, Failure> {
        let library = Library::open(path, self.built_in)?;
        self.registry = library.registry();
        Ok(library)
    }

    /// What the learner has done in a course; the log need not be writable to be read.
    pub fn progress(&mut self, course: &CourseId) -> Result<Progress, Failure> {
        let path = self.paths.as_ref()?.progress();
        let (replay, trouble) = storage::read_progress(&path, course).map_err(|error| {
            Failure::Usage(format!("{} cannot be read: {error}", path.display()))
        })?;
        trouble.iter().for_each(|trouble| self.console.warn(trouble));
        Ok(replay.progress)
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

    pub fn failed(&mut self, exit: Exit, reason: &str) -> Exit {
        self.console.note(format_args!("error: {reason}"));
        exit
    }
}
