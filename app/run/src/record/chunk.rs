//! A piece of a record, read by itself: whole lines, each as this version writes it or as any version so far has.

use std::borrow::Cow;

use mlsys_lab::report::Report;
use mlsys_lab::value::Value;

use super::line::{self, Said, Steps};
use super::number;

/// What the lines of a piece say.
#[derive(Default)]
pub struct Chunk {
    /// How many lines it has.
    pub lines: usize,
    /// The metrics, in the order of their first values.
    pub names: Vec<String>,
    /// Values that stand together, in the order of the lines.
    pub segments: Vec<Segment>,
    /// All values, NaN where one was not finite.
    pub values: Vec<f64>,
    /// Everything else, in the order of the lines.
    pub reports: Vec<Report>,
    /// Lines that do not read, by number from 0, and why; the first few.
    pub complaints: Vec<(usize, String)>,
    /// How many lines do not read.
    pub unread: usize,
    last: usize,
}

/// Values of one metric from one line.
#[derive(Debug)]
pub struct Segment {
    /// The metric, by its place among the names.
    pub metric: usize,
    /// The line, from 0.
    pub line: usize,
    /// Where they were measured.
    pub steps: Steps,
    /// How many they are.
    pub count: usize,
}

/// So many lines that do not read are told one by one.
pub const TOLD: usize = 5;

/// Far more metrics than any lab has.
const MOST_METRICS: usize = 4096;
const TOO_MANY: &str = "there are too many metrics";

impl Chunk {
    /// Reads lines; `is_last` if nothing follows them, so that an end without a newline may be a torn line.
    pub fn read(text: &[u8], is_last: bool) -> Self {
        let mut chunk = Self::default();
        let mut rest = text;
        while !rest.is_empty() {
            // A line as usual shows where it ends as it is read.
            if let Some(length) = chunk.usual(rest) {
                rest = rest.get(length..).unwrap_or_default();
                chunk.lines += 1;
                continue;
            }
            let end = rest.iter().position(|&byte| byte == b'\n');
            let (line, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
            rest = after;
            let is_torn = is_last && end.is_none();
            if let Err(reason) = chunk.line(line)
                && !is_torn
            {
                if chunk.complaints.len() < TOLD {
                    chunk.complaints.push((chunk.lines, reason));
                }
                chunk.unread += 1;
            }
            chunk.lines += 1;
        }
        chunk
    }

    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let (values, segments) = (self.values.len(), self.segments.len());
        let read = self.unusual(line);
        if read.is_err() {
            self.values.truncate(values);
            self.segments.truncate(segments);
        }
        read
    }

