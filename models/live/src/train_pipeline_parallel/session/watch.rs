//! The timeline of a step that goes on.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mlsys_lab::report::{Moment, Report, Sink};
use mlsys_sim::pipeline::{Played, Slot};

use crate::train_pipeline_parallel::pictures;
use crate::train_pipeline_parallel::setup::{Clock, Setup};

/// While a step goes on, its timeline is drawn so often.
const POLL_INTERVAL: Duration = Duration::from_millis(150);

/// Draws a step's timeline while it goes on.
pub(super) struct Watch<'a> {
    pub(super) sink: &'a mut dyn Sink,
    pub(super) drawn: Instant,
    pub(super) step: u64,
}

impl Watch<'_> {
    /// Draws what has been done so far, if somebody looks and the last picture is old enough.
    pub(super) fn glance(&mut self, setup: &Setup, clock: Clock, diary: &Mutex<Vec<Vec<Slot>>>) {
        if clock == Clock::Modelled
            || self.drawn.elapsed() < POLL_INTERVAL
            || !self.sink.wants_frame("timeline", Moment::Running)
        {
            return;
        }
        self.drawn = Instant::now();
        let stages = diary.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if stages.iter().all(Vec::is_empty) {
            return;
        }
        let played = Played { stages, transfers: Vec::new() };
        self.sink.report(Report::Frame {
            panel: "timeline".into(),
            step: self.step,
            frame: Box::new(pictures::timeline(setup, clock, &played)),
        });
        self.sink.frames_done();
    }
}
