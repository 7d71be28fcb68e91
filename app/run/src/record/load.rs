//! The reports of a record, read back line by line; a line that does not read is told by its number and the rest is used.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use mlsys_lab::report::{Report, RunData, Series};

use super::format::{self, Line, Points, Steps};

/// The first this many lines that do not read are told one by one.
const MAX_TOLD: usize = 5;

/// Far more metrics than any lab has.
const MAX_METRICS: usize = 4096;

/// Limits of a record: more was not written by mlsys, or would not fit the memory of a common machine.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub line: usize,
    /// Values of all series together.
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
pub fn load(source: impl Read, name: &str, limits: Limits) -> io::Result<Loaded> {
    let mut source = BufReader::with_capacity(1 << 18, source);
    let mut loader = Loader { limits, ..Loader::default() };
    let mut line = Vec::new();
    let (mut number, mut unread) = (0_usize, 0_usize);
    let mut warnings = Vec::new();
    loop {
        line.clear();
        let length = source.by_ref().take(limits.line as u64).read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        if loader.values > limits.values {
            let max = limits.values;
            warnings.push(format!(
                "{name} holds more than {max} values; those after them were left out"
            ));
            break;
        }
        number += 1;
        let is_whole = line.ends_with(b"\n");
        let is_long = !is_whole && length == limits.line;
        let read = if is_long {
            source.skip_until(b'\n')?;
            Err("it is too long".to_owned())
        } else {
            loader.apply(&line)
        };
        // An end without a newline may be half a line of a run that was killed.
        if let Err(reason) = read
            && (is_whole || is_long)
        {
            unread += 1;
            if unread <= MAX_TOLD {
                warnings.push(format!("{name}:{number} was passed over: {reason}"));
            }
        }
    }
    if unread > MAX_TOLD {
        let more = unread - MAX_TOLD;
        warnings.push(format!("{name}: {more} more lines were passed over"));
    }
    if loader.omitted_notices > 0 {
        warnings.push(format!("{name}: {} notices were left out", loader.omitted_notices));
    }
    Ok(Loaded { data: loader.data, warnings })
}

#[derive(Default)]
struct Loader {
    limits: Limits,
    data: RunData,
    /// Values so far; what is no value is counted roughly by the memory it may take.
    values: usize,
    omitted_notices: usize,
}

impl Loader {
    fn apply(&mut self, line: &[u8]) -> Result<(), String> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        match format::read(line).map_err(|error| error.to_string())? {
            Line::Points(columns) => {
                for points in columns {
                    self.values += points.values.len() + 4;
                    self.extend(points)?;
                }
            }
            Line::Report(report) => {
                self.values += line.len() / 16;
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

    fn extend(&mut self, Points { metric, steps, values }: Points) -> Result<(), String> {
        let all = &mut self.data.series;
        if !all.contains_key(metric.as_str()) {
            if all.len() == MAX_METRICS {
                return Err("there are too many metrics".to_owned());
            }
            all.insert(Arc::from(metric.as_str()), Series::default());
        }
        let Some(series) = all.get_mut(metric.as_str()) else {
            return Ok(());
        };
        if steps.first().is_some_and(|first| last_step(series).is_some_and(|last| first < last)) {
            return Err(format!("the steps of '{}' go backwards", metric.escape_debug()));
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
mod tests;
