//! `mlsys runs`: recorded runs listed, shown, compared, removed and exported.

mod compare;
pub mod export;
mod prune;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mlsys_lab::nearest::nearest;
use mlsys_lab::report::Series;
use mlsys_lab::schema::Label;
use mlsys_lab::value::number;
use mlsys_lab::{Registry, output};
use mlsys_run::console::Console;
use mlsys_run::process::{Exit, Failure};
use mlsys_run::record::{self, RecordedRun, RunStatus, Summary};
use mlsys_view::text::one_line;
use serde_json::{Map, Value as Json, json};

use crate::cli::{self, ListRuns, Listing};
use crate::context::Context;
use crate::table::{Width, numbered};

pub fn run(asked: &cli::Runs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let runs = context.paths.as_ref()?.runs();
    let console = &mut *context.console;
    match asked {
        cli::Runs::List(options) => list(&runs, options, context.registry, console),
        cli::Runs::Show { run, listing } => {
            show(&past(&runs, run, console)?, *listing, context.registry, console)
        }
        cli::Runs::Compare { runs: names, listing } => {
            let mut compared = Vec::new();
            for name in names {
                compared.push(past(&runs, name, console)?);
            }
            compare::run(&compared, *listing, console)
        }
        cli::Runs::Export(options) => {
            let past = past(&runs, &options.run, console)?;
            export::run(&past, options, context.registry, console)
        }
        cli::Runs::Remove { runs: names } => remove(&runs, names, console),
        cli::Runs::Prune(options) => prune::run(&runs, options, console),
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
    let (seconds, step, results) = match &summary.status {
        RunStatus::Ended(end) => {
            (end["seconds"].clone(), end["step"].clone(), end["results"].clone())
        }
        RunStatus::GoingOn | RunStatus::CutOff => (Json::Null, Json::Null, Json::Null),
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
        "results": results,
    })
}

/// Deletes all of these runs or, if one is unknown or in progress, none.
fn remove(runs: &Path, names: &[String], console: &mut Console) -> Result<Exit, Failure> {
    let mut folders = Vec::new();
    for name in names {
        let folder = record::find(runs, name)?;
        // A folder named by mistake must not be deleted: it has to be a run, whole or not.
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

fn list(
    runs: &Path,
    options: &ListRuns,
    registry: &Registry,
    console: &mut Console,
) -> Result<Exit, Failure> {
    if let Some(lab) = &options.lab {
        registry.find(lab)?;
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
            && options.set.iter().all(|(param, value)| summary.has(param, value))
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
    let shown = meant.into_iter().skip(first);
    if options.listing.json {
        let objects: Vec<Json> = shown.map(object).collect();
        console.line(json!({ "runs": objects }))?;
    } else {
        let rows = shown.map(|summary| row(summary, registry));
        console.lines(Width::of_output().table(&rows.collect::<Vec<_>>(), ""))?;
    }
    Ok(Exit::Passed)
}

fn row(summary: &Summary, registry: &Registry) -> Vec<String> {
    /// More do not fit next to the rest.
    const RESULTS: usize = 2;
    let schema = registry.find(summary.lab()).ok().map(|lab| lab.schema());
    let results = summary.results(schema, RESULTS).into_iter();
    let results = results.map(|(name, value)| format!("{name} {}", number(value)));
    let results: Vec<String> = results.collect();
    let device = summary.device().map_or("", |(id, _)| id);
    vec![
        one_line(&summary.name),
        one_line(summary.lesson().unwrap_or("")),
        one_line(device),
        one_line(summary.status.word()),
        one_line(&results.join(", ")),
    ]
}

pub fn show(
    past: &RecordedRun,
    listing: Listing,
    registry: &Registry,
    console: &mut Console,
) -> Result<Exit, Failure> {
    if listing.json {
        console.line(shown(past, registry))?;
        return Ok(Exit::Passed);
    }
    let width = Width::of_output();
    let mut lines = width.table(&facts(past), "");
    let params = past.summary.params();
    if !params.is_empty() {
        lines.push(String::new());
        lines.push("Parameters".to_owned());
        let rows = params.into_iter().map(|(name, value)| vec![name.to_owned(), value]);
        lines.extend(width.table(&rows.collect::<Vec<_>>(), "  "));
    }
    let metrics = metrics(past, registry);
    if metrics.len() > 1 {
        lines.push(String::new());
        lines.extend(width.table(&metrics, ""));
    }
    if let Some((step, reason)) = &past.data.diverged {
        lines.push(format!("\ndiverged at step {step}: {reason}"));
    }
    let notices = past.data.notices.iter();
    lines.extend(notices.map(|notice| format!("\n{notice}")));
    console.lines(lines)?;
    Ok(Exit::Passed)
}

/// Description and status of a run, a name and a value a row.
pub fn facts(past: &RecordedRun) -> Vec<Vec<String>> {
    let summary = &past.summary;
    let word = |json: &Json| json.as_str().map(one_line);
    let mut facts = vec![vec!["Run".to_owned(), one_line(&summary.name)]];
    let mut add = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| vec![name.to_owned(), value]));
    };
    add("Lab", word(&summary.about["lab"]));
    add("Lesson", word(&summary.about["lesson"]["id"]));
    add("Device", summary.device().map(|(id, name)| one_line(&format!("{id} ({name})"))));
    add("Driver", word(&summary.about["device"]["driver"]));
    add("Started", word(&summary.about["started"]));
    let versions = [("mlsys", &summary.about["mlsys"]), ("burn", &summary.about["burn"])];
    let versions =
        versions.map(|(name, version)| word(version).map(|version| format!("{name} {version}")));
    add("Versions", Some(versions.into_iter().flatten().collect::<Vec<_>>().join(", ")));
    add("Step", Some(past.data.step.to_string()));
    add("State", Some(state(&summary.status)));
    facts
}

