//! The data folder: where it is and whether something can be kept there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use mlsys_run::paths::{NoDataFolder, Paths};

/// What became of the data folder.
pub enum Folder {
    /// There is no place for one.
    Nowhere(NoDataFolder),
    /// Its path, and whether it can be written.
    At(PathBuf, io::Result<()>),
}

impl Folder {
    /// Looks whether the folder can be written, by writing to it.
    pub fn examine(paths: &Result<Paths, NoDataFolder>) -> Self {
        match paths {
            Err(nowhere) => Self::Nowhere(nowhere.clone()),
            Ok(paths) => Self::At(paths.data().to_owned(), writable(paths.data())),
        }
    }

    /// As rows of a table.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let row = |state: String| vec!["runs and progress".to_owned(), state];
        match self {
            Self::Nowhere(nowhere) => vec![row(nowhere.to_string())],
            Self::At(path, Ok(())) => vec![row(path.display().to_string())],
            Self::At(path, Err(error)) => {
                vec![row(format!(
                    "{} (cannot be written: {error}; nothing is kept)",
                    path.display()
                ))]
            }
        }
    }

    /// As JSON.
    pub fn json(&self) -> Json {
        match self {
            Self::Nowhere(nowhere) => {
                json!({ "path": null, "writable": false, "reason": nowhere.to_string() })
            }
            Self::At(path, Ok(())) => json!({ "path": path, "writable": true, "reason": null }),
            Self::At(path, Err(error)) => {
                json!({ "path": path, "writable": false, "reason": error.to_string() })
            }
        }
    }
}

fn writable(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    fs::write(&probe, "mlsys doctor")?;
    fs::remove_file(&probe)
}
