//! What a run leaves on disk: a folder with `run.json`, `reports.jsonl` and, once it has ended, `outcome.json`.
//!
//! Reports are appended line by line, so that a run that is killed keeps all but perhaps its last line.

mod line;
mod read;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant, SystemTime};

use mlsys_lab::device::DeviceInfo;
use mlsys_lab::output;
use mlsys_lab::params::Params;
use mlsys_lab::report::{Report, RunData};
use mlsys_lab::schema::Schema;
use serde_json::{Value as Json, json};

pub use read::{Past, list, newest_metric, read};

use crate::session::Outcome;

/// The version of the files' shape.
const FORMAT: u32 = 1;

/// What a kill may cost at most.
const FLUSH_PERIOD: Duration = Duration::from_secs(1);

/// What is known of a run before it starts.
pub struct About<'a> {
    /// The lab.
    pub schema: &'a Schema,
    /// Its parameters.
    pub params: &'a Params,
    /// The device; labs that answer at once have none.
    pub device: Option<&'a DeviceInfo>,
    /// The lesson and the lab's name in it, if a lesson asked for the run.
    pub lesson: Option<(&'a str, &'a str)>,
}

/// The record of a run that is going on.
pub struct Record {
    folder: PathBuf,
    reports: BufWriter<File>,
    flushed: Instant,
}

impl Record {
    /// Makes the run's own folder in `runs` and writes down what is known.
    pub fn start(runs: &Path, about: &About<'_>) -> io::Result<Self> {
        let started = SystemTime::now();
        fs::create_dir_all(runs)?;
        let folder = own_folder(runs, &about.schema.kind, started)?;
        write_json(&folder.join("run.json"), &description(about, started))?;
        let reports = File::options()
            .append(true)
            .create_new(true)
            .open(folder.join("reports.jsonl"))?;
        Ok(Self {
            folder,
            reports: BufWriter::new(reports),
            flushed: Instant::now(),
        })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends a report; pictures are kept once, at the end.
    pub fn append(&mut self, report: &Report) -> io::Result<()> {
        if let Some(line) = line::of(report) {
            self.line(&line)?;
            if self.flushed.elapsed() >= FLUSH_PERIOD {
                self.reports.flush()?;
                self.flushed = Instant::now();
            }
        }
        Ok(())
    }

    /// Writes the last pictures and how the run ended.
    pub fn finish(
        mut self,
        data: &RunData,
        outcome: &Outcome,
        elapsed: Duration,
    ) -> io::Result<()> {
        for (panel, (step, frame)) in &data.frames {
            self.line(
                &json!({ "frame": { "panel": panel.as_ref(), "step": step, "frame": frame } }),
            )?;
        }
        self.reports.flush()?;
        let (outcome, reason) = ending(outcome);
        let ended = json!({ "outcome": outcome, "reason": reason, "seconds": elapsed.as_secs_f64(), "step": data.step });
        write_json(&self.folder.join("outcome.json"), &ended)
    }

    fn line(&mut self, line: &Json) -> io::Result<()> {
        serde_json::to_writer(&mut self.reports, line)?;
        self.reports.write_all(b"\n")
    }
}

/// A folder that no other process has: the time to the second, the lab, the process, and a count if need be.
fn own_folder(runs: &Path, kind: &str, started: SystemTime) -> io::Result<PathBuf> {
    let time = humantime::format_rfc3339_seconds(started)
        .to_string()
        .replace(':', "-");
    let name = format!("{time}-{kind}-{}", process::id());
    let mut count = 1_u32;
    loop {
        let folder = if count == 1 {
            runs.join(&name)
        } else {
            runs.join(format!("{name}-{count}"))
        };
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => count += 1,
            Err(error) => return Err(error),
        }
    }
}

fn description(about: &About<'_>, started: SystemTime) -> Json {
    let params: serde_json::Map<String, Json> = about
        .params
        .iter()
        .map(|(name, value)| (name.to_owned(), output::value(value)))
        .collect();
    let device = about.device.map(|device| {
        json!({
            "id": device.id.to_string(),
            "name": device.name,
            "backend": device.id.backend.name(),
            "driver": device.driver,
        })
    });
    let lesson = about
        .lesson
        .map(|(id, lab)| json!({ "id": id, "lab": lab }));
    json!({
        "format": FORMAT,
        "lab": about.schema.kind,
        "lesson": lesson,
        "params": params,
        "seed": about.params.get("seed").map(output::value),
        "device": device,
        "mlsys": env!("CARGO_PKG_VERSION"),
        "started": humantime::format_rfc3339_seconds(started).to_string(),
    })
}

/// One word for how a run ended, and the reason where there is one.
fn ending(outcome: &Outcome) -> (&'static str, Option<String>) {
    match outcome {
        Outcome::Finished => ("finished", None),
        Outcome::Stopped(reason) => (
            "stopped",
            Some(crate::execute::stop_sentence(*reason).to_owned()),
        ),
        Outcome::Failed(error) => ("failed", Some(error.to_string())),
        Outcome::Panicked(message) => ("panicked", Some(message.clone())),
    }
}

fn write_json(path: &Path, json: &Json) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(json)?;
    text.push('\n');
    fs::write(path, text)
}

#[cfg(test)]
mod tests;