    /// Reads any line of any version.
    fn unusual(&mut self, line: &[u8]) -> Result<(), String> {
        let text = str::from_utf8(line).map_err(|_| "it is not text".to_owned())?;
        match line::read(text)? {
            Said::Report(Report::Point { name, step, value }) => {
                self.values.push(value);
                self.segment(&name, Steps::Even(step, 1), 1).ok_or(TOO_MANY)?;
            }
            Said::Report(report) => self.reports.push(report),
            Said::Points(columns) => {
                for column in columns {
                    self.values.extend(&column.values);
                    self.segment(&column.name, column.steps, column.values.len())
                        .ok_or(TOO_MANY)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the line that the text begins with, if it is one of those that make up nearly all of a record, and says how
    /// long it is; nothing is kept of one that is not exactly so.
    fn usual(&mut self, text: &[u8]) -> Option<usize> {
        let (values, segments) = (self.values.len(), self.segments.len());
        let mut cursor = Cursor { text, at: 0 };
        let read = if cursor.eat(b"{\"points\":{").is_some() {
            self.columns(&mut cursor)
        } else if cursor.eat(b"{\"point\":{\"name\":").is_some() {
            self.point(&mut cursor)
        } else if cursor.eat(b"{\"scalar\":{\"name\":").is_some() {
            self.scalar(&mut cursor)
        } else {
            None
        };
        if read.is_none() {
            self.values.truncate(values);
            self.segments.truncate(segments);
        }
        read.map(|()| cursor.at)
    }

    fn columns(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        loop {
            let name = cursor.string()?;
            cursor.eat(b":{")?;
            let steps = cursor.steps()?;
            let is_single = cursor.eat(b",\"f32\":[").is_some();
            if !is_single {
                cursor.eat(b",\"f64\":[")?;
            }
            let start = self.values.len();
            cursor.values(&mut self.values)?;
            if is_single {
                for value in self.values.get_mut(start..)? {
                    *value = f64::from(*value as f32);
                }
            }
            cursor.eat(b"}")?;
            let count = self.values.len() - start;
            if !steps.fit(count) {
                return None;
            }
            self.segment(&name, steps, count)?;
            if cursor.eat(b",").is_none() {
                return cursor.eat(b"}}").and_then(|()| cursor.end());
            }
        }
    }

    fn point(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let name = cursor.string()?;
        cursor.eat(b",\"step\":")?;
        let step = cursor.whole()?;
        cursor.eat(b",\"value\":")?;
        let value = cursor.value()?;
        cursor.eat(b"}}").and_then(|()| cursor.end())?;
        self.values.push(value);
        self.segment(&name, Steps::Even(step, 1), 1)
    }

    /// A scalar that is a number with a fraction: those must come back bit for bit.
    fn scalar(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let name = cursor.string()?;
        cursor.eat(b",\"value\":")?;
        let start = cursor.at;
        let value = cursor.value()?;
        let is_real = cursor.text.get(start..cursor.at)?.iter().any(|byte| b".eE".contains(byte));
        cursor.eat(b"}}").and_then(|()| cursor.end())?;
        let (name, value) = (name.into(), Value::Float(value));
        is_real.then(|| self.reports.push(Report::Scalar { name, value }))
    }

    fn segment(&mut self, name: &str, steps: Steps, count: usize) -> Option<()> {
        // Metrics come in the same order line after line.
        let next = if self.last + 1 < self.names.len() { self.last + 1 } else { 0 };
        let is_next = self.names.get(next).is_some_and(|known| known == name);
        let known =
            if is_next { Some(next) } else { self.names.iter().position(|known| known == name) };
        self.last = known.unwrap_or(self.names.len());
        if known.is_none() {
            if self.names.len() == MOST_METRICS {
                return None;
            }
            self.names.push(name.to_owned());
        }
        self.segments.push(Segment { metric: self.last, line: self.lines, steps, count });
        Some(())
    }
}

/// A place in a line.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn eat(&mut self, expected: &[u8]) -> Option<()> {
        self.rest().starts_with(expected).then(|| self.at += expected.len())
    }

    /// The end of the line.
    fn end(&mut self) -> Option<()> {
        if self.rest().is_empty() {
            return Some(());
        }
        self.eat(b"\n")
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        let rest = self.rest();
        let inside = rest.strip_prefix(b"\"")?;
        let is_special = |&byte: &u8| byte == b'"' || byte == b'\\' || byte < b' ';
        let mut end = inside.iter().position(is_special)?;
        let is_plain = inside.get(end) == Some(&b'"');
        while inside.get(end)? != &b'"' {
            // Whatever is escaped, a quote among it, is at least one more character.
            end += if inside.get(end) == Some(&b'\\') { 2 } else { 1 };
        }
        self.at += end + 2;
        if is_plain {
            return str::from_utf8(inside.get(..end)?).ok().map(Cow::Borrowed);
        }
        serde_json::from_slice(rest.get(..end + 2)?).ok().map(Cow::Owned)
    }

    fn whole(&mut self) -> Option<u64> {
        let rest = self.rest();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
    }

    fn steps(&mut self) -> Option<Steps> {
        if self.eat(b"\"from\":").is_some() {
            let from = self.whole()?;
            self.eat(b",\"by\":")?;
            return Some(Steps::Even(from, self.whole()?));
        }
        self.eat(b"\"steps\":[")?;
        let mut steps = vec![self.whole()?];
        while self.eat(b",").is_some() {
            steps.push(self.whole()?);
        }
        self.eat(b"]")?;
        Some(Steps::Listed(steps))
    }

    fn value(&mut self) -> Option<f64> {
        if self.rest().first() == Some(&b'n') {
            return self.eat(b"null").map(|()| f64::NAN);
        }
        let (value, length) = number::scan(self.rest())?;
        self.at += length;
        Some(value)
    }

    /// The values of a list that has begun, its end included.
    fn values(&mut self, values: &mut Vec<f64>) -> Option<()> {
        loop {
            values.push(self.value()?);
            let separator = self.text.get(self.at);
            self.at += 1;
            match separator {
                Some(b',') => {}
                Some(b']') => return Some(()),
                Some(_) | None => return None,
            }
        }
    }
}
