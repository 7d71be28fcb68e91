//! The sources of messages: keys, signals and probing, each a thread of its own.

use std::io;
use std::thread;

use super::{Outbox, message_of};
use crate::devices::{PROBE_LIMIT, probe};
use crate::ui::message::Message;

/// What arrives at the loop.
pub enum Input {
    /// Something for the state.
    Message(Message),
    /// The run has something in its inbox.
    RunSpoke,
}

/// Starts listening to the terminal and to the system's requests to end.
pub fn listen(outbox: &Outbox) -> io::Result<()> {
    let keys = outbox.clone();
    thread::Builder::new()
        .name("keys".to_owned())
        .spawn(move || {
            loop {
                match crossterm::event::read() {
                    Ok(event) => {
                        let Some(message) = message_of(event) else {
                            continue;
                        };
                        if keys.send(Input::Message(message)).is_err() {
                            return;
                        }
                    }
                    // Without a terminal there is nobody left to serve.
                    Err(_) => {
                        let _ = keys.send(Input::Message(Message::Terminate));
                        return;
                    }
                }
            }
        })?;
    signals(outbox.clone())
}

#[cfg(unix)]
fn signals(outbox: Outbox) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP, SIGINT])?;
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for _ in signals.forever() {
                if outbox.send(Input::Message(Message::Terminate)).is_err() {
                    return;
                }
            }
        })?;
    Ok(())
}

#[cfg(not(unix))]
fn signals(_outbox: Outbox) -> io::Result<()> {
    Ok(())
}

/// Looks for devices beside the first frame.
pub fn probe_devices(outbox: &Outbox) {
    let outbox = outbox.clone();
    let spawned = thread::Builder::new()
        .name("devices".to_owned())
        .spawn(move || {
            let probed = probe(PROBE_LIMIT);
            let _ = outbox.send(Input::Message(Message::Probed(probed.devices)));
            if let Some(trouble) = probed.trouble {
                let _ = outbox.send(Input::Message(Message::NotSaved(trouble)));
            }
        });
    // Without a thread the course can still be read; runs will say that devices are being looked for.
    drop(spawned);
}
