//! `mlsys bench`: what the workbench itself costs, measured on the machine at hand.
//!
//! What is compared is measured in turn within one run, so that a machine that is busy or hot is so for all sides.
//! docs/measuring.md says how each figure comes about.

mod collective;
mod kernel;
mod llama;
mod load;
#[cfg(unix)]
mod pty;
mod recording;
mod sample;
mod screen;
#[cfg(unix)]
mod start;
mod train;

use crate::cli;
use crate::context::Context;
use mlsys_run::exit::{Exit, Failure};

/// Does what `mlsys bench` asks for.
pub fn run(asked: &cli::Bench, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match asked {
        cli::Bench::Collective(options) => collective::run(options, context),
        cli::Bench::Kernel(options) => kernel::run(options, context),
        cli::Bench::Load(options) => load::run(options, context),
        cli::Bench::Train(options) => train::run(options, context),
        cli::Bench::Llama(options) => llama::run(options, context),
        #[cfg(unix)]
        cli::Bench::Start(options) => start::run(options, context),
        #[cfg(not(unix))]
        cli::Bench::Start(_) => Err(Failure::usage(
            "mlsys bench start needs pseudo-terminals, which this system does not have",
        )),
        cli::Bench::Screen(options) => screen::run(options, context),
    }
}
