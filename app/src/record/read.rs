//! Past runs, read back.

use std::fs;
use std::io;
use std::path::Path;

use mlsys_lab::report::RunData;
use serde_json::Value as Json;

use super::line;

/// A run that was recorded.
#[derive(Clone, Debug)]
pub struct Past {
    /// The name of its folder.
    pub name: String,
    /// `run.json`: lab, parameters, seed, device, versions, start.
    pub about: Json,
    /// `outcome.json`; absent while the run goes on, and for good if it was killed.
    pub outcome: Option<Json>,
    /// Everything it reported.
    pub data: RunData,
}

/// The names of all recorded runs, oldest first; none if nothing was ever recorded.
pub fn list(runs: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(runs) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.path().join("run.json").is_file()
            && let Some(name) = entry.file_name().to_str()
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Reads a run; a last line that was torn by a kill is left out.
pub fn read(runs: &Path, name: &str) -> Result<Past, String> {
    let folder = runs.join(name);
    let about = json(&folder.join("run.json"))?;
    let outcome = folder.join("outcome.json");
    let outcome = if outcome.exists() {
        Some(json(&outcome)?)
    } else {
        None
    };
    Ok(Past {
        name: name.to_owned(),
        about,
        outcome,
        data: reports(&folder.join("reports.jsonl"))?,
    })
}

/// A number that the newest finished run of a lab on a device has reported.
pub fn newest_metric(runs: &Path, lab: &str, device: &str, metric: &str) -> Option<f64> {
    let names = list(runs).ok()?;
    names.iter().rev().find_map(|name| {
        // The description is short; the reports are read only where it fits.
        let about = json(&runs.join(name).join("run.json")).ok()?;
        let fits = about["lab"] == lab && about["device"]["name"] == device;
        let past = fits.then(|| read(runs, name).ok()).flatten()?;
        let outcome = past.outcome?;
        (outcome["outcome"] == "finished")
            .then(|| past.data.metric(metric)?.as_f64())
            .flatten()
    })
}

fn reports(path: &Path) -> Result<RunData, String> {
    let text = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        bytes => bytes.map_err(|error| format!("{}: {error}", path.display()))?,
    };
    // A kill may cut a character in two, and then only in the last line, which is torn anyway.
    let text = String::from_utf8_lossy(&text);
    let mut data = RunData::default();
    let mut lines = text.split_inclusive('\n').enumerate().peekable();
    while let Some((number, text)) = lines.next() {
        match line::read(text) {
            Ok(report) => data.apply(report),
            Err(_) if lines.peek().is_none() && !text.ends_with('\n') => {}
            Err(error) => return Err(format!("{}:{}: {error}", path.display(), number + 1)),
        }
    }
    Ok(data)
}

fn json(path: &Path) -> Result<Json, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}
