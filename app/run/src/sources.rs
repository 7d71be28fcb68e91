//! Artifacts between runs: a lab with a parameter that names an earlier lab of its lesson, a recorded run or a file gets the
//! artifact of that, such as a trained network, before it runs.
//!
//! An earlier lab that has not run yet runs first, on the same thread and device, with the lesson's own values. Its
//! artifact stays in memory while the program runs, by lab, parameters and device, so that turning a knob of the later
//! lab does not run it again. The workbench and the headless runner both wrap their labs in [`WithArtifacts`].

mod recorded;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mlsys_lab::device::DeviceId;
use mlsys_lab::report::{FrameTrigger, Report, Sink};
use mlsys_lab::schema::Schema;
use mlsys_lab::value::Value;
use mlsys_lab::{Artifact, Control, Lab, LabError, Params, Registry, Run};

use crate::process::BackgroundTasks;
use recorded::RecordedError;

/// Artifacts in memory: at most this many, the oldest dropped first.
const MAX_ARTIFACTS: usize = 16;

/// Bytes of all artifacts in memory but the newest.
const MAX_ARTIFACT_BYTES: usize = 128 << 20;

/// Steps of an earlier lab between two reports of its progress.
const STATUS_PERIOD: u64 = 20;

/// Where a lab's artifacts can come from.
#[derive(Clone)]
pub struct Sources {
    pub registry: &'static Registry,
    /// The labs of the lesson that come before it.
    pub earlier: Vec<Earlier>,
    /// The names of the other labs, its own included.
    pub others: Vec<String>,
    pub runs: Option<PathBuf>,
    pub store: Store,
    /// Files that are being written; waited for before one is read.
    pub background: BackgroundTasks,
}

/// A lab of the same lesson that comes before.
#[derive(Clone)]
pub struct Earlier {
    pub id: String,
    pub lab: &'static dyn Lab,
    pub params: Params,
}

impl Sources {
    /// No sources but files.
    pub fn new(registry: &'static Registry) -> Self {
        Self {
            registry,
            earlier: Vec::new(),
            others: Vec::new(),
            runs: None,
            store: Store::default(),
            background: BackgroundTasks::default(),
        }
    }
}

/// A lab run with the artifacts that its parameters name; its own artifact is kept for others.
pub struct WithArtifacts {
    lab: &'static dyn Lab,
    sources: Sources,
}

impl WithArtifacts {
    pub fn new(lab: &'static dyn Lab, sources: Sources) -> Self {
        Self { lab, sources }
    }
}

impl Lab for WithArtifacts {
    fn schema(&self) -> &Schema {
        self.lab.schema()
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let schema = self.schema();
        for (param, kind, name) in named(schema, &run.params) {
            match find(&self.sources, &param, &kind, &name, run)? {
                Some(artifact) => run.params.give(&param, artifact),
                // Stopped while the other ran.
                None => return Ok(()),
            }
        }
        if schema.yields.is_none() {
            return self.lab.run(run);
        }
        let params = run.params.clone();
        let mut sink = ArtifactSink { sink: run.sink, artifact: None, is_changed: false };
        let (ended, control) = {
            let control = std::mem::replace(&mut run.control, Control::detached());
            let mut inner =
                Run { params: params.clone(), device: run.device, sink: &mut sink, control };
            (self.lab.run(&mut inner), inner.control)
        };
        run.control = control;
        if let (Ok(()), Some(artifact)) = (&ended, sink.artifact)
            && artifact.unfinished.is_none()
        {
            let store = &self.sources.store;
            store.insert(&schema.kind, &params, run.device, artifact);
        }
        ended
    }
}

/// The parameters of a run that name artifacts: parameter, kind of artifact, name.
pub fn named(schema: &Schema, params: &Params) -> Vec<(String, String, String)> {
    let named = schema.params.iter().filter_map(|param| {
        let kind = param.artifact.clone()?;
        let name = params.text(&param.name).ok()?;
        Some((param.name.clone(), kind, name.to_owned()))
    });
    named.collect()
}

