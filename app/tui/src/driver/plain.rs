//! The workbench without a screen: a line in, what came of it out.

mod commands;
mod labs;
mod say;
mod words;

use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{self, Sender};
use std::thread;

use mlsys_run::storage::Paths;

use super::inputs::{self, Input};
use super::{Broken, Driver, Leaving, Left, Options, Outbox, begin};
use crate::command::Command;
use crate::message::{Effect, Message};
use crate::state::{Page, Tempo};
use crate::terminal::{Screen, Stop};

const SIZE: (u16, u16) = (120, 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    Shown,
    Silent,
}

pub fn run_plain(
    mut options: Options,
    prompt: Prompt,
    out: &mut dyn Write,
) -> Result<Leaving, Broken> {
    let (mut app, log, drafts, effects) = begin(&mut options, SIZE)?;
    app.session.tempo = Tempo::Full;
    let channel = mpsc::channel();
    let go_on = listen(&channel.0)?;
    let runs = options.paths.as_ref().map(Paths::runs);
    inputs::probe_devices(options.prober, &channel.0, runs.clone());
    let exports = options.paths.as_ref().map(Paths::exports);
    let driver = Driver { log, exports, ..Driver::new(app, NoScreen, runs, drafts, channel) };
    let mut talk = Talk { driver, out, prompt, at: None, go_on, parting: None };
    let ended = talk.begin(effects).and_then(|()| talk.serve());
    // However it ends, the record of a run that goes on is closed.
    let lost = talk.driver.close();
    let left = ended?;
    let parting = talk.parting.map(|why| match lost.is_empty() {
        true => format!("{why}; everything is kept."),
        false => format!("{why}."),
    });
    talk.say(parting)?;
    talk.say(lost)?;
    talk.out.flush()?;
    Ok(Leaving { left, unsaid: Vec::new(), exit: talk.driver.exit })
}

struct NoScreen;

impl Screen for NoScreen {
    fn draw(&mut self, _view: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        Ok(())
    }

    fn size(&self) -> io::Result<(u16, u16)> {
        Ok(SIZE)
    }

    fn stop_job(&mut self) -> io::Result<Stop> {
        Ok(Stop::NoShell)
    }

    fn take_again(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Talk<'a> {
    driver: Driver<NoScreen>,
    out: &'a mut dyn Write,
    prompt: Prompt,
    /// The block of the lesson that was read last.
    at: Option<usize>,
    /// Lets lines be read again after the terminal was an editor's.
    go_on: Sender<()>,
    /// What ended it, unless `quit` did.
    parting: Option<&'static str>,
}

impl Talk<'_> {
    fn begin(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        self.driver.carry_out(effects)?;
        self.notice()?;
        if self.driver.app.page.is_some() {
            self.opened()
        } else {
            self.say(say::course(&self.driver.app))
        }
    }

    fn serve(&mut self) -> io::Result<Left> {
        loop {
            self.settle()?;
            if self.prompt == Prompt::Shown {
                write!(self.out, "> ")?;
            }
            self.out.flush()?;
            let line = self.line()?;
            if let Some(left) = self.driver.done {
                self.parting = (left == Left::OnRequest).then_some("Asked to end");
                return Ok(left);
            }
            let Some(line) = line else {
                self.parting = Some("The lines have ended");
                return Ok(Left::ByChoice);
            };
            match words::read(&harmless(&line)) {
                Ok(meant) => self.line_meant(meant)?,
                Err(error) => self.say([error.to_string()])?,
            }
        }
    }

    /// The next line; none when there are no more, or when the program is to end.
    fn line(&mut self) -> io::Result<Option<String>> {
        self.wait_while(|talk| talk.driver.lines.is_empty())?;
        if self.driver.done.is_some() {
            return Ok(None);
        }
        Ok(self.driver.lines.pop_front().flatten())
    }

    fn wait_while(&mut self, holds: impl Fn(&Self) -> bool) -> io::Result<()> {
        while self.driver.done.is_none() && holds(self) {
            self.driver.turn()?;
        }
        Ok(())
    }

    fn page(&self) -> Option<&Page> {
        self.driver.app.page.as_ref()
    }

    fn command(&mut self, command: Command) -> io::Result<()> {
        self.send(Message::Do(command))
    }

    fn tell(&mut self, sentence: &str) -> io::Result<()> {
        self.say(say::sentence(sentence))
    }

    fn send(&mut self, message: Message) -> io::Result<()> {
        self.driver.feed(message)
    }

    fn notice(&mut self) -> io::Result<()> {
        match self.driver.app.screen.notice.take() {
            Some(notice) => self.tell(&notice),
            None => Ok(()),
        }
    }

    fn of_page(&mut self, lines: impl FnOnce(&Page) -> Vec<String>) -> io::Result<()> {
        let lines = self.page().map_or_else(Vec::new, lines);
        self.say(lines)
    }

    /// Lines, and an empty one after them.
    fn say(&mut self, lines: impl IntoIterator<Item = String>) -> io::Result<()> {
        let mut any = false;
        for line in lines {
            writeln!(self.out, "{}", harmless(&line))?;
            any = true;
        }
        if any { writeln!(self.out) } else { Ok(()) }
    }
}

/// A line without anything that could steer a terminal.
fn harmless(line: &str) -> String {
    line.chars().filter(|c| !mlsys_expr::steers_terminal(*c) || *c == '\t').collect()
}

/// A longer line is no answer; the rest of it is passed over.
const LONGEST_LINE: u64 = 64 * 1024;

/// Reads lines, and hears the system's requests to end.
///
/// After a line that asks for the learner's own editor nothing is read until the sender says so: the editor has the keys.
fn listen(outbox: &Outbox) -> io::Result<Sender<()>> {
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
            let is_edit =
                line.as_deref().is_some_and(|line| words::read(line) == Ok(words::Line::Edit));
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
    use super::inputs::is_lent;
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
