//! Lines that are typed, and the system's requests to end.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{self, Sender};
use std::thread;

use crate::driver::Outbox;
use crate::driver::inputs::Input;
use crate::plain::words::{self, Line};

/// A longer line is no answer; the rest of it is passed over.
const LONGEST_LINE: u64 = 64 * 1024;

/// Reads lines, and hears the system's requests to end.
///
/// After a line that asks for the learner's own editor nothing is read until the sender says so: the editor has the keys.
pub(super) fn listen(outbox: &Outbox) -> io::Result<Sender<()>> {
    let lines = outbox.clone();
    let (go_on, may_go_on) = mpsc::channel();
    thread::Builder::new().name("lines".to_owned()).spawn(move || {
        let mut stdin = io::stdin().lock();
        loop {
            let mut bytes = Vec::new();
            let read = (&mut stdin).take(LONGEST_LINE).read_until(b'\n', &mut bytes);
            let line = match read {
                Ok(0) | Err(_) => None,
                Ok(_) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            };
            let is_last = line.is_none();
            let is_edit = line.as_deref().is_some_and(|line| words::read(line) == Ok(Line::Edit));
            if lines.send(Input::Line(line)).is_err() || is_last {
                return;
            }
            if is_edit && may_go_on.recv().is_err() {
                return;
            }
        }
    })?;
    requests(outbox.clone())?;
    Ok(go_on)
}

#[cfg(unix)]
fn requests(outbox: Outbox) -> io::Result<()> {
    use crate::driver::inputs::is_lent;
    use crate::message::Message;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP, SIGINT])?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            // This one is meant for the editor that has the terminal.
            if signal == SIGINT && is_lent() {
                continue;
            }
            if outbox.send(Input::Message(Message::Terminate)).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

#[cfg(not(unix))]
fn requests(_outbox: Outbox) -> io::Result<()> {
    Ok(())
}
