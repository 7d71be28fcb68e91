//! The commands, one module a family.

mod check;
mod course;
mod grade;
mod lab;
mod lesson;
mod machine;
mod model;
mod open;
mod program;
mod progress;
mod reference;
mod report;
mod run;
mod runs;

use std::path::PathBuf;

use mlsys_lesson::LearnerIdError;
use mlsys_run::console::Console;
use mlsys_run::devices::{Devices, Prober};
use mlsys_run::library::languages::Languages;
use mlsys_run::process::{Exit, Failure, Interrupt};
use mlsys_run::sources::Store;
use mlsys_run::storage::Paths;

use crate::cli::{Cli, Command, LEARNER, Lesson};
use crate::context::Context;
use crate::grader;

pub fn dispatch(cli: Cli, console: &mut Console) -> Result<Exit, Failure> {
    if cli.version {
        return program::version(cli.verbose, console);
    }
    if cli.workers.is_some() && !may_split(cli.command.as_ref()) {
        return Err(Failure::usage(
            "--workers changes nothing here: it is for labs that split their work, in `mlsys lab KIND`, `mlsys run`, \
             `mlsys open`, `mlsys lesson preview` and the workbench",
        ));
    }
    // A variable without a value names no learner.
    let is_named = |id: &String| !id.is_empty() || std::env::var_os(LEARNER).is_none();
    let learner = cli.learner.filter(is_named).map(|id| id.parse()).transpose();
    let learner =
        learner.map_err(|error: LearnerIdError| Failure::Usage(format!("--learner: {error}")))?;
    let mut context = Context {
        console,
        devices: Devices::new(Prober::own_program()),
        interrupt: Interrupt::default(),
        paths: Paths::find(),
        store: Store::default(),
        built_in: mlsys_registry::built_in(),
        registry: mlsys_registry::built_in(),
        display: cli.display,
        course: cli.course.filter(|course| !course.is_empty()).map(PathBuf::from),
        learner,
        languages: Languages::detect(cli.lang.as_deref(), &|name| std::env::var(name).ok()),
        reader: cli.reader,
        workers: cli.workers,
    };
    match cli.command {
        None => open::course(cli.machine, &mut context),
        Some(Command::Open(options)) => {
            context.display = options.display.clone();
            open::lesson(&options, &mut context)
        }
        Some(Command::List(listing)) => reference::list(listing, &mut context),
        Some(Command::Lab(options)) => lab::run(&options, &mut context),
        Some(Command::Model(asked)) => model::run(&asked, &mut context),
        Some(Command::Run(options)) => run::run(&options, &mut context),
        Some(Command::Lesson(asked)) => lesson::run(&asked, &mut context),
        Some(Command::Glossary(asked)) => reference::glossary(&asked, context.console),
        Some(Command::Theme(asked)) => reference::theme(&asked, &mut context),
        Some(Command::Keys(options)) => reference::keys(options, context.console),
        Some(Command::Course(asked)) => course::run(&asked, &mut context),
        Some(Command::Worker(options)) => machine::worker(options, &mut context),
        Some(Command::Doctor(listing)) => machine::doctor(listing, &mut context),
        Some(Command::Runs(asked)) => runs::run(&asked, &mut context),
        Some(Command::Report(options)) => report::run(&options, &mut context),
        Some(Command::Progress(asked)) => progress::run(&asked, &mut context),
        Some(Command::Completions { shell }) => program::completions(shell, context.console),
        Some(Command::Manual { folder }) => program::manual(&folder, context.console),
        Some(Command::Grade(options)) => grade::run(&options, &mut context),
        Some(Command::ProbeDevices) => machine::probe_devices(&mut context),
        Some(Command::GradeAnswer(limits)) => grader::grade_one(limits, &mut context),
        Some(Command::GradeFile(asked)) => grader::grade_own_file(&asked, &mut context),
        Some(Command::Bench(asked)) => machine::bench(&asked, &mut context),
    }
}

/// Whether a command runs labs that `--workers` can apply to.
fn may_split(command: Option<&Command>) -> bool {
    match command {
        None | Some(Command::Open(_) | Command::Run(_)) => true,
        Some(Command::Lab(options)) => options.about.is_none(),
        Some(Command::Lesson(asked)) => matches!(asked, Lesson::Preview { .. }),
        Some(_) => false,
    }
}
