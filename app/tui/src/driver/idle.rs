//! What is drawn when nothing happens: nothing.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};

use mlsys_lab::device::DeviceChoice;
use mlsys_lesson::Progress;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::draft_store::DraftStore;
use super::inputs::Input;
use super::pulse::Pulse;
use super::runs::Runner;
use super::{App, Driver, Message, Screen};
use crate::key::Key;
use crate::terminal::Stop;
use mlsys_run::storage::Drafts;
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::theme::{Background, ColorDepth, Look, Theme};

const SIZE: (u16, u16) = (80, 24);

/// A screen that counts its frames.
struct Counted {
    terminal: Terminal<TestBackend>,
    frames: usize,
}

impl Screen for Counted {
    fn draw(&mut self, view: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        self.frames += 1;
        match self.terminal.draw(view) {
            Ok(_) => Ok(()),
            Err(never) => match never {},
        }
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

/// The loop with a test screen.
pub(super) struct Loop {
    pub(super) app: App,
    pub(super) driver: Driver,
    screen: Counted,
    pub(super) inbox: Receiver<Input>,
    pulse: Pulse,
    sender: Sender<Input>,
}

impl Loop {
    /// Runs are recorded in the folder, if there is one.
    pub(super) fn new(runs: Option<PathBuf>) -> Self {
        let (sender, inbox) = mpsc::channel();
        let registry = mlsys_registry::registry();
        let app = App::new(
            Vec::new(),
            registry,
            DeviceChoice::Auto,
            Progress::default(),
            SIZE,
            Look {
                theme: Theme::new(Background::Dark, ColorDepth::None),
                glyphs: Glyphs::new(GlyphSet::Ascii),
            },
        );
        let driver = Driver {
            runner: Runner::new(registry, runs, sender.clone()),
            log: None,
            exports: None,
            draft_store: DraftStore::new(Drafts::temporary()),
            keyboard: None,
            done: None,
            lines: VecDeque::new(),
        };
        let terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap();
        Self {
            app,
            driver,
            screen: Counted { terminal, frames: 0 },
            inbox,
            pulse: Pulse::new(),
            sender,
        }
    }

    pub(super) fn feed(&mut self, message: Message) {
        self.driver.feed(&mut self.app, &mut self.screen, message).unwrap();
    }

    pub(super) fn turn(&mut self) {
        self.driver.turn(&mut self.app, &mut self.screen, &self.inbox, &mut self.pulse).unwrap();
    }
}

#[test]
fn frames_are_drawn_only_after_messages() {
    let mut idle = Loop::new(None);
    let key = |c| Input::Message(Message::Key(Key::Char(c)));
    for c in "jkj?".chars() {
        idle.sender.send(key(c)).unwrap();
    }
    idle.turn();
    assert_eq!(idle.screen.frames, 1, "keys typed ahead share a frame");
    assert!(idle.pulse.next().is_none(), "the loop sleeps until something comes");
    // A run that woke the loop and has been given up meanwhile: one look, no frame, and sleep again.
    idle.sender.send(Input::RunSpoke).unwrap();
    idle.turn();
    assert!(idle.pulse.next().is_some());
    idle.turn();
    assert_eq!(idle.screen.frames, 1);
    assert!(idle.pulse.next().is_none());
}
