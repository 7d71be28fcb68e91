//! The program itself: `--version`, `mlsys completions` and `mlsys manual`.

use std::fs;
use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;
use mlsys_run::console::Console;
use mlsys_run::process::{Exit, Failure};

use crate::cli::Cli;

/// What a report of a defect needs to say.
const DETAILS: [(&str, &str); 3] = [
    ("commit", env!("MLSYS_COMMIT")),
    ("platform", env!("MLSYS_TARGET")),
    ("back ends", BACK_ENDS),
];

const BACK_ENDS: &str = match (cfg!(feature = "wgpu"), cfg!(feature = "cuda")) {
    (true, true) => "cpu, wgpu, cuda",
    (true, false) => "cpu, wgpu",
    (false, true) => "cpu, cuda",
    (false, false) => "cpu",
};

pub fn version(verbose: bool, console: &mut Console) -> Result<Exit, Failure> {
    console.line(format_args!("mlsys {}", env!("CARGO_PKG_VERSION")))?;
    if verbose {
        for (name, value) in DETAILS {
            console.line(format_args!("{name:<10} {value}"))?;
        }
        let remote = if cfg!(feature = "remote") { "yes" } else { "no" };
        console.line(format_args!("{:<10} {remote}", "workers"))?;
    }
    Ok(Exit::Passed)
}

pub fn completions(shell: Shell, console: &mut Console) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mlsys", &mut script);
    console.raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Passed)
}

/// `mlsys.1`, and a page such as `mlsys-run.1` for each command.
pub fn manual(folder: &Path, console: &mut Console) -> Result<Exit, Failure> {
    let written =
        fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.map_err(|error| {
        Failure::Usage(format!("{}: cannot be written: {error}", folder.display()))
    })?;
    console.note(format_args!("man {} opens the first page", folder.join("mlsys.1").display()));
    Ok(Exit::Passed)
}
