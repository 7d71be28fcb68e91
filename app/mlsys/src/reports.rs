//! Reports of a headless run: pure functions from its results to a text.

mod gradescope;
mod json;
mod junit;
mod markdown;
pub mod summary;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::PathBuf;

use mlsys_run::console::Console;
use mlsys_run::exit::Failure;
use mlsys_run::results::Results;

/// A report that is wanted, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its format.
    pub format: Format,
    /// Its file; none is standard output.
    pub file: Option<PathBuf>,
}

/// The formats of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JUnit XML, for CI.
    Junit,
    /// Everything, for programs.
    Json,
    /// Gradescope's results.json.
    Gradescope,
    /// For people, on a code-hosting page.
    Markdown,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Junit, Self::Json, Self::Gradescope, Self::Markdown];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Junit => "junit",
            Self::Json => "json",
            Self::Gradescope => "gradescope",
            Self::Markdown => "markdown",
        }
    }
}

impl Target {
    /// Reads `format=file`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let names = || Format::ALL.map(Format::name).join(", ");
        let Some((name, file)) = text.split_once('=').filter(|(_, file)| !file.is_empty()) else {
            return Err(format!("write FORMAT=FILE, with one of {}", names()));
        };
        let format =
            Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
                match mlsys_lab::nearest::nearest(name, Format::ALL.map(Format::name)) {
                    Some(near) => format!("there is no report '{name}'; did you mean '{near}'?"),
                    None => format!("there is no report '{name}'; there are {}", names()),
                }
            })?;
        Ok(Self { format, file: (file != "-").then(|| PathBuf::from(file)) })
    }
}

/// Writes every report that is wanted.
pub fn write(targets: &[Target], results: &Results, console: &mut Console) -> Result<(), Failure> {
    for target in targets {
        let text = text(target.format, results);
        match &target.file {
            None => console.raw(&text)?,
            Some(file) => fs::write(file, text).map_err(|error| {
                Failure::Usage(format!("report '{}' cannot be written: {error}", file.display()))
            })?,
        }
    }
    Ok(())
}

/// The results in a format.
fn text(format: Format, results: &Results) -> String {
    match format {
        Format::Junit => junit::report(results),
        Format::Json => json::report(results),
        Format::Gradescope => gradescope::report(results),
        Format::Markdown => markdown::report(results),
    }
}
