//! The lab that times matrix products and puts them under the measured roof.

mod matrices;
mod panels;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use mlsys_device as device;
use mlsys_device::meter::{Meter, Precision};
use mlsys_device::timing::{Pace, RepeatTimer};
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{LabError, Params, Run};
use serde::Deserialize;

use self::matrices::{Matrices, Weights};
use self::panels::{Results, Timed};
use crate::roof::Ceilings;
use crate::sizes::sizes;
use crate::stepped::{self, LiveLab, StepError, SteppedLab, Steps};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?
        .reading::<Setup>()?
        .reading::<Knobs>()
}

const LARGEST: usize = 16_384;

/// More sizes than this are not a sweep but a mistake.
const MOST_SIZES: usize = 64;

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sweep {
    Batch,
    Square,
    None,
}

#[derive(Deserialize)]
struct Setup {
    m: usize,
    n: usize,
    k: usize,
    sweep: Sweep,
    repetitions: usize,
    seed: u64,
    /// The peak to compare with, in flop/s, if one is given.
    baseline_peak: Option<f64>,
}

/// A product: (m x k) times (k x n).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    size: usize,
    m: usize,
    n: usize,
    k: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
struct Knobs {
    /// Whether the clock stops when the device is done; when the call returns is the classic mistake.
    synchronize: bool,
}

fn shapes(params: &Params) -> Result<Vec<Shape>, LabError> {
    let Setup { m, n, k, sweep, .. } = params.read()?;
    let shape = |size| match sweep {
        Sweep::Batch => Shape { size, m: size, n, k },
        Sweep::Square => Shape { size, m: size, n: size, k: size },
        Sweep::None => Shape { size, m, n, k },
    };
    let sizes = match sweep {
        Sweep::None => vec![m],
        Sweep::Batch | Sweep::Square => sizes(params, "sizes", "size", LARGEST)?,
    };
    let wrong = |message: String| LabError::contradiction(["sizes"], message);
    match sizes.len() {
        0 => Err(wrong("a sweep needs at least one size, such as [512]".to_owned())),
        count if count > MOST_SIZES => {
            Err(wrong(format!("{count} sizes are too many; at most {MOST_SIZES}")))
        }
        _ => Ok(sizes.into_iter().map(shape).collect()),
    }
}

impl Shape {
    /// A multiply-add is two: 2mnk.
    fn flops(self) -> u64 {
        2 * self.m as u64 * self.n as u64 * self.k as u64
    }

    /// Every matrix moved once: element size * (mk + kn + mn).
    fn bytes(self, precision: Precision) -> u64 {
        let [m, n, k] = [self.m as u64, self.n as u64, self.k as u64];
        precision.bytes() * (m * k + k * n + m * n)
    }

    fn intensity(self, precision: Precision) -> f64 {
        self.flops() as f64 / self.bytes(precision) as f64
    }

    fn name(self) -> String {
        format!("({} x {}) times ({} x {})", self.m, self.k, self.k, self.n)
    }
}

// A run: one shape after the other, one repetition a step.

const PACE: Pace = Pace {
    slice: Duration::from_millis(2),
    least: Duration::from_millis(6),
    most: Duration::from_millis(40),
};

struct Session {
    meter: Meter,
    setup: Setup,
    shapes: Vec<Shape>,
    ceilings: Ceilings,
    knobs: Rc<Cell<Knobs>>,
    weights: Option<Weights>,
    results: Results,
    /// The shape that is being timed, with repetitions done.
    timing: Option<(RepeatTimer, usize)>,
    place: usize,
    /// A step is a repetition.
    steps: Steps,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup: Setup = run.params.read()?;
        let shapes = shapes(&run.params)?;
        let precision = Precision::read(&run.params)?;
        let knobs: Knobs = run.params.read()?;
        run.status(format!("opening {}", run.device));
        let meter = Meter::open(run.device, precision)?;
        report_early_clock(run, knobs);
        run.status("measuring the roof");
        let peak = setup.baseline_peak.filter(|peak| *peak > 0.0);
        let ceilings = Ceilings::measure(&meter, peak, || run.control.interrupted())?;
        let session = Self {
            results: Results { precision, products: Vec::new(), error: 0.0 },
            meter,
            setup,
            shapes,
            ceilings,
            knobs: Rc::new(Cell::new(knobs)),
            weights: None,
            timing: None,
            place: 0,
            steps: Steps::default(),
        };
        session.announce(run);
        Ok(session)
    }

    fn shape(&self) -> Option<Shape> {
        self.shapes.get(self.place).copied()
    }

    fn announce(&self, run: &mut Run<'_>) {
        let next = self.shape();
        run.status(next.map_or_else(String::new, |next| format!("multiplying {}", next.name())));
    }

    fn prepare(&mut self, run: &Run<'_>, shape: Shape) -> Result<RepeatTimer, LabError> {
        let known = self.weights.take();
        let from = (self.results.precision, self.setup.seed);
        let matrices = Matrices::new(&self.meter, run.device, from, shape, known)?;
        self.weights = Some(matrices.weights.clone());
        self.results.error = self.results.error.max(matrices.error(self.setup.seed));
        // How much is done at once goes by honest times, or a clock that stops early would ask for far too much.
        let wanted = self.knobs.replace(Knobs { synchronize: true });
        let work = matrices.work(&self.meter, Rc::clone(&self.knobs));
        let clock = RepeatTimer::warm_up(work, PACE)?;
        self.knobs.set(wanted);
        Ok(clock)
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.shape().is_some()
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        params.read()
    }

    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        self.knobs.set(knobs);
        report_early_clock(run, knobs);
        Ok(())
    }

    /// One repetition, and the first of a shape makes it ready.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let Some(shape) = self.shape() else { return Ok(()) };
        let (mut clock, repetitions) = match self.timing.take() {
            Some(timing) => timing,
            None => (self.prepare(run, shape)?, 0),
        };
        self.ceilings.look_again()?;
        clock.repeat(|| run.control.interrupted())?;
        self.steps.done += 1;
        if repetitions + 1 < self.setup.repetitions {
            self.timing = Some((clock, repetitions + 1));
            return Ok(());
        }
        if let Some(seconds) = clock.times().median() {
            let roof = self.ceilings.roof();
            self.results.push(run, Timed { shape, seconds }, &roof);
        }
        self.place += 1;
        self.announce(run);
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        let at = (self.results.products.len() as u64, moment);
        let roof = self.ceilings.roof();
        stepped::draw(run, at, &panels::ALL, |_, picture| picture(&self.results, &roof));
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        run.status("");
        Ok(())
    }
}

/// What a clock that is stopped early means on this device.
fn report_early_clock(run: &mut Run<'_>, knobs: Knobs) {
    let text = match (knobs.synchronize, device::is_asynchronous(run.device)) {
        (true, _) => return,
        (false, true) => {
            "synchronize = false: the clock stops when the products are queued, not when they are done; the rates below are not those of the device"
        }
        (false, false) => {
            "synchronize = false changes nothing on the processor: a call there returns with its product done; on a GPU the clock would stop while the work still waits in a queue"
        }
    };
    run.notice(text);
}
