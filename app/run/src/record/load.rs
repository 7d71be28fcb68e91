//! The reports of a record, read back line by line; an unreadable line is reported by its number and skipped.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::{iter, mem};

use mlsys_lab::report::{Report, RunData, Series};

use super::format::{self, Line, LineError, Points, Steps};

/// About this many bytes of whole lines are parsed by one thread at a time.
const BLOCK: usize = 1 << 18;

/// More threads would wait for the one that reads the file.
const MAX_THREADS: usize = 4;

/// This many unreadable lines are reported one by one, the others by their number.
const MAX_REPORTED: usize = 5;

/// Far more metrics than any lab has.
const MAX_METRICS: usize = 4096;

/// Limits of a record: more was not written by mlsys, or would not fit the memory of a common machine.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub line: usize,
    pub values: usize,
    /// Notices, each of which is compared with all others.
    pub notices: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 1 << 26, values: 1 << 25, notices: 1000 }
    }
}

#[derive(Debug, Default)]
pub struct Loaded {
    pub data: RunData,
    /// Steps, and when they were over in seconds since the start, ascending.
    pub clock: Vec<(u64, f64)>,
    /// A sentence for each thing that was passed over, the first few of a kind.
    pub warnings: Vec<String>,
}

/// Reads reports to their end; `name` is what warnings call them.
///
/// Threads take blocks of lines in turn, parse them side by side, and apply them in the order of the file; then each
/// takes metrics in turn and joins their values.
pub fn load(source: impl Read + Send, name: &str, limits: Limits) -> io::Result<Loaded> {
    let source = BufReader::with_capacity(BLOCK, source);
    let blocks = Mutex::new(Blocks { source, limits, count: 0 });
    let parsed = Mutex::new(BTreeMap::new());
    let loader = Mutex::new(Loader { limits, ..Loader::default() });
    let work = || {
        let mut text = Vec::new();
        loop {
            // Not in the condition of the loop, which would hold the lock while it parses.
            let block = lock(&blocks).next(&mut text)?;
            let Some(number) = block else { return io::Result::Ok(()) };
            let lines: Vec<_> = lines(&text).map(|line| ParsedLine::new(line, limits)).collect();
            lock(&parsed).insert(number, lines);
            if let Ok(mut loader) = loader.try_lock() {
                loader.apply_blocks(&parsed, name);
                if loader.is_full {
                    return Ok(());
                }
            }
        }
    };
    on_threads(work)?;
    let mut loader = loader.into_inner().unwrap_or_else(PoisonError::into_inner);
    // A block that came while another thread was about to end.
    loader.apply_blocks(&parsed, name);
    loader.join_columns()?;
    if loader.is_full {
        let max = limits.values;
        loader
            .warnings
            .push(format!("{name} holds more than {max} values; those after them were left out"));
    }
    if loader.unread > MAX_REPORTED {
        let more = loader.unread - MAX_REPORTED;
        loader.warnings.push(format!("{name}: {more} more lines were passed over"));
    }
    if loader.omitted_notices > 0 {
        let omitted = loader.omitted_notices;
        loader.warnings.push(format!("{name}: {omitted} notices were left out"));
    }
    Ok(Loaded { data: loader.data, clock: loader.clock, warnings: loader.warnings })
}

/// Does the same work on several threads at once, this one included.
fn on_threads(work: impl Fn() -> io::Result<()> + Copy + Send) -> io::Result<()> {
    let threads = thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS));
    thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).filter_map(spawn).collect();
        let panicked = || io::Error::other("a thread that reads the record panicked");
        let results = others.into_iter().map(|other| other.join().map_err(|_| panicked())?);
        results.fold(work(), Result::and)
    })
}

