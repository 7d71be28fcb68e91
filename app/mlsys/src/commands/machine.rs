//! This machine: `mlsys doctor` says what it has and what keeps mlsys from using it, `mlsys worker` serves its device to
//! runs elsewhere, and `mlsys bench` measures it.

use std::env;
use std::io::{self, IsTerminal};
use std::path::Path;

use mlsys_benches::{generate, llama, load, scaling, screen, simulated, train};
use mlsys_lab::device::{Backend, DeviceInfo, DeviceState};
use mlsys_run::console::Console;
use mlsys_run::devices::{PROBE_LIMIT, Prober};
use mlsys_run::files;
use mlsys_run::process::{Exit, Failure};
use mlsys_run::storage::{NoDataFolder, Paths};
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::theme::{ColorDepth, color, file};
use serde_json::{Value as Json, json};

use crate::cli::{self, DeviceWorkload, Listing, Workload};
use crate::context::Context;
use crate::table::Width;

/// Measures a workload of `mlsys-benches` and prints the figures.
pub fn bench(asked: &cli::Bench, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let device = |machine: &cli::Machine| context.devices.choose(machine.device, &Backend::ALL);
    let (console, labs) = (&mut *context.console, context.built_in);
    let (name, listing, samples) = match asked {
        cli::Bench::Train(DeviceWorkload { workload: Workload { options, listing }, machine }) => {
            ("train", listing, train::run(options, device(machine)?, labs, console)?)
        }
        cli::Bench::Llama(DeviceWorkload { workload: Workload { options, listing }, machine }) => {
            ("llama", listing, llama::run(options, device(machine)?)?)
        }
        cli::Bench::Scaling(DeviceWorkload {
            workload: Workload { options, listing },
            machine,
        }) => ("scaling", listing, scaling::run(options, device(machine)?, labs, console)?),
        cli::Bench::Generate(DeviceWorkload {
            workload: Workload { options, listing },
            machine,
        }) => ("generate", listing, generate::run(options, device(machine)?, labs, console)?),
        cli::Bench::Kernel(Workload { options, listing }) => {
            ("kernel", listing, simulated::kernel(options, labs, console)?)
        }
        cli::Bench::Collective(Workload { options, listing }) => {
            ("collective", listing, simulated::collective(options, console)?)
        }
        cli::Bench::Screen(Workload { options, listing }) => {
            ("screen", listing, screen::run(options, console)?)
        }
        #[cfg(unix)]
        cli::Bench::Start(Workload { options, listing }) => {
            ("start", listing, mlsys_benches::start::run(options, console)?)
        }
        cli::Bench::Load(Workload { options, listing }) => {
            ("load", listing, load::run(options, labs)?)
        }
    };
    mlsys_benches::bench::show(name, &samples, listing.json, console)?;
    Ok(Exit::Passed)
}

/// Serves until Ctrl-C.
#[cfg(feature = "remote")]
pub fn worker(options: cli::Worker, context: &mut Context<'_>) -> Result<Exit, Failure> {
    use std::io::Write as _;
    use std::time::Duration;

    use mlsys_device::workers::{Server, ServerEvent};
    use mlsys_lab::device::Backend;

    /// How often it looks for Ctrl-C.
    const POLL_INTERVAL: Duration = Duration::from_millis(100);

    context.listen();
    let device = context.devices.choose(options.device, &Backend::ALL)?;
    let server = Server::start(device.id, options.listen)
        .map_err(|error| Failure::Run(error.to_string()))?;
    context.console.line(format_args!(
        "serving {} ({}) at {} (Ctrl-C ends it)",
        device.id,
        device.name,
        server.address().whole()
    ))?;
    // The program that started the worker may wait for this line.
    context.console.flush()?;
    while !context.interrupt.is_asked() {
        match server.next(POLL_INTERVAL) {
            None => {}
            Some(ServerEvent::Opened) => context.console.note("a run has opened a session"),
            Some(ServerEvent::Failed(reason)) => {
                return Err(Failure::Run(format!("the worker cannot go on: {reason}")));
            }
        }
    }
    drop(server);
    context.console.note("ended");
    Ok(Exit::Passed)
}

