//! The run that is going on, and its record on disk.

use std::path::{self, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, thread};

use mlsys_lab::Registry;
use mlsys_lab::control::{Command, Limits, StopReason};
use mlsys_lab::device::DeviceId;
use mlsys_lab::report::Report;
use mlsys_run::outcome::{Outcome, RecordedOutcome};
use mlsys_run::process::{BackgroundTasks, Loss};
use mlsys_run::record::{self, About, Pictures, Record, RecordedRun, Recording};
use mlsys_run::replay::Replayed;
use mlsys_run::session::{Panels, Session};
use mlsys_run::sources::{Sources, Store, WithArtifacts};

use super::{Input, Outbox, post};
use crate::editor::{KernelText, TestsJob};
use crate::message::{Message, ReplayStart, SaveWeights, Start};
use crate::records::{
    self, LoadError, LoadRequest, LoadedRecord, RecallRequest, RecordEntry, Source,
};
use crate::state::App;

pub struct Runner {
    registry: &'static Registry,
    folder: Option<PathBuf>,
    outbox: Outbox,
    store: Store,
    running: Option<Running>,
    /// The run that waits for the end of `running`.
    aside: Option<Running>,
    /// Records that are being closed, and other files that are being written.
    background: BackgroundTasks,
}

struct Running {
    run: u64,
    session: Session,
    recording: Recording,
    started: Instant,
}

impl Runner {
    pub fn new(registry: &'static Registry, folder: Option<PathBuf>, outbox: Outbox) -> Self {
        let (store, background) = (Store::default(), BackgroundTasks::default());
        Self { registry, folder, outbox, store, running: None, aside: None, background }
    }

    /// Starts a run; a message comes back at once if something is wrong with it.
    pub fn start(&mut self, start: Start, app: &App) -> Option<Message> {
        self.abandon();
        let lab = match self.registry.find(start.kind) {
            Ok(lab) => lab,
            Err(error) => return Some(failed(start.run, error.to_string())),
        };
        let device = app.hardware.devices.iter().flatten().find(|info| info.id == start.device);
        let about = About {
            schema: lab.schema(),
            params: &start.params,
            device,
            lesson: Some((&start.lesson, &start.lab)),
        };
        // A calculator answers every turn of a knob: a folder for each would bury the runs worth keeping.
        let mut recording = Recording::default();
        let recorded = match self.folder.as_ref().filter(|_| lab.schema().is_live()) {
            Some(folder) => recording.start(folder, &about),
            None => Ok(()),
        };
        let sources = Sources {
            runs: self.folder.clone(),
            store: self.store.clone(),
            background: self.background.clone(),
            ..app.sources_of(&start.lab)
        };
        let lab = WithArtifacts::new(lab, sources);
        let session = Session::start(lab, start.params, start.device, start.limits, self.wake());
        self.run(start.run, session, recording).or_else(|| {
            let error = recorded.err()?;
            let sentence = format!("this run is not recorded: {error}");
            Some(Message::Lost(Loss::new(sentence, &error)))
        })
    }

    pub fn replay(&mut self, start: ReplayStart) -> Option<Message> {
        self.abandon();
        let ReplayStart { run, schema, params, data } = start;
        let (lab, limits) = (Replayed { schema, data }, Limits::default());
        let session = Session::start(lab, params, DeviceId::CPU, limits, self.wake());
        self.run(run, session, Recording::default())
    }

