//! What runs leave for other runs: a lab whose parameter names an earlier lab, a recorded run or a file is given what that
//! has left, before it runs.
//!
//! An earlier lab that has not run yet runs first, on the same thread and device, with the lesson's own values; what it
//! leaves is kept while the program runs, by lab, parameters and device, so that turning a knob of the later lab does not
//! run it again. Screen and headless runner both go this way.

mod recorded;
mod source_run;
mod store;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use mlsys_lab::report::{FrameTrigger, Report, Sink};
use mlsys_lab::schema::Schema;
use mlsys_lab::value::Value;
use mlsys_lab::{Artifact, Lab, LabError, Params, Run};

pub use self::store::Store;
use crate::chores::Chores;

/// Where a lab can get what it names.
#[derive(Clone, Default)]
pub struct Sources {
    /// The labs of the lesson that come before it.
    pub earlier: Vec<Earlier>,
    /// The names of those that do not, its own included.
    pub others: Vec<String>,
    /// The folder of recorded runs.
    pub runs: Option<PathBuf>,
    /// What runs have left so far.
    pub left: Store,
    /// Files that are being written: they are waited for before one is read.
    pub chores: Chores,
}

/// A lab of the same lesson that comes before.
#[derive(Clone)]
pub struct Earlier {
    /// Its name in the lesson.
    pub id: String,
    /// The lab.
    pub lab: &'static dyn Lab,
    /// Its parameters, as the lesson has them.
    pub params: Params,
}

impl Sources {
    /// Recorded runs alone: for a lab outside of any lesson.
    pub fn recorded(runs: Option<PathBuf>, left: Store) -> Self {
        Self { runs, left, ..Self::default() }
    }
}

/// A lab that is given what its parameters name before it runs, and whose own leavings are kept for others.
pub struct Supplied {
    lab: &'static dyn Lab,
    sources: Sources,
}

impl Supplied {
    /// The lab with where it gets things from.
    pub fn new(lab: &'static dyn Lab, sources: Sources) -> Self {
        Self { lab, sources }
    }
}

impl Lab for Supplied {
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
        let asked = run.params.clone();
        let mut keeping = Keeping::new(run.sink);
        let (ended, control) = {
            let control = std::mem::replace(&mut run.control, mlsys_lab::Control::detached());
            let mut inner =
                Run { params: asked.clone(), device: run.device, sink: &mut keeping, control };
            (self.lab.run(&mut inner), inner.control)
        };
        let left = keeping.left;
        run.control = control;
        if let (Ok(()), Some(artifact)) = (&ended, left)
            && artifact.unfinished.is_none()
        {
            let store = &self.sources.left;
            store.keep(&schema.kind, &asked, run.device, artifact);
        }
        ended
    }
}

/// The parameters of a run that name others: parameter, kind of what is wanted, name.
pub fn named(schema: &Schema, params: &Params) -> Vec<(String, String, String)> {
    let of = |param: &mlsys_lab::schema::Param| {
        let kind = param.artifact.clone()?;
        match params.get(&param.name)? {
            Value::Text(name) => Some((param.name.clone(), kind, name.clone())),
            Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Array(_)
            | Value::Table(_) => None,
        }
    };
    schema.params.iter().filter_map(of).collect()
}

/// What a name stands for; none if the run was stopped while it was made.
fn find(
    sources: &Sources,
    param: &str,
    kind: &str,
    name: &str,
    run: &mut Run<'_>,
) -> Result<Option<Arc<Artifact>>, LabError> {
    let refused = |reason: String| LabError::contradiction([param], reason);
    if let Some(place) = sources.earlier.iter().position(|lab| lab.id == name) {
        return source_run::artifact(sources, place, kind, run)
            .map_err(|failure| failure.of(param, name));
    }
    if sources.others.iter().any(|id| id == name) {
        return Err(refused(format!(
            "'{name}' comes no earlier than this lab; only what comes before can be started from"
        )));
    }
    let ids: Vec<&str> = sources.earlier.iter().map(|lab| lab.id.as_str()).collect();
    sources.chores.wait();
    recorded::artifact(name, kind, sources.runs.as_deref(), &ids).map(Some).map_err(refused)
}

/// Passes reports on and keeps what the run leaves, unless a knob was turned: then it is not what its parameters say.
struct Keeping<'a> {
    sink: &'a mut dyn Sink,
    left: Option<Arc<Artifact>>,
    turned: Turned,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Turned {
    Nothing,
    Something,
}

impl<'a> Keeping<'a> {
    fn new(sink: &'a mut dyn Sink) -> Self {
        Self { sink, left: None, turned: Turned::Nothing }
    }
}

impl Sink for Keeping<'_> {
    fn report(&mut self, report: Report) {
        match &report {
            Report::Change(_) => {
                self.turned = Turned::Something;
                self.left = None;
            }
            Report::Artifact(artifact) if self.turned == Turned::Nothing => {
                self.left = Some(Arc::clone(artifact));
            }
            Report::Artifact(_)
            | Report::Status(_)
            | Report::Scalar { .. }
            | Report::Point { .. }
            | Report::Frame { .. }
            | Report::Diverged { .. }
            | Report::Notice(_) => {}
        }
        self.sink.report(report);
    }

    fn wants_frame(&mut self, panel: &str, moment: FrameTrigger) -> bool {
        self.sink.wants_frame(panel, moment)
    }

    fn frames_done(&mut self) {
        self.sink.frames_done();
    }
}

/// Why an earlier lab has left nothing that can be used.
enum Failure {
    /// The reason, as the end of a sentence that begins with its name.
    Reason(String),
    /// It failed itself.
    Error(LabError),
}

impl Failure {
    fn of(self, param: &str, name: &str) -> LabError {
        match self {
            Self::Reason(reason) => LabError::contradiction([param], format!("'{name}' {reason}")),
            Self::Error(error) => LabError::contradiction(
                [param],
                format!("'{name}', which has to run first, failed: {error}"),
            ),
        }
    }
}
