//! What is wrong with a kernel, where, and what to do about it.

use mlsys_expr::Excerpt;
use std::fmt;

/// Bytes a kernel's text may have, with the rest of the file that it stands in.
pub const MOST_BYTES: usize = 512 * 1024;

/// A place in the source, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl Place {
    /// The place in words, of a text that may have no name.
    pub fn within(self, file: &str) -> String {
        let Self { line, column } = self;
        match file {
            "" => format!("line {line}, column {column}"),
            file => format!("{file}:{line}:{column}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    pub place: Place,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// What to do, or empty.
    pub help: String,
}

impl Diagnostic {
    pub fn new(place: Place, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { place, message: message.into(), help: help.into() }
    }

    /// Whether a name is unknown, which a header may declare.
    fn names_what_is_missing(&self) -> bool {
        let parts = ["is not declared", "there is no function", "a type is missing"];
        parts.iter().any(|part| self.message.contains(part))
    }
}

/// The first header of the text's own, `#include "common.h"`, which is passed over.
fn own_header(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let directive = line.trim_start().strip_prefix('#')?.trim_start();
        let name = directive.strip_prefix("include")?.trim_start().strip_prefix('"')?;
        name.split_once('"').map(|(name, _)| name)
    })
}

/// A kernel that is not taken: everything that is wrong with it, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// The name the text goes by, such as a file's, or empty.
    pub file: String,
    /// The lines that are complained about, as they stand in the text, one a complaint.
    pub lines: Vec<String>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Diagnostics that are reported; later ones mostly follow from earlier ones.
const MOST: usize = 40;

impl CompileError {
    pub(crate) fn new(file: &str, text: &str, mut diagnostics: Vec<Diagnostic>) -> Self {
        diagnostics.sort();
        diagnostics.dedup_by_key(|complaint| complaint.place);
        diagnostics.truncate(MOST);
        if let Some(header) = own_header(text)
            && let Some(missing) = diagnostics.iter_mut().find(|one| one.names_what_is_missing())
        {
            let stop = if missing.help.is_empty() { "" } else { "; " };
            missing.help +=
                &format!("{stop}{header:?} is not read: put its text where it is included");
        }
        let line = |c: &Diagnostic| text.lines().nth(c.place.line.saturating_sub(1) as usize);
        // What steers a terminal never reaches it from untrusted text; a message may quote it.
        let clean = |line: &str| line.replace(mlsys_expr::steers_terminal, " ");
        for complaint in &mut diagnostics {
            complaint.message = clean(&complaint.message);
            complaint.help = clean(&complaint.help);
        }
        Self {
            file: file.to_owned(),
            lines: diagnostics.iter().map(|c| line(c).map_or_else(String::new, clean)).collect(),
            diagnostics,
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (complaint, line)) in self.diagnostics.iter().zip(&self.lines).enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            let Place { line: at, column } = complaint.place;
            writeln!(f, "{}: {}", complaint.place.within(&self.file), complaint.message)?;
            let number = at.to_string();
            let gutter = " ".repeat(number.len());
            let excerpt = Excerpt::new(line, column.saturating_sub(1) as usize, 1);
            writeln!(f, " {number} | {}", excerpt.line)?;
            write!(f, " {gutter} | {}", excerpt.mark)?;
            if !complaint.help.is_empty() {
                write!(f, "\n {gutter} = {}", complaint.help)?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for CompileError {}
