//! The one stream from a run to whoever listens, and the collection that everybody reads.

mod data;
mod series;
mod summary;

use std::sync::Arc;

use crate::artifact::Artifact;
use crate::frame::Frame;
use crate::value::Value;

pub use data::{Change, RunData};
pub use series::Series;
pub use summary::{Among, Summary};

/// Something a run has to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// What is being waited for, such as "compiling kernels"; empty when nothing is.
    Status(String),
    /// A metric that is known once, or whose latest value replaces the earlier one.
    Scalar {
        /// The metric.
        name: Arc<str>,
        /// Its value.
        value: Value,
    },
    /// One value of a series; a value that is not finite is kept as a mark and never as a number.
    Point {
        /// The metric.
        name: Arc<str>,
        /// Steps done when it was measured.
        step: u64,
        /// The value.
        value: f64,
    },
    /// A picture; the latest of a panel replaces the earlier ones.
    Frame {
        /// The panel.
        panel: Arc<str>,
        /// Steps done when it was made.
        step: u64,
        /// The picture.
        frame: Box<Frame>,
    },
    /// A knob took effect.
    Change(Change),
    /// The run diverged; the sentence says what was seen.
    Diverged {
        /// The step.
        step: u64,
        /// What became non-finite or too large.
        reason: String,
    },
    /// Something the learner should know, such as a cost of the chosen setting.
    Notice(String),
    /// What the run leaves for others; the latest replaces the earlier ones.
    Artifact(Arc<Artifact>),
}

/// Takes a run's reports.
pub trait Sink {
    /// Takes one report; must not block for longer than a lock held for microseconds.
    fn report(&mut self, report: Report);

    /// Whether a picture for this panel is worth making now. `last` is asked at the end of a run.
    fn wants_frame(&mut self, panel: &str, moment: Moment) -> bool;

    /// Told after the pictures of one step were offered, so that the next request is a new one.
    fn frames_done(&mut self) {}
}

/// When a picture is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Between two steps: only worth making if somebody looks and the last one is old enough.
    Running,
    /// Between two steps, by [`Command::Redraw`](crate::control::Command::Redraw): worth making if somebody looks.
    Asked,
    /// The last one of the run, or the first.
    Final,
}

/// A collection is itself a sink that wants final pictures only, as headless runs do.
impl Sink for RunData {
    fn report(&mut self, report: Report) {
        self.apply(report);
    }

    fn wants_frame(&mut self, _panel: &str, moment: Moment) -> bool {
        match moment {
            Moment::Running | Moment::Asked => false,
            Moment::Final => true,
        }
    }
}
