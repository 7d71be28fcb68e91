//! `mlsys run`: lessons without a screen.

mod key;

use std::fs;
use std::path::Path;

use mlsys_lesson::{Answers, Lesson};

use super::World;
use crate::cli::RunLessons;
use crate::reports::{self, summary};
use crate::runner::{self, Graders, HardwareRule, Request};
use key::Grading;
use mlsys_run::exit::{Exit, Failure};
use mlsys_run::library::Library;
use mlsys_run::results::Results;
use mlsys_run::settings;

/// Runs lessons, writes the reports, and says how it went.
pub fn run(options: &RunLessons, world: &mut World<'_>) -> Result<Exit, Failure> {
    let grading = Grading::open(options.key.as_deref(), world)?;
    let library = grading.library();
    let lessons = if options.all {
        library.all(world.console)?
    } else {
        library.valid(options.lessons.iter().map(String::as_str), world.console)?
    };
    let lessons = grading.complete(lessons)?;
    let request = Request {
        device: options.machine.device,
        seed: options.machine.seed,
        set: settings::of_lesson(&options.set)?,
        data_dir: options.data_dir.clone(),
        workers: world.workers.clone(),
        hardware: if options.strict_hardware { HardwareRule::Fail } else { HardwareRule::Report },
        graders: graders(options.answers.as_deref(), &lessons, library, world)?,
        records: world.runs(),
    };
    world.listen();
    let results = runner::run(&lessons, &request, world)?;
    reports::write(&options.report, &results, world.console)?;
    let interrupted = if world.interrupt.is_asked() { Exit::Interrupted } else { Exit::Passed };
    let exit = results.exit().and(interrupted);
    let reports_to_stdout = options.report.iter().any(|target| target.file.is_none());
    tell(&results, exit, reports_to_stdout, world)?;
    Ok(exit)
}

/// The summary: a result where the lessons could be run, else a message, which leaves standard output empty.
fn tell(
    results: &Results,
    exit: Exit,
    reports_to_stdout: bool,
    world: &mut World<'_>,
) -> Result<(), Failure> {
    let is_result = match exit {
        Exit::Passed | Exit::CheckFailed => !reports_to_stdout,
        Exit::Interrupted | Exit::Usage | Exit::DeviceMissing | Exit::RunFailed => false,
    };
    for line in summary::lines(results) {
        if is_result {
            world.console.line(line)?;
        } else {
            world.console.note(line);
        }
    }
    if exit == Exit::Interrupted {
        world.console.note("interrupted");
    }
    Ok(())
}

/// A learner's answers, or the lessons' own; answers to questions that nobody asks are worth a warning.
fn graders(
    file: Option<&Path>,
    lessons: &[Lesson],
    library: &Library,
    world: &mut World<'_>,
) -> Result<Graders, Failure> {
    let Some(file) = file else {
        return Ok(Graders::Stated);
    };
    let failed = |reason: String| Failure::Usage(format!("answers '{}': {reason}", file.display()));
    let bytes = fs::read(file).map_err(|error| failed(format!("cannot be read: {error}")))?;
    let answers = Answers::parse(&bytes).map_err(|error| failed(error.to_string()))?;
    answers
        .refuse_other_course(library.id().as_ref())
        .map_err(|error| failed(error.to_string()))?;
    for stray in lessons.iter().flat_map(|lesson| answers.strays(lesson)) {
        world.console.warn(stray);
    }
    Ok(Graders::Learner(answers))
}
