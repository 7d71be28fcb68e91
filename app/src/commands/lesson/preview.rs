//! `mlsys lesson preview`: the workbench at a lesson file, which is followed while it is written.

use std::path::{Path, PathBuf};

use crate::cli::Machine;
use crate::commands::{World, open};
use crate::exit::{Exit, Failure};
use crate::library;
use crate::ui::Follow;
use crate::ui::preview::Sight;

/// Opens it; a file with mistakes too, since they are mended while it is open.
pub fn run(path: &Path, machine: Machine, world: &mut World<'_>) -> Result<Exit, Failure> {
    // What cannot be read at all was most likely misspelt.
    library::read_file(path)?;
    if !open::on_a_terminal() {
        return Err(Failure::Usage(format!(
            "the preview needs a terminal; `mlsys lesson check {}` tells without one what is wrong",
            path.display()
        )));
    }
    let file: PathBuf = path.to_owned();
    let follow = Follow {
        files: vec![file.clone()],
        read: Box::new(move || sight(&file)),
    };
    open::preview(machine, follow, world)
}

fn sight(file: &Path) -> Sight {
    if !file.exists() {
        return Sight::Unreadable(format!("{} is not there any more", file.display()));
    }
    match library::read_file(file) {
        Ok(parsed) => Sight::Read(Box::new(parsed)),
        Err(failure) => Sight::Unreadable(failure.to_string()),
    }
}