/// The status of a run, in a sentence without a full stop.
fn state(standing: &RunStatus) -> String {
    let word = one_line(standing.word());
    match standing {
        RunStatus::GoingOn => word,
        RunStatus::CutOff => format!("{word}: the program that ran it is gone and did not end it"),
        RunStatus::Ended(end) => {
            let seconds =
                end["seconds"].as_f64().map(|seconds| format!(" after {} s", number(seconds)));
            let reason = end["reason"].as_str().map(|reason| format!(": {}", one_line(reason)));
            [Some(word), seconds, reason].into_iter().flatten().collect()
        }
    }
}

fn shown(past: &RecordedRun, registry: &Registry) -> Json {
    let mut shown = object(&past.summary);
    let metrics: Map<String, Json> = past
        .data
        .metrics()
        .iter()
        .map(|(name, value)| ((*name).to_owned(), output::value(value)))
        .collect();
    let series: Map<String, Json> = past
        .data
        .series
        .iter()
        .map(|(name, series)| {
            let (least, most) = ends(series);
            let counted = json!({
                "values": series.points().len(),
                "not_finite": series.gaps().len(),
                "min": least,
                "max": most,
                "last": series.last(),
            });
            (name.to_string(), counted)
        })
        .collect();
    shown["about"] = past.summary.about.clone();
    shown["step"] = json!(past.data.step);
    shown["metrics"] = Json::Object(metrics);
    let labels = labels(past, registry).into_iter();
    shown["labels"] = labels.map(|(name, label)| (name.to_owned(), json!(label.name()))).collect();
    shown["series"] = Json::Object(series);
    shown["notices"] = json!(past.data.notices);
    shown["diverged"] = past
        .data
        .diverged
        .as_ref()
        .map_or(Json::Null, |(step, reason)| json!({ "step": step, "reason": reason }));
    shown["warnings"] = json!(past.warnings);
    shown
}

/// Where each metric's value comes from, as the schema of its lab says here.
fn labels<'a>(past: &'a RecordedRun, registry: &Registry) -> BTreeMap<&'a str, Label> {
    let Ok(lab) = registry.find(past.summary.lab()) else { return BTreeMap::new() };
    let label = |name| Some((name, lab.schema().label(lab.schema().metric(name)?)));
    past.data.metrics().into_keys().filter_map(label).collect()
}

/// A header, then a row for each metric: last, least, most and how many values.
pub fn metrics(past: &RecordedRun, registry: &Registry) -> Vec<Vec<String>> {
    let header = ["Metric", "label", "last", "min", "max", "values"];
    let labels = labels(past, registry);
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    let mut metrics: Vec<_> = past.data.metrics().into_iter().collect();
    metrics.sort_by_key(|(name, _)| numbered(name));
    for (name, value) in metrics {
        let label = labels.get(name).map_or("", |label| label.name()).to_owned();
        let mut row = vec![one_line(name), label, one_line(&value.to_string())];
        if let Some(series) = past.data.series.get(name) {
            let (least, most) = ends(series);
            let text = |x: Option<f64>| x.map_or_else(String::new, number);
            let gaps = series.gaps().len();
            let gaps = if gaps > 0 { format!(", {gaps} not finite") } else { String::new() };
            row.extend([text(least), text(most), format!("{}{gaps}", series.points().len())]);
        }
        rows.push(row);
    }
    rows
}

pub fn ends(series: &Series) -> (Option<f64>, Option<f64>) {
    let values = || series.points().iter().map(|&(_, value)| value);
    (values().reduce(f64::min), values().reduce(f64::max))
}
