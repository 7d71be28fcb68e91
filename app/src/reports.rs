//! Reports of a headless run: pure functions from its results to a text.

use std::path::PathBuf;

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
        let format = Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            match mlsys_lab::nearest::nearest(name, Format::ALL.map(Format::name)) {
                Some(near) => format!("there is no report '{name}'; did you mean '{near}'?"),
                None => format!("there is no report '{name}'; there are {}", names()),
            }
        })?;
        Ok(Self { format, file: (file != "-").then(|| PathBuf::from(file)) })
    }
}
