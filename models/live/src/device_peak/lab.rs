//! The lab that measures what the device at hand really reaches.

mod panels;
#[cfg(test)]
mod tests;

use std::time::Duration;

use mlsys_device::meter::{Arithmetic, ComputeUnits, Meter, Precision};
use mlsys_device::timing::{Pace, RepeatTimer};
use mlsys_lab::device::Backend;
use mlsys_lab::params::Origin;
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{LabError, Params, Run};
use serde::Deserialize;

use self::panels::{Measured, Results};
use crate::roof::{self, Roof};
use crate::stepped::{self, LiveLab, StepError, SteppedLab, Steps};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?.reading::<Plan>()
}

const LOWEST_RUNG: u64 = 16 * 1024;

#[derive(Deserialize)]
struct Plan {
    buffer_bytes: u64,
    repetitions: usize,
    ladder: bool,
    #[serde(skip)]
    measurements: Vec<Measurement>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measurement {
    Arithmetic,
    Copy,
    Read,
    Launch,
    /// A working set of this many bytes, summed repeatedly.
    Rung(u64),
}

impl Plan {
    fn read(params: &Params, last_cache: Option<u64>) -> Result<Self, LabError> {
        let mut plan: Self = params.read()?;
        if params.origin("buffer_bytes") == Some(&Origin::Default) {
            plan.buffer_bytes = beyond(plan.buffer_bytes, last_cache);
        }
        // Whatever the device may lack comes first, so that it is reported before anything is waited for.
        plan.measurements = Measurement::WITHOUT_LADDER.to_vec();
        if plan.ladder {
            plan.measurements.extend(rungs(plan.buffer_bytes).map(Measurement::Rung));
        }
        Ok(plan)
    }
}

/// The default buffer exceeds the last cache, so that reading it needs the memory.
fn beyond(buffer_bytes: u64, last_cache: Option<u64>) -> u64 {
    /// Beyond this, machines might not have the memory.
    const MOST: u64 = 512 << 20;
    let wanted = last_cache.map_or(0, |cache| 2 * cache).next_power_of_two();
    buffer_bytes.max(wanted.min(MOST))
}

/// Working sets of a ladder up to a buffer: powers of two.
fn rungs(buffer_bytes: u64) -> impl Iterator<Item = u64> {
    let double = |bytes: &u64| bytes.checked_mul(2);
    std::iter::successors(Some(LOWEST_RUNG), double).take_while(move |bytes| *bytes <= buffer_bytes)
}

impl Measurement {
    const WITHOUT_LADDER: [Self; 4] = [Self::Arithmetic, Self::Copy, Self::Read, Self::Launch];

    fn status(self, precision: Precision, buffer_bytes: u64) -> String {
        let buffer = size(buffer_bytes);
        match self {
            Self::Arithmetic => format!("multiplying and adding in {}", precision.name()),
            Self::Copy => format!("copying {buffer}"),
            Self::Read => format!("reading {buffer}"),
            Self::Launch => "starting the smallest operation".to_owned(),
            Self::Rung(bytes) => format!("reading {} again and again", size(bytes)),
        }
    }

    fn name(self) -> String {
        match self {
            Self::Arithmetic => "multiply-add".to_owned(),
            Self::Copy => "copy".to_owned(),
            Self::Read => "read".to_owned(),
            Self::Launch => "launch".to_owned(),
            Self::Rung(bytes) => size(bytes),
        }
    }

    /// How long is measured at once: all of it together stays within the lab's budget.
    fn pace(self) -> Pace {
        let [slice, least, most] = match self {
            Self::Arithmetic | Self::Copy | Self::Read => [2, 10, 80],
            Self::Launch | Self::Rung(_) => [1, 4, 15],
        };
        let [slice, least, most] = [slice, least, most].map(Duration::from_millis);
        Pace { slice, least, most }
    }

    fn prepare(self, meter: &Meter, plan: &Plan) -> Result<Arithmetic, LabError> {
        let pass = match self {
            Self::Arithmetic => return meter.arithmetic(ComputeUnits::Plain),
            Self::Copy => meter.copy(plan.buffer_bytes)?,
            Self::Read => meter.read(plan.buffer_bytes)?,
            Self::Launch => meter.launch(),
            Self::Rung(bytes) => meter.read_again(bytes)?,
        };
        Ok(Arithmetic::Timed(pass))
    }
}

fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
    match unit.filter(|_| bytes > 0) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} bytes"),
    }
}

