//! The one interface of everything that can be run, and the set of labs.

use std::sync::{Arc, LazyLock};

use crate::control::Control;
use crate::device::DeviceId;
use crate::error::LabError;
use crate::frame::Frame;
use crate::nearest::nearest;
use crate::params::Params;
use crate::report::{Report, Sink};
use crate::schema::{Schema, SchemaError};
use crate::value::Value;

/// A named experiment with typed parameters that emits metrics and frames.
pub trait Lab: Send + Sync {
    /// Its parameters, metrics, panels and texts.
    fn schema(&self) -> &Schema;

    /// Runs it to its end, to a stop, or to an error; everything it finds goes into `run.sink`.
    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError>;
}

impl<L: Lab + ?Sized> Lab for &L {
    fn schema(&self) -> &Schema {
        (**self).schema()
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        (**self).run(run)
    }
}

/// What a lab is given for one run.
pub struct Run<'a> {
    /// Resolved parameters; a live one may change between two steps.
    pub params: Params,
    /// The device to run on; analytic labs do not look at it.
    pub device: DeviceId,
    /// Takes the reports.
    pub sink: &'a mut dyn Sink,
    /// Brings pause, step, knobs and stop.
    pub control: Control,
}

impl Run<'_> {
    /// Reports a metric that is known once.
    pub fn scalar(&mut self, name: &str, value: impl Into<Value>) {
        self.sink.report(Report::Scalar { name: name.into(), value: value.into() });
    }

    /// Reports the last picture of a panel.
    pub fn frame(&mut self, panel: &str, frame: Frame) {
        self.sink.report(Report::Frame { panel: panel.into(), step: 0, frame: Box::new(frame) });
    }

    /// Reports what is being done, for the status line; empty when it is over.
    pub fn status(&mut self, text: impl Into<String>) {
        self.sink.report(Report::Status(text.into()));
    }

    /// Reports something that the learner should know.
    pub fn notice(&mut self, text: impl Into<String>) {
        self.sink.report(Report::Notice(text.into()));
    }
}

/// Labs by kind, in the order of the course; each is built when it is first asked for. A clone shares the labs.
#[derive(Clone, Default)]
pub struct Registry {
    labs: Vec<Arc<Entry>>,
}

struct Entry {
    kind: String,
    lab: LazyLock<Box<dyn Lab>, Build>,
}

type Build = Box<dyn FnOnce() -> Box<dyn Lab> + Send>;

/// How a lab that ships with mlsys is built.
pub struct Recipe {
    pub kind: &'static str,
    /// Reads its schema.
    pub build: Box<dyn Fn() -> Result<Box<dyn Lab>, SchemaError> + Send>,
}

impl Recipe {
    pub fn new<L: Lab + 'static>(
        kind: &'static str,
        build: impl Fn() -> Result<L, SchemaError> + Send + 'static,
    ) -> Self {
        Self { kind, build: Box::new(move || Ok(Box::new(build()?))) }
    }
}

/// A kind that no lab has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no lab '{kind}'{}", hint(.nearest))]
pub struct UnknownKind {
    pub kind: String,
    pub nearest: Option<String>,
}

fn hint(nearest: &Option<String>) -> String {
    match nearest {
        Some(kind) => format!("; did you mean '{kind}'?"),
        None => "; `mlsys lab list` shows them all".to_owned(),
    }
}

impl Registry {
    pub fn new(labs: Vec<Box<dyn Lab>>) -> Self {
        Self::default().with(labs)
    }

    /// A registry of labs that ship with mlsys; a test builds each of them.
    pub fn on_demand(recipes: Vec<Recipe>) -> Self {
        let entry = |Recipe { kind, build }: Recipe| {
            #[expect(clippy::expect_used, reason = "schemas are compiled in and read by a test")]
            let built = move || build().expect("the schema reads");
            Arc::new(Entry { kind: kind.to_owned(), lab: LazyLock::new(Box::new(built)) })
        };
        Self { labs: recipes.into_iter().map(entry).collect() }
    }

    /// The same labs and, after them, those that a course brings; each has a kind of its own.
    #[must_use]
    pub fn with(&self, labs: Vec<Box<dyn Lab>>) -> Self {
        let added = labs.into_iter().map(|lab| {
            let kind = lab.schema().kind.clone();
            Arc::new(Entry { kind, lab: LazyLock::new(Box::new(move || lab)) })
        });
        Self { labs: self.labs.iter().cloned().chain(added).collect() }
    }

    /// The lab of a kind.
    pub fn find(&self, kind: &str) -> Result<&dyn Lab, UnknownKind> {
        let entry = self.labs.iter().find(|entry| entry.kind == kind);
        entry.map(|entry| entry.lab.as_ref()).ok_or_else(|| UnknownKind {
            kind: kind.escape_debug().to_string(),
            nearest: nearest(kind, self.labs.iter().map(|entry| entry.kind.as_str()))
                .map(str::to_owned),
        })
    }

    /// All labs, which builds those that nothing asked for yet.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Lab> {
        self.labs.iter().map(|entry| entry.lab.as_ref())
    }
}
