//! The reports of a record, read back line by line; an unreadable line is reported by its number and skipped.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use mlsys_lab::report::{Report, RunData, Series};

use super::format::{self, Line, LineError, Points, Steps};

/// About this many bytes of whole lines are parsed by one thread at a time.
const BLOCK: usize = 1 << 18;

/// More threads would wait for the one that joins what they have parsed.
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
    /// A sentence for each thing that was passed over, the first few of a kind.
    pub warnings: Vec<String>,
}

/// Reads reports to their end; `name` is what warnings call them.
///
/// Threads take blocks of lines in turn, parse them side by side, and apply them in the order of the file.
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
            let lines = text.split_inclusive(|&byte| byte == b'\n');
            let lines: Vec<_> = lines.map(|line| ParsedLine::new(line, limits)).collect();
            lock(&parsed).insert(number, lines);
            if let Ok(mut loader) = loader.try_lock() {
                loader.apply_blocks(&parsed, name);
                if loader.is_full {
                    return Ok(());
                }
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS));
    thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).filter_map(spawn).collect();
        let panicked = || io::Error::other("a thread that reads the record panicked");
        let results = others.into_iter().map(|other| other.join().map_err(|_| panicked())?);
        results.fold(work(), Result::and)
    })?;
    let mut loader = loader.into_inner().unwrap_or_else(PoisonError::into_inner);
    // A block that came while another thread was about to end.
    loader.apply_blocks(&parsed, name);
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
    Ok(Loaded { data: loader.data, warnings: loader.warnings })
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

    fn extend(&mut self, Points { metric, steps, values }: Points) -> Result<(), LineError> {
        let all = &mut self.data.series;
        let name = match all.get_key_value(metric.as_str()) {
            Some((name, _)) => Arc::clone(name),
            None if all.len() == MAX_METRICS => return Err(LineError::TooManyMetrics),
            None => Arc::from(metric.as_str()),
        };
        let series = all.entry(name).or_default();
        if steps.first().is_some_and(|first| last_step(series).is_some_and(|last| first < last)) {
            return Err(LineError::Backwards(metric));
        }
        match steps {
            // That the last of them fits was checked as the line was read.
            Steps::Even { from, by } => {
                let steps = std::iter::successors(Some(from), |step| step.checked_add(by));
                series.extend(steps.zip(values));
            }
            Steps::Listed(steps) => series.extend(steps.into_iter().zip(values)),
        }
        self.data.step = self.data.step.max(last_step(series).unwrap_or(0));
        Ok(())
    }
}