    /// Tells the loop that a run has something to say.
    fn wake(&self) -> impl Fn() + Send + Sync + 'static {
        let outbox = self.outbox.clone();
        move || drop(outbox.send(Input::RunSpoke))
    }

    fn run(
        &mut self,
        run: u64,
        session: io::Result<Session>,
        recording: Recording,
    ) -> Option<Message> {
        match session {
            Err(error) => Some(failed(run, format!("no thread could be started: {error}"))),
            Ok(session) => {
                self.running = Some(Running { run, session, recording, started: Instant::now() });
                None
            }
        }
    }

    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    pub fn run_tests(&self, job: TestsJob) {
        let registry = self.registry;
        let report = move || Some(Message::TestsReport(Box::new(job.run(registry)?)));
        if let Err(error) = self.in_background("tests", report) {
            let why = format!("the tests cannot be run: {error}");
            post(&self.outbox, Message::NotSaved(why));
        }
    }

    pub fn read_kernel(&self, text: KernelText) {
        let read = move || Some(Message::KernelRead(Box::new(text.read())));
        if let Err(error) = self.in_background("reading", read) {
            let why = format!("the kernel cannot be read: {error}");
            post(&self.outbox, Message::NotSaved(why));
        }
    }

    /// Lists the recorded runs; without a thread there is no answer, and what asked for it goes on waiting.
    pub fn list_records(&self) {
        let (folder, background) = (self.folder.clone(), self.background.clone());
        let _ = self.in_background("records", move || {
            // A record that is being closed is one of a run that has ended.
            background.wait();
            Some(Message::Records(record_entries(folder)))
        });
    }

    pub fn read_record(&self, wanted: LoadRequest) {
        let _ = self.in_background("record", move || Some(Message::LoadedRecord(loaded(wanted))));
    }

    pub fn recall(&self, wanted: RecallRequest) {
        if let Some(folder) = self.folder.clone() {
            let registry = self.registry;
            let _ = self.in_background("recall", move || {
                Some(Message::Recalled(records::recall(&folder, &wanted, registry)))
            });
        }
    }

    /// Does work on a thread and sends the message that comes of it.
    fn in_background(
        &self,
        name: &str,
        work: impl FnOnce() -> Option<Message> + Send + 'static,
    ) -> io::Result<()> {
        let outbox = self.outbox.clone();
        let send = move || work().into_iter().for_each(|message| post(&outbox, message));
        thread::Builder::new().name(name.to_owned()).spawn(send).map(drop)
    }

    pub fn order(&self, order: Command) {
        if let Some(running) = &self.running {
            running.session.send(order);
        }
    }

    pub fn want_pictures(&self, panels: Panels) {
        if let Some(running) = &self.running {
            running.session.want_pictures(panels);
        }
    }

    /// Ends the run and closes its record; what it still says is dropped.
    pub fn abandon(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.session.send(Command::Stop);
            if let Some(record) = running.recording.take() {
                let outcome = Outcome::Stopped(StopReason::Asked).recorded();
                self.close(record, Pictures::new(), outcome, running.started.elapsed());
            }
        }
    }

    pub fn set_aside(&mut self) {
        self.aside = self.running.take();
    }

    /// Goes on with the run that was set aside, and hears what it has said meanwhile.
    pub fn take_up(&mut self) {
        self.running = self.aside.take();
        drop(self.outbox.send(Input::RunSpoke));
    }

    pub fn save_weights(&self, save: SaveWeights) {
        let outbox = self.outbox.clone();
        let say = move |result| post(&outbox, Message::WeightsSaved(result));
        let saved = say.clone();
        let begun = self.background.start("save", move || {
            let SaveWeights { left, path } = save;
            saved(match mlsys_nn::weights::save_artifact(&left, &path) {
                Ok(()) => {
                    let place = path::absolute(&path).unwrap_or(path);
                    let unfinished = left.unfinished.as_ref();
                    let but = unfinished.map_or_else(String::new, |why| format!("; {why}"));
                    Ok(format!("saved: {} ({}{but})", place.display(), left.about))
                }
                Err(error) => Err(error.into()),
            });
        });
        if let Err(error) = begun {
            say(Err(error.into()));
        }
    }

    pub fn leave(&mut self) {
        self.abandon();
        self.running = self.aside.take();
        self.abandon();
        self.background.wait();
    }

    /// Closes a record in the background: an artifact may be as large as a network, and the disk slow.
    fn close(&self, record: Record, pictures: Pictures, outcome: RecordedOutcome, after: Duration) {
        let outbox = self.outbox.clone();
        let not_closed = move |error: io::Error| {
            let why = format!("this run's record is not closed: {error}");
            post(&outbox, Message::Lost(Loss::new(why, &error)));
        };
        let failed = not_closed.clone();
        let begun = self.background.start("close", move || {
            if let Err(error) = record.finish(&pictures, outcome, after) {
                failed(error);
            }
        });
        if let Err(error) = begun {
            not_closed(error);
        }
    }

    /// Takes out what the run has said; its record gets it first.
    pub fn take(&mut self, app: &App) -> Vec<Message> {
        let Some(running) = &mut self.running else { return Vec::new() };
        let settled = running.session.has_settled();
        let (reports, ended) = running.session.drain();
        let mut messages = Vec::new();
        if let Err(error) = running.recording.append(&reports) {
            let why = format!("this run is no longer recorded: {error}");
            messages.push(Message::Lost(Loss::new(why, &error)));
        }
        let (run, since) = (running.run, running.started.elapsed());
        if let Some((outcome, after)) = ended
            && let Some(mut running) = self.running.take()
        {
            if let Some(record) = running.recording.take() {
                let shown = app.data_of(running.run);
                let mut pictures = shown.map_or_else(Pictures::new, |data| data.frames.clone());
                for report in &reports {
                    if let Report::Frame { panel, step, frame } = report {
                        pictures.insert(Arc::clone(panel), (*step, frame.as_ref().clone()));
                    }
                }
                self.close(record, pictures, outcome.recorded(), after);
            }
            messages.push(Message::Reports { run, reports, since: after });
            messages.push(Message::Ended { run, outcome, after });
        } else {
            messages.push(Message::Reports { run, reports, since });
            if settled {
                messages.push(Message::Settled { run });
            }
        }
        messages
    }
}

fn failed(run: u64, reason: String) -> Message {
    Message::Ended { run, outcome: Outcome::Panicked(reason), after: Duration::ZERO }
}

fn record_entries(folder: Option<PathBuf>) -> Vec<RecordEntry> {
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

fn loaded(wanted: LoadRequest) -> Result<Box<LoadedRecord>, LoadError> {
    let past = match &wanted.entry.source {
        Source::Folder(folder) => record::open(folder),
        Source::Shipped(place) => {
            record::shipped().nth(*place).ok_or(LoadError::NotShipped)?.open()
        }
    };
    let RecordedRun { data, warnings, .. } = past?;
    Ok(Box::new(LoadedRecord { wanted, data, warnings }))
}
