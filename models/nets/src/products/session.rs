//! A run: one shape after the other, one repetition a step.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use mlsys_lab::control::Turn;
use mlsys_lab::report::{Change, Moment, Report};
use mlsys_lab::{LabError, Run, Value};

use super::matrices::{Matrices, Weights};
use super::pictures;
use super::results::{Results, Timed};
use super::setup::{ClockStops, Setup, Shape};
use crate::device::{self, meter::Meter};
use crate::roof::Ceilings;
use crate::timing::{Clock, Pace};

const PACE: Pace = Pace {
    slice: Duration::from_millis(2),
    least: Duration::from_millis(6),
    most: Duration::from_millis(40),
};

/// Runs the lab.
pub(super) fn run(run: &mut Run<'_>) -> Result<(), LabError> {
    let started = Instant::now();
    let setup = Setup::read(&run.params)?;
    let stops = Rc::new(Cell::new(ClockStops::read(&run.params)?));
    status(run, format!("opening {}", run.device));
    let meter = Meter::open(run.device, setup.precision)?;
    tell_when_the_clock_stops(run, stops.get());
    status(run, "measuring the roof".to_owned());
    let ceilings = Ceilings::measure(&meter, setup.baseline, || run.control.interrupted())?;
    let mut session = Session {
        results: Results {
            precision: setup.precision,
            products: Vec::new(),
            error: 0.0,
        },
        meter,
        setup,
        ceilings,
        stops,
        weights: None,
        done: 0,
    };
    for place in 0..session.setup.shapes.len() {
        let shape = session.setup.shapes[place];
        if session.measure(run, shape)? == Goes::Ends {
            break;
        }
    }
    status(run, String::new());
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
    setup: Setup,
    ceilings: Ceilings,
    stops: Rc<Cell<ClockStops>>,
    weights: Option<Weights>,
    results: Results,
    /// Repetitions done.
    done: u64,
}

impl Session {
    fn measure(&mut self, run: &mut Run<'_>, shape: Shape) -> Result<Goes, LabError> {
        status(run, format!("multiplying {}", shape.name()));
        if self.turn(run)? == Goes::Ends {
            return Ok(Goes::Ends);
        }
        let known = self.weights.take();
        let matrices = Matrices::new(&self.meter, run.device, &self.setup, shape, known)?;
        self.weights = Some(matrices.weights());
        self.results.error = self.results.error.max(matrices.error(self.setup.seed));
        // How much is done at once goes by honest times, or a clock that stops early would ask for far too much.
        let wanted = self.stops.replace(ClockStops::WhenDone);
        let work = matrices.work(&self.meter, Rc::clone(&self.stops));
        let mut clock = Clock::warm_up(work, PACE)?;
        self.stops.set(wanted);
        for repetition in 0..self.setup.repetitions {
            if repetition > 0 && self.turn(run)? == Goes::Ends {
                return Ok(Goes::Ends);
            }
            self.ceilings.look_again()?;
            clock.repeat(|| run.control.interrupted())?;
            self.done += 1;
        }
        if let Some(seconds) = clock.times().median() {
            let roof = self.ceilings.roof();
            self.results.push(run, Timed { shape, seconds }, &roof);
        }
        self.draw(run, Moment::Running);
        Ok(Goes::On)
    }

    /// Waits for the next step.
    fn turn(&mut self, run: &mut Run<'_>) -> Result<Goes, LabError> {
        loop {
            match run.control.turn(self.done) {
                Turn::Go(changes) => {
                    self.apply(run, changes)?;
                    return Ok(Goes::On);
                }
                Turn::Redraw(changes) => {
                    self.apply(run, changes)?;
                    self.draw(run, Moment::Asked);
                }
                Turn::Stop(_) => return Ok(Goes::Ends),
            }
        }
    }

    fn apply(&mut self, run: &mut Run<'_>, changes: Vec<(String, Value)>) -> Result<(), LabError> {
        for (name, value) in changes {
            run.params.change(&name, value.clone());
            run.sink.report(Report::Change(Change {
                step: self.done,
                name,
                value,
            }));
            self.stops.set(ClockStops::read(&run.params)?);
            tell_when_the_clock_stops(run, self.stops.get());
        }
        Ok(())
    }

    fn draw(&self, run: &mut Run<'_>, moment: Moment) {
        let roof = self.ceilings.roof();
        let step = self.results.products.len() as u64;
        pictures::draw(run, &self.results, &roof, step, moment);
    }
}

fn status(run: &mut Run<'_>, text: String) {
    run.sink.report(Report::Status(text));
}

/// What a clock that is stopped early means on this device.
fn tell_when_the_clock_stops(run: &mut Run<'_>, stops: ClockStops) {
    let text = match (stops, device::is_asynchronous(run.device)) {
        (ClockStops::WhenDone, _) => return,
        (ClockStops::WhenCalled, true) => {
            "synchronize = false: the clock stops when the products are queued, not when they are done; the rates below are not those of the device"
        }
        (ClockStops::WhenCalled, false) => {
            "synchronize = false changes nothing on the processor: a call there returns with its product done; on a GPU the clock would stop while the work still waits in a queue"
        }
    };
    run.sink.report(Report::Notice(text.to_owned()));
}
