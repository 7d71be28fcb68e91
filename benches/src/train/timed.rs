//! A lab that is timed on its own thread.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mlsys_lab::control::Limits;
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::report::{FrameTrigger, Report, Sink};
use mlsys_lab::schema::Schema;
use mlsys_lab::{Control, LabError};

/// A lab that notes the time from its first loss to its last value, on its own thread: what the screen does after
/// the end is no part of it, and neither are the last pictures.
pub(super) struct Timed {
    pub(super) inner: &'static dyn Lab,
    pub(super) seconds: Stopwatch,
}

impl Lab for Timed {
    fn schema(&self) -> &Schema {
        self.inner.schema()
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let mut sink = Span { sink: &mut *run.sink, ends: None };
        let never = Control::free(Limits::default(), Arc::default());
        let mut timed = Run {
            params: run.params.clone(),
            device: run.device,
            sink: &mut sink,
            control: std::mem::replace(&mut run.control, never),
        };
        let ended = self.inner.run(&mut timed);
        run.control = timed.control;
        self.seconds.put(sink.ends.map(|(first, last)| last - first));
        ended
    }
}

/// Passes everything on and notes when the first loss and the last value of any series came.
struct Span<'a> {
    sink: &'a mut dyn Sink,
    ends: Option<(Instant, Instant)>,
}

impl Sink for Span<'_> {
    fn report(&mut self, report: Report) {
        let timed = match (&report, self.ends) {
            (Report::Point { name, .. }, None) => name.as_ref() == "loss",
            (Report::Point { .. }, Some(_)) => true,
            (
                Report::Status(_)
                | Report::Scalar { .. }
                | Report::Frame { .. }
                | Report::Change(_)
                | Report::Diverged { .. }
                | Report::Notice(_)
                | Report::Artifact(_),
                _,
            ) => false,
        };
        self.sink.report(report);
        if timed {
            let now = Instant::now();
            self.ends = Some((self.ends.map_or(now, |(first, _)| first), now));
        }
    }

    fn wants_frame(&mut self, panel: &str, moment: FrameTrigger) -> bool {
        self.sink.wants_frame(panel, moment)
    }

    fn frames_done(&mut self) {
        self.sink.frames_done();
    }
}

/// The time of the run that ended last.
#[derive(Clone, Default)]
pub(super) struct Stopwatch(Arc<Mutex<Option<Duration>>>);

impl Stopwatch {
    fn put(&self, time: Option<Duration>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }

    pub(super) fn take(&self) -> Option<f64> {
        let time = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        time.map(|time| time.as_secs_f64())
    }
}
