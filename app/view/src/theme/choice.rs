//! Which theme is taken: what was asked for by name, else what suits the background.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mlsys_lab::nearest::nearest;
use mlsys_lesson::Diagnostic;

use super::palette::{DARK, LIGHT};
use super::{Background, ColorDepth, Look, Palette, Theme, file};
use crate::glyphs::Glyphs;

/// The built-in themes besides dark and light, by name, as files.
static BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/themes.rs"));

/// Longer files are not themes.
const LONGEST_FILE: u64 = 64 * 1024;

/// How the workbench looks from its first frame on.
#[derive(Clone, Debug)]
pub struct Appearance {
    /// The colours and glyphs.
    pub look: Look,
    /// Who decides between light and dark.
    pub decider: Decider,
    /// Why it is not the theme that was asked for.
    pub trouble: Option<String>,
}

/// Who decides between light and dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decider {
    /// The terminal, which can be asked what colour is behind its text.
    Terminal,
    /// The learner has.
    Learner,
}

/// Why a theme cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum NoTheme {
    /// There is none of this name.
    #[error("there is no theme '{}'; {help}", name.escape_debug())]
    Unknown {
        /// The name.
        name: String,
        /// What there is.
        help: String,
    },
    /// The file cannot be read.
    #[error("theme {} cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file has mistakes.
    #[error("{}", summary(.0))]
    Wrong(Vec<Diagnostic>),
}

/// The first mistake in a line, and how to see the others.
fn summary(wrong: &[Diagnostic]) -> String {
    let Some(first) = wrong.first() else {
        return "the theme has mistakes".to_owned();
    };
    let more = match wrong.len() {
        1 => String::new(),
        count => format!(" ({} more)", count - 1),
    };
    format!(
        "{}:{}:{}: {}{more}; `mlsys theme check {}` shows it",
        first.file, first.line, first.column, first.message, first.file
    )
}

/// The look for a wish such as `light`, a theme's name or a file; `auto` or none asks the terminal.
pub fn appearance(
    wish: Option<&str>,
    folder: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Appearance {
    let depth = ColorDepth::detect(variable);
    let guessed = Theme::new(Background::detect(variable), depth);
    let (theme, decider, trouble) = match wish {
        None | Some("" | "auto") => (guessed, Decider::Terminal, None),
        Some(name) => match find(name, folder) {
            Ok(palette) => (Theme::with(&palette, depth), Decider::Learner, None),
            Err(why) => (guessed, Decider::Terminal, Some(why.to_string())),
        },
    };
    Appearance { look: Look { theme, glyphs: Glyphs::detect(variable) }, decider, trouble }
}

/// A theme by its name, or the path of its file.
pub fn find(name: &str, folder: Option<&Path>) -> Result<Palette, NoTheme> {
    if let Some((_, palette)) =
        [("dark", DARK), ("light", LIGHT)].into_iter().find(|(known, _)| *known == name)
    {
        return Ok(palette);
    }
    if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return file::read(&format!("{name}.toml"), text).map_err(NoTheme::Wrong);
    }
    let is_path = name.ends_with(".toml") || name.contains(['/', std::path::MAIN_SEPARATOR]);
    if is_path {
        return read_file(Path::new(name));
    }
    let own = folder.map(|folder| folder.join(format!("{name}.toml")));
    if let Some(own) = own.filter(|own| own.exists()) {
        return read_file(&own);
    }
    let names = names(folder);
    let near = nearest(name, names.iter().map(String::as_str));
    Err(NoTheme::Unknown {
        name: name.to_owned(),
        help: match near {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("there are: {}", names.join(", ")),
        },
    })
}

/// Reads a theme file.
pub fn read_file(path: &Path) -> Result<Palette, NoTheme> {
    let unreadable = |error| NoTheme::Unreadable { path: path.to_owned(), error };
    let about = fs::metadata(path).map_err(unreadable)?;
    // A pipe may never end, and no theme is that long.
    if !about.is_file() || about.len() > LONGEST_FILE {
        return Err(unreadable(io::Error::other("it is not a theme file")));
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    file::read(&path.display().to_string(), &text).map_err(NoTheme::Wrong)
}

/// All themes by name: those in the program, then the learner's own.
pub fn names(folder: Option<&Path>) -> Vec<String> {
    let mut names = vec!["dark".to_owned(), "light".to_owned()];
    names.extend(BUILT_IN.iter().map(|(name, _)| (*name).to_owned()));
    let own = folder.and_then(|folder| fs::read_dir(folder).ok());
    let mut own: Vec<String> = own
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_theme = path.extension().is_some_and(|extension| extension == "toml");
            let name = path.file_stem()?.to_str()?.to_owned();
            (is_theme && !names.contains(&name)).then_some(name)
        })
        .collect();
    own.sort();
    names.extend(own);
    names
}
