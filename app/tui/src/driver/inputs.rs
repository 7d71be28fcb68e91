//! The sources of messages: keys, signals and probing, each a thread of its own.

#[cfg(unix)]
mod unix;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{io, thread};

use crossterm::event::{Event, MouseButton, MouseEvent, MouseEventKind};
use mlsys_run::devices::{self, PROBE_LIMIT, Prober};

use super::{Outbox, post};
use crate::key::Key;
use crate::message::{Gesture, Message};

pub enum Input {
    Message(Message),
    RunSpoke,
    /// A line was typed where there is no screen; none when there are no more.
    Line(Option<String>),
    Answered,
    DraftSaved,
    StopJob,
    Continued,
}

static ASKED: AtomicBool = AtomicBool::new(false);

pub fn asked() {
    ASKED.store(true, Ordering::Relaxed);
}

pub fn is_answer_due() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Whether an editor of the learner's own has the terminal and its signals.
static LENT: AtomicBool = AtomicBool::new(false);

/// Guard: signals sent by keys go to the learner's own editor.
pub struct Lending(());

impl Lending {
    pub fn begin() -> Self {
        LENT.store(true, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Lending {
    fn drop(&mut self) {
        LENT.store(false, Ordering::SeqCst);
    }
}

#[cfg(unix)]
pub fn is_lent() -> bool {
    LENT.load(Ordering::SeqCst)
}

/// Asks the loop to end when the input thread ends: without it no key could.
struct LastWord(Outbox);

impl Drop for LastWord {
    fn drop(&mut self) {
        post(&self.0, Message::Terminate);
    }
}

#[cfg(unix)]
pub use unix::Keyboard;

#[cfg(not(unix))]
pub struct Keyboard;

#[cfg(not(unix))]
impl Keyboard {
    pub fn lend(&mut self) {}
}

pub fn listen(outbox: &Outbox) -> io::Result<Keyboard> {
    #[cfg(unix)]
    return unix::listen(outbox);
    #[cfg(not(unix))]
    named("keys", {
        let last_word = LastWord(outbox.clone());
        move || {
            while let Ok(event) = crossterm::event::read() {
                if let Some(message) = message_of(event) {
                    post(&last_word.0, message);
                }
            }
        }
    })
    .map(|()| Keyboard)
}

fn named(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work)?;
    Ok(())
}

pub fn probe_devices(prober: Prober, outbox: &Outbox, runs: Option<PathBuf>) {
    let outbox = outbox.clone();
    let spawned = named("devices", move || {
        let probed = prober.probe(PROBE_LIMIT);
        let devices = probed.devices.clone();
        post(&outbox, Message::Probed(probed.devices));
        // There may be many records: runs that wait for a device do not wait for this.
        if let Some(runs) = runs {
            post(&outbox, Message::Measured(devices::recorded_peaks(&runs, &devices)));
        }
        if let Some(trouble) = probed.trouble {
            post(&outbox, Message::NotSaved(trouble));
        }
    });
    // Without a thread the course can still be read; runs will say that devices are being looked for.
    drop(spawned);
}

fn message_of(event: Event) -> Option<Message> {
    match event {
        Event::Key(key) => Key::from_event(key).map(Message::Key),
        Event::Paste(text) => Some(Message::Paste(text)),
        Event::Resize(width, height) => Some(Message::Resize { width, height }),
        Event::Mouse(mouse) => gesture(mouse),
        Event::FocusGained | Event::FocusLost => None,
    }
}

fn gesture(mouse: MouseEvent) -> Option<Message> {
    let gesture = match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => Gesture::Press,
        MouseEventKind::Drag(MouseButton::Left) => Gesture::Drag,
        MouseEventKind::ScrollUp => Gesture::WheelUp,
        MouseEventKind::ScrollDown => Gesture::WheelDown,
        MouseEventKind::Down(MouseButton::Middle | MouseButton::Right)
        | MouseEventKind::Drag(MouseButton::Middle | MouseButton::Right)
        | MouseEventKind::Up(_)
        | MouseEventKind::Moved
        | MouseEventKind::ScrollLeft
        | MouseEventKind::ScrollRight => return None,
    };
    Some(Message::Mouse { gesture, column: mouse.column, row: mouse.row })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn losing_the_input_thread_ends_the_program() {
        let (sender, inbox) = mpsc::channel();
        let last_word = LastWord(sender);
        let thread = thread::spawn(move || {
            let _last_word = last_word;
            panic!("a mistake in the decoder");
        });
        assert!(thread.join().is_err());
        assert!(matches!(inbox.recv(), Ok(Input::Message(Message::Terminate))));
    }
}
