//! The one interface of everything that can be run.

use crate::control::Control;
use crate::device::DeviceId;
use crate::error::LabError;
use crate::params::Params;
use crate::report::{Report, Sink};
use crate::schema::Schema;
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

    /// Reports what is being done, for the status line; empty when it is over.
    pub fn status(&mut self, text: impl Into<String>) {
        self.sink.report(Report::Status(text.into()));
    }

    /// Reports something that the learner should know.
    pub fn notice(&mut self, text: impl Into<String>) {
        self.sink.report(Report::Notice(text.into()));
    }
}