/// Why there is no artifact of a name; each reads on its own.
#[derive(Debug, thiserror::Error)]
enum SourceError {
    #[error("'{0}' is a lab {1}, which leaves no {2}")]
    OtherKind(String, String, String),
    #[error("'{0}', which has to run first, failed: {1}")]
    Failed(String, LabError),
    #[error("'{0}' diverged, and left nothing: {1}")]
    Diverged(String, String),
    #[error("'{0}' has left no {1}: it is larger than is kept for others")]
    TooLarge(String, String),
    #[error("'{0}' comes no earlier than this lab; only what comes before can be started from")]
    NotEarlier(String),
    #[error(transparent)]
    Recorded(#[from] RecordedError),
}

/// The artifact of a name; none if the run was stopped while it was made.
fn find(
    sources: &Sources,
    param: &str,
    kind: &str,
    name: &str,
    run: &mut Run<'_>,
) -> Result<Option<Arc<Artifact>>, LabError> {
    let found = if let Some(place) = sources.earlier.iter().position(|lab| lab.id == name) {
        let (before, rest) = sources.earlier.split_at(place);
        match rest.split_first() {
            Some((earlier, later)) => earlier_artifact(sources, before, earlier, later, kind, run),
            None => Ok(None),
        }
    } else if sources.others.iter().any(|id| id == name) {
        Err(SourceError::NotEarlier(name.to_owned()))
    } else {
        let ids: Vec<&str> = sources.earlier.iter().map(|lab| lab.id.as_str()).collect();
        sources.background.wait();
        let found = recorded::artifact(name, kind, sources, &ids);
        found.map(Some).map_err(SourceError::from)
    };
    found.map_err(|error| LabError::contradiction([param], error.to_string()))
}

/// The artifact of an earlier lab, which runs first where it has not; none if the run was stopped meanwhile.
fn earlier_artifact(
    sources: &Sources,
    before: &[Earlier],
    earlier: &Earlier,
    later: &[Earlier],
    kind: &str,
    run: &mut Run<'_>,
) -> Result<Option<Arc<Artifact>>, SourceError> {
    let (id, schema) = (|| earlier.id.clone(), earlier.lab.schema());
    if schema.yields.as_deref() != Some(kind) {
        return Err(SourceError::OtherKind(id(), schema.kind.clone(), kind.to_owned()));
    }
    if let Some(known) = sources.store.find(&schema.kind, &earlier.params, run.device) {
        return Ok(Some(known));
    }
    // It may start from labs before it in its turn.
    let not_earlier = [earlier].into_iter().chain(later).map(|lab| lab.id.clone());
    let its_sources = Sources {
        earlier: before.to_vec(),
        others: not_earlier.chain(sources.others.iter().cloned()).collect(),
        ..sources.clone()
    };
    let mut sink = EarlierSink {
        sink: run.sink,
        name: &earlier.id,
        steps: earlier.params.int("steps").ok().map(i64::unsigned_abs),
        last_status: None,
        artifact: None,
        diverged: None,
    };
    sink.status(0);
    let device = run.device;
    let ended = run.control.warm_up(|control| {
        let mut first = Run {
            params: earlier.params.clone(),
            device,
            sink: &mut sink,
            control: std::mem::replace(control, Control::detached()),
        };
        let ended = WithArtifacts::new(earlier.lab, its_sources).run(&mut first);
        *control = first.control;
        ended
    });
    let (artifact, diverged) = (sink.artifact, sink.diverged);
    run.sink.report(Report::Status(String::new()));
    ended.map_err(|error| SourceError::Failed(id(), error))?;
    if run.control.stop_reason().is_some() {
        // The run around it says why itself.
        return Ok(None);
    }
    match (diverged, artifact) {
        (Some(reason), _) => Err(SourceError::Diverged(id(), reason)),
        (None, Some(artifact)) => Ok(Some(artifact)),
        (None, None) => Err(SourceError::TooLarge(id(), kind.to_owned())),
    }
}

/// Passes reports on and keeps the artifact, unless a knob was turned: then it is not that of the run's parameters.
struct ArtifactSink<'a> {
    sink: &'a mut dyn Sink,
    artifact: Option<Arc<Artifact>>,
    is_changed: bool,
}

