//! A run's record at the end of the run: closed on a background thread, with nothing lost.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use mlsys_lab::device::{DeviceId, DeviceInfo, DeviceState};
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::tables::Tables;

use super::idle::Loop;
use super::{Message, unsaid};
use crate::key::Key;
use crate::own_page;
use crate::state::Tempo;
use mlsys_run::record;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("mlsys-closing-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        Self(folder)
    }

    fn run(&self) -> PathBuf {
        let names = record::list(&self.0).unwrap();
        assert_eq!(names.len(), 1);
        self.0.join(&names[0])
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The loop with lab train, which has begun.
fn training(runs: &Path) -> Loop {
    let lab = mlsys_registry::registry().find("train").unwrap();
    let settings = Settings::from_pairs(["steps=2", "width=4"]).unwrap();
    let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None).unwrap();
    let mut it = Loop::new(Some(runs.to_owned()));
    it.app.session.tempo = Tempo::Full;
    it.app.open(own_page::lesson(lab.schema(), &params).unwrap());
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
    while it.app.session.active.is_some() {
        it.turn();
    }
}

#[test]
fn who_leaves_as_a_run_ends_finds_all_of_it() {
    let folder = Folder::new("whole");
    let mut it = training(&folder.0);
    to_its_end(&mut it);
    it.driver.runner.leave();
    let past = record::open(&folder.run()).unwrap();
    assert_eq!(past.summary.status.word(), "finished");
    let lab = it.app.page.as_ref().and_then(|page| page.lab()).unwrap();
    assert!(past.data.frames.keys().eq(lab.run.data.frames.keys()));
    assert!(!past.data.frames.is_empty());
    let left = lab.run.data.artifact.as_ref().unwrap();
    let kept = fs::read(folder.run().join("network.safetensors")).unwrap();
    assert_eq!(kept, left.bytes);
    assert!(unsaid(&it.inbox).is_empty());
}

#[test]
fn leaving_stops_the_run() {
    let folder = Folder::new("stopped");
    let mut it = training(&folder.0);
    it.driver.runner.leave();
    let standing = record::summary(&folder.run()).unwrap().status;
    assert_eq!(standing.word(), "stopped");
}

#[cfg(unix)]
#[test]
fn a_network_that_cannot_be_written_is_said() {
    let folder = Folder::new("gone");
    let mut it = training(&folder.0);
    fs::remove_dir_all(folder.run()).unwrap();
    to_its_end(&mut it);
    it.driver.runner.leave();
    let shown = it.app.screen.notice.take();
    let said: Vec<String> = shown.into_iter().chain(unsaid(&it.inbox)).collect();
    assert!(said[0].contains("network.safetensors: "), "{said:?}");
}
