//! `mlsys bench`: the workloads of `mlsys-benches`, measured and printed.

use mlsys_benches::{bench, llama, load, screen, simulated, train};
use mlsys_lab::device::Backend;
use mlsys_run::process::{Exit, Failure};

use crate::cli;
use crate::context::Context;

pub fn run(asked: &cli::Bench, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let device = |machine: &cli::Machine| context.devices.choose(machine.device, &Backend::ALL);
    let (name, listing, samples) = match asked {
        cli::Bench::Collective { options, listing } => {
            ("collective", listing, simulated::collective(options, context.console)?)
        }
        cli::Bench::Kernel { options, listing } => {
            ("kernel", listing, simulated::kernel(options, context.built_in, context.console)?)
        }
        cli::Bench::Load { options, listing } => {
            ("load", listing, load::run(options, context.built_in)?)
        }
        cli::Bench::Train { options, listing, machine } => {
            let device = device(machine)?;
            ("train", listing, train::run(options, device, context.built_in, context.console)?)
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
    bench::show(name, &samples, listing.json, context.console)?;
    Ok(Exit::Passed)
}
