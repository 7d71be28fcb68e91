//! Recorded runs: found by name, summarised without their reports, and read back.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::time::{Duration, SystemTime};

use mlsys_lab::nearest::nearest;
use mlsys_lab::report::RunData;
use mlsys_lab::value::Value;
use serde_json::Value as Json;

use crate::process::Failure;

use super::load::{Limits, Loaded, load};
use super::{ABOUT, FORMAT, OUTCOME, REPORTS, RUNNING};

/// A run's description and status, without its reports.
#[derive(Clone, Debug)]
pub struct Summary {
    pub name: String,
    pub folder: PathBuf,
    /// `run.json`: lab, parameters, seed, device, versions, start.
    pub about: Json,
    pub status: RunStatus,
}

/// Whether a run is in progress, and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunStatus {
    /// Its process holds the lock.
    GoingOn,
    /// Its process ended without an outcome.
    CutOff,
    /// `outcome.json`.
    Ended(Json),
}

#[derive(Clone, Debug)]
pub struct RecordedRun {
    pub summary: Summary,
    pub data: RunData,
    /// Steps, and when they were over in seconds since the start, ascending; empty in records of before this was kept.
    pub clock: Vec<(u64, f64)>,
    /// A sentence for each thing that could not be read.
    pub warnings: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("there is no folder '{}'", .0.escape_debug())]
    NoFolder(String),
    #[error("no run{0} has been recorded")]
    NoneRecorded(String),
    #[error("one run{0} has been recorded: it is 'last'")]
    OneRecorded(String),
    #[error("{count} runs{kind} have been recorded: the first is 'last-{}'", .count - 1)]
    FewRecorded { count: usize, kind: String },
    #[error("there is no run '{}'; {}", .asked.escape_debug(), match near {
        Some(near) => format!("did you mean '{near}'?"),
        None => "see `mlsys runs list`".to_owned(),
    })]
    Unknown { asked: String, near: Option<String> },
    #[error("'{}' begins the names of {count} runs, from {first} to {last}; write more of one", .asked.escape_debug())]
    Ambiguous { asked: String, count: usize, first: String, last: String },
    #[error("{} is no whole record: {ABOUT}, which says what was run, is missing", .0.display())]
    NoDescription(PathBuf),
    #[error("{}: {error}", path.display())]
    Description { path: PathBuf, error: DescriptionError },
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

#[derive(Debug, thiserror::Error)]
pub enum DescriptionError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it holds no object")]
    NoObject,
    #[error("it is far too long")]
    TooLong,
    #[error("this is no record of a run: it says no format")]
    NoFormat,
    #[error(
        "an older mlsys has recorded this run (format {0}; this one reads format {FORMAT}): run the lab again"
    )]
    OldFormat(u64),
    #[error(
        "a newer mlsys has recorded this run (format {0}; this one reads up to {FORMAT}): an update reads it"
    )]
    NewFormat(u64),
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl RunStatus {
    pub fn word(&self) -> &str {
        match self {
            Self::GoingOn => "going on",
            Self::CutOff => "cut off",
            Self::Ended(end) => end["outcome"].as_str().unwrap_or("unknown"),
        }
    }
}

impl Summary {
    pub fn lab(&self) -> &str {
        self.about["lab"].as_str().unwrap_or("unknown lab")
    }

    pub fn lesson(&self) -> Option<&str> {
        self.about["lesson"]["id"].as_str()
    }

    /// The device: its name on the command line and the one its maker gave it.
    pub fn device(&self) -> Option<(&str, &str)> {
        let device = &self.about["device"];
        Some((device["id"].as_str()?, device["name"].as_str().unwrap_or("")))
    }

    /// How long it took, if it has ended.
    pub fn seconds(&self) -> Option<f64> {
        match &self.status {
            RunStatus::Ended(end) => end["seconds"].as_f64(),
            RunStatus::GoingOn | RunStatus::CutOff => None,
        }
    }

    /// The parameters with their values, in the order of their names.
    pub fn values(&self) -> Vec<(&str, Value)> {
        values(&self.about["params"])
    }

    /// The parameters with their values as people read them, in the order of their names.
    pub fn params(&self) -> Vec<(&str, String)> {
        self.params_json().map(|(name, json)| (name, value_text(json))).collect()
    }

    pub(super) fn params_json(&self) -> impl Iterator<Item = (&str, &Json)> {
        let params = self.about["params"].as_object().into_iter().flatten();
        params.map(|(name, json)| (name.as_str(), json))
    }

    /// When it started, as `2026-11-21 09:06` in universal time.
    pub fn started(&self) -> String {
        let started = self.about["started"].as_str().unwrap_or("");
        started.chars().take(16).collect::<String>().replace('T', " ")
    }
}

