//! `mlsys report`: a run, or a lesson with its runs and answers, as one page that needs nothing else.

mod page;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use mlsys_lesson::{Lesson, Progress};

use self::page::Others;
use super::World;
use crate::cli::Report;
use mlsys_run::exit::{Exit, Failure};
use mlsys_run::record::{self, RecordedRun};
use mlsys_tui::recall::{Wanted, recall};
use mlsys_view::attempts::FinishedRun;

/// Writes the page.
pub fn run(options: &Report, world: &mut World<'_>) -> Result<Exit, Failure> {
    let runs = world.paths.as_ref().map_err(|error| Failure::usage(error.to_string()))?.runs();
    let course = world.library()?.course(world.console)?;
    let lesson = course.lessons().iter().find(|lesson| lesson.front.id.as_str() == options.subject);
    let text = match lesson {
        Some(lesson) => {
            let progress = world.progress(&course.id)?;
            of_lesson(lesson, &progress, &runs, world)
        }
        None => {
            let past =
                super::runs::past(&runs, &options.subject, world.console).map_err(|failure| {
                    let near = course.nearest(&options.subject);
                    let hint = near.map(|id| format!("; there is a lesson '{id}'"));
                    Failure::Usage(format!("{failure}{}", hint.unwrap_or_default()))
                })?;
            let all = beside(&runs, &past);
            let others = Others { all: &all, lesson: None };
            page::of_run(&past, &others)
        }
    };
    if options.output == Path::new("-") {
        world.console.raw(&text)?;
    } else {
        fs::write(&options.output, text).map_err(|error| {
            Failure::Run(format!("{} cannot be written: {error}", options.output.display()))
        })?;
        world.console.note(format_args!("{} is written", options.output.display()));
    }
    Ok(Exit::Passed)
}

/// A lesson with the newest run of each of its labs.
fn of_lesson(lesson: &Lesson, progress: &Progress, runs: &Path, world: &mut World<'_>) -> String {
    let names = record::list(runs).unwrap_or_default();
    let id = lesson.front.id.as_str();
    let mut newest: Vec<RecordedRun> = Vec::new();
    for name in names.iter().rev() {
        let Ok(summary) = record::summary(&runs.join(name)) else {
            continue;
        };
        let lab = summary.about["lesson"]["lab"].clone();
        let known = newest.iter().any(|past| past.summary.about["lesson"]["lab"] == lab);
        if summary.lesson() == Some(id) && !known {
            match record::open(&summary.folder) {
                Ok(past) => newest.push(past),
                Err(error) => world.console.warn(error),
            }
        }
    }
    newest.reverse();
    let wanted = Wanted {
        lesson: Some(id.to_owned()),
        kinds: lesson.labs().map(|lab| lab.kind.value.clone()).collect(),
    };
    let all = attempts(runs, &wanted);
    let others = Others { all: &all, lesson: Some(lesson) };
    page::of_lesson(lesson, progress, &newest, &others)
}

/// The runs that stand beside one in pictures of several: those of its lesson, or of its kind without one.
fn beside(runs: &Path, past: &RecordedRun) -> Vec<Arc<Attempt>> {
    let Ok(lab) = mlsys_registry::registry().find(past.summary.lab()) else {
        return Vec::new();
    };
    let panels = lab.schema().panels.iter();
    let named = panels.filter_map(|panel| panel.attempts.as_ref());
    let kinds = named.flat_map(|attempts| attempts.kinds.iter().cloned());
    let wanted = Wanted {
        lesson: past.summary.lesson().map(str::to_owned),
        kinds: kinds.chain([past.summary.lab().to_owned()]).collect(),
    };
    attempts(runs, &wanted)
}

fn attempts(runs: &Path, wanted: &Wanted) -> Vec<Arc<FinishedRun>> {
    let compares = |kind: &String| {
        let lab = mlsys_registry::registry().find(kind);
        lab.is_ok_and(|lab| lab.schema().compares_runs())
    };
    if !wanted.kinds.iter().any(compares) {
        return Vec::new();
    }
    let found = recall(runs, wanted, mlsys_registry::registry());
    found.into_iter().map(Arc::new).collect()
}