/// The step of the last value, finite or not.
fn last_step(series: &Series) -> Option<u64> {
    let point = series.points().last().map(|&(step, _)| step);
    point.max(series.gaps().last().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::format::Batch;

    /// Numbers that look drawn at random and are the same each time.
    struct Drawn(u64);

    impl Drawn {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }
    }

    fn point(name: &str, step: u64, value: f64) -> Report {
        Report::Point { name: name.into(), step, value }
    }

    #[test]
    fn batched_values_load_like_single_ones() {
        let names: Vec<Arc<str>> =
            ["loss", "accuracy", "gradient_norm.layer1", "seconds", "odd \"\\ name"]
                .map(Arc::from)
                .into();
        let mut drawn = Drawn(7);
        let mut expected = RunData::default();
        let (mut batch, mut text) = (Batch::default(), Vec::new());
        for step in 1..20_000 {
            for (index, name) in names.iter().enumerate() {
                let bits = drawn.next();
                let is_due = index == 0
                    || (index == 4 && bits.is_multiple_of(7))
                    || step % 10 == index as u64;
                let value = match bits % 50 {
                    0 => f64::NAN,
                    1 => f64::from_bits(bits),
                    _ if index < 3 => f64::from(bits as f32 / u64::MAX as f32),
                    _ => bits as f64 / u64::MAX as f64,
                };
                if is_due {
                    batch.push(index, step, value);
                    expected.apply(point(name, step, value));
                }
            }
            if drawn.next().is_multiple_of(100) {
                batch.write(&names, &mut text).unwrap();
            }
        }
        batch.write(&names, &mut text).unwrap();
        let loaded = load(text.as_slice(), "r", Limits::default()).unwrap();
        assert_eq!(loaded.warnings, [""; 0]);
        assert!(loaded.data == expected);
    }

    #[test]
    fn an_endless_line_is_skipped() {
        let limits = Limits { line: 1 << 20, ..Limits::default() };
        let endless = io::repeat(b'x').take(1 << 23);
        let text = b"{\"notice\":\"before\"}\n".chain(endless);
        let text = text.chain(&b"\n{\"notice\":\"after\"}\n"[..]);
        let loaded = load(text, "r", limits).unwrap();
        assert_eq!(loaded.data.notices, ["before", "after"]);
        assert_eq!(loaded.warnings.len(), 1);
        assert!(loaded.warnings[0].starts_with("r:2 was passed over"), "{:?}", loaded.warnings);
    }

    #[test]
    fn too_many_values_are_left_out_with_a_warning() {
        let limits = Limits { values: 100_000, ..Limits::default() };
        let mut text = String::new();
        for step in 0..200_000 {
            text += &format!(
                "{{\"points\":{{\"loss\":{{\"from\":{step},\"by\":1,\"f64\":[0.5]}}}}}}\n"
            );
        }
        let loaded = load(text.as_bytes(), "r", limits).unwrap();
        let kept = loaded.data.series["loss"].points().len();
        assert!(kept > 0 && kept < 200_000, "{kept}");
        assert!(loaded.warnings[0].contains("more than 100000 values"), "{:?}", loaded.warnings);
    }

    #[test]
    fn hostile_lines_are_reported_and_skipped() {
        let lines = [
            "{\"points\":{\"a\":{\"from\":18446744073709551615,\"by\":1,\"f64\":[1,2]}}}",
            "{\"points\":{\"a\":{\"from\":1,\"by\":18446744073709551615,\"f64\":[1,2,3]}}}",
            "{\"points\":{\"a\":{\"from\":1,\"by\":1,\"f32\":[1],\"f64\":[1]}}}",
            "{\"points\":{\"a\":{\"steps\":[2,1],\"f64\":[1,2]}}}",
            "{\"points\":{\"a\":{\"steps\":[],\"f64\":[1]}}}",
            "{\"points\":{\"a\":{\"from\":-1,\"by\":1,\"f64\":[1]}}}",
            "{\"points\":{\"a\":{\"from\":1,\"by\":1,\"f64\":[1,]}}}",
            "{\"points\":{\"a\":{\"from\":1,\"by\":1,\"f64\":[1",
            "{\"points\":{\"a\":{\"from\":1,\"by\":1,\"f64\":\"x\"}}}",
            "{\"points\":7}",
            "{\"unheard\":{}}",
            "[[[[",
            "{\"frame\":{\"panel\":\"p\",\"step\":1,\"frame\":{\"unheard\":1}}}",
            "\u{0}",
        ];
        let text = format!("{}\n{{\"notice\":\"end\"}}\n", lines.join("\n"));
        let loaded = load(text.as_bytes(), "r", Limits::default()).unwrap();
        assert_eq!(loaded.data.notices, ["end"]);
        assert!(loaded.data.series.is_empty(), "{:?}", loaded.data.series);
        assert_eq!(loaded.warnings.len(), MAX_REPORTED + 1);
        let more = format!("r: {} more lines were passed over", lines.len() - MAX_REPORTED);
        assert_eq!(loaded.warnings.last(), Some(&more));
    }

    #[test]
    fn values_too_large_for_a_float_are_gaps() {
        let text = "{\"points\":{\"a\":{\"from\":1,\"by\":1,\"f64\":[1e999,-1e999,2]}}}\n";
        let loaded = load(text.as_bytes(), "r", Limits::default()).unwrap();
        assert_eq!(loaded.data.series["a"].points(), [(3, 2.0)]);
        assert_eq!(loaded.data.series["a"].gaps(), [1, 2]);
    }

    #[test]
    fn steps_that_go_backwards_are_passed_over() {
        let line = |from: u64| {
            format!("{{\"points\":{{\"a\":{{\"from\":{from},\"by\":1,\"f64\":[1,2]}}}}}}\n")
        };
        let text = [line(5), line(1), line(6)].concat();
        let loaded = load(text.as_bytes(), "r", Limits::default()).unwrap();
        assert_eq!(loaded.data.series["a"].points().len(), 4);
        assert_eq!(loaded.warnings, ["r:2 was passed over: the steps of 'a' go backwards"]);
    }

    #[test]
    fn too_many_notices_are_left_out() {
        let text: String = (0..2000).map(|n| format!("{{\"notice\":\"{n}\"}}\n")).collect();
        let loaded = load(text.as_bytes(), "r", Limits::default()).unwrap();
        assert_eq!(loaded.data.notices.len(), 1000);
        assert_eq!(loaded.warnings, ["r: 1000 notices were left out"]);
    }

    #[test]
    fn a_truncated_last_line_is_ignored() {
        let loaded = load(&b"{\"notice\":\"a\"}\n{\"noti"[..], "r", Limits::default()).unwrap();
        assert_eq!((loaded.data.notices.len(), loaded.warnings.len()), (1, 0));

        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("disk"))
            }
        }
        assert!(load(Broken, "r", Limits::default()).is_err());
    }
}
