//! `mlsys report`: a run, or a lesson with its runs and answers, as one page that needs nothing else.

mod page;

use std::fs;
use std::path::Path;

use mlsys_lesson::{Lesson, Progress};

use super::World;
use crate::cli::Report;
use crate::exit::{Exit, Failure};
use crate::record::{self, Past};

/// Writes the page.
pub fn run(options: &Report, world: &mut World<'_>) -> Result<Exit, Failure> {
    let runs = world
        .paths
        .as_ref()
        .map_err(|error| Failure::usage(error.to_string()))?
        .runs();
    let course = world.library()?.course(world.console)?;
    let lesson = course
        .lessons()
        .iter()
        .find(|lesson| lesson.front.id.as_str() == options.subject);
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
            page::of_run(&past)
        }
    };
    if options.output == Path::new("-") {
        world.console.raw(&text)?;
    } else {
        fs::write(&options.output, text).map_err(|error| {
            Failure::Run(format!(
                "{} cannot be written: {error}",
                options.output.display()
            ))
        })?;
        world
            .console
            .note(format_args!("{} is written", options.output.display()));
    }
    Ok(Exit::Passed)
}

/// A lesson with the newest run of each of its labs.
fn of_lesson(lesson: &Lesson, progress: &Progress, runs: &Path, world: &mut World<'_>) -> String {
    let names = record::list(runs).unwrap_or_default();
    let id = lesson.front.id.as_str();
    let mut newest: Vec<Past> = Vec::new();
    for name in names.iter().rev() {
        let Ok(summary) = record::summary(&runs.join(name)) else {
            continue;
        };
        let lab = summary.about["lesson"]["lab"].clone();
        let known = newest
            .iter()
            .any(|past| past.summary.about["lesson"]["lab"] == lab);
        if summary.lesson() == Some(id) && !known {
            match record::open(&summary.folder) {
                Ok(past) => newest.push(past),
                Err(error) => world.console.warn(error),
            }
        }
    }
    newest.reverse();
    page::of_lesson(lesson, progress, &newest)
}
