//! Folders of runs that were killed before they were described: no list has them, and nothing is lost with them.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::read::{RunStatus, entries, status};
use super::{ABOUT, REPORTS, RUNNING};

/// A run describes itself within milliseconds; on a disk that hangs it gets this long.
const LONGEST_START: Duration = Duration::from_secs(3600);

/// The names of such folders, oldest first.
pub fn unbegun(runs: &Path, now: SystemTime) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in entries(runs)? {
        let about = entry.metadata()?;
        let age = about.modified().ok().and_then(|changed| now.duration_since(changed).ok());
        let is_old = age.is_some_and(|age| age > LONGEST_START);
        if about.is_dir()
            && is_old
            && let Some(name) = entry.file_name().to_str()
            && is_named_as_run(name)
            && holds_nothing(&entry.path())?
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Whether a name begins with a time to the millisecond, as those of runs do: other folders are not ours.
fn is_named_as_run(name: &str) -> bool {
    let Some((date, time)) = name.get(..24).and_then(|time| time.split_once('T')) else {
        return false;
    };
    humantime::parse_rfc3339(&format!("{date}T{}", time.replace('-', ":"))).is_ok()
}

/// Whether a folder has nothing but what a run leaves before it describes itself, and no run holds it.
fn holds_nothing(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_empty = entry.metadata()?.len() == 0;
        let is_draft = name.to_string_lossy().starts_with(".mlsys-");
        if name == ABOUT || !(is_draft || name == RUNNING || name == REPORTS && is_empty) {
            return Ok(false);
        }
    }
    Ok(status(folder).is_ok_and(|status| status == RunStatus::CutOff))
}
