//! `mlsys runs prune`: the oldest records go, by age or until the others are small enough. What runs left that were killed
//! before anything was recorded goes with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mlsys_lab::value::plural;
use mlsys_run::console::Console;
use mlsys_run::process::{Exit, Failure};
use mlsys_run::record::{self, RunStatus};
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::quantity::quantity;

use crate::cli::PruneRuns;

struct Candidate {
    name: String,
    folder: PathBuf,
    bytes: u64,
    /// When its folder was changed last, where its description cannot be read.
    started: SystemTime,
}

pub fn run(runs: &Path, options: &PruneRuns, console: &mut Console) -> Result<Exit, Failure> {
    let unreadable = |error| Failure::Usage(format!("{}: {error}", runs.display()));
    let mut candidates = Vec::new();
    for name in record::list(runs).map_err(unreadable)? {
        let folder = runs.join(&name);
        let summary = record::summary(&folder);
        if summary.as_ref().is_ok_and(|summary| summary.status == RunStatus::GoingOn) {
            continue;
        }
        let changed = fs::metadata(&folder).and_then(|about| about.modified());
        let told = summary
            .ok()
            .and_then(|summary| humantime::parse_rfc3339(summary.about["started"].as_str()?).ok());
        let started = told.or(changed.ok()).unwrap_or_else(SystemTime::now);
        candidates.push(Candidate { bytes: size(&folder), name, folder, started });
    }
    candidates.sort_by(|a, b| (a.started, &a.name).cmp(&(b.started, &b.name)));
    let mut left: u64 = candidates.iter().map(|run| run.bytes).sum();
    let now = SystemTime::now();
    let (mut count, mut freed) = (0, 0);
    for run in &candidates {
        let age = now.duration_since(run.started).unwrap_or_default();
        let is_old = options.older.is_some_and(|limit| age > limit);
        if !is_old && options.above.is_none_or(|limit| left <= limit) {
            continue;
        }
        if !options.dry_run {
            delete(&run.folder)?;
        }
        console.line(format_args!("{}  {}", run.name, bytes(run.bytes)))?;
        (count, freed, left) = (count + 1, freed + run.bytes, left - run.bytes);
    }
    let done = if options.dry_run { "would be deleted" } else { "deleted" };
    let unbegun = record::unbegun(runs, now).map_err(unreadable)?;
    for name in &unbegun {
        if !options.dry_run {
            delete(&runs.join(name))?;
        }
        console.line(format_args!("{name}  nothing recorded"))?;
    }
    if !unbegun.is_empty() {
        let folders = plural(unbegun.len(), "folder");
        console
            .note(format_args!("{folders} {done} of runs that ended before anything was recorded"));
    }
    console.note(format_args!(
        "{count} of {} runs {done} ({}); the others take {}",
        candidates.len(),
        bytes(freed),
        bytes(left)
    ));
    Ok(Exit::Passed)
}

fn delete(folder: &Path) -> Result<(), Failure> {
    fs::remove_dir_all(folder)
        .map_err(|error| Failure::Run(format!("{} cannot be deleted: {error}", folder.display())))
}

/// Bytes of the files in a record's folder; it has no folders in it.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

fn bytes(count: u64) -> String {
    quantity(count as f64, Some("bytes"), &Glyphs::new(GlyphSet::Ascii))
}
