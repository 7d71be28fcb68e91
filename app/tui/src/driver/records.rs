//! Recorded runs, listed and read on threads of their own: a folder with thousands of them holds no frame up.

use std::path::PathBuf;
use std::thread;

use mlsys_lab::registry::Registry;

use super::{Input, Outbox};
use crate::message::Message;
use crate::recall::{self, Wanted};
use crate::records;
use crate::records::{LoadError, LoadedRecord, RecordEntry, Source};
use mlsys_run::background::BackgroundTasks;
use mlsys_run::record::{self, RecordedRun};

/// Lists the runs of a folder, the newest first, and those that ship with the program.
pub fn list(folder: Option<PathBuf>, background: BackgroundTasks, outbox: &Outbox) {
    beside("records", outbox, move || {
        // A record that is being closed is one of a run that has ended.
        background.wait();
        Message::Records(entries(folder))
    });
}

pub fn read(wanted: records::Wanted, outbox: &Outbox) {
    beside("record", outbox, move || Message::LoadedRecord(fetched(wanted)));
}

/// Reads what a lesson's labs have left.
pub fn recall(folder: PathBuf, wanted: Wanted, registry: &'static Registry, outbox: &Outbox) {
    beside("recall", outbox, move || Message::Recalled(recall::recall(&folder, &wanted, registry)));
}

/// Does work on a thread; without one there is no answer, and what asked for it goes on waiting.
fn beside(name: &str, outbox: &Outbox, work: impl FnOnce() -> Message + Send + 'static) {
    let outbox = outbox.clone();
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(move || {
        let _ = outbox.send(Input::Message(work()));
    });
    drop(spawned);
}

fn entries(folder: Option<PathBuf>) -> Vec<RecordEntry> {
    let names = folder.as_deref().and_then(|runs| record::list(runs).ok());
    let folders =
        folder.iter().flat_map(|runs| names.iter().flatten().rev().map(|name| runs.join(name)));
    // What cannot be read is told by `mlsys runs list`, where there is room for it.
    let own = folders.filter_map(|folder| {
        let summary = record::summary(&folder).ok()?;
        Some(RecordEntry::new(Source::Folder(folder), &summary))
    });
    let shipped = record::shipped().enumerate().filter_map(|(place, recording)| {
        Some(RecordEntry::new(Source::Shipped(place), &recording.summary().ok()?))
    });
    own.chain(shipped).collect()
}

fn fetched(wanted: records::Wanted) -> Result<Box<LoadedRecord>, LoadError> {
    let past = match &wanted.entry.source {
        Source::Folder(folder) => record::open(folder),
        Source::Shipped(place) => match record::shipped().nth(*place) {
            Some(recording) => recording.open(),
            None => return Err(LoadError::NotShipped),
        },
    };
    let RecordedRun { data, warnings, .. } = past?;
    Ok(Box::new(LoadedRecord { wanted, data, warnings }))
}
