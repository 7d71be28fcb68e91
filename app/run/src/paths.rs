//! Where runs and progress are kept.

use std::env;
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};

/// The variable that names the data folder.
pub const DATA_VARIABLE: &str = "MLSYS_DATA_DIR";

/// The folder that holds all state of a learner.
#[derive(Clone, Debug)]
pub struct Paths {
    data: PathBuf,
}

/// There is no place to keep anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no home directory to keep runs and progress in; set {DATA_VARIABLE} to a folder")]
pub struct NoDataFolder;

impl Paths {
    /// `MLSYS_DATA_DIR`, else the platform's folder for the data of programs.
    pub fn find() -> Result<Self, NoDataFolder> {
        if let Some(folder) = env::var_os(DATA_VARIABLE).filter(|folder| !folder.is_empty()) {
            return Ok(Self::at(PathBuf::from(folder)));
        }
        let base = choose_base_strategy().map_err(|_| NoDataFolder)?;
        Ok(Self::at(base.data_dir().join("mlsys")))
    }

    /// A data folder at this path, which need not exist yet.
    pub fn at(data: PathBuf) -> Self {
        Self { data }
    }

    /// The data folder.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The folder with one folder a run.
    pub fn runs(&self) -> PathBuf {
        self.data.join("runs")
    }

    /// The folder with the learner's own themes.
    pub fn themes(&self) -> PathBuf {
        self.data.join("themes")
    }

    /// The folder of exported pictures.
    pub fn exports(&self) -> PathBuf {
        self.data.join("exports")
    }

    /// The folder of texts that are being written.
    pub fn drafts(&self) -> PathBuf {
        self.data.join("drafts")
    }

    /// The log of answers and progress.
    pub fn progress(&self) -> PathBuf {
        self.data.join("progress.jsonl")
    }
}
