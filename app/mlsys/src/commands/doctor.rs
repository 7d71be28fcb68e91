//! `mlsys doctor`: what this machine has, and what keeps mlsys from using it.

mod folders;
mod terminal;
mod themes;

use mlsys_lab::device::{DeviceInfo, DeviceState};
use serde_json::{Value as Json, json};

use super::World;
use crate::cli::Listing;
use mlsys_run::console::{Console, harmless};
use mlsys_run::exit::{Exit, Failure};
use mlsys_view::table::aligned;

/// Prints devices, terminal and folders.
pub fn run(listing: Listing, world: &mut World<'_>) -> Result<Exit, Failure> {
    let probed = world.devices.found();
    let terminal = terminal::Terminal::detect();
    let folder = folders::Folder::examine(&world.paths);
    let themes = world.paths.as_ref().ok().map(|paths| paths.themes());
    let themes = themes::own(themes.as_deref());
    let console = &mut *world.console;
    if listing.json {
        console.line(json!({
            "mlsys": env!("CARGO_PKG_VERSION"),
            "devices": probed.devices.iter().map(device_json).collect::<Vec<_>>(),
            "probing": probed.trouble,
            "terminal": terminal.json(),
            "themes": themes.iter().map(themes::Own::json).collect::<Vec<_>>(),
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
        let rows: Vec<_> = themes.iter().flat_map(themes::Own::rows).collect();
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
