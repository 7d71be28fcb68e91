//! A run: one shape after the other, one repetition a step.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{LabError, Params, Run};

use super::matrices::{Matrices, Weights};
use super::pictures;
use super::results::{Results, Timed};
use super::setup::{ClockStops, Setup, Shape};
use crate::roof::Ceilings;
use crate::stepped::{self, StepError, SteppedLab};
use mlsys_device::timing::{Clock, Pace};
use mlsys_device::{self as device, meter::Meter};

const PACE: Pace = Pace {
    slice: Duration::from_millis(2),
    least: Duration::from_millis(6),
    most: Duration::from_millis(40),
};

pub(super) struct Session {
    meter: Meter,
    setup: Setup,
    ceilings: Ceilings,
    stops: Rc<Cell<ClockStops>>,
    weights: Option<Weights>,
    results: Results,
    /// The shape that is being timed, with repetitions done.
    timing: Option<(Clock, usize)>,
    /// Shapes timed.
    place: usize,
    /// Repetitions done.
    done: u64,
}

impl Session {
    pub(super) fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        let stops = ClockStops::read(&run.params)?;
        status(run, format!("opening {}", run.device));
        let meter = Meter::open(run.device, setup.precision)?;
        tell_when_the_clock_stops(run, stops);
        status(run, "measuring the roof".to_owned());
        let ceilings = Ceilings::measure(&meter, setup.baseline, || run.control.interrupted())?;
        let session = Self {
            results: Results { precision: setup.precision, products: Vec::new(), error: 0.0 },
            meter,
            setup,
            ceilings,
            stops: Rc::new(Cell::new(stops)),
            weights: None,
            timing: None,
            place: 0,
            done: 0,
        };
        session.announce(run);
        Ok(session)
    }

    fn shape(&self) -> Option<Shape> {
        self.setup.shapes.get(self.place).copied()
    }

    /// Says what is timed next.
    fn announce(&self, run: &mut Run<'_>) {
        let said = self.shape().map(|shape| format!("multiplying {}", shape.name()));
        status(run, said.unwrap_or_default());
    }

    /// Gets ready to time a shape.
    fn prepare(&mut self, run: &Run<'_>, shape: Shape) -> Result<Clock, LabError> {
        let known = self.weights.take();
        let matrices = Matrices::new(&self.meter, run.device, &self.setup, shape, known)?;
        self.weights = Some(matrices.weights());
        self.results.error = self.results.error.max(matrices.error(self.setup.seed));
        // How much is done at once goes by honest times, or a clock that stops early would ask for far too much.
        let wanted = self.stops.replace(ClockStops::WhenDone);
        let work = matrices.work(&self.meter, Rc::clone(&self.stops));
        let clock = Clock::warm_up(work, PACE)?;
        self.stops.set(wanted);
        Ok(clock)
    }
}

impl SteppedLab for Session {
    type Knobs = ClockStops;

    /// Repetitions.
    fn done(&self) -> u64 {
        self.done
    }

    fn has_next(&self) -> bool {
        self.shape().is_some()
    }

    fn read(&self, params: &Params) -> Result<ClockStops, LabError> {
        ClockStops::read(params)
    }

    fn turn(&mut self, run: &mut Run<'_>, stops: ClockStops) -> Result<(), StepError> {
        self.stops.set(stops);
        tell_when_the_clock_stops(run, stops);
        Ok(())
    }

    /// One repetition, and the first of a shape makes it ready.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let Some(shape) = self.shape() else {
            return Ok(());
        };
        let (mut clock, repetitions) = match self.timing.take() {
            Some(timing) => timing,
            None => (self.prepare(run, shape)?, 0),
        };
        self.ceilings.look_again()?;
        clock.repeat(|| run.control.interrupted())?;
        self.done += 1;
        if repetitions + 1 < self.setup.repetitions {
            self.timing = Some((clock, repetitions + 1));
            return Ok(());
        }
        if let Some(seconds) = clock.times().median() {
            let roof = self.ceilings.roof();
            self.results.push(run, Timed { shape, seconds }, &roof);
        }
        self.place += 1;
        self.draw(run, Moment::Running)?;
        self.announce(run);
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: Moment) -> Result<(), StepError> {
        let at = (self.results.products.len() as u64, moment);
        let roof = self.ceilings.roof();
        stepped::draw(run, at, &pictures::ALL, |_, picture| picture(&self.results, &roof));
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        status(run, String::new());
        self.draw(run, Moment::Final)
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
