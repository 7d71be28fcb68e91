//! The mistakes found so far, as many as somebody will read.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Place, Source};

/// More than this many mistakes in one file are counted, not told: nobody reads on, and a hostile file must not fill
/// the memory with them.
const MOST: usize = 60;

/// Collects what is wrong with one file.
pub(super) struct Problems<'s> {
    source: &'s Source,
    found: Vec<Diagnostic>,
    more: usize,
}

impl<'s> Problems<'s> {
    pub(super) fn new(source: &'s Source) -> Self {
        Self { source, found: Vec::new(), more: 0 }
    }

    pub(super) fn source(&self) -> &'s Source {
        self.source
    }

    /// An error with a way out.
    pub(super) fn error(
        &mut self,
        code: Code,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(|source| source.error(code, place, message).help(help));
    }

    /// An error with a way out if there is one.
    pub(super) fn error_maybe(
        &mut self,
        code: Code,
        place: Place,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.add(|source| source.error(code, place, message).maybe_help(help));
    }

    /// A warning with a way out.
    pub(super) fn warning(
        &mut self,
        code: Code,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(|source| source.warning(code, place, message).help(help));
    }

    /// Mistakes that are there and are not looked at one by one.
    pub(super) fn count_only(&mut self, more: usize) {
        self.more += more;
    }

    fn add(&mut self, diagnostic: impl FnOnce(&Source) -> Diagnostic) {
        if self.found.len() < MOST {
            self.found.push(diagnostic(self.source));
        } else {
            self.more += 1;
        }
    }

    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        let mut found = self.found;
        if self.more > 0 {
            let end = self.source.text.len();
            let message = format!("{} more problems are not shown", self.more);
            found.push(
                self.source
                    .error(Code::TooManyProblems, Place::new(end, end), message)
                    .help("mend those above first"),
            );
        }
        found
    }
}
