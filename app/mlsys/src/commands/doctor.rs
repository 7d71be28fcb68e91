//! `mlsys doctor`: what this machine has, and what keeps mlsys from using it.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::{env, fs};

use mlsys_lab::device::{DeviceInfo, DeviceState};
use mlsys_run::console::{Console, harmless};
use mlsys_run::process::{Exit, Failure};
use mlsys_run::storage::{NoDataFolder, Paths};
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::text::aligned;
use mlsys_view::theme::{ColorDepth, color, file};
use serde_json::{Value as Json, json};

use crate::cli::Listing;
use crate::context::Context;

pub fn run(listing: Listing, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let probed = context.devices.found();
    let terminal = Terminal::detect();
    let folder = Folder::examine(&context.paths);
    let themes = context.paths.as_ref().ok().map(|paths| paths.themes());
    let themes = own_themes(themes.as_deref());
    let console = &mut *context.console;
    if listing.json {
        console.line(json!({
            "mlsys": env!("CARGO_PKG_VERSION"),
            "devices": probed.devices.iter().map(device_json).collect::<Vec<_>>(),
            "probing": probed.trouble,
            "terminal": terminal.json(),
            "themes": themes.iter().map(OwnTheme::json).collect::<Vec<_>>(),
            "data": folder.json(),
        }))?;
        return Ok(Exit::Passed);
    }
    console.line(format_args!("mlsys {}\n\nDevices", env!("CARGO_PKG_VERSION")))?;
    let rows: Vec<_> = probed.devices.iter().map(device_row).collect();
    section(&rows, console)?;
    if let Some(trouble) = &probed.trouble {
        console.line(format_args!("  {trouble}"))?;
    }
    console.line("\nTerminal")?;
    section(&terminal.rows(), console)?;
    if !themes.is_empty() {
        console.line("\nThemes")?;
        let rows: Vec<_> = themes.iter().flat_map(OwnTheme::rows).collect();
        section(&rows, console)?;
    }
    console.line("\nFolders")?;
    section(&folder.rows(), console)?;
    Ok(Exit::Passed)
}

fn section(rows: &[Vec<String>], console: &mut Console) -> Result<(), Failure> {
    aligned(rows).into_iter().try_for_each(|line| console.line(format_args!("  {line}")))
}

fn device_row(device: &DeviceInfo) -> Vec<String> {
    let memory = device.memory_bytes.map_or_else(String::new, gigabytes);
    vec![
        device.id.to_string(),
        state(&device.state),
        harmless(&device.name),
        memory,
        device.precisions.join(" "),
        device.driver.as_deref().map(harmless).unwrap_or_default(),
    ]
}

fn state(state: &DeviceState) -> String {
    match state {
        DeviceState::Usable => "usable".to_owned(),
        DeviceState::Software => "usable when asked for by name (software)".to_owned(),
        DeviceState::Unusable(reason) => format!("not usable: {}", harmless(reason)),
    }
}

/// Bytes as decimal gigabytes, as makers print them.
fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

fn device_json(device: &DeviceInfo) -> Json {
    let (usable, reason) = match &device.state {
        DeviceState::Usable => ("yes", None),
        DeviceState::Software => ("by-name", None),
        DeviceState::Unusable(reason) => ("no", Some(reason)),
    };
    json!({
        "id": device.id.to_string(),
        "backend": device.id.backend.name(),
        "name": device.name,
        "memory_bytes": device.memory_bytes,
        "precisions": device.precisions,
        "driver": device.driver,
        "usable": usable,
        "reason": reason,
    })
}

/// What became of the data folder.
pub enum Folder {
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

/// What was found out about the terminal.
pub struct Terminal {
    kind: Option<String>,
    size: Option<(u16, u16)>,
    colors: ColorDepth,
    glyphs: GlyphSet,
}

impl Terminal {
    /// Asks the environment, and the terminal for its size where there is one.
    pub fn detect() -> Self {
        let variable = |name: &str| env::var(name).ok();
        let size = io::stdout().is_terminal().then(crossterm::terminal::size);
        Self {
            kind: variable("TERM").filter(|term| !term.is_empty()),
            size: size.and_then(Result::ok),
            colors: ColorDepth::detect(&variable),
            glyphs: Glyphs::detect(&variable).set,
        }
    }

    pub fn rows(&self) -> Vec<Vec<String>> {
        let size = match self.size {
            Some((columns, rows)) => format!("{columns} columns, {rows} rows"),
            None => "standard output is not a terminal".to_owned(),
        };
        let kind = self.kind.clone().unwrap_or_else(|| "TERM is not set".to_owned());
        [
            ("type", kind),
            ("size", size),
            ("colours", self.colors.name().to_owned()),
            ("glyphs", self.glyph_name().to_owned()),
        ]
        .map(|(name, value)| vec![name.to_owned(), value])
        .to_vec()
    }

    pub fn json(&self) -> Json {
        json!({
            "type": self.kind,
            "columns": self.size.map(|(columns, _)| columns),
            "rows": self.size.map(|(_, rows)| rows),
            "colours": self.colors.name(),
            "glyphs": self.glyph_name(),
        })
    }

    fn glyph_name(&self) -> &'static str {
        match self.glyphs {
            GlyphSet::Unicode => "Unicode",
            GlyphSet::Ascii => "ASCII",
        }
    }
}

/// A theme of the learner's own, and what is to be said about it.
pub struct OwnTheme {
    name: String,
    trouble: Vec<String>,
}

/// Reads the themes in a folder.
pub fn own_themes(folder: Option<&Path>) -> Vec<OwnTheme> {
    let built_in = file::names(None);
    let names = file::names(folder).into_iter();
    names
        .filter(|name| !built_in.contains(name))
        .map(|name| {
            let trouble = match file::find(&name, folder) {
                Ok(palette) => {
                    let faint = color::low_contrast(&palette);
                    faint.iter().map(ToString::to_string).collect()
                }
                Err(error) => vec![error.to_string()],
            };
            OwnTheme { name, trouble }
        })
        .collect()
}

impl OwnTheme {
    pub fn rows(&self) -> Vec<Vec<String>> {
        if self.trouble.is_empty() {
            return vec![vec![harmless(&self.name), "can be used and seen".to_owned()]];
        }
        let rows = self.trouble.iter();
        rows.map(|trouble| vec![harmless(&self.name), harmless(trouble)]).collect()
    }

    pub fn json(&self) -> Json {
        json!({ "name": self.name, "trouble": self.trouble })
    }
}
