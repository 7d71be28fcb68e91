//! `mlsys lesson preview`: the workbench at a lesson file, which is followed while it is written.

use std::path::Path;

use crate::cli::Machine;
use crate::commands::{World, open};
use mlsys_run::exit::{Exit, Failure};
use mlsys_run::library::{self, languages};
use mlsys_tui::Follow;
use mlsys_tui::state::preview::PreviewState;

/// Opens it; a file with mistakes too, since they are mended while it is open.
pub fn run(path: &Path, machine: Machine, world: &mut World<'_>) -> Result<Exit, Failure> {
    let original = languages::original_of(path);
    let file = original.clone().unwrap_or_else(|| path.to_owned());
    // What cannot be read at all was most likely misspelt.
    let parsed = library::read_file(&file)?;
    if !open::on_a_terminal() {
        return Err(Failure::Usage(format!(
            "the preview needs a terminal; `mlsys lesson check {}` tells without one what is wrong",
            path.display()
        )));
    }
    let translation = match (original, parsed.lesson) {
        (Some(_), _) => Some(path.to_owned()),
        (None, Some(lesson)) => world.languages.file_of(&lesson),
        (None, None) => None,
    };
    let files = [Some(file.clone()), translation.clone()];
    let follow = Follow {
        files: files.into_iter().flatten().collect(),
        read: Box::new(move || sight(&file, translation.as_deref())),
    };
    open::preview(machine, follow, world)
}

/// The lesson as it stands in its file, or in its translation's; what is wrong with both.
fn sight(file: &Path, translation: Option<&Path>) -> PreviewState {
    if !file.exists() {
        return PreviewState::Unreadable(format!("{} is not there any more", file.display()));
    }
    let read = library::read_file(file).and_then(|mut parsed| {
        if let (Some(lesson), Some(translation)) = (&parsed.lesson, translation) {
            let translated = languages::read_file(translation, lesson)?;
            parsed.diagnostics.extend(translated.diagnostics);
            parsed.lesson = translated.lesson;
        }
        Ok(parsed)
    });
    match read {
        Ok(parsed) => PreviewState::Read(Box::new(parsed)),
        Err(failure) => PreviewState::Unreadable(failure.to_string()),
    }
}
