//! The one way out for text: results to standard output, everything else to standard error.
//!
//! Titles, names of parameters and folders, and answers come from files that others wrote. Here, and nowhere else, what
//! could steer a terminal in them is made visible: in results where standard output is a terminal, and in all else always.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use mlsys_lab::steers_terminal;

use crate::process::Failure;

/// Where results, warnings and progress go.
pub struct Console {
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    progress: Progress,
    warned: BTreeSet<String>,
}

/// Whether a line of progress is drawn, and when it was drawn last.
#[derive(Clone, Copy, Debug)]
enum Progress {
    Silent,
    Drawn(Option<Instant>),
}

/// Often enough to look alive, seldom enough to cost nothing.
const PROGRESS_PERIOD: Duration = Duration::from_millis(100);

impl Console {
    /// The process's own streams; progress is drawn only where a person watches standard error.
    pub fn standard() -> Self {
        let progress =
            if io::stderr().is_terminal() { Progress::Drawn(None) } else { Progress::Silent };
        let out = BufWriter::new(io::stdout());
        let out: Box<dyn Write> = if io::stdout().is_terminal() {
            Box::new(Harmless { inner: out, begun: Vec::new() })
        } else {
            Box::new(out)
        };
        Self { out, err: Box::new(io::stderr()), progress, warned: BTreeSet::new() }
    }

    /// Warnings and notes only: for a thread while another one has the line of progress.
    pub fn warnings() -> Self {
        Self { err: Box::new(io::stderr()), ..Self::silent() }
    }

    pub fn silent() -> Self {
        Self {
            out: Box::new(io::sink()),
            err: Box::new(io::sink()),
            progress: Progress::Silent,
            warned: BTreeSet::new(),
        }
    }

    pub fn line(&mut self, text: impl Display) -> Result<(), Failure> {
        Ok(writeln!(self.out, "{text}")?)
    }

    pub fn lines(&mut self, lines: impl IntoIterator<Item = impl Display>) -> Result<(), Failure> {
        lines.into_iter().try_for_each(|line| self.line(line))
    }

    /// A result without an additional line end.
    pub fn raw(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// A line on standard error: a warning, a note, an error. Failing to write it is no failure.
    pub fn note(&mut self, text: impl Display) {
        self.clear_progress();
        let _ = writeln!(self.err, "{}", harmless(&text.to_string()));
    }

    /// A warning, printed once however often it comes.
    pub fn warn(&mut self, text: impl Display) {
        let text = text.to_string();
        if !self.warned.contains(&text) {
            self.note(format_args!("warning: {text}"));
            self.warned.insert(text);
        }
    }

    /// The line of progress; drawn at most ten times a second, and only for a person.
    pub fn progress(&mut self, text: impl FnOnce() -> String) {
        let Progress::Drawn(last) = self.progress else { return };
        if last.is_none_or(|last| last.elapsed() >= PROGRESS_PERIOD) {
            // Return to the first column and clear to the end of the line.
            let _ = write!(self.err, "\r{}\x1b[K", harmless(&text()));
            let _ = self.err.flush();
            self.progress = Progress::Drawn(Some(Instant::now()));
        }
    }

    pub fn clear_progress(&mut self) {
        if let Progress::Drawn(Some(_)) = self.progress {
            let _ = write!(self.err, "\r\x1b[K");
            let _ = self.err.flush();
            self.progress = Progress::Drawn(None);
        }
    }

    pub fn finish(&mut self) -> Result<(), Failure> {
        self.clear_progress();
        Ok(self.out.flush()?)
    }
}

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Text that others wrote, with every character that could steer a terminal made visible.
pub fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if steers_terminal(c) && c != '\n' && c != '\t' {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    safe
}

/// A path that others named, on one line: what could steer a terminal or end the line is escaped, as are bytes that are no
/// UTF-8.
pub fn shown_path(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if steers_terminal(c) {
                shown.extend(c.escape_default());
            } else {
                shown.push(c);
            }
        }
        shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    shown
}

/// A stream to a terminal on which [`harmless`] text arrives; bytes that are no UTF-8 arrive as U+FFFD.
struct Harmless<W> {
    inner: W,
    /// The first bytes of a character whose others come with the next write.
    begun: Vec<u8>,
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = std::mem::take(&mut self.begun);
        text.extend(bytes);
        let mut chunks = text.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.inner.write_all(harmless(chunk.valid()).as_bytes())?;
            let rest = chunk.invalid();
            let is_cut_off =
                |rest| std::str::from_utf8(rest).is_err_and(|e| e.error_len().is_none());
            if chunks.peek().is_none() && is_cut_off(rest) {
                self.begun = rest.to_vec();
            } else if !rest.is_empty() {
                self.inner.write_all("\u{fffd}".as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_nothing_that_steers_it_however_it_is_written() {
        let text = "a\x1b[2Jb\x07\u{9b}c\u{a0}\u{e9}\u{4f60}\u{202e}\u{2028}\u{2069}\x7f\r\n\t";
        for piece in [1, 2, 3, 100] {
            let mut stream = Harmless { inner: Vec::new(), begun: Vec::new() };
            text.as_bytes().chunks(piece).for_each(|bytes| stream.write_all(bytes).unwrap());
            assert_eq!(String::from_utf8(stream.inner).unwrap(), harmless(text), "{piece}");
        }
    }

    #[test]
    fn nothing_that_steers_a_terminal_gets_through() {
        assert_eq!(harmless("a\x1b[2Jb\x07\u{9b}c\r\n\t"), "a\\u{1b}[2Jb\\u{7}\\u{9b}c\\r\n\t");
        assert_eq!(harmless("\u{202e}txt.exe\u{2066}"), "\\u{202e}txt.exe\\u{2066}");
    }

    #[cfg(unix)]
    #[test]
    fn a_path_is_one_harmless_line() {
        use std::os::unix::ffi::OsStrExt;
        for (bytes, shown) in [
            (&b"in/a\nnot graded: b"[..], "in/a\\nnot graded: b"),
            (b"\x1b]0;title\x07\r\t", "\\u{1b}]0;title\\u{7}\\r\\t"),
            (b"\xff\xfe.json", "\\xff\\xfe.json"),
            ("\u{202e}gnp \u{e9}\u{4f60}".as_bytes(), "\\u{202e}gnp \u{e9}\u{4f60}"),
        ] {
            assert_eq!(shown_path(Path::new(std::ffi::OsStr::from_bytes(bytes))), shown);
        }
    }

    #[test]
    fn bytes_that_are_no_text_reach_no_terminal() {
        let mut stream = Harmless { inner: Vec::new(), begun: Vec::new() };
        for bytes in [b"a\x9b2J\xe4".as_slice(), b"b\xe2\x80", b"c"] {
            stream.write_all(bytes).unwrap();
        }
        assert_eq!(String::from_utf8(stream.inner).unwrap(), "a\u{fffd}2J\u{fffd}b\u{fffd}c");
    }
}
