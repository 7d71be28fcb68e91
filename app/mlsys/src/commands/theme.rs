//! `mlsys theme`: what there is, a theme as a file, and whether a file of one's own can be used and seen.

use std::path::PathBuf;

use super::World;
use crate::cli;
use mlsys_run::exit::{Exit, Failure};
use mlsys_view::theme::choice::{self, NoTheme};
use mlsys_view::theme::{contrast, file};

/// Does what `mlsys theme` asks for.
pub fn run(asked: &cli::Theme, world: &mut World<'_>) -> Result<Exit, Failure> {
    let folder = world.paths.as_ref().ok().map(|paths| paths.themes());
    match asked {
        cli::Theme::List => {
            for name in choice::names(folder.as_deref()) {
                world.console.line(name)?;
            }
            if let Some(folder) = folder {
                world.console.note(format_args!(
                    "your own themes are the .toml files in {}",
                    folder.display()
                ));
            }
            Ok(Exit::Passed)
        }
        cli::Theme::Show { name } => {
            let palette = choice::find(name, folder.as_deref())
                .map_err(|error| Failure::usage(error.to_string()))?;
            world.console.raw(&file::written(&palette))?;
            Ok(Exit::Passed)
        }
        cli::Theme::Check { files } => check(files, world),
    }
}

fn check(files: &[PathBuf], world: &mut World<'_>) -> Result<Exit, Failure> {
    let mut exit = Exit::Passed;
    for path in files {
        match choice::read_file(path) {
            Ok(palette) => {
                let faint = contrast::faint(&palette);
                for faint in &faint {
                    let file = path.display();
                    world.console.note(format_args!("warning: {file}: {faint}"));
                }
                let said = match faint.len() {
                    0 => "can be used".to_owned(),
                    1 => "can be used; one role is hard to see".to_owned(),
                    count => format!("can be used; {count} roles are hard to see"),
                };
                world.console.line(format_args!("{}: {said}", path.display()))?;
            }
            Err(NoTheme::Wrong(wrong)) => {
                for diagnostic in &wrong {
                    world.console.note(format_args!("{diagnostic}\n"));
                }
                exit = exit.and(Exit::Usage);
            }
            Err(error @ (NoTheme::Unknown { .. } | NoTheme::Unreadable { .. })) => {
                exit = world.failed(exit.and(Exit::Usage), &error.to_string());
            }
        }
    }
    Ok(exit)
}
