//! A run: one measurement after the other, one repetition a step.

use std::time::Instant;

use mlsys_lab::control::Turn;
use mlsys_lab::device::Backend;
use mlsys_lab::report::{Change, Moment, Report};
use mlsys_lab::{LabError, Run, Value};

use super::pictures;
use super::plan::{Measurement, Plan, size};
use super::results::{Outcome, Results};
use crate::device::meter::{Arithmetic, Meter, Precision};
use crate::roof::Roof;
use crate::timing::Clock;

/// Runs the lab.
pub(super) fn run(run: &mut Run<'_>) -> Result<(), LabError> {
    let started = Instant::now();
    let precision = Precision::read(&run.params)?;
    let compared = Roof::compared(&run.params, precision)?;
    run.sink
        .report(Report::Status(format!("opening {}", run.device)));
    let meter = Meter::open(run.device, precision)?;
    let plan = Plan::read(&run.params, meter.last_cache())?;
    tell_what_to_know(run, &meter, &plan);
    let mut session = Session {
        results: Results {
            device: meter.name(),
            precision: plan.precision,
            all: Vec::new(),
        },
        meter,
        plan,
        compared,
        done: 0,
    };
    for place in 0..session.plan.measurements.len() {
        let measurement = session.plan.measurements[place];
        if session.measure(run, measurement)? == Goes::Ends {
            break;
        }
    }
    run.sink.report(Report::Status(String::new()));
    session.results.report(run);
    session.draw(run, Moment::Final);
    run.scalar("steps_done", session.done as i64);
    run.scalar("diverged", false);
    run.scalar("wall_seconds", started.elapsed().as_secs_f64());
    Ok(())
}

/// Whether a run goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    On,
    Ends,
}

struct Session {
    meter: Meter,
    plan: Plan,
    compared: Vec<Roof>,
    results: Results,
    /// Repetitions done.
    done: u64,
}

impl Session {
    fn measure(&mut self, run: &mut Run<'_>, measurement: Measurement) -> Result<Goes, LabError> {
        let status = measurement.status(&self.plan);
        run.sink.report(Report::Status(status));
        if self.turn(run) == Goes::Ends {
            return Ok(Goes::Ends);
        }
        let pass = match measurement.prepare(&self.meter, &self.plan)? {
            Arithmetic::Told(rate) => {
                self.results.all.push((measurement, Outcome::Told(rate)));
                self.step(run);
                return Ok(Goes::On);
            }
            Arithmetic::Timed(pass) => pass,
        };
        let mut clock = Clock::warm_up(pass, measurement.pace())?;
        let place = self.results.all.len();
        for repetition in 0..self.plan.repetitions {
            if repetition > 0 && self.turn(run) == Goes::Ends {
                return Ok(Goes::Ends);
            }
            clock.repeat(|| run.control.interrupted())?;
            self.results.all.truncate(place);
            let outcome = Outcome::Timed(clock.times().clone());
            self.results.all.push((measurement, outcome));
            self.step(run);
        }
        Ok(Goes::On)
    }

    /// A repetition is done.
    fn step(&mut self, run: &mut Run<'_>) {
        self.done += 1;
        self.results.report(run);
        self.draw(run, Moment::Running);
    }

    /// Waits for the next step.
    fn turn(&mut self, run: &mut Run<'_>) -> Goes {
        loop {
            match run.control.turn(self.done) {
                Turn::Go(changes) => {
                    self.apply(run, changes);
                    return Goes::On;
                }
                Turn::Redraw(changes) => {
                    self.apply(run, changes);
                    self.draw(run, Moment::Asked);
                }
                Turn::Stop(_) => return Goes::Ends,
            }
        }
    }

    fn apply(&mut self, run: &mut Run<'_>, changes: Vec<(String, Value)>) {
        for (name, value) in changes {
            run.params.change(&name, value.clone());
            run.sink.report(Report::Change(Change {
                step: self.done,
                name,
                value,
            }));
            match Roof::compared(&run.params, self.plan.precision) {
                Ok(compared) => self.compared = compared,
                // What was measured is worth more than the chips beside it.
                Err(error) => run.sink.report(Report::Notice(error.to_string())),
            }
        }
    }

    fn draw(&self, run: &mut Run<'_>, moment: Moment) {
        pictures::draw(run, &self.results, &self.compared, self.done, moment);
    }
}

/// What must be known to read the numbers.
fn tell_what_to_know(run: &mut Run<'_>, meter: &Meter, plan: &Plan) {
    if let Some(cache) = meter
        .last_cache()
        .filter(|cache| *cache >= plan.buffer_bytes)
    {
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