impl Sink for ArtifactSink<'_> {
    fn report(&mut self, report: Report) {
        if let Report::Change(_) = &report {
            self.is_changed = true;
            self.artifact = None;
        } else if let Report::Artifact(artifact) = &report
            && !self.is_changed
        {
            self.artifact = Some(Arc::clone(artifact));
        }
        self.sink.report(report);
    }

    fn wants_frame(&mut self, panel: &str, trigger: FrameTrigger) -> bool {
        self.sink.wants_frame(panel, trigger)
    }

    fn frames_done(&mut self) {
        self.sink.frames_done();
    }
}

/// Turns the reports of an earlier lab into the status of the later one.
struct EarlierSink<'a> {
    sink: &'a mut dyn Sink,
    name: &'a str,
    steps: Option<u64>,
    /// The step of the last status.
    last_status: Option<u64>,
    artifact: Option<Arc<Artifact>>,
    diverged: Option<String>,
}

impl EarlierSink<'_> {
    fn status(&mut self, step: u64) {
        if self.last_status.is_some_and(|last| step < last + STATUS_PERIOD) {
            return;
        }
        self.last_status = Some(step);
        let progress = self.steps.map_or_else(String::new, |all| format!(": step {step} of {all}"));
        self.sink.report(Report::Status(format!("running '{}' first{progress}", self.name)));
    }
}

impl Sink for EarlierSink<'_> {
    fn report(&mut self, report: Report) {
        match report {
            Report::Point { step, .. } => self.status(step),
            Report::Artifact(artifact) => self.artifact = Some(artifact),
            Report::Diverged { reason, .. } => self.diverged = Some(reason),
            Report::Status(_)
            | Report::Scalar { .. }
            | Report::Frame { .. }
            | Report::Change(_)
            | Report::Notice(_) => {}
        }
    }

    fn wants_frame(&mut self, _panel: &str, _trigger: FrameTrigger) -> bool {
        false
    }
}

/// Artifacts of runs while the program runs; clones are handles to the same store.
#[derive(Clone, Default)]
pub struct Store(Arc<Mutex<Vec<Stored>>>);

struct Stored {
    kind: String,
    params: Vec<(String, Value)>,
    device: DeviceId,
    artifact: Arc<Artifact>,
}

impl Store {
    fn insert(&self, kind: &str, params: &Params, device: DeviceId, artifact: Arc<Artifact>) {
        let new = Stored { kind: kind.to_owned(), params: values(params), device, artifact };
        let mut all = self.lock();
        all.retain(|old| {
            !(old.kind == new.kind && old.device == device && old.params == new.params)
        });
        let mut bytes = 0;
        let fitting = all.iter().rev().take(MAX_ARTIFACTS - 1).take_while(|old| {
            bytes += old.artifact.bytes.len();
            bytes <= MAX_ARTIFACT_BYTES
        });
        let surplus = all.len() - fitting.count();
        all.drain(..surplus);
        all.push(new);
    }

    fn find(&self, kind: &str, params: &Params, device: DeviceId) -> Option<Arc<Artifact>> {
        let values = values(params);
        let all = self.lock();
        let is_it = |stored: &&Stored| {
            stored.kind == kind && stored.device == device && stored.params == values
        };
        all.iter().find(is_it).map(|stored| Arc::clone(&stored.artifact))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Stored>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The values alone: their origin makes no difference.
fn values(params: &Params) -> Vec<(String, Value)> {
    params.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect()
}
