//! `mlsys runs`: past runs.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::World;
use crate::cli::{self, Listing};
use crate::console::{Console, harmless};
use crate::exit::{Exit, Failure};
use crate::record::{self, Past};
use crate::table::{aligned, cell};

/// Does what `mlsys runs` asks for.
pub fn run(asked: &cli::Runs, world: &mut World<'_>) -> Result<Exit, Failure> {
    let paths = world
        .paths
        .as_ref()
        .map_err(|error| Failure::usage(error.to_string()))?;
    let runs = paths.runs();
    match asked {
        cli::Runs::List(listing) => list(&runs, *listing, world.console),
        cli::Runs::Show { run, listing } => show(&runs, run, *listing, world.console),
    }
}

fn names(runs: &Path) -> Result<Vec<String>, Failure> {
    record::list(runs).map_err(|error| Failure::usage(format!("{}: {error}", runs.display())))
}

fn list(runs: &Path, listing: Listing, console: &mut Console) -> Result<Exit, Failure> {
    let mut rows = Vec::new();
    let mut objects = Vec::new();
    for name in names(runs)? {
        match record::read(runs, &name) {
            Ok(past) => {
                rows.push(row(&past));
                objects.push(object(&past));
            }
            Err(error) => console.note(format_args!("warning: {error}")),
        }
    }
    if listing.json {
        console.line(json!({ "runs": objects }))?;
    } else {
        aligned(&rows)
            .into_iter()
            .try_for_each(|line| console.line(line))?;
    }
    Ok(Exit::Passed)
}

fn show(runs: &Path, name: &str, listing: Listing, console: &mut Console) -> Result<Exit, Failure> {
    let names = names(runs)?;
    let name = match name {
        "last" => names
            .last()
            .ok_or_else(|| Failure::usage("no run has been recorded"))?,
        _ => names.iter().find(|known| *known == name).ok_or_else(|| {
            Failure::usage(format!(
                "there is no run '{}'; see `mlsys runs list`",
                name.escape_debug()
            ))
        })?,
    };
    let past = record::read(runs, name).map_err(Failure::Usage)?;
    let metrics = past.data.metrics();
    if listing.json {
        let mut shown = object(&past);
        shown["about"] = past.summary.about.clone();
        shown["metrics"] = metrics
            .iter()
            .map(|(n, v)| ((*n).to_owned(), mlsys_lab::output::value(v)))
            .collect();
        console.line(shown)?;
        return Ok(Exit::Passed);
    }
    console.line(row(&past).join("  "))?;
    let rows: Vec<_> = metrics
        .iter()
        .map(|(name, v)| vec![(*name).to_owned(), cell(&v.to_string(), 60)])
        .collect();
    aligned(&rows)
        .into_iter()
        .try_for_each(|line| console.line(line))?;
    past.data
        .notices
        .iter()
        .try_for_each(|notice| console.line(harmless(notice)))?;
    Ok(Exit::Passed)
}

fn row(past: &Past) -> Vec<String> {
    let word = |json: &Json| json.as_str().map(|text| cell(text, 60)).unwrap_or_default();
    vec![
        past.summary.name.clone(),
        word(&past.summary.about["lesson"]["id"]),
        word(&past.summary.about["device"]["id"]),
        outcome(past),
    ]
}

/// How the run stands.
fn outcome(past: &Past) -> String {
    past.summary.standing.word().to_owned()
}

fn object(past: &Past) -> Json {
    json!({
        "name": past.summary.name,
        "lab": past.summary.about["lab"],
        "lesson": past.summary.about["lesson"],
        "device": past.summary.about["device"],
        "started": past.summary.about["started"],
        "outcome": outcome(past),
    })
}
