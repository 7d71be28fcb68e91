//! Errors in a lesson file: what, where, and the way out.

use std::fmt;

use mlsys_expr::{Excerpt, Span, named_enum, steers_terminal};

/// One thing that is wrong, with its place and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether the lesson can be used all the same.
    pub severity: Severity,
    /// What kind of mistake it is.
    pub code: Code,
    /// What is wrong, without a full stop.
    pub message: String,
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Characters it covers on its line, at least 1.
    pub length: usize,
    pub source_line: String,
    /// What to write instead.
    pub help: Option<String>,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Severity {
        /// The lesson works, but its author should know.
        Warning = "warning",
        /// The lesson cannot be used.
        Error = "error",
    }
}

named_enum! {
    /// The kinds of mistakes, each with a stable name for tools.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Code {
        /// The file is not UTF-8 text.
        NotText = "not-text",
        /// The file, or a text in it, is too long.
        TooLarge = "too-large",
        /// There are too many directives.
        TooManyDirectives = "too-many-directives",
        /// A control character or an escape sequence.
        ControlCharacter = "control-character",
        /// A character that reorders the text around it.
        BidiOverride = "bidi-override",
        /// More mistakes than are shown.
        TooManyProblems = "too-many-problems",
        /// The front matter is missing or is not closed.
        FrontMatter = "front-matter",
        /// The lesson is written in a format this version does not know.
        UnknownFormat = "unknown-format",
        /// A fence that is never closed.
        UnclosedFence = "unclosed-fence",
        /// A directive of no known kind.
        UnknownDirective = "unknown-directive",
        /// An id that is missing or malformed.
        BadId = "bad-id",
        /// An id that is used twice.
        DuplicateId = "duplicate-id",
        /// Text that is not TOML.
        Toml = "toml",
        /// A key that means nothing here.
        UnknownKey = "unknown-key",
        /// A key that must be there.
        MissingKey = "missing-key",
        /// A value of another type than its key takes.
        WrongType = "wrong-type",
        /// A value that its key does not take.
        BadValue = "bad-value",
        /// Keys that contradict each other.
        Contradiction = "contradiction",
        /// An expression that does not read.
        Expression = "expression",
        /// A lab kind that does not exist.
        UnknownKind = "unknown-kind",
        /// A parameter that the lab does not have.
        UnknownParam = "unknown-param",
        /// A value that a parameter does not take.
        BadParam = "bad-param",
        /// A knob that its lab's parameter does not allow.
        BadKnob = "bad-knob",
        /// A panel that the lab does not have.
        UnknownPanel = "unknown-panel",
        /// A name in an expression that stands for nothing.
        UnknownName = "unknown-name",
        /// An expression without a value.
        NoValue = "no-value",
        /// An answer, or the truth of a prediction, that its quantity cannot be.
        OutOfRange = "out-of-range",
        /// A stated answer that is not accepted.
        AnswerRejected = "answer-rejected",
        /// A stated wrong answer that is accepted, or feedback that is never shown.
        WrongAccepted = "wrong-accepted",
        /// A required lesson that does not exist.
        UnknownLesson = "unknown-lesson",
        /// Lessons that require each other.
        Cycle = "cycle",
        /// A lesson that a course lists and that is not there.
        MissingLesson = "missing-lesson",
        /// A lesson file that its course does not list.
        UnlistedFile = "unlisted-file",
        /// A lesson that stands elsewhere than its id says.
        IdMismatch = "id-mismatch",
        /// A lesson that stands before one it requires.
        LessonOrder = "lesson-order",
        /// A built-in lesson that asks something else than the one its course was packed with.
        OtherVersion = "other-version",
        /// A directive of a translation that the original does not have.
        ExtraId = "extra-id",
        /// A key that a translation takes from the original.
        InheritedKey = "inherited-key",
        /// A text that a translation leaves out.
        Untranslated = "untranslated",
        /// A translation of a lesson that has changed since.
        StaleTranslation = "stale-translation",
        /// The answer of a question is shown before it is asked for.
        Spoiler = "spoiler",
        /// An explanation that presumes what a machine will show.
        Presumption = "presumption",
        /// A product with `*` that Markdown draws as italics.
        ItalicProduct = "italic-product",
        /// A text that Markdown draws as an item of a list.
        NumberedStart = "numbered-start",
        /// A metric that the text names and the screen does not show.
        UnseenMetric = "unseen-metric",
        /// A prediction that a lab of another part of the lesson reveals.
        DistantReveal = "distant-reveal",
        /// A right option that is told by its length.
        TellingLength = "telling-length",
        /// A line wider than the prose column.
        Overflow = "overflow",
    }
}

impl Diagnostic {
    /// Adds a way out.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Adds a way out if there is one.
    pub(crate) fn maybe_help(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }

