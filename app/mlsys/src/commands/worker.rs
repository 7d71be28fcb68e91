//! `mlsys worker`: this machine's device, served to runs elsewhere.

use crate::cli;
use crate::context::Context;
use mlsys_run::process::{Exit, Failure};

/// Serves until Ctrl-C.
#[cfg(feature = "remote")]
pub fn run(options: cli::Worker, context: &mut Context<'_>) -> Result<Exit, Failure> {
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
pub fn run(_options: cli::Worker, _world: &mut Context<'_>) -> Result<Exit, Failure> {
    Err(Failure::usage(format!(
        "this mlsys cannot serve its device; {}",
        mlsys_device::workers::BUILD
    )))
}
