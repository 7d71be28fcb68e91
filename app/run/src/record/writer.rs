//! The thread that writes a run's reports, so that the run does not wait for the disk nor turns numbers into text.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mlsys_lab::Artifact;
use mlsys_lab::report::Report;

use super::format::{self, Batch};
use crate::files;

/// What is reported within this time goes into one line; a kill costs that line at most.
const PERIOD: Duration = Duration::from_millis(100);

/// The time of a step is written down this often, and at the end.
const CLOCK_PERIOD: Duration = Duration::from_secs(1);

/// As many values as one line holds at most, so that lines can be read side by side.
const LONGEST: usize = 1 << 16;

/// As much may wait for a disk that does not answer.
const MOST_WAITING: usize = 1 << 22;

pub struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// The metrics so far, in the order of their first values.
    names: Vec<Arc<str>>,
    /// The index of the last value's metric among them: labs report metrics in the same order at each step.
    last: usize,
}

struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    entries: Vec<Entry>,
    names: Vec<Arc<str>>,
    closing: bool,
    trouble: Option<io::Error>,
}

enum Entry {
    Point {
        metric: usize,
        step: u64,
        value: f64,
    },
    Line(String),
    /// Written to a file of its own.
    Artifact(Arc<Artifact>),
}

impl Writer {
    /// Appends to this file from now on; what the run leaves goes into files of their own in the folder.
    pub fn start(file: File, folder: PathBuf) -> io::Result<Self> {
        let shared = Arc::new(Shared { waiting: Mutex::default(), changed: Condvar::new() });
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new().name("record".to_owned()).spawn(move || {
            if let Err(error) = theirs.write(file, &folder) {
                theirs.lock().trouble = Some(error);
            }
        })?;
        Ok(Self { shared, thread: Some(thread), names: Vec::new(), last: 0 })
    }

    /// Takes a report; an error is one of an earlier report that could not be written.
    pub fn append(&mut self, report: &Report) -> io::Result<()> {
        if let Report::Point { name, step, value } = report {
            let (metric, is_new) = self.metric(name);
            let new = is_new.then(|| Arc::clone(name));
            return self.hand_over(Entry::Point { metric, step: *step, value: *value }, new);
        }
        if let Report::Artifact(artifact) = report {
            return self.hand_over(Entry::Artifact(Arc::clone(artifact)), None);
        }
        format::report_line(report).map_or(Ok(()), |line| self.line(line))
    }

    pub fn line(&mut self, line: String) -> io::Result<()> {
        self.hand_over(Entry::Line(line), None)
    }

    pub fn close(&mut self) -> io::Result<()> {
        self.shared.lock().closing = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            return Err(io::Error::other("the thread that writes the record panicked"));
        }
        self.shared.lock().trouble.take().map_or(Ok(()), Err)
    }

    fn hand_over(&mut self, entry: Entry, new: Option<Arc<str>>) -> io::Result<()> {
        let (was_empty, count) = {
            let mut waiting = self.shared.lock();
            if let Some(error) = waiting.trouble.take() {
                return Err(error);
            }
            waiting.names.extend(new);
            waiting.entries.push(entry);
            let count = waiting.entries.len();
            (count == 1, count)
        };
        if was_empty || count == LONGEST {
            self.shared.changed.notify_all();
        }
        if count > MOST_WAITING {
            return Err(io::Error::other("the disk is too slow for it"));
        }
        Ok(())
    }

    /// The number of a metric, and whether it is a new one.
    fn metric(&mut self, name: &Arc<str>) -> (usize, bool) {
        let count = self.names.len();
        let next = if self.last + 1 < count { self.last + 1 } else { 0 };
        let is_it = |index: &usize| self.names.get(*index).is_some_and(|known| known == name);
        let known = if is_it(&next) { Some(next) } else { (0..count).find(is_it) };
        self.last = known.unwrap_or(count);
        if known.is_none() {
            self.names.push(Arc::clone(name));
        }
        (self.last, known.is_none())
    }
}

/// When the steps of a run were reported.
#[derive(Default)]
struct Clock {
    step: u64,
    /// The step and the time that were written last.
    written: (u64, Duration),
}

impl Clock {
    /// A line, if there is a new step and the last line is old enough, or this is the end.
    fn line(&mut self, elapsed: Duration, is_closing: bool) -> Option<String> {
        let (step, then) = self.written;
        let is_due = step == 0 || is_closing || elapsed.saturating_sub(then) >= CLOCK_PERIOD;
        if self.step == step || !is_due {
            return None;
        }
        self.written = (self.step, elapsed);
        Some(format!("{{\"clock\":[{},{:.3}]}}\n", self.step, elapsed.as_secs_f64()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The error is dropped here; `close` returns it.
        let _ = self.close();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, mut file: File, folder: &Path) -> io::Result<()> {
        let (mut entries, mut names) = (Vec::new(), Vec::new());
        let (mut batch, mut text) = (Batch::default(), Vec::new());
        let (started, mut clock) = (Instant::now(), Clock::default());
        loop {
            let is_closing = self.wait_for_entries(&mut entries, &mut names);
            let elapsed = started.elapsed();
            for entries in entries.chunks(LONGEST) {
                for entry in entries {
                    match entry {
                        Entry::Point { metric, step, value } => {
                            batch.push(*metric, *step, *value);
                            clock.step = *step;
                        }
                        Entry::Line(line) => {
                            batch.write(&names, &mut text)?;
                            text.extend_from_slice(line.as_bytes());
                            text.push(b'\n');
                        }
                        Entry::Artifact(artifact) => {
                            let name = artifact.file_name();
                            files::replace_on_disk(&folder.join(&name), &artifact.bytes).map_err(
                                |error| io::Error::new(error.kind(), format!("{name}: {error}")),
                            )?;
                        }
                    }
                }
                batch.write(&names, &mut text)?;
                file.write_all(&text)?;
                text.clear();
            }
            entries.clear();
            if let Some(line) = clock.line(elapsed, is_closing) {
                file.write_all(line.as_bytes())?;
            }
            if is_closing {
                return match file.sync_data() {
                    // A pipe, for one, is on no disk.
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
                    synced => synced,
                };
            }
        }
    }

    /// Waits for reports and collects those of one period; whether they are the last.
    fn wait_for_entries(&self, entries: &mut Vec<Entry>, names: &mut Vec<Arc<str>>) -> bool {
        let idle = |waiting: &mut Waiting| waiting.entries.is_empty() && !waiting.closing;
        let gathering = |waiting: &mut Waiting| waiting.entries.len() < LONGEST && !waiting.closing;
        let waiting = self.lock();
        let waiting =
            self.changed.wait_while(waiting, idle).unwrap_or_else(PoisonError::into_inner);
        let (mut waiting, _) = self
            .changed
            .wait_timeout_while(waiting, PERIOD, gathering)
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(entries, &mut waiting.entries);
        names.extend(waiting.names.iter().skip(names.len()).cloned());
        waiting.closing
    }
}