// A run: one measurement after the other, one repetition a step.

struct Session {
    meter: Meter,
    plan: Plan,
    compared: Vec<Roof>,
    results: Results,
    /// What is being timed, with repetitions done.
    timing: Option<(RepeatTimer, usize)>,
    place: usize,
    /// A step is a repetition.
    steps: Steps,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let precision = Precision::read(&run.params)?;
        let compared = roof::compared(&run.params, precision)?;
        run.status(format!("opening {}", run.device));
        let meter = Meter::open(run.device, precision)?;
        let plan = Plan::read(&run.params, meter.last_cache())?;
        warn_of_cached_buffer(run, &meter, &plan);
        run.scalar("read_checksum", meter.read_checksum(plan.buffer_bytes)?);
        let session = Self {
            results: Results { device: meter.name(), precision, all: Vec::new() },
            meter,
            plan,
            compared,
            timing: None,
            place: 0,
            steps: Steps::default(),
        };
        session.announce(run);
        Ok(session)
    }

    fn measurement(&self) -> Option<Measurement> {
        self.plan.measurements.get(self.place).copied()
    }

    fn announce(&self, run: &mut Run<'_>) {
        let next = self.measurement();
        run.status(next.map_or_else(String::new, |next| {
            next.status(self.results.precision, self.plan.buffer_bytes)
        }));
    }

    /// A repetition gave this, with those before it.
    fn put(&mut self, measurement: Measurement, outcome: Measured) {
        self.results.all.truncate(self.place);
        self.results.all.push((measurement, outcome));
    }
}

impl SteppedLab for Session {
    type Knobs = Vec<Roof>;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.measurement().is_some()
    }

    fn read(&self, params: &Params) -> Result<Vec<Roof>, LabError> {
        roof::compared(params, self.results.precision)
    }

    fn turn(&mut self, _: &mut Run<'_>, compared: Vec<Roof>) -> Result<(), StepError> {
        self.compared = compared;
        Ok(())
    }

    /// One repetition, and the first of a measurement makes its buffers.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let Some(measurement) = self.measurement() else { return Ok(()) };
        let timing = match self.timing.take() {
            Some(timing) => Some(timing),
            None => match measurement.prepare(&self.meter, &self.plan)? {
                Arithmetic::Probed(rate) => {
                    self.put(measurement, Measured::Told(rate));
                    None
                }
                Arithmetic::Timed(pass) => {
                    Some((RepeatTimer::warm_up(pass, measurement.pace())?, 0))
                }
            },
        };
        if let Some((mut clock, repetitions)) = timing {
            clock.repeat(|| run.control.interrupted())?;
            self.put(measurement, Measured::Timed(clock.times().clone()));
            if repetitions + 1 < self.plan.repetitions {
                self.timing = Some((clock, repetitions + 1));
            }
        }
        self.steps.done += 1;
        self.results.report(run);
        if self.timing.is_none() {
            self.place += 1;
            self.announce(run);
        }
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        stepped::draw(run, (self.steps.done, moment), &panels::ALL, |_, picture| {
            picture(&self.results, &self.compared)
        });
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        run.status("");
        Ok(())
    }
}

/// A buffer that fits into the last cache does not measure the memory.
fn warn_of_cached_buffer(run: &mut Run<'_>, meter: &Meter, plan: &Plan) {
    if let Some(cache) = meter.last_cache().filter(|cache| *cache >= plan.buffer_bytes) {
        let owner = match run.device.backend {
            Backend::Cpu => format!("the processor's last cache of {}", size(cache)),
            // No driver tells.
            Backend::Wgpu | Backend::Cuda => {
                format!("a GPU's last cache, which may have {}", size(cache))
            }
        };
        run.notice(format!(
            "the buffer of {} fits into {owner}, so that reading it may not need the memory; buffer_bytes={} is surely too large for it",
            size(plan.buffer_bytes),
            4 * cache
        ));
    }
}
