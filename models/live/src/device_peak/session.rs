//! A run: one measurement after the other, one repetition a step.

use mlsys_lab::device::Backend;
use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{LabError, Params, Run};

use super::pictures;
use super::plan::{Measurement, Plan, size};
use super::results::{Outcome, Results};
use crate::roof::Roof;
use crate::stepped::{self, StepError, SteppedLab};
use mlsys_device::meter::{Arithmetic, Meter, Precision};
use mlsys_device::timing::Clock;

pub(super) struct Session {
    meter: Meter,
    plan: Plan,
    compared: Vec<Roof>,
    results: Results,
    /// What is being timed, with repetitions done.
    timing: Option<(Clock, usize)>,
    /// Measurements done.
    place: usize,
    /// Repetitions done.
    done: u64,
}

impl Session {
    pub(super) fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let precision = Precision::read(&run.params)?;
        let compared = Roof::compared(&run.params, precision)?;
        run.sink.report(Report::Status(format!("opening {}", run.device)));
        let meter = Meter::open(run.device, precision)?;
        let plan = Plan::read(&run.params, meter.last_cache())?;
        tell_what_to_know(run, &meter, &plan);
        let session = Self {
            results: Results { device: meter.name(), precision: plan.precision, all: Vec::new() },
            meter,
            plan,
            compared,
            timing: None,
            place: 0,
            done: 0,
        };
        session.announce(run);
        Ok(session)
    }

    fn measurement(&self) -> Option<Measurement> {
        self.plan.measurements.get(self.place).copied()
    }

    /// Says what is measured next.
    fn announce(&self, run: &mut Run<'_>) {
        let said = self.measurement().map(|next| next.status(&self.plan));
        run.sink.report(Report::Status(said.unwrap_or_default()));
    }

    /// A repetition gave this, with those before it.
    fn put(&mut self, measurement: Measurement, outcome: Outcome) {
        self.results.all.truncate(self.place);
        self.results.all.push((measurement, outcome));
    }
}

impl SteppedLab for Session {
    /// The chips that are drawn beside the device.
    type Knobs = Vec<Roof>;

    /// Repetitions.
    fn done(&self) -> u64 {
        self.done
    }

    fn has_next(&self) -> bool {
        self.measurement().is_some()
    }

    fn read(&self, params: &Params) -> Result<Vec<Roof>, LabError> {
        Roof::compared(params, self.plan.precision)
    }

    fn turn(&mut self, _: &mut Run<'_>, compared: Vec<Roof>) -> Result<(), StepError> {
        self.compared = compared;
        Ok(())
    }

    /// One repetition, and the first of a measurement makes its buffers.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let Some(measurement) = self.measurement() else {
            return Ok(());
        };
        let timing = match self.timing.take() {
            Some(timing) => Some(timing),
            None => match measurement.prepare(&self.meter, &self.plan)? {
                Arithmetic::Told(rate) => {
                    self.put(measurement, Outcome::Told(rate));
                    None
                }
                Arithmetic::Timed(pass) => Some((Clock::warm_up(pass, measurement.pace())?, 0)),
            },
        };
        if let Some((mut clock, repetitions)) = timing {
            clock.repeat(|| run.control.interrupted())?;
            self.put(measurement, Outcome::Timed(clock.times().clone()));
            if repetitions + 1 < self.plan.repetitions {
                self.timing = Some((clock, repetitions + 1));
            }
        }
        self.done += 1;
        self.results.report(run);
        self.draw(run, Moment::Running)?;
        if self.timing.is_none() {
            self.place += 1;
            self.announce(run);
        }
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: Moment) -> Result<(), StepError> {
        stepped::draw(run, (self.done, moment), &pictures::ALL, |_, picture| {
            picture(&self.results, &self.compared)
        });
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        run.sink.report(Report::Status(String::new()));
        self.results.report(run);
        self.draw(run, Moment::Final)
    }
}

/// What must be known to read the numbers.
fn tell_what_to_know(run: &mut Run<'_>, meter: &Meter, plan: &Plan) {
    if let Some(cache) = meter.last_cache().filter(|cache| *cache >= plan.buffer_bytes) {
        let whose = match run.device.backend {
            Backend::Cpu => format!("the processor's last cache of {}", size(cache)),
            // No driver tells.
            Backend::Wgpu | Backend::Cuda => {
                format!("a GPU's last cache, which may have {}", size(cache))
            }
        };
        run.sink.report(Report::Notice(format!(
            "the buffer of {} fits into {whose}, so that reading it may not need the memory; buffer_bytes={} is surely too large for it",
            size(plan.buffer_bytes),
            4 * cache
        )));
    }
}
