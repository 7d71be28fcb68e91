//! `mlsys runs list`.

use std::path::Path;

use mlsys_lab::nearest::nearest;
use serde_json::json;

use super::object;
use crate::cli::ListRuns;
use mlsys_run::console::Console;
use mlsys_run::exit::{Exit, Failure};
use mlsys_run::record::{self, Summary};
use mlsys_view::table::{aligned, cell};

/// Lists runs, the newest last.
pub fn run(runs: &Path, options: &ListRuns, console: &mut Console) -> Result<Exit, Failure> {
    if let Some(lab) = &options.lab {
        mlsys_registry::registry().find(lab)?;
    }
    let names = record::list(runs)
        .map_err(|error| Failure::usage(format!("{}: {error}", runs.display())))?;
    let mut known = Vec::new();
    for name in names {
        match record::summary(&runs.join(&name)) {
            Ok(summary) => known.push(summary),
            Err(error) => console.note(format_args!("warning: {error}")),
        }
    }
    let is_meant = |summary: &&Summary| {
        let lab = options.lab.as_deref();
        let lesson = options.lesson.as_deref();
        lab.is_none_or(|lab| summary.lab() == lab)
            && lesson.is_none_or(|lesson| summary.lesson() == Some(lesson))
    };
    let meant: Vec<&Summary> = known.iter().filter(is_meant).collect();
    if meant.is_empty()
        && let Some(lesson) = &options.lesson
        && let Some(near) = nearest(lesson, known.iter().filter_map(Summary::lesson))
        && near != lesson
    {
        console.note(format_args!(
            "no run is of lesson '{}'; did you mean '{near}'?",
            lesson.escape_debug()
        ));
    }
    let first = meant.len().saturating_sub(options.limit.unwrap_or(usize::MAX));
    let shown = meant.get(first..).unwrap_or_default();
    if options.listing.json {
        let objects: Vec<_> = shown.iter().map(|summary| object(summary)).collect();
        console.line(json!({ "runs": objects }))?;
    } else {
        let rows: Vec<_> = shown.iter().map(|summary| row(summary)).collect();
        aligned(&rows).into_iter().try_for_each(|line| console.line(line))?;
    }
    Ok(Exit::Passed)
}

fn row(summary: &Summary) -> Vec<String> {
    let device = summary.device().map_or("", |(id, _)| id);
    let word = |text: &str| cell(text, 60);
    vec![
        cell(&summary.name, 120),
        word(summary.lesson().unwrap_or_default()),
        word(device),
        word(summary.status.word()),
    ]
}
