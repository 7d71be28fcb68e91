//! The loop with a test screen: what is drawn when nothing happens, and a record at the end of its run.

use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::{fs, io};

use mlsys_harness::sandbox::Sandbox;
use mlsys_lab::device::{DeviceChoice, DeviceId, DeviceInfo, DeviceState};
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::tables::Tables;
use mlsys_lesson::Progress;
use mlsys_run::process::{Exit, Loss};
use mlsys_run::record;
use mlsys_run::storage::Drafts;
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::theme::{Background, ColorDepth, Look, Theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::inputs::Input;
use super::{App, Driver, Message, Screen};
use crate::key::Key;
use crate::own_page;
use crate::state::Tempo;
use crate::terminal::Stop;

const SIZE: (u16, u16) = (80, 24);

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

/// The loop with a test screen, and the other end of its inbox.
struct Loop {
    driver: Driver<Counted>,
    sender: Sender<Input>,
}

impl Loop {
    /// Runs are recorded in the folder, if there is one.
    fn new(runs: Option<PathBuf>) -> Self {
        let (sender, inbox) = mpsc::channel();
        let look = Look {
            theme: Theme::new(Background::Dark, ColorDepth::None),
            glyphs: Glyphs::new(GlyphSet::Ascii),
        };
        let registry = mlsys_registry::built_in();
        let progress = Progress::default();
        let app = App::new(Vec::new(), registry, DeviceChoice::Auto, progress, SIZE, look);
        let terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap();
        let screen = Counted { terminal, frames: 0 };
        let channel = (sender.clone(), inbox);
        Self {
            driver: Driver::new(app, screen, runs, Drafts::temporary().unwrap(), channel),
            sender,
        }
    }

    fn feed(&mut self, message: Message) {
        self.driver.feed(message).unwrap();
    }

    fn turn(&mut self) {
        self.driver.turn().unwrap();
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
    assert_eq!(idle.driver.screen.frames, 1, "keys typed ahead share a frame");
    assert!(idle.driver.pulse.next().is_none(), "the loop sleeps until something comes");
    // A run that woke the loop and has been given up meanwhile: one look, no frame, and sleep again.
    idle.sender.send(Input::RunSpoke).unwrap();
    idle.turn();
    assert!(idle.driver.pulse.next().is_some());
    idle.turn();
    assert_eq!(idle.driver.screen.frames, 1);
    assert!(idle.driver.pulse.next().is_none());
}

/// The one run that is recorded in the data folder.
fn recorded(folder: &Sandbox) -> PathBuf {
    let runs = folder.records();
    assert_eq!(runs.len(), 1);
    runs[0].clone()
}

/// The loop with lab train, which has begun.
fn training(folder: &Sandbox) -> Loop {
    let lab = mlsys_registry::built_in().find("train").unwrap();
    let settings = Settings::from_pairs(["steps=2", "width=4"]).unwrap();
    let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None).unwrap();
    let mut it = Loop::new(Some(folder.path("data/runs")));
    it.driver.app.session.tempo = Tempo::Full;
    it.driver
        .app
        .open(own_page::lesson(lab.schema(), &params, mlsys_registry::built_in()).unwrap());
    it.feed(Message::Probed(vec![DeviceInfo {
        id: DeviceId::CPU,
        name: "CPU".to_owned(),
        memory_bytes: None,
        precisions: vec![],
        driver: None,
        state: DeviceState::Usable,
    }]));
    it.feed(Message::Key(Key::Char(' ')));
    it
}

fn to_its_end(it: &mut Loop) {
    while it.driver.app.session.active.is_some() {
        it.turn();
    }
}

#[test]
fn leaving_waits_until_the_record_is_whole() {
    let folder = Sandbox::new("");
    let mut it = training(&folder);
    to_its_end(&mut it);
    assert_eq!((it.driver.close(), it.driver.exit), (Vec::new(), Exit::Passed));
    let past = record::open(&recorded(&folder)).unwrap();
    assert_eq!(past.summary.status.word(), "finished");
    let lab = it.driver.app.page.as_ref().and_then(|page| page.lab()).unwrap();
    assert!(past.data.frames.keys().eq(lab.run.data.frames.keys()));
    assert!(!past.data.frames.is_empty());
    let left = lab.run.data.artifact.as_ref().unwrap();
    let kept = fs::read(recorded(&folder).join("network.safetensors")).unwrap();
    assert_eq!(kept, left.bytes);
}

#[test]
fn a_run_that_was_set_aside_goes_on() {
    let folder = Sandbox::new("");
    let mut it = training(&folder);
    it.driver.runner.set_aside();
    assert!(it.driver.runner.take(&it.driver.app).is_empty());
    it.driver.runner.take_up();
    to_its_end(&mut it);
    assert_eq!((it.driver.close(), it.driver.exit), (Vec::new(), Exit::Passed));
    assert_eq!(record::summary(&recorded(&folder)).unwrap().status.word(), "finished");
}

#[test]
fn leaving_stops_the_run() {
    let folder = Sandbox::new("");
    let mut it = training(&folder);
    it.driver.runner.set_aside();
    it.driver.runner.leave();
    let standing = record::summary(&recorded(&folder)).unwrap().status;
    assert_eq!(standing.word(), "stopped");
}

#[cfg(unix)]
#[test]
fn a_network_that_cannot_be_written_is_said() {
    let folder = Sandbox::new("");
    let mut it = training(&folder);
    fs::remove_dir_all(recorded(&folder)).unwrap();
    to_its_end(&mut it);
    let unsaid = it.driver.close();
    let shown = it.driver.app.screen.notice.take();
    let said: Vec<String> = shown.into_iter().chain(unsaid).collect();
    assert!(said[0].contains("network.safetensors: "), "{said:?}");
    assert_eq!(it.driver.exit, Exit::Passed, "the folder is gone, and the disk is not full");
}

#[test]
fn what_a_full_disk_loses_is_in_the_exit_code_however_it_is_told() {
    let lost = || {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        Message::Lost(Loss::new("this run is not recorded", &full))
    };
    let mut shown = Loop::new(None);
    shown.feed(lost());
    assert_eq!(shown.driver.app.screen.notice.as_deref(), Some("this run is not recorded"));
    assert_eq!((shown.driver.close(), shown.driver.exit), (Vec::new(), Exit::RunFailed));
    // It comes when there is no screen any more.
    let mut late = Loop::new(None);
    late.sender.send(Input::Message(lost())).unwrap();
    let said = vec!["this run is not recorded".to_owned()];
    assert_eq!((late.driver.close(), late.driver.exit), (said, Exit::RunFailed));
}