/// Says how to build an mlsys that can.
#[cfg(not(feature = "remote"))]
pub fn worker(_options: cli::Worker, _context: &mut Context<'_>) -> Result<Exit, Failure> {
    Err(Failure::usage(format!(
        "this mlsys cannot serve its device; {}",
        mlsys_device::workers::BUILD
    )))
}

/// The process that probes for another one of this program.
pub fn probe_devices(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let probed = Prober::Thread.probe(PROBE_LIMIT);
    let probed = serde_json::to_string(&probed).map_err(|error| Failure::Run(error.to_string()))?;
    context.console.line(probed)?;
    Ok(Exit::Passed)
}

pub fn doctor(listing: Listing, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let probed = context.devices.found();
    let terminal = Terminal::detect();
    let (folder, folder_json) = data_folder(&context.paths);
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
            "data": folder_json,
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
    section(&[vec!["runs and progress".to_owned(), folder]], console)?;
    Ok(Exit::Passed)
}

fn section(rows: &[Vec<String>], console: &mut Console) -> Result<(), Failure> {
    console.lines(Width::of_output().table(rows, "  "))
}

fn device_row(device: &DeviceInfo) -> Vec<String> {
    let memory = device.memory_bytes.map_or_else(String::new, gigabytes);
    vec![
        device.id.to_string(),
        state(&device.state),
        device.name.clone(),
        memory,
        device.precisions.join(" "),
        device.driver.clone().unwrap_or_default(),
    ]
}

fn state(state: &DeviceState) -> String {
    match state {
        DeviceState::Usable => "usable".to_owned(),
        DeviceState::Software => "usable when asked for by name (software)".to_owned(),
        DeviceState::Unusable(reason) => format!("not usable: {reason}"),
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

/// The data folder, and why it cannot be written, in a sentence and as JSON.
fn data_folder(paths: &Result<Paths, NoDataFolder>) -> (String, Json) {
    let (path, error) = match paths {
        Err(error) => (None, Some(error.to_string())),
        Ok(paths) => {
            (Some(paths.data()), files::try_writing(paths.data()).err().map(|e| e.to_string()))
        }
    };
    let sentence = match (path, &error) {
        (Some(path), None) => path.display().to_string(),
        (Some(path), Some(error)) => {
            format!("{} (cannot be written: {error}; nothing is kept)", path.display())
        }
        (None, error) => error.iter().map(String::as_str).collect(),
    };
    (sentence, json!({ "path": path, "writable": error.is_none(), "reason": error }))
}

struct Terminal {
    kind: Option<String>,
    size: Option<(u16, u16)>,
    colors: ColorDepth,
    glyphs: GlyphSet,
}

impl Terminal {
    /// Asks the environment, and the terminal for its size where there is one.
    fn detect() -> Self {
        let variable = |name: &str| env::var(name).ok();
        let size = io::stdout().is_terminal().then(crossterm::terminal::size);
        Self {
            kind: variable("TERM").filter(|term| !term.is_empty()),
            size: size.and_then(Result::ok),
            colors: ColorDepth::detect(&variable),
            glyphs: Glyphs::detect(&variable).set,
        }
    }

    fn rows(&self) -> Vec<Vec<String>> {
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

    fn json(&self) -> Json {
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

/// A theme of the learner's own, and its defects.
struct OwnTheme {
    name: String,
    trouble: Vec<String>,
}

fn own_themes(folder: Option<&Path>) -> Vec<OwnTheme> {
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
    fn rows(&self) -> Vec<Vec<String>> {
        if self.trouble.is_empty() {
            return vec![vec![self.name.clone(), "can be used and seen".to_owned()]];
        }
        let rows = self.trouble.iter();
        rows.map(|trouble| vec![self.name.clone(), trouble.clone()]).collect()
    }

    fn json(&self) -> Json {
        json!({ "name": self.name, "trouble": self.trouble })
    }
}
