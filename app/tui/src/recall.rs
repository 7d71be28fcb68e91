//! Runs that earlier sessions recorded, taken back in.

use std::path::Path;

use mlsys_lab::Registry;

use mlsys_run::record::{self, RecordedRun, Summary};
use mlsys_view::attempts::{FinishedRun, OWN_PAGES};
use mlsys_view::export::changed;

/// As many runs of a lesson are taken back in, the newest.
const MOST: usize = 30;

/// Which runs are wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Those of this lesson; without one those that no lesson of a course asked for.
    pub lesson: Option<String>,
    /// Those of these kinds of labs.
    pub kinds: Vec<String>,
}

/// Reads the finished runs that are wanted, the oldest first; what cannot be read is left out, as lists of runs tell why.
pub fn recall(runs: &Path, wanted: &Wanted, registry: &'static Registry) -> Vec<FinishedRun> {
    let names = record::list(runs).unwrap_or_default();
    let newest = names.iter().rev().filter_map(|name| {
        let summary = record::summary(&runs.join(name)).ok()?;
        wanted.fits(&summary).then_some(summary)
    });
    let mut found: Vec<FinishedRun> = newest
        .take(MOST)
        .filter_map(|summary| of_past(&record::open(&summary.folder).ok()?, registry))
        .collect();
    found.reverse();
    found
}

impl Wanted {
    pub fn fits(&self, summary: &Summary) -> bool {
        let lesson = match (&self.lesson, summary.lesson()) {
            (Some(wanted), lesson) => lesson == Some(wanted.as_str()),
            (None, lesson) => lesson.is_none_or(|id| id.starts_with(OWN_PAGES)),
        };
        lesson
            && summary.status.word() == "finished"
            && self.kinds.iter().any(|kind| kind == summary.lab())
    }
}

/// What a recorded run leaves; nothing if there is no such lab any more.
fn of_past(past: &RecordedRun, registry: &'static Registry) -> Option<FinishedRun> {
    let summary = &past.summary;
    let schema = registry.find(summary.lab()).ok()?.schema();
    let params = summary.values();
    let differing = changed(schema, params.iter().map(|(name, value)| (*name, value)));
    let turned = params
        .iter()
        .filter(|(name, _)| *name != "model_from" && differing.iter().any(|(n, _)| n == name));
    let turned = turned.map(|(name, value)| ((*name).to_owned(), value.clone()));
    let lab = summary.about["lesson"]["lab"].as_str();
    let lab = lab.filter(|_| !summary.lesson().is_some_and(|id| id.starts_with(OWN_PAGES)));
    Some(FinishedRun::new(
        schema,
        (summary.lesson().map(str::to_owned), lab.unwrap_or_else(|| summary.lab()).to_owned()),
        params.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect(),
        turned.collect(),
        &past.data,
    ))
}
