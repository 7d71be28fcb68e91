//! The workbench without a screen: a line in, what came of it out.

mod commands;
mod kernel;
mod runs;

use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, Sender};

use mlsys_run::paths::Paths;

use super::inputs::{self, Input};
use super::runs::Runner;
use super::{Broken, Driver, Left, Options, Pulse, draft_store, state, unsaid};
use crate::message::Message;
use crate::plain::{say, words};
use crate::state::page::Page;
use crate::state::{App, Tempo};
use crate::terminal::{Screen, Stop};

const SIZE: (u16, u16) = (120, 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// Lines come from a terminal.
    Shown,
    /// A script or a file is read.
    Silent,
}

/// Goes through the course or a lesson line by line until the learner leaves or the lines end.
pub fn run_plain(
    mut options: Options,
    prompt: Prompt,
    out: &mut dyn Write,
) -> Result<Left, Broken> {
    let folder = options.paths.as_ref().map(Paths::runs);
    let exports = options.paths.as_ref().map(Paths::exports);
    let draft_store = draft_store(&options);
    let (mut app, log, effects) = state(&mut options, SIZE)?;
    app.session.tempo = Tempo::Full;
    let (sender, inbox) = mpsc::channel();
    let go_on = kernel::listen(&sender)?;
    inputs::probe_devices(&sender, folder.clone());
    let mut talk = Talk {
        driver: Driver {
            runner: Runner::new(app.registry, folder, sender),
            log,
            done: None,
            lines: Default::default(),
            exports,
            draft_store,
            keyboard: None,
        },
        app,
        inbox,
        out,
        prompt,
        at: None,
        go_on,
    };
    let ended = talk.begin(effects).and_then(|()| talk.serve());
    // However it ends, the record of a run that goes on is closed.
    talk.driver.runner.leave();
    let left = ended?;
    talk.say(unsaid(&talk.inbox))?;
    Ok(left)
}

/// Frames go nowhere.
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
    driver: Driver,
    app: App,
    inbox: Receiver<Input>,
    out: &'a mut dyn Write,
    prompt: Prompt,
    /// The block of the lesson that was read last.
    at: Option<usize>,
    /// Lets lines be read again after the terminal was an editor's.
    go_on: Sender<()>,
}

impl Talk<'_> {
    fn begin(&mut self, effects: Vec<crate::message::Effect>) -> io::Result<()> {
        self.driver.carry_out(effects, &mut self.app, &mut NoScreen)?;
        self.notice()?;
        if self.app.page.is_some() { self.opened() } else { self.say(say::course(&self.app)) }
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
                if left == Left::OnRequest {
                    self.say(["Asked to end; everything is kept.".to_owned()])?;
                }
                self.out.flush()?;
                return Ok(left);
            }
            let Some(line) = line else {
                self.say(["The lines have ended; everything is kept.".to_owned()])?;
                self.out.flush()?;
                return Ok(Left::ByChoice);
            };
            match words::read(&harmless(&line)) {
                Ok(meant) => self.line_meant(meant)?,
                Err(complaint) => self.say([complaint])?,
            }
        }
    }

    /// The next line; none when there are no more, or when the program is to end.
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut pulse = Pulse::new();
        loop {
            if self.driver.done.is_some() {
                return Ok(None);
            }
            if let Some(line) = self.driver.lines.pop_front() {
                return Ok(line);
            }
            self.driver.turn(&mut self.app, &mut NoScreen, &self.inbox, &mut pulse)?;
        }
    }

    fn send(&mut self, message: Message) -> io::Result<()> {
        self.driver.feed(&mut self.app, &mut NoScreen, message)
    }

    fn notice(&mut self) -> io::Result<()> {
        match self.app.screen.notice.take() {
            Some(notice) => self.say(say::sentence(&notice)),
            None => Ok(()),
        }
    }

    fn of_page(&mut self, lines: impl FnOnce(&Page) -> Vec<String>) -> io::Result<()> {
        let lines = self.app.page.as_ref().map(lines).unwrap_or_default();
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
    line.chars().filter(|c| !c.is_control() || *c == '\t').collect()
}