/// What lies in the folder of runs, which is made by the first of them.
pub(super) fn entries(runs: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(runs) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.collect(),
    }
}

/// The folders of all recorded runs by name, oldest first; none if nothing was ever recorded.
pub fn list(runs: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in entries(runs)? {
        let folder = entry.path();
        // An empty folder is that of a run that is just beginning, or was killed while it did.
        let is_run = folder.join(ABOUT).is_file() || has_reports(&folder);
        if is_run && let Some(name) = entry.file_name().to_str() {
            names.push(name.to_owned());
        }
    }
    // Made while the clock was ahead: not the last for as long as it was.
    let soon = humantime::format_rfc3339_millis(SystemTime::now() + Duration::from_secs(60));
    let soon = soon.to_string().replace(':', "-");
    names.sort_by(|a, b| (*a < soon, a).cmp(&(*b < soon, b)));
    Ok(names)
}

fn has_reports(folder: &Path) -> bool {
    fs::metadata(folder.join(REPORTS)).is_ok_and(|reports| reports.len() > 0)
}

/// The folder of a run by `last`, `last-2`, a name or its beginning, or a path.
pub fn find(runs: &Path, asked: &str) -> Result<PathBuf, RecordError> {
    find_counting(runs, asked, "", |_| true)
}

/// As [`find`]; `last` counts only runs that match the filter, which `kind` describes after the word "run".
pub fn find_counting(
    runs: &Path,
    asked: &str,
    kind: &str,
    counts: impl Fn(&Path) -> bool,
) -> Result<PathBuf, RecordError> {
    let as_path = Path::new(asked);
    if asked.contains(['/', MAIN_SEPARATOR]) || as_path.join(ABOUT).is_file() {
        let is_there = as_path.is_dir();
        return is_there.then(|| as_path.to_owned()).ok_or(RecordError::NoFolder(asked.to_owned()));
    }
    let names = list(runs).map_err(|error| RecordError::Io { path: runs.to_owned(), error })?;
    if let Some(back) = back(asked) {
        let counted: Vec<PathBuf> = names
            .iter()
            .rev()
            .map(|name| runs.join(name))
            .filter(|folder| counts(folder))
            .collect();
        return counted.get(back).cloned().ok_or_else(|| match counted.len() {
            0 => RecordError::NoneRecorded(kind.to_owned()),
            1 => RecordError::OneRecorded(kind.to_owned()),
            count => RecordError::FewRecorded { count, kind: kind.to_owned() },
        });
    }
    let asked = asked.to_owned();
    let begin: Vec<&String> = names.iter().filter(|name| name.starts_with(&asked)).collect();
    match begin.as_slice() {
        _ if names.contains(&asked) => Ok(runs.join(asked)),
        [name] if !asked.is_empty() => Ok(runs.join(name)),
        [] | [_] => {
            let known = names.iter().map(String::as_str).chain(["last"]);
            let near = nearest(&asked, known).map(str::to_owned);
            Err(RecordError::Unknown { asked, near })
        }
        [first, .., last] => Err(RecordError::Ambiguous {
            count: begin.len(),
            first: (*first).clone(),
            last: (*last).clone(),
            asked,
        }),
    }
}

/// How many runs before the newest: `last` is none, `last-2` is two.
fn back(asked: &str) -> Option<usize> {
    match asked.strip_prefix("last")? {
        "" => Some(0),
        rest => rest.strip_prefix('-')?.parse().ok(),
    }
}

/// A run's description and status, without its reports.
pub fn summary(folder: &Path) -> Result<Summary, RecordError> {
    let path = folder.join(ABOUT);
    let about = match json(&path)? {
        None => return Err(RecordError::NoDescription(folder.to_owned())),
        Some(about) => checked(about).map_err(|error| RecordError::Description { path, error })?,
    };
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    Ok(Summary {
        name: name.to_string_lossy().into_owned(),
        folder: folder.to_owned(),
        about,
        status: status(folder)?,
    })
}

/// Refuses formats that this version cannot read.
fn checked(about: Json) -> Result<Json, DescriptionError> {
    match about["format"].as_u64() {
        Some(FORMAT) => Ok(about),
        Some(0) | None => Err(DescriptionError::NoFormat),
        Some(format) if format < FORMAT => Err(DescriptionError::OldFormat(format)),
        Some(format) => Err(DescriptionError::NewFormat(format)),
    }
}

