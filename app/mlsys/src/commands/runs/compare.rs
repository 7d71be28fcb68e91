//! `mlsys runs compare`: runs side by side.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_lab::value::number;
use serde_json::{Map, Value as Json, json};

use super::{ends, object};
use crate::cli::Listing;
use crate::table::Width;
use mlsys_run::console::Console;
use mlsys_run::process::{Exit, Failure};
use mlsys_run::record::{RecordedRun, value_text};
use mlsys_view::text::one_line;

pub fn run(runs: &[RecordedRun], listing: Listing, console: &mut Console) -> Result<Exit, Failure> {
    let labs: BTreeSet<&str> = runs.iter().map(|past| past.summary.lab()).collect();
    if labs.len() > 1 {
        let labs: Vec<&str> = labs.into_iter().collect();
        console.warn(format_args!(
            "these are runs of different labs ({}): equal names may not mean the same",
            labs.join(", ")
        ));
    }
    if listing.json {
        console.line(compared(runs))?;
    } else {
        console.lines(lines(runs))?;
    }
    Ok(Exit::Passed)
}

/// What a metric came to in one run.
struct Figure {
    last: Option<f64>,
    min: Option<f64>,
}

/// The parameters that are not the same in all runs, in the order of their names.
pub fn differing<'a>(
    runs: impl Iterator<Item = &'a Json> + Clone,
) -> Vec<(&'a str, Vec<&'a Json>)> {
    let names: BTreeSet<&str> = runs
        .clone()
        .filter_map(|about| about["params"].as_object())
        .flat_map(|params| params.keys().map(String::as_str))
        .collect();
    let values = |name| runs.clone().map(move |about| &about["params"][name]).collect::<Vec<_>>();
    names
        .into_iter()
        .map(|name| (name, values(name)))
        .filter(|(_, values)| values.windows(2).any(|pair| matches!(pair, [a, b] if a != b)))
        .collect()
}

/// The numbers of each metric that any run has, run by run.
fn figures(runs: &[RecordedRun]) -> BTreeMap<&str, Vec<Figure>> {
    let metrics: Vec<_> = runs.iter().map(|past| past.data.metrics()).collect();
    let names: BTreeSet<&str> = metrics
        .iter()
        .flat_map(|metrics| metrics.iter())
        .filter(|(_, value)| value.as_f64().is_some())
        .map(|(name, _)| *name)
        .collect();
    let figure = |name: &str, past: &RecordedRun| Figure {
        last: past.data.metric(name).and_then(|value| value.as_f64()),
        min: past.data.series.get(name).and_then(|series| ends(series).0),
    };
    names
        .into_iter()
        .map(|name| (name, runs.iter().map(|past| figure(name, past)).collect()))
        .collect()
}

/// How many times the first a number is; nothing where that says nothing.
fn ratio(first: Option<f64>, other: Option<f64>) -> Option<f64> {
    let ratio = other? / first?;
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

fn lines(runs: &[RecordedRun]) -> Vec<String> {
    let letters: Vec<String> = (0..runs.len()).map(letter).collect();
    let rows: Vec<_> = letters
        .iter()
        .zip(runs)
        .map(|(letter, past)| {
            let device = past.summary.device().map_or("", |(id, _)| id);
            vec![
                letter.clone(),
                one_line(&past.summary.name),
                one_line(device),
                one_line(&past.summary.started()),
                one_line(past.summary.status.word()),
                format!("step {}", past.data.step),
            ]
        })
        .collect();
    let width = Width::of_output();
    let mut lines = width.table(&rows, "");
    lines.push(String::new());
    let differing = differing(runs.iter().map(|past| &past.summary.about));
    if differing.is_empty() {
        lines.push("All parameters are the same.".to_owned());
    } else {
        let mut rows = vec![header("Parameter", letters.iter().cloned())];
        for (name, values) in differing {
            rows.push(header(name, values.into_iter().map(value_text)));
        }
        lines.extend(width.table(&rows, ""));
    }
    lines.push(String::new());
    lines.extend(width.table(&table(runs, &letters), ""));
    lines
}

fn header(name: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    [one_line(name)].into_iter().chain(cells).collect()
}

/// The metrics: the last values with their ratios to the first run's, then the least.
fn table(runs: &[RecordedRun], letters: &[String]) -> Vec<Vec<String>> {
    let others = || letters.iter().skip(1);
    let titles = letters.iter().map(|letter| format!("{letter} last"));
    let titles = titles.chain(others().map(|letter| format!("{letter}/A")));
    let titles = titles.chain(letters.iter().map(|letter| format!("{letter} min")));
    let mut rows = vec![header("Metric", titles)];
    let text = |x: Option<f64>| x.map_or_else(String::new, number);
    for (name, figures) in figures(runs) {
        let first = figures.first().and_then(|figure| figure.last);
        let lasts = figures.iter().map(|figure| text(figure.last));
        let ratios = figures.iter().skip(1).map(|figure| text(ratio(first, figure.last)));
        let mins = figures.iter().map(|figure| text(figure.min));
        rows.push(header(name, lasts.chain(ratios).chain(mins)));
    }
    rows
}

/// A, B, ... Z, then by number.
fn letter(index: usize) -> String {
    match u8::try_from(index) {
        Ok(index @ 0..26) => char::from(b'A' + index).to_string(),
        Ok(_) | Err(_) => format!("#{}", index + 1),
    }
}

fn compared(runs: &[RecordedRun]) -> Json {
    let params: Map<String, Json> = differing(runs.iter().map(|past| &past.summary.about))
        .into_iter()
        .map(|(name, values)| (name.to_owned(), json!(values)))
        .collect();
    let metrics: Map<String, Json> = figures(runs)
        .into_iter()
        .map(|(name, figures)| {
            let first = figures.first().and_then(|figure| figure.last);
            let ratios: Vec<_> = figures.iter().map(|figure| ratio(first, figure.last)).collect();
            let lasts: Vec<_> = figures.iter().map(|figure| figure.last).collect();
            let mins: Vec<_> = figures.iter().map(|figure| figure.min).collect();
            (name.to_owned(), json!({ "last": lasts, "ratio": ratios, "min": mins }))
        })
        .collect();
    let objects: Vec<Json> = runs.iter().map(|past| object(&past.summary)).collect();
    json!({ "runs": objects, "params": params, "metrics": metrics })
}