    /// Whether the lesson cannot be used.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// As a compiler prints it: message, place, the line with a mark under it, the way out. No trailing newline.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gutter = " ".repeat(self.line.to_string().len());
        writeln!(f, "{}[{}]: {}", self.severity, self.code.name(), self.message)?;
        writeln!(f, "{gutter}--> {}:{}:{}", self.file, self.line, self.column)?;
        let Excerpt { line, mark } = Excerpt::new(&self.source_line, self.column - 1, self.length);
        writeln!(f, "{gutter} |\n{} | {line}", self.line)?;
        write!(f, "{gutter} | {mark}")?;
        match &self.help {
            Some(help) => write!(f, "\n{gutter} = help: {help}"),
            None => Ok(()),
        }
    }
}

/// A range of bytes in a lesson file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value and where it stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Located<T> {
    pub value: T,
    pub place: Place,
}

/// A lesson file: its name for messages and its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The name messages begin with: a path, or the id of a built-in lesson.
    pub file: String,
    pub text: String,
}

impl Place {
    /// The bytes from `start` up to `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The part of this place that a span of an expression covers. If the text does not stand in the file letter by
    /// letter, as with escapes in it, that is the whole place.
    pub(crate) fn within(self, text: &str, span: Span) -> Self {
        if self.end - self.start == text.len() {
            Self::new(self.start + span.start, self.start + span.end)
        } else {
            self
        }
    }
}

impl Source {
    /// Line and column of a byte, both from 1; columns count characters.
    pub fn locate(&self, byte: usize) -> (usize, usize) {
        let before = self.before(byte);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        // Counting bytes goes many at a time; places are asked for by the hundred in every lesson.
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let column = before.get(line_start..).map_or(0, |text| text.chars().count()) + 1;
        (line, column)
    }

    /// The line a byte stands in, from 1.
    pub fn line(&self, byte: usize) -> usize {
        self.locate(byte).0
    }

    /// The text of a place; empty if the place is not in this file.
    pub fn slice(&self, place: Place) -> &str {
        self.text.get(place.start..place.end).unwrap_or("")
    }

    /// An error at a place.
    pub fn error(&self, code: Code, place: Place, message: impl Into<String>) -> Diagnostic {
        self.diagnostic(Severity::Error, code, place, message.into())
    }

    /// A warning at a place.
    pub fn warning(&self, code: Code, place: Place, message: impl Into<String>) -> Diagnostic {
        self.diagnostic(Severity::Warning, code, place, message.into())
    }

    fn diagnostic(
        &self,
        severity: Severity,
        code: Code,
        place: Place,
        message: String,
    ) -> Diagnostic {
        let (line, column) = self.locate(place.start);
        let source_line = self.text.lines().nth(line - 1).unwrap_or("");
        let rest_of_line = source_line.chars().count().saturating_sub(column - 1);
        let length = self.slice(place).chars().count();
        Diagnostic {
            severity,
            code,
            message: one_line(&message),
            file: self.file.clone(),
            line,
            column,
            length: length.min(rest_of_line).max(1),
            source_line: source_line.to_owned(),
            help: None,
        }
    }

    fn before(&self, byte: usize) -> &str {
        // A place inside a character counts as its first byte.
        &self.text[..self.text.floor_char_boundary(byte)]
    }
}

/// The beginning of a text from the file, for a message.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 48;
    if text.chars().count() <= MOST {
        one_line(text)
    } else {
        let start: String = text.chars().take(MOST).collect();
        format!("{}…", one_line(&start))
    }
}

/// A text on one line and harmless to print.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => ' ',
            c if steers_terminal(c) => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// Most diagnostics of one file; more are only counted, to bound the memory of a hostile file.
const MOST: usize = 60;

/// Collects the errors of one file.
pub(crate) struct Problems<'s> {
    source: &'s Source,
    found: Vec<Diagnostic>,
    more: usize,
}

impl<'s> Problems<'s> {
    pub(crate) fn new(source: &'s Source) -> Self {
        Self { source, found: Vec::new(), more: 0 }
    }

    pub(crate) fn source(&self) -> &'s Source {
        self.source
    }

    /// The errors and warnings so far, those that are not listed included.
    pub(crate) fn count(&self) -> usize {
        self.found.len() + self.more
    }

    /// An error with a way out.
    pub(crate) fn error(
        &mut self,
        code: Code,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(|source| source.error(code, place, message).help(help));
    }

    /// An error with a way out if there is one.
    pub(crate) fn error_maybe(
        &mut self,
        code: Code,
        place: Place,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.add(|source| source.error(code, place, message).maybe_help(help));
    }

    /// A warning with a way out.
    pub(crate) fn warning(
        &mut self,
        code: Code,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(|source| source.warning(code, place, message).help(help));
    }

    /// Mistakes that are there and are not looked at one by one.
    pub(crate) fn count_only(&mut self, more: usize) {
        self.more += more;
    }

    fn add(&mut self, diagnostic: impl FnOnce(&Source) -> Diagnostic) {
        if self.found.len() < MOST {
            self.found.push(diagnostic(self.source));
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
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
