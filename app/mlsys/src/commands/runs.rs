//! `mlsys runs`: past runs, listed, shown, compared and written for other programs.

mod compare;
mod export;
mod list;
pub mod show;
mod tensorboard;

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::World;
use crate::cli;
use mlsys_run::console::Console;
use mlsys_run::exit::{Exit, Failure};
use mlsys_run::record::{self, RecordedRun, RunStatus, Summary};

/// Does what `mlsys runs` asks for.
pub fn run(asked: &cli::Runs, world: &mut World<'_>) -> Result<Exit, Failure> {
    let paths = world.paths.as_ref().map_err(|error| Failure::usage(error.to_string()))?;
    let runs = paths.runs();
    let console = &mut *world.console;
    match asked {
        cli::Runs::List(options) => list::run(&runs, options, console),
        cli::Runs::Show { run, listing } => {
            show::run(&past(&runs, run, console)?, *listing, console)
        }
        cli::Runs::Compare { runs: names, listing } => {
            let mut compared = Vec::new();
            for name in names {
                compared.push(past(&runs, name, console)?);
            }
            compare::run(&compared, *listing, console)
        }
        cli::Runs::Export(options) => {
            export::run(&past(&runs, &options.run, console)?, options, console)
        }
        cli::Runs::Remove { runs: names } => remove(&runs, names, console),
    }
}

/// The run that is meant, with a warning for each thing of it that could not be read.
pub fn past(runs: &Path, asked: &str, console: &mut Console) -> Result<RecordedRun, Failure> {
    let folder = record::find(runs, asked)?;
    let past = record::open(&folder)?;
    past.warnings.iter().for_each(|warning| console.warn(warning));
    Ok(past)
}

/// What lists, tables and comparisons say of a run, for programs.
fn object(summary: &Summary) -> Json {
    let (seconds, step) = match &summary.status {
        RunStatus::Ended(end) => (end["seconds"].clone(), end["step"].clone()),
        RunStatus::GoingOn | RunStatus::CutOff => (Json::Null, Json::Null),
    };
    json!({
        "name": summary.name,
        "lab": summary.about["lab"],
        "lesson": summary.about["lesson"],
        "device": summary.about["device"],
        "started": summary.about["started"],
        "outcome": summary.status.word(),
        "seconds": seconds,
        "step": step,
    })
}

/// Deletes all of them or, if one is not known or goes on, none.
fn remove(runs: &Path, names: &[String], console: &mut Console) -> Result<Exit, Failure> {
    let mut folders = Vec::new();
    for name in names {
        let folder = record::find(runs, name)?;
        // A folder that somebody names by mistake must not be lost: it has to be a run, whole or not.
        match record::summary(&folder) {
            Ok(summary) if summary.status == RunStatus::GoingOn => {
                let name = summary.name;
                return Err(Failure::Usage(format!("{name} goes on; end it first")));
            }
            Ok(_) => folders.push(folder),
            Err(_) if folder.parent() == Some(runs) => folders.push(folder),
            Err(error) => return Err(error.into()),
        }
    }
    for folder in folders {
        fs::remove_dir_all(&folder).map_err(|error| {
            Failure::Run(format!("{} cannot be deleted: {error}", folder.display()))
        })?;
        console.note(format_args!("{} is deleted", folder.display()));
    }
    Ok(Exit::Passed)
}
