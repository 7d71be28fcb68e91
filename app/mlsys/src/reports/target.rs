//! What a report is and where it goes, as `--report` names them.

use std::path::PathBuf;

use mlsys_lab::named_enum;
use mlsys_lab::nearest::nearest;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub format: Format,
    /// None is standard output.
    pub file: Option<PathBuf>,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format {
        Junit = "junit",
        Json = "json",
        Gradescope = "gradescope",
        Markdown = "markdown",
        /// Workflow commands that GitHub Actions shows next to the files.
        Github = "github",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    #[error("write FORMAT=FILE, with one of {}", Format::ALL.map(Format::name).join(", "))]
    Shape,
    #[error("there is no report '{name}'; did you mean '{near}'?")]
    Misspelt { name: String, near: &'static str },
    #[error("there is no report '{name}'; there are {}", Format::ALL.map(Format::name).join(", "))]
    Unknown { name: String },
}

impl Target {
    /// Reads `format=file`.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let Some((name, file)) = text.split_once('=').filter(|(_, file)| !file.is_empty()) else {
            return Err(TargetError::Shape);
        };
        let format = name.parse().map_err(|_| {
            let (name, names) = (name.to_owned(), Format::ALL.map(Format::name));
            match nearest(&name, names) {
                Some(near) => TargetError::Misspelt { name, near },
                None => TargetError::Unknown { name },
            }
        })?;
        Ok(Self { format, file: (file != "-").then(|| PathBuf::from(file)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_read_and_misspellings_are_told() {
        assert_eq!(Target::parse("junit=-"), Ok(Target { format: Format::Junit, file: None }));
        let file = Some(PathBuf::from("a=b.md"));
        assert_eq!(Target::parse("markdown=a=b.md"), Ok(Target { format: Format::Markdown, file }));
        assert!(
            Target::parse("juint=x").unwrap_err().to_string().contains("did you mean 'junit'?")
        );
        assert!(Target::parse("json").unwrap_err().to_string().contains("write FORMAT=FILE"));
        assert!(Target::parse("json=").is_err());
    }
}
