//! Past runs, found and read back.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use mlsys_lab::nearest::nearest;
use mlsys_lab::report::RunData;
use mlsys_lab::value::Value;
use serde_json::Value as Json;

use super::load::{Limits, load};
use super::{ABOUT, FORMAT, OUTCOME, REPORTS, RUNNING, line};

/// What is known of a run without reading its reports.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The name of its folder.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// `run.json`: lab, parameters, seed, device, versions, start.
    pub about: Json,
    /// How it stands.
    pub standing: Standing,
}

/// Whether a run goes on, and how it ended if it did.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// Its process is alive and has not finished it.
    GoingOn,
    /// Its process is gone and has not written how it ended.
    CutOff,
    /// `outcome.json`.
    Ended(Json),
}

/// A run that was recorded.
#[derive(Clone, Debug)]
pub struct Past {
    /// What is known of it.
    pub summary: Summary,
    /// Everything it reported.
    pub data: RunData,
    /// A sentence for each thing that could not be read.
    pub warnings: Vec<String>,
}

impl Standing {
    /// How it stands, in a word or two.
    pub fn word(&self) -> &str {
        match self {
            Self::GoingOn => "going on",
            Self::CutOff => "cut off",
            Self::Ended(end) => end["outcome"].as_str().unwrap_or("unknown"),
        }
    }
}

impl Summary {
    /// The lab's kind.
    pub fn lab(&self) -> &str {
        self.about["lab"].as_str().unwrap_or("unknown lab")
    }

    /// The lesson that asked for it.
    pub fn lesson(&self) -> Option<&str> {
        self.about["lesson"]["id"].as_str()
    }

    /// The device: its name on the command line and the one its maker gave it.
    pub fn device(&self) -> Option<(&str, &str)> {
        let device = &self.about["device"];
        Some((device["id"].as_str()?, device["name"].as_str().unwrap_or_default()))
    }

    /// How long it took, if it has ended.
    pub fn seconds(&self) -> Option<f64> {
        match &self.standing {
            Standing::Ended(end) => end["seconds"].as_f64(),
            Standing::GoingOn | Standing::CutOff => None,
        }
    }

    /// The parameters with their values, in the order of their names.
    pub fn values(&self) -> Vec<(&str, Value)> {
        let params = self.about["params"].as_object();
        let params = params.into_iter().flatten();
        params
            .filter_map(|(name, value)| {
                let value = serde_json::from_value(value.clone()).ok()?;
                Some((name.as_str(), value))
            })
            .collect()
    }

    /// The parameters with their values as people read them, in the order of their names.
    pub fn params(&self) -> Vec<(&str, String)> {
        let params = self.about["params"].as_object();
        let params = params.into_iter().flatten();
        params.map(|(name, value)| (name.as_str(), value_text(value))).collect()
    }

    /// When it started, as `2026-11-21 09:06` in universal time.
    pub fn started(&self) -> String {
        let started = self.about["started"].as_str().unwrap_or_default();
        started.chars().take(16).collect::<String>().replace('T', " ")
    }
}

