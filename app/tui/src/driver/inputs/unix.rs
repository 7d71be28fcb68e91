//! Keys and the terminal's answers from the terminal itself, and signals.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio::{stdin, stdout};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;

use super::{ASKED, Input, LastWord, Outbox, is_answer_due, is_lent, message_of, named};
use crate::message::Message;
use crate::terminal::decode::{Decoder, Said};
use crate::terminal::{give_back, stop_process_group, wait_for};
use mlsys_run::process::Exit;
use mlsys_view::theme::Background;

/// A terminal sends a sequence in one go: what follows an escape later than this was typed after it.
const ESCAPE_WAIT: Duration = Duration::from_millis(50);
/// While an answer is due, its escape may come long before the rest: a slow line must not type the rest as keys.
const ANSWER_WAIT: Duration = Duration::from_millis(500);

pub struct Keyboard {
    knock: UnixStream,
    rests: Receiver<()>,
    go_on: Sender<()>,
}

/// While it lives no key is read here.
pub struct Lent<'a>(&'a Keyboard);

impl Keyboard {
    /// Waits until nothing is read any more.
    pub fn lend(&mut self) -> Lent<'_> {
        // A thread that has ended reads nothing either.
        if self.knock.write_all(&[0]).is_ok() {
            let _ = self.rests.recv();
        }
        Lent(self)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let _ = self.0.go_on.send(());
    }
}

struct Door {
    knocks: UnixStream,
    resting: Sender<()>,
    go_on: Receiver<()>,
}

impl Door {
    /// Waits for input. A request to lend the terminal is served meanwhile.
    fn wait(&mut self) {
        loop {
            let terminal = stdin();
            let mut ends =
                [PollFd::new(&terminal, PollFlags::IN), PollFd::new(&self.knocks, PollFlags::IN)];
            match poll(&mut ends, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                // A system that cannot wait for a terminal in this way: the reading itself waits.
                Err(_) => return,
            }
            let [has_keys, is_knock] = ends.map(|end| !end.revents().is_empty());
            if is_knock && self.knocks.read(&mut [0]).is_ok_and(|count| count > 0) {
                if self.resting.send(()).is_err() || self.go_on.recv().is_err() {
                    return;
                }
            } else if has_keys || is_knock {
                return;
            }
        }
    }
}

pub fn listen(outbox: &Outbox) -> io::Result<Keyboard> {
    let (sender, bytes) = mpsc::channel();
    let (knock, knocks) = UnixStream::pair()?;
    let (resting, rests) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let door = Door { knocks, resting, go_on: may_go_on };
    let last_word = LastWord(outbox.clone());
    named("terminal", move || read(&sender, door))?;
    named("keys", move || {
        decode(&bytes, &last_word.0);
    })?;
    signals(outbox.clone())?;
    Ok(Keyboard { knock, rests, go_on })
}

/// Passes on what the terminal sends until there is no terminal.
///
/// A thread that can do nothing but wait for bytes, so that the one that decodes them can also wait for time.
fn read(sender: &Sender<Vec<u8>>, mut door: Door) {
    let mut buffer = [0; 4096];
    loop {
        door.wait();
        match rustix::io::read(stdin(), &mut buffer) {
            // The terminal has vanished.
            Ok(0) => return,
            Ok(count) => {
                let bytes = buffer[..count].to_vec();
                if sender.send(bytes).is_err() {
                    return;
                }
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if wait_for(stdin()).is_ok() => {}
            Err(_) => return,
        }
    }
}

fn decode(bytes: &Receiver<Vec<u8>>, outbox: &Outbox) {
    let mut decoder = Decoder::default();
    loop {
        let received = if decoder.is_waiting() {
            let wait = if is_answer_due() { ANSWER_WAIT } else { ESCAPE_WAIT };
            bytes.recv_timeout(wait)
        } else {
            bytes.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        let said = match received {
            Ok(bytes) => decoder.feed(&bytes),
            Err(RecvTimeoutError::Timeout) => decoder.give_up(),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        for input in said.into_iter().filter_map(input) {
            if outbox.send(input).is_err() {
                return;
            }
        }
    }
}

fn input(said: Said) -> Option<Input> {
    match said {
        Said::Event(event) => message_of(event).map(Input::Message),
        Said::Background(color) => {
            Some(Input::Message(Message::Background(Background::from_color(color))))
        }
        Said::Fence => {
            ASKED.store(false, Ordering::Relaxed);
            Some(Input::Answered)
        }
    }
}

fn signals(outbox: Outbox) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT, SIGWINCH])?;
    named("signals", move || {
        let mut asked_to_end = false;
        for signal in signals.forever() {
            let input = match signal {
                // These are meant for the editor that has the terminal. It stops by itself; we stop with it, so that
                // the shell gets its turn, and go on when it does.
                SIGTSTP if is_lent() => {
                    let _ = stop_process_group();
                    None
                }
                SIGINT | SIGCONT if is_lent() => None,
                SIGTSTP => Some(Input::StopJob),
                SIGCONT => Some(Input::Continued),
                SIGWINCH => size().map(Input::Message),
                _ if asked_to_end => {
                    // The loop has not come to it: perhaps it writes to a terminal that takes nothing any more.
                    give_back();
                    Exit::Interrupted.leave();
                }
                _ => {
                    asked_to_end = true;
                    Some(Input::Message(Message::Terminate))
                }
            };
            if let Some(input) = input
                && outbox.send(input).is_err()
            {
                return;
            }
        }
    })
}

fn size() -> Option<Message> {
    let size = rustix::termios::tcgetwinsize(stdout()).ok()?;
    Some(Message::Resize { width: size.ws_col, height: size.ws_row })
}
