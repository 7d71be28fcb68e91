//! mlsys: an interactive terminal workbench for learning machine-learning systems.

#![expect(
    unreachable_pub,
    reason = "a program has no outside: `pub` marks what a module offers to the others"
)]

mod cli;
mod commands;
mod context;
mod grader;
mod page;
mod reports;
mod runner;
mod table;

use std::io::{self, Write};
use std::{env, panic};

use crate::cli::Cli;
use mlsys_run::console::Console;
use mlsys_run::process::{Exit, Failure};

fn main() -> ! {
    // A run that panics is reported as such; in one line unless RUST_BACKTRACE asks for more.
    if env::var_os("RUST_BACKTRACE").is_none() {
        panic::set_hook(Box::new(|what| {
            let place = what.location().map_or_else(String::new, |place| format!(" at {place}"));
            let message = mlsys_run::outcome::panic_message(what.payload());
            let _ = writeln!(io::stderr(), "panic{place}: {message}; RUST_BACKTRACE=1 tells more");
        }));
    }
    let mut console = Console::standard();
    let ended = run(&mut console).and_then(|exit| console.finish().map(|()| exit));
    let exit = ended.unwrap_or_else(|failure| {
        if !matches!(failure, Failure::Closed) {
            console.note(format_args!("error: {failure}"));
        }
        failure.exit()
    });
    exit.leave()
}

fn run(console: &mut Console) -> Result<Exit, Failure> {
    match Cli::read(env::args_os()) {
        Ok(cli) => commands::dispatch(cli, console),
        // Help and version are results; everything else is a mistake and goes to standard error.
        Err(message) if message.use_stderr() => {
            console.note(message.render().to_string().trim_end());
            if let Some(near) = cli::meant(&message) {
                console.note(format_args!("did you mean '{near}'?"));
            }
            Ok(Exit::Usage)
        }
        Err(message) => {
            console.raw(&message.render().to_string())?;
            Ok(Exit::Passed)
        }
    }
}