/// The folders of all recorded runs by name, oldest first; none if nothing was ever recorded.
pub fn list(runs: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(runs) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let folder = entry.path();
        // An empty folder is that of a run that is just beginning, or was killed while it did.
        let is_run = folder.join(ABOUT).is_file() || has_reports(&folder);
        if is_run && let Some(name) = entry.file_name().to_str() {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn has_reports(folder: &Path) -> bool {
    fs::metadata(folder.join(REPORTS)).is_ok_and(|reports| reports.len() > 0)
}

/// The folder of the run that somebody means: `last`, `last-2`, a name or its beginning, or a path.
pub fn find(runs: &Path, asked: &str) -> Result<PathBuf, String> {
    find_counting(runs, asked, "", |_| true)
}

/// As [`find`], and `last` counts only those runs that `counts` says yes to, which `kind` tells after the word "run".
pub fn find_counting(
    runs: &Path,
    asked: &str,
    kind: &str,
    counts: impl Fn(&Path) -> bool,
) -> Result<PathBuf, String> {
    let as_path = Path::new(asked);
    if asked.contains(['/', MAIN_SEPARATOR]) || as_path.join(ABOUT).is_file() {
        return if as_path.is_dir() {
            Ok(as_path.to_owned())
        } else {
            Err(format!("there is no folder '{}'", asked.escape_debug()))
        };
    }
    let names = list(runs).map_err(|error| format!("{}: {error}", runs.display()))?;
    if let Some(back) = back(asked) {
        let counted = || {
            let newest_first = names.iter().rev().map(|name| runs.join(name));
            newest_first.filter(|folder| counts(folder))
        };
        return counted().nth(back).ok_or_else(|| match counted().count() {
            0 => format!("no run{kind} has been recorded"),
            1 => format!("one run{kind} has been recorded: it is 'last'"),
            count => {
                format!("{count} runs{kind} have been recorded: the first is 'last-{}'", count - 1)
            }
        });
    }
    let begin: Vec<&String> = names.iter().filter(|name| name.starts_with(asked)).collect();
    match begin.as_slice() {
        _ if names.iter().any(|name| name == asked) => Ok(runs.join(asked)),
        [name] if !asked.is_empty() => Ok(runs.join(name)),
        [] | [_] => {
            let known = names.iter().map(String::as_str).chain(["last"]);
            let hint = nearest(asked, known).map_or_else(
                || "see `mlsys runs list`".to_owned(),
                |near| format!("did you mean '{near}'?"),
            );
            Err(format!("there is no run '{}'; {hint}", asked.escape_debug()))
        }
        [first, .., last] => Err(format!(
            "'{}' begins the names of {} runs, from {first} to {last}; write more of one",
            asked.escape_debug(),
            begin.len()
        )),
    }
}

/// How many runs before the newest: `last` is none, `last-2` is two.
fn back(asked: &str) -> Option<usize> {
    match asked.strip_prefix("last")? {
        "" => Some(0),
        rest => rest.strip_prefix('-')?.parse().ok(),
    }
}

/// What is known of a run without reading its reports.
pub fn summary(folder: &Path) -> Result<Summary, String> {
    let path = folder.join(ABOUT);
    let about = match json(&path) {
        Err(Unreadable::Missing) => {
            return Err(format!(
                "{} is no whole record: {ABOUT}, which says what was run, is missing",
                folder.display()
            ));
        }
        Err(Unreadable::Because(reason)) => return Err(format!("{}: {reason}", path.display())),
        Ok(about) => about,
    };
    checked(&about).map_err(|reason| format!("{}: {reason}", path.display()))?;
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    Ok(Summary {
        name: name.to_string_lossy().into_owned(),
        folder: folder.to_owned(),
        about,
        standing: standing(folder)?,
    })
}

/// Refuses what this version cannot read.
pub fn checked(about: &Json) -> Result<(), String> {
    match about["format"].as_u64() {
        Some(1..=FORMAT) => Ok(()),
        Some(format) if format > FORMAT => Err(format!(
            "a newer mlsys has recorded this run (format {format}; this one reads up to {FORMAT}): an update reads it"
        )),
        Some(_) | None => Err("this is no record of a run: it says no format".to_owned()),
    }
}

fn standing(folder: &Path) -> Result<Standing, String> {
    let path = folder.join(OUTCOME);
    let ended = || match json(&path) {
        Ok(end) => Ok(Some(Standing::Ended(end))),
        Err(Unreadable::Missing) => Ok(None),
        Err(Unreadable::Because(reason)) => Err(format!("{}: {reason}", path.display())),
    };
    if let Some(ended) = ended()? {
        return Ok(ended);
    }
    let lock = File::open(folder.join(RUNNING)).map(|file| file.try_lock_shared());
    if let Ok(Err(TryLockError::WouldBlock)) = lock {
        return Ok(Standing::GoingOn);
    }
    // It may have ended between the two looks.
    Ok(ended()?.unwrap_or(Standing::CutOff))
}

/// Reads a run; what cannot be read of it is a warning where the rest can.
pub fn open(folder: &Path) -> Result<Past, String> {
    let summary = summary(folder)?;
    let path = folder.join(REPORTS);
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    let loaded = match File::open(&path) {
        Ok(file) => load(file, &path.display().to_string(), Limits::default()).map_err(failed)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Default::default(),
        Err(error) => return Err(failed(error)),
    };
    Ok(Past { summary, data: loaded.data, warnings: loaded.warnings })
}

/// A number that the newest finished run of a lab on a device has reported, of those with a parameter at a value.
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
            && summary.standing.word() == "finished";
        let past = fits.then(|| open(&summary.folder).ok()).flatten()?;
        past.data.metric(metric)?.as_f64()
    })
}

enum Unreadable {
    Missing,
    Because(String),
}

fn json(path: &Path) -> Result<Json, Unreadable> {
    /// Far more than any description takes.
    const LONGEST: u64 = 1 << 20;
    let file = File::open(path).map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            Unreadable::Missing
        } else {
            Unreadable::Because(error.to_string())
        }
    })?;
    let mut text = Vec::new();
    let read = file.take(LONGEST + 1).read_to_end(&mut text);
    read.map_err(|error| Unreadable::Because(error.to_string()))?;
    if text.len() as u64 > LONGEST {
        return Err(Unreadable::Because("it is far too long".to_owned()));
    }
    line::object(&text).map_err(Unreadable::Because)
}

/// A parameter's value as a person reads it.
pub fn value_text(json: &Json) -> String {
    match serde_json::from_value::<Value>(json.clone()) {
        Ok(value) => short(&value.to_string()),
        Err(_) => short(&json.to_string()),
    }
}

/// A text in one line of at most 60 characters.
fn short(text: &str) -> String {
    let mut characters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let short: String = characters.by_ref().take(60).collect();
    if characters.next().is_some() { format!("{short} …") } else { short }
}
