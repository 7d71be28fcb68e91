//! The reports of a record, read back: pieces side by side, then each metric's values put together.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use mlsys_lab::report::{Report, RunData, Series};

use super::chunk::{Chunk, Segment, TOLD};
use super::line::Steps;

/// About as much is read at a time.
const PIECE: u64 = 1 << 20;

/// The limits of what is read: what goes on beyond them was not written by us, or would not fit the memory of a
/// common machine.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a line.
    pub line: usize,
    /// Values of all series together.
    pub values: usize,
    /// Sentences for the learner, each of which is compared with all others.
    pub notices: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 1 << 26, values: 1 << 25, notices: 1000 }
    }
}

/// What a record says.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Everything that was reported.
    pub data: RunData,
    /// A sentence for each thing that was passed over, the first few of a kind.
    pub warnings: Vec<String>,
}

/// Reads reports to their end; `name` is what warnings call them.
pub fn load(source: impl Read + Send, name: &str, limits: Limits) -> io::Result<Loaded> {
    let feeder = Mutex::new(Feeder {
        source,
        limits,
        rest: Vec::new(),
        count: 0,
        values: 0,
        is_done: false,
        is_cut: false,
    });
    let chunks = Mutex::new(Vec::new());
    let work = || {
        let mut text = Vec::new();
        loop {
            let next = feeder.lock().unwrap_or_else(PoisonError::into_inner).next(&mut text)?;
            let Some((number, is_last)) = next else {
                return io::Result::Ok(());
            };
            let chunk = Chunk::read(&text, is_last);
            // What is no value is counted by how much memory it may take, roughly.
            let others = if chunk.reports.is_empty() { 0 } else { text.len() / 16 };
            let values = chunk.values.len() + 4 * chunk.segments.len() + others;
            feeder.lock().unwrap_or_else(PoisonError::into_inner).values += values;
            chunks.lock().unwrap_or_else(PoisonError::into_inner).push((number, chunk));
        }
    };
    beside(&work)?;
    let is_cut = feeder.into_inner().unwrap_or_else(PoisonError::into_inner).is_cut;
    let mut chunks = chunks.into_inner().unwrap_or_else(PoisonError::into_inner);
    chunks.sort_unstable_by_key(|&(number, _)| number);
    let chunks: Vec<Chunk> = chunks.into_iter().map(|(_, chunk)| chunk).collect();
    let mut loaded = joined(chunks, name, limits)?;
    if is_cut {
        let most = limits.values;
        loaded
            .warnings
            .push(format!("{name} holds more than {most} values; those after them were left out"));
    }
    Ok(loaded)
}

/// Does the same work on this thread and one beside it, where there is another processor.
fn beside(work: &(impl Fn() -> io::Result<()> + Sync)) -> io::Result<()> {
    let is_alone = thread::available_parallelism().is_ok_and(|count| count.get() == 1);
    thread::scope(|scope| {
        let other = (!is_alone).then(|| thread::Builder::new().spawn_scoped(scope, work));
        let mine = work();
        // Without a second thread the first has done it all.
        match other.and_then(Result::ok).map(thread::ScopedJoinHandle::join) {
            Some(Ok(theirs)) => mine.and(theirs),
            Some(Err(_)) => Err(io::Error::other("a thread that reads the record panicked")),
            None => mine,
        }
    })
}

/// Hands out pieces that end at line ends.
struct Feeder<R> {
    source: R,
    limits: Limits,
    rest: Vec<u8>,
    count: usize,
    values: usize,
    is_done: bool,
    is_cut: bool,
}

impl<R: Read> Feeder<R> {
    /// Puts the next piece into `text`: its number, and whether it is the last.
    fn next(&mut self, text: &mut Vec<u8>) -> io::Result<Option<(usize, bool)>> {
        text.clear();
        if self.is_done {
            return Ok(None);
        }
        if self.values > self.limits.values {
            (self.is_done, self.is_cut) = (true, true);
            return Ok(None);
        }
        text.append(&mut self.rest);
        loop {
            let start = text.len();
            let read = self.source.by_ref().take(PIECE).read_to_end(text)?;
            if read == 0 {
                self.is_done = true;
                break;
            }
            let new = text.get(start..).unwrap_or_default();
            if let Some(end) = last_newline(new) {
                self.rest.extend_from_slice(new.get(end + 1..).unwrap_or_default());
                text.truncate(start + end + 1);
                break;
            }
            if text.len() > self.limits.line {
                self.pass_line()?;
                // The head of such a line does not read, and is told as any other that does not.
                text.truncate(64);
                text.push(b'\n');
                break;
            }
        }
        let number = self.count;
        self.count += 1;
        Ok(Some((number, self.is_done)))
    }

