//! What a run leaves on disk: a folder with `run.json`, `reports.jsonl` and, once it has ended, `outcome.json`.
//!
//! Reports are appended line by line, so that a run that is killed keeps all but perhaps its last line. While it goes
//! on the run holds a lock on `running`: a run without an outcome and with a free lock was cut off.

mod format;
mod load;
mod read;
mod summary;
mod unbegun;
mod writer;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{io, process};

use mlsys_lab::device::DeviceInfo;
use mlsys_lab::frame::Frame;
use mlsys_lab::output;
use mlsys_lab::params::Params;
use mlsys_lab::report::Report;
use mlsys_lab::schema::Schema;
use serde_json::{Value as Json, json};

pub use read::{
    RecordError, RecordedRun, RunStatus, Summary, find, find_counting, list, newest_metric, open,
    shipped, summary, value_text, values,
};
pub use unbegun::unbegun;

use crate::files;
use crate::outcome::RecordedOutcome;
use writer::Writer;

/// The version of the files. Format 1 had a line for every value; its records are refused.
const FORMAT: u64 = 2;

const ABOUT: &str = "run.json";
const REPORTS: &str = "reports.jsonl";
const OUTCOME: &str = "outcome.json";
const RUNNING: &str = "running";

/// What is known of a run before it starts.
pub struct About<'a> {
    pub schema: &'a Schema,
    pub params: &'a Params,
    /// The device; labs that answer at once have none.
    pub device: Option<&'a DeviceInfo>,
    /// The lesson and the lab's name in it, if a lesson asked for the run.
    pub lesson: Option<(&'a str, &'a str)>,
}

/// The last picture of each panel with its step.
pub type Pictures = BTreeMap<Arc<str>, (u64, Frame)>;

/// The record of a run in progress.
pub struct Record {
    folder: PathBuf,
    writer: Writer,
    step: u64,
    /// The last value of each metric, for lists of runs.
    results: serde_json::Map<String, Json>,
    /// Holds the lock that marks the run as going on; the system releases it however the process ends.
    _running: Option<File>,
}

impl Record {
    /// Makes the run's own folder in `runs` and writes its description.
    pub fn start(runs: &Path, about: &About<'_>) -> io::Result<Self> {
        let started = SystemTime::now();
        files::create_folder(runs)?;
        let folder = own_folder(runs, &about.schema.kind, started)?;
        Self::start_in(folder.clone(), about, started).inspect_err(|_| {
            // The start of a record is none.
            let _ = fs::remove_dir_all(&folder);
        })
    }

    fn start_in(folder: PathBuf, about: &About<'_>, started: SystemTime) -> io::Result<Self> {
        let running = lock(&folder);
        let reports = files::options().append(true).create_new(true).open(folder.join(REPORTS))?;
        // Last, because a folder with this file counts as a run.
        files::replace(&folder.join(ABOUT), &json_text(&description(about, started))?)?;
        Ok(Self {
            writer: Writer::start(reports, folder.clone())?,
            folder,
            step: 0,
            results: serde_json::Map::new(),
            _running: running,
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends a report without waiting for the disk; it is written a tenth of a second later, or once the disk has
    /// taken what precedes it. Pictures are written once, at the end, and artifacts into files of their own.
    pub fn append(&mut self, report: &Report) -> io::Result<()> {
        match report {
            Report::Point { name, step, value } => {
                self.step = self.step.max(*step);
                self.result(name, json!(value));
            }
            Report::Scalar { name, value } => self.result(name, output::value(value)),
            Report::Status(_)
            | Report::Frame { .. }
            | Report::Change(_)
            | Report::Diverged { .. }
            | Report::Notice(_)
            | Report::Artifact(_) => {}
        }
        self.writer.append(report)
    }

    fn result(&mut self, metric: &Arc<str>, value: Json) {
        match self.results.get_mut(&**metric) {
            Some(last) => *last = value,
            None => drop(self.results.insert(metric.to_string(), value)),
        }
    }

    /// Writes the last pictures and how the run ended, and waits until all of it is written.
    pub fn finish(
        mut self,
        pictures: &Pictures,
        outcome: RecordedOutcome,
        elapsed: Duration,
    ) -> io::Result<()> {
        for (panel, (step, frame)) in pictures {
            self.writer.line(format::frame_line(panel, *step, frame)?)?;
        }
        self.writer.close()?;
        let mut ended = serde_json::to_value(outcome)?;
        ended["seconds"] = json!(elapsed.as_secs_f64());
        ended["step"] = json!(self.step);
        ended["results"] = json!(self.results);
        files::replace_on_disk(&self.folder.join(OUTCOME), &json_text(&ended)?)?;
        // The lock of a run with an outcome is never asked for.
        let _ = fs::remove_file(self.folder.join(RUNNING));
        Ok(())
    }
}

/// The lock of a run; where files cannot be locked, no run seems to be in progress.
fn lock(folder: &Path) -> Option<File> {
    let file =
        files::options().write(true).create(true).truncate(true).open(folder.join(RUNNING)).ok()?;
    file.try_lock().ok().map(|()| file)
}

/// A folder that no other process has: the time to the millisecond, the lab, the process, and a count if need be.
fn own_folder(runs: &Path, kind: &str, started: SystemTime) -> io::Result<PathBuf> {
    let time = humantime::format_rfc3339_millis(started).to_string().replace(':', "-");
    let name = format!("{time}-{kind}-{}", process::id());
    let mut count = 1_u32;
    loop {
        let folder =
            if count == 1 { runs.join(&name) } else { runs.join(format!("{name}-{count}")) };
        match files::create_new_folder(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => count += 1,
            Err(error) => return Err(error),
        }
    }
}

fn description(about: &About<'_>, started: SystemTime) -> Json {
    let params = about.params.in_effect(about.schema);
    let params: serde_json::Map<String, Json> =
        params.map(|(name, value)| (name.to_owned(), output::value(value))).collect();
    let device = about.device.map(|device| {
        json!({
            "id": device.id.to_string(),
            "name": device.name,
            "backend": device.id.backend.name(),
            "driver": device.driver,
        })
    });
    let lesson = about.lesson.map(|(id, lab)| json!({ "id": id, "lab": lab }));
    json!({
        "format": FORMAT,
        "lab": about.schema.kind,
        "lesson": lesson,
        "params": params,
        "seed": about.params.get("seed").map(output::value),
        "device": device,
        "mlsys": env!("CARGO_PKG_VERSION"),
        "burn": mlsys_nn::BURN,
        "started": humantime::format_rfc3339_seconds(started).to_string(),
    })
}

/// The record of a run, if one is kept: given up at the first error, which is reported once.
#[derive(Default)]
pub struct Recording(Option<Record>);

impl Recording {
    pub fn start(&mut self, runs: &Path, about: &About<'_>) -> io::Result<()> {
        self.0 = Some(Record::start(runs, about)?);
        Ok(())
    }

    /// Appends reports; the record ends with the first that cannot be written.
    pub fn append<'a>(&mut self, reports: impl IntoIterator<Item = &'a Report>) -> io::Result<()> {
        let Some(record) = &mut self.0 else { return Ok(()) };
        let result = reports.into_iter().try_for_each(|report| record.append(report));
        if result.is_err() {
            self.0 = None;
        }
        result
    }

    pub fn take(&mut self) -> Option<Record> {
        self.0.take()
    }
}

fn json_text(json: &Json) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(json)?;
    text.push(b'\n');
    Ok(text)
}

#[cfg(test)]
mod tests;
