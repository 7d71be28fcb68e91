//! `mlsys bench`: the workloads of `mlsys-benches`, measured and printed.

use mlsys_benches::{collective, kernel, llama, load, sample, screen, train};
use mlsys_lab::device::Backend;
use mlsys_run::process::{Exit, Failure};

use crate::cli;
use crate::context::Context;

/// Does what `mlsys bench` asks for.
pub fn run(asked: &cli::Bench, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let device = |machine: &cli::Machine| context.devices.choose(machine.device, &Backend::ALL);
    let (name, listing, samples) = match asked {
        cli::Bench::Collective { options, listing } => {
            ("collective", listing, collective::run(options, context.console)?)
        }
        cli::Bench::Kernel { options, listing } => {
            ("kernel", listing, kernel::run(options, context.console)?)
        }
        cli::Bench::Load { options, listing } => ("load", listing, load::run(options)?),
        cli::Bench::Train { options, listing, machine } => {
            let device = device(machine)?;
            ("train", listing, train::run(options, device, context.console)?)
        }
        cli::Bench::Llama { options, listing, machine } => {
            let device = device(machine)?;
            ("llama", listing, llama::run(options, device)?)
        }
        #[cfg(unix)]
        cli::Bench::Start { options, listing } => {
            ("start", listing, mlsys_benches::start::run(options, context.console)?)
        }
        cli::Bench::Screen { options, listing } => {
            ("screen", listing, screen::run(options, context.console)?)
        }
    };
    sample::show(name, &samples, listing.json, context.console)?;
    Ok(Exit::Passed)
}