pub(super) fn status(folder: &Path) -> Result<RunStatus, RecordError> {
    let ended = || Ok(json(&folder.join(OUTCOME))?.map(RunStatus::Ended));
    if let Some(ended) = ended()? {
        return Ok(ended);
    }
    let lock = File::open(folder.join(RUNNING)).map(|file| file.try_lock_shared());
    if let Ok(Err(TryLockError::WouldBlock)) = lock {
        return Ok(RunStatus::GoingOn);
    }
    // It may have ended between the two looks.
    Ok(ended()?.unwrap_or(RunStatus::CutOff))
}

/// Reads a run; parts that cannot be read become warnings where the rest can.
pub fn open(folder: &Path) -> Result<RecordedRun, RecordError> {
    let summary = summary(folder)?;
    let path = folder.join(REPORTS);
    let loaded = match File::open(&path) {
        Ok(file) => load(file, &path.display().to_string(), Limits::default()),
        // Killed before its first report.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Loaded::default()),
        Err(error) => Err(error),
    };
    let Loaded { data, clock, warnings } =
        loaded.map_err(|error| RecordError::Io { path, error })?;
    Ok(RecordedRun { summary, data, clock, warnings })
}

/// A metric of the newest finished run of a lab on a device, of those with a parameter at a value.
pub fn newest_metric(
    runs: &Path,
    lab: &str,
    device: &str,
    (param, value): (&str, &str),
    metric: &str,
) -> Option<f64> {
    let names = list(runs).ok()?;
    names.iter().rev().find_map(|name| {
        // The description is short; the reports are read only where it fits.
        let summary = summary(&runs.join(name)).ok()?;
        let fits = summary.lab() == lab
            && summary.device().is_some_and(|(_, name)| name == device)
            && summary.about["params"][param] == value
            && summary.status.word() == "finished";
        let past = fits.then(|| open(&summary.folder).ok()).flatten()?;
        past.data.metric(metric)?.as_f64()
    })
}

/// The object in a file; none if the file does not exist.
fn json(path: &Path) -> Result<Option<Json>, RecordError> {
    /// Far more than any description takes.
    const MAX_BYTES: u64 = 1 << 20;
    let read = || {
        let mut text = Vec::new();
        File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut text)?;
        if text.len() as u64 > MAX_BYTES {
            return Err(DescriptionError::TooLong);
        }
        object(&text)
    };
    match read() {
        Ok(json) => Ok(Some(json)),
        Err(DescriptionError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RecordError::Description { path: path.to_owned(), error }),
    }
}

fn object(text: &[u8]) -> Result<Json, DescriptionError> {
    let json: Json = serde_json::from_slice(text)?;
    if json.is_object() { Ok(json) } else { Err(DescriptionError::NoObject) }
}

/// A parameter's value as a person reads it.
pub fn value_text(json: &Json) -> String {
    match serde_json::from_value::<Value>(json.clone()) {
        Ok(value) => short(&value.to_string()),
        Err(_) => short(&json.to_string()),
    }
}

/// Recorded parameters with their values.
pub fn values(params: &Json) -> Vec<(&str, Value)> {
    let value = |json: &Json| serde_json::from_value(json.clone()).ok();
    let params = params.as_object().into_iter().flatten();
    params.filter_map(|(name, json)| Some((name.as_str(), value(json)?))).collect()
}

/// A text in one line of at most 60 characters.
fn short(text: &str) -> String {
    let mut characters = text.chars().map(|c| if mlsys_lab::steers_terminal(c) { ' ' } else { c });
    let short: String = characters.by_ref().take(60).collect();
    if characters.next().is_some() { format!("{short} …") } else { short }
}

/// A recording in the program: a folder of `assets/recordings`, as a run has left it.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    name: &'static str,
    about: &'static [u8],
    reports: &'static [u8],
    outcome: &'static [u8],
}

const SHIPPED: &[Shipped] = include!(concat!(env!("OUT_DIR"), "/recordings.rs"));

/// All recordings in the program, in the order of their names.
pub fn shipped() -> impl Iterator<Item = Shipped> {
    SHIPPED.iter().copied()
}

impl Shipped {
    pub fn summary(&self) -> Result<Summary, RecordError> {
        let folder = PathBuf::from(self.name);
        let failed = |error| RecordError::Description { path: folder.clone(), error };
        let about = object(self.about).and_then(checked).map_err(failed)?;
        let status = RunStatus::Ended(object(self.outcome).map_err(failed)?);
        Ok(Summary { name: self.name.to_owned(), about, status, folder })
    }

    pub fn open(&self) -> Result<RecordedRun, RecordError> {
        let loaded = load(self.reports, REPORTS, Limits::default())
            .map_err(|error| RecordError::Io { path: PathBuf::from(self.name), error })?;
        let Loaded { data, clock, warnings } = loaded;
        Ok(RecordedRun { summary: self.summary()?, data, clock, warnings })
    }
}
