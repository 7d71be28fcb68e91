//! `mlsys runs show`.

use mlsys_lab::output;
use mlsys_lab::report::Series;
use mlsys_lab::value::number;
use serde_json::{Map, Value as Json, json};

use super::object;
use crate::cli::Listing;
use mlsys_run::console::{Console, harmless};
use mlsys_run::exit::{Exit, Failure};
use mlsys_run::record::{RecordedRun, RunStatus};
use mlsys_view::table::{aligned, cell};

/// Shows what a run was and what it reported.
pub fn run(past: &RecordedRun, listing: Listing, console: &mut Console) -> Result<Exit, Failure> {
    if listing.json {
        console.line(shown(past))?;
        return Ok(Exit::Passed);
    }
    let mut lines = aligned(&facts(past));
    let params = past.summary.params();
    if !params.is_empty() {
        lines.push(String::new());
        lines.push("Parameters".to_owned());
        let rows = params.into_iter().map(|(name, value)| vec![format!("  {name}"), value]);
        lines.extend(aligned(&rows.collect::<Vec<_>>()));
    }
    let metrics = metrics(past);
    if metrics.len() > 1 {
        lines.push(String::new());
        lines.extend(aligned(&metrics));
    }
    if let Some((step, reason)) = &past.data.diverged {
        lines.push(format!("\ndiverged at step {step}: {}", harmless(reason)));
    }
    let notices = past.data.notices.iter();
    lines.extend(notices.map(|notice| format!("\n{}", harmless(notice))));
    lines.into_iter().try_for_each(|line| console.line(line))?;
    Ok(Exit::Passed)
}

/// What the run was and how it stands, a name and a value a row.
pub fn facts(past: &RecordedRun) -> Vec<Vec<String>> {
    let summary = &past.summary;
    let word = |json: &Json| json.as_str().map(|text| cell(text, 80));
    let mut facts = vec![vec!["Run".to_owned(), cell(&summary.name, 120)]];
    let mut add = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| vec![name.to_owned(), value]));
    };
    add("Lab", word(&summary.about["lab"]));
    add("Lesson", word(&summary.about["lesson"]["id"]));
    add("Device", summary.device().map(|(id, name)| cell(&format!("{id} ({name})"), 80)));
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

/// How a run stands, in a sentence without an end.
fn state(standing: &RunStatus) -> String {
    let word = cell(standing.word(), 60);
    match standing {
        RunStatus::GoingOn => word,
        RunStatus::CutOff => format!("{word}: the program that ran it is gone and did not end it"),
        RunStatus::Ended(end) => {
            let seconds =
                end["seconds"].as_f64().map(|seconds| format!(" after {} s", number(seconds)));
            let reason = end["reason"].as_str().map(|reason| format!(": {}", cell(reason, 200)));
            [Some(word), seconds, reason].into_iter().flatten().collect()
        }
    }
}

fn shown(past: &RecordedRun) -> Json {
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

/// A header, then a row for each metric: last, least, most and how many values.
pub fn metrics(past: &RecordedRun) -> Vec<Vec<String>> {
    let header = ["Metric", "last", "min", "max", "values"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for (name, value) in past.data.metrics() {
        let mut row = vec![cell(name, 60), cell(&value.to_string(), 60)];
        if let Some(series) = past.data.series.get(name) {
            let (least, most) = ends(series);
            let text = |x: Option<f64>| x.map(number).unwrap_or_default();
            let gaps = series.gaps().len();
            let gaps = if gaps > 0 { format!(", {gaps} not finite") } else { String::new() };
            row.extend([text(least), text(most), format!("{}{gaps}", series.points().len())]);
        }
        rows.push(row);
    }
    rows
}

/// The least and the greatest value of a series.
pub fn ends(series: &Series) -> (Option<f64>, Option<f64>) {
    let values = || series.points().iter().map(|&(_, value)| value);
    (values().reduce(f64::min), values().reduce(f64::max))
}
