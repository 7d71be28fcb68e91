//! A lab that notes when its values came, on its own thread.

use std::mem;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use mlsys_lab::control::Limits;
use mlsys_lab::device::DeviceInfo;
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::report::{FrameTrigger, Report, Sink};
use mlsys_lab::schema::Schema;
use mlsys_lab::tables::Tables;
use mlsys_lab::{Control, LabError, Registry};
use mlsys_run::console::Console;
use mlsys_run::outcome::Outcome;
use mlsys_run::process::{Failure, Interrupt};
use mlsys_run::session::{RunRequest, execute};
use mlsys_run::sources::Sources;

use crate::bench::failed;

/// Runs a lab as `mlsys lab` does, recorded in `runs`; `settings` are separated by spaces.
pub fn headless(
    registry: &'static Registry,
    kind: &str,
    settings: &str,
    device: DeviceInfo,
    runs: &Path,
) -> Result<(), Failure> {
    let lab = registry.find(kind)?;
    let settings = Settings::from_pairs(settings.split(' ')).map_err(failed)?;
    let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None)
        .map_err(|errors| mlsys_run::settings::failure(kind, &errors))?;
    let request = RunRequest {
        label: kind,
        lab,
        params,
        device,
        limits: Limits::default(),
        lesson: None,
        runs: Some(runs),
        sources: Sources::new(registry),
    };
    let run = execute(request, &Interrupt::default(), &mut Console::silent());
    if matches!(run.outcome, Outcome::Finished) {
        Ok(())
    } else {
        Err(Failure::Run(format!("{:?}", run.outcome)))
    }
}

/// When values of the run that ended last came.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Those of one series.
    pub points: Vec<Instant>,
    /// The last value of any series since then. What the screen does after it is no part of the run, and neither are the
    /// last pictures.
    pub last: Option<Instant>,
}

#[derive(Clone, Default)]
pub struct Clocks(Arc<Mutex<Times>>);

impl Clocks {
    pub fn take(&self) -> Times {
        mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub struct Timed {
    inner: &'static dyn Lab,
    series: &'static str,
    clocks: Clocks,
}

impl Timed {
    /// A registry of one lab, and when values of that series came.
    ///
    /// It lives as long as the program: sessions hold their lab on a thread of their own.
    pub fn registry(
        registry: &'static Registry,
        kind: &str,
        series: &'static str,
    ) -> Result<(&'static Registry, Clocks), Failure> {
        let clocks = Clocks::default();
        let timed = Self { inner: registry.find(kind)?, series, clocks: clocks.clone() };
        Ok((Box::leak(Box::new(Registry::new(vec![Box::new(timed)]))), clocks))
    }
}

impl Lab for Timed {
    fn schema(&self) -> &Schema {
        self.inner.schema()
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let mut sink =
            TimedSink { sink: &mut *run.sink, series: self.series, times: Times::default() };
        let never = Control::free(Limits::default(), Arc::default());
        let mut timed = Run {
            params: run.params.clone(),
            device: run.device,
            sink: &mut sink,
            control: mem::replace(&mut run.control, never),
        };
        let ended = self.inner.run(&mut timed);
        run.control = timed.control;
        *self.clocks.0.lock().unwrap_or_else(PoisonError::into_inner) = sink.times;
        ended
    }
}

struct TimedSink<'a> {
    sink: &'a mut dyn Sink,
    series: &'static str,
    times: Times,
}

impl Sink for TimedSink<'_> {
    fn report(&mut self, report: Report) {
        let Report::Point { name, .. } = &report else { return self.sink.report(report) };
        let marked = **name == *self.series;
        let begun = marked || !self.times.points.is_empty();
        self.sink.report(report);
        if begun {
            let now = Instant::now();
            self.times.last = Some(now);
            if marked {
                self.times.points.push(now);
            }
        }
    }

    fn wants_frame(&mut self, panel: &str, trigger: FrameTrigger) -> bool {
        self.sink.wants_frame(panel, trigger)
    }

    fn frames_done(&mut self) {
        self.sink.frames_done();
    }
}