/// The lines of a text with their ends, which `skip_until` finds many bytes at a time.
fn lines(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    iter::from_fn(move || {
        let rest = text;
        let length = text.skip_until(b'\n').ok()?;
        rest.get(..length).filter(|line| !line.is_empty())
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The text of a record, given out by whole lines.
struct Blocks<R> {
    source: BufReader<R>,
    limits: Limits,
    count: usize,
}

impl<R: Read> Blocks<R> {
    /// Reads the next block and returns its number. A line that is too long ends its block; its rest is skipped.
    fn next(&mut self, text: &mut Vec<u8>) -> io::Result<Option<usize>> {
        text.clear();
        while text.len() < BLOCK {
            let line =
                self.source.by_ref().take(self.limits.line as u64).read_until(b'\n', text)?;
            if line == 0 {
                break;
            }
            if line == self.limits.line && !text.ends_with(b"\n") {
                self.source.skip_until(b'\n')?;
                break;
            }
        }
        self.count += 1;
        Ok((!text.is_empty()).then_some(self.count - 1))
    }
}

struct ParsedLine {
    bytes: usize,
    /// Whether it may be half a line of a run that was killed.
    is_torn: bool,
    content: Result<Line, LineError>,
}

impl ParsedLine {
    fn new(line: &[u8], limits: Limits) -> Self {
        let bytes = line.len();
        let is_whole = line.ends_with(b"\n");
        let is_long = !is_whole && bytes == limits.line;
        let content = if is_long { Err(LineError::TooLong) } else { format::read(line) };
        Self { bytes, is_torn: !is_whole && !is_long, content }
    }
}

#[derive(Default)]
struct Loader {
    limits: Limits,
    data: RunData,
    clock: Vec<(u64, f64)>,
    columns: BTreeMap<String, Column>,
    warnings: Vec<String>,
    /// The number of the next block to apply.
    next: usize,
    /// Lines so far, and those of them that were passed over.
    lines: usize,
    unread: usize,
    /// Values so far; other lines count roughly by the memory they may take.
    values: usize,
    is_full: bool,
    omitted_notices: usize,
}

impl Loader {
    fn apply_blocks(&mut self, parsed: &Mutex<BTreeMap<usize, Vec<ParsedLine>>>, name: &str) {
        loop {
            let Some(lines) = lock(parsed).remove(&self.next) else { return };
            self.next += 1;
            for line in lines {
                if self.values > self.limits.values {
                    self.is_full = true;
                    return;
                }
                self.lines += 1;
                let is_torn = line.is_torn;
                if let Err(reason) = self.apply(line)
                    && !is_torn
                {
                    self.unread += 1;
                    if self.unread <= MAX_REPORTED {
                        let number = self.lines;
                        self.warnings.push(format!("{name}:{number} was passed over: {reason}"));
                    }
                }
            }
        }
    }

    fn apply(&mut self, ParsedLine { bytes, content, .. }: ParsedLine) -> Result<(), LineError> {
        match content? {
            Line::Points(columns) => {
                for points in columns {
                    self.values += points.values.len() + 4;
                    self.extend(points)?;
                }
            }
            Line::Clock(step, seconds) => {
                self.values += 2;
                let last = self.clock.last().copied().unwrap_or_default();
                // Anything else was not written by a run.
                if step > last.0 && seconds >= last.1 && seconds.is_finite() {
                    self.clock.push((step, seconds));
                }
            }
            Line::Report(report) => {
                self.values += bytes / 16;
                let is_notice = matches!(report, Report::Notice(_));
                if is_notice && self.data.notices.len() >= self.limits.notices {
                    self.omitted_notices += 1;
                } else {
                    self.data.apply(report);
                }
            }
        }
        Ok(())
    }

    /// Keeps values for their metric; what comes before the last of them is none of the run's.
    fn extend(&mut self, Points { metric, steps, values }: Points) -> Result<(), LineError> {
        if !self.columns.contains_key(&metric) && self.columns.len() == MAX_METRICS {
            return Err(LineError::TooManyMetrics);
        }
        let column = self.columns.entry(metric.clone()).or_default();
        let Some((first, last)) = steps.ends(values.len()) else { return Ok(()) };
        if first < column.last {
            return Err(LineError::Backwards(metric));
        }
        column.last = last;
        column.parts.push((steps, values));
        self.data.step = self.data.step.max(last);
        Ok(())
    }

    fn join_columns(&mut self) -> io::Result<()> {
        let columns = Mutex::new(mem::take(&mut self.columns).into_iter());
        let series = Mutex::new(&mut self.data.series);
        on_threads(|| {
            loop {
                let column = lock(&columns).next();
                let Some((metric, column)) = column else { return Ok(()) };
                let joined = column.join();
                lock(&series).insert(metric.into(), joined);
            }
        })
    }
}

/// The values of one metric, line by line.
#[derive(Default)]
struct Column {
    last: u64,
    parts: Vec<(Steps, Vec<f64>)>,
}

impl Column {
    fn join(self) -> Series {
        let count = self.parts.iter().map(|(_, values)| values.len()).sum();
        let mut series = Series::with_capacity(count);
        for (steps, values) in self.parts {
            match steps {
                // That the last of them fits was checked as the line was read.
                Steps::Even { from, by } => {
                    let steps = iter::successors(Some(from), |step| step.checked_add(by));
                    series.extend(steps.zip(values));
                }
                Steps::Listed(steps) => series.extend(steps.into_iter().zip(values)),
            }
        }
        series
    }
}

#[cfg(test)]
mod tests;