    /// Reads over the rest of a line.
    fn pass_line(&mut self) -> io::Result<()> {
        let mut piece = Vec::new();
        loop {
            piece.clear();
            if self.source.by_ref().take(PIECE).read_to_end(&mut piece)? == 0 {
                return Ok(());
            }
            if let Some(end) = piece.iter().position(|&byte| byte == b'\n') {
                self.rest.extend_from_slice(piece.get(end + 1..).unwrap_or_default());
                return Ok(());
            }
        }
    }
}

/// Where the last line end is; blocks are asked first, as that looks at several bytes at a time.
fn last_newline(text: &[u8]) -> Option<usize> {
    let mut end = text.len();
    for block in text.rchunks(256) {
        let start = end - block.len();
        if block.contains(&b'\n') {
            let inside = block.iter().rposition(|&byte| byte == b'\n')?;
            return Some(start + inside);
        }
        end = start;
    }
    None
}

/// Where values of a metric stand.
struct Part<'a> {
    segment: &'a Segment,
    values: &'a [f64],
    /// The line in the file, from 1.
    line: usize,
}

/// Puts the pieces together.
fn joined(mut chunks: Vec<Chunk>, name: &str, limits: Limits) -> io::Result<Loaded> {
    let mut loaded = Loaded::default();
    let mut complaints = Vec::new();
    let (mut lines, mut unread, mut left_out) = (0, 0, 0);
    for chunk in &mut chunks {
        for (line, reason) in chunk.complaints.drain(..) {
            complaints.push((lines + line + 1, reason));
        }
        unread += chunk.unread;
        for report in chunk.reports.drain(..) {
            let is_notice = matches!(report, Report::Notice(_));
            if is_notice && loaded.data.notices.len() >= limits.notices {
                left_out += 1;
            } else {
                loaded.data.apply(report);
            }
        }
        lines += chunk.lines;
    }
    let mut metrics: BTreeMap<&str, Vec<Part<'_>>> = BTreeMap::new();
    let mut first = 1;
    for chunk in &chunks {
        let mut start = 0;
        for segment in &chunk.segments {
            let values = chunk.values.get(start..start + segment.count).unwrap_or_default();
            start += segment.count;
            let metric = chunk.names.get(segment.metric).map(String::as_str).unwrap_or_default();
            let line = first + segment.line;
            metrics.entry(metric).or_default().push(Part { segment, values, line });
        }
        first += chunk.lines;
    }
    let metrics: Vec<(&str, Vec<Part<'_>>)> = metrics.into_iter().collect();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    beside(&|| {
        while let Some((metric, parts)) = metrics.get(next.fetch_add(1, Ordering::Relaxed)) {
            let series = series(parts);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((*metric, series));
        }
        Ok(())
    })?;
    for (metric, (series, backwards)) in done.into_inner().unwrap_or_else(PoisonError::into_inner) {
        unread += backwards.len();
        let reason = format!("the steps of '{}' go backwards", metric.escape_debug());
        complaints.extend(backwards.into_iter().take(TOLD).map(|line| (line, reason.clone())));
        let points = series.points().last().map_or(0, |&(step, _)| step);
        let gaps = series.gaps().last().copied().unwrap_or(0);
        loaded.data.step = loaded.data.step.max(points).max(gaps);
        loaded.data.series.insert(Arc::from(metric), series);
    }
    complaints.sort();
    complaints.truncate(TOLD);
    let told = complaints.len();
    let sentence = |(line, reason)| format!("{name}:{line} was passed over: {reason}");
    loaded.warnings.extend(complaints.into_iter().map(sentence));
    if unread > told {
        let more = unread - told;
        loaded.warnings.push(format!("{name}: {more} more lines were passed over"));
    }
    if left_out > 0 {
        loaded.warnings.push(format!("{name}: {left_out} notices were left out"));
    }
    Ok(loaded)
}

/// The values of one metric, and the lines whose steps lie before those already seen.
fn series(parts: &[Part<'_>]) -> (Series, Vec<usize>) {
    let mut series = Series::default();
    series.reserve(parts.iter().map(|part| part.values.len()).sum());
    let mut backwards = Vec::new();
    let mut last = 0;
    for part in parts {
        match &part.segment.steps {
            Steps::Even(from, _) if *from < last => backwards.push(part.line),
            Steps::Even(from, by) => {
                let mut step = *from;
                series.extend(part.values.iter().map(|&value| {
                    last = step;
                    step = step.saturating_add(*by);
                    (last, value)
                }));
            }
            Steps::Listed(steps) if steps.first().is_some_and(|&first| first < last) => {
                backwards.push(part.line);
            }
            Steps::Listed(steps) => {
                series.extend(steps.iter().copied().zip(part.values.iter().copied()));
                last = steps.last().copied().unwrap_or(last);
            }
        }
    }
    (series, backwards)
}

#[cfg(test)]
mod tests;
