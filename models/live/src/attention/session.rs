//! A run: all ways once, held against double precision, then one length of the sweep after the other, a repetition a step.

use std::hint::black_box;
use std::time::{Duration, Instant};

use burn::tensor::{Device, Tensor};
use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{DeviceId, LabError, Params, Run};

use super::pictures;
use super::results::{Compared, Point, Swept, TIMED};
use super::setup::{Knobs, MOST_TILES, Setup};
use super::ways::{Drawn, Goes, Hidden, Inputs, Look};
use crate::stepped::{self, StepError, SteppedLab, point};
use mlsys_device::timing::{Clock, Pace};
use mlsys_device::{self as device, memory, meter::Pass};
use mlsys_nn::memory_budget::MemoryBudget;

const PACE: Pace = Pace {
    slice: Duration::from_millis(2),
    least: Duration::from_millis(4),
    most: Duration::from_millis(40),
};

pub(super) struct Session {
    device: Device,
    id: DeviceId,
    setup: Setup,
    knobs: Knobs,
    drawn: Drawn,
    compared: Compared,
    swept: Swept,
    /// The length that is being timed.
    timing: Option<Timing>,
    /// Repetitions done.
    done: u64,
}

impl Session {
    pub(super) fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        MemoryBudget::of(run.device).require(
            setup.bytes(),
            "the scores of this many tokens and heads",
            "sequence, heads or the lengths of sweep",
        )?;
        let device = device::open(run.device)?;
        status(run, "computing four ways".to_owned());
        let drawn = Drawn::new(setup.seed, setup.shape(setup.sequence));
        let mut session = Self {
            compared: compared(run, &setup, &knobs, &drawn, &device)?,
            id: run.device,
            swept: Swept::default(),
            timing: None,
            done: 0,
            device,
            setup,
            knobs,
            drawn,
        };
        session.compare(run)?;
        session.announce(run);
        Ok(session)
    }

    /// Reports what the four ways found and what they cost by formula.
    fn compare(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let (setup, knobs) = (&self.setup, &self.knobs);
        self.compared.report(run);
        for (name, value) in [
            ("naive_score_bytes", setup.naive_score_bytes(setup.sequence)),
            ("tiled_score_bytes", knobs.tiled_score_bytes()),
            ("softmax_flops", setup.softmax_flops()),
            ("linear_flops", setup.linear_flops()),
            ("naive_accesses", setup.naive_accesses()),
            ("tiled_accesses", setup.tiled_accesses(knobs.tiling)),
        ] {
            run.scalar(name, value as i64);
        }
        self.draw(run, Moment::Running)
    }

    /// Says what is timed next.
    fn announce(&self, run: &mut Run<'_>) {
        let said = self.next().map(|sequence| format!("timing {sequence} tokens"));
        status(run, said.unwrap_or_default());
    }

    /// The length that is to be timed next.
    fn next(&self) -> Option<usize> {
        self.setup.sweep.get(self.swept.points.len()).copied()
    }

    /// Gets ready to time a length.
    fn prepare(&self, run: &mut Run<'_>, sequence: usize) -> Result<Timing, StepError> {
        let drawn = Drawn::new(self.setup.seed, self.setup.shape(sequence));
        let inputs = drawn.on(&self.device, self.knobs.logit_scale);
        let hidden = Hidden::of(sequence, self.setup.sight(), &self.device);
        let ways = self.ways(run, &inputs, hidden.as_ref(), sequence);
        let interrupted = run.control.interruption();
        let bytes = ways.each_ref();
        let bytes = bytes.map(|way| self.most_bytes(way.as_ref()?, &interrupted));
        let mut clocks = Vec::new();
        for way in ways {
            let clock = way.map(|work| {
                let timed = Timed {
                    device: self.device.clone(),
                    id: self.id,
                    work,
                    interrupted: Box::new(run.control.interruption()),
                };
                Clock::warm_up(Box::new(timed), PACE)
            });
            clocks.push(clock.transpose()?);
            if run.control.must_end().is_some() {
                return Err(StepError::Stopped);
            }
        }
        Ok(Timing { sequence, bytes, clocks, repetitions: 0 })
    }

    /// The ways that are timed, as work; none where the tiles are too many.
    fn ways(
        &self,
        run: &mut Run<'_>,
        inputs: &Inputs,
        hidden: Option<&Hidden>,
        sequence: usize,
    ) -> [Option<Work>; 3] {
        let (tiling, sight, ahead) = (self.knobs.tiling, self.setup.sight(), self.setup.ahead);
        let hidden = hidden.cloned();
        let of = || inputs.clone();
        let (stored, by_tiles, kernel) = (of(), of(), of());
        let tiled: Option<Work> = if tiling.count(sequence) <= MOST_TILES {
            Some(Box::new(move |look: Look<'_>| {
                let tiled = by_tiles.tiled(tiling, sight, look);
                tiled.map(|tiled| tiled.output)
            }))
        } else {
            let said = format!(
                "{sequence} tokens in tiles of {} x {} are not timed: that is {} tiles",
                tiling.rows,
                tiling.columns,
                tiling.count(sequence)
            );
            run.sink.report(Report::Notice(said));
            None
        };
        [
            Some(Box::new(move |look: Look<'_>| Some(stored.naive(hidden.as_ref(), look)))),
            tiled,
            Some(Box::new(move |look: Look<'_>| Some(kernel.linear(ahead, look)))),
        ]
    }

    /// The most bytes in use at the moments a way tells, beyond those before it began.
    fn most_bytes(&self, work: &Work, interrupted: &dyn Fn() -> bool) -> Option<u64> {
        device::sync(&self.device, self.id).ok()?;
        let in_use = || memory::in_use(&self.device, self.id);
        let before = in_use()?;
        let mut most = before;
        drop(work(&mut || {
            most = most.max(in_use().unwrap_or(0));
            if interrupted() { Goes::Ends } else { Goes::On }
        }));
        Some(most - before)
    }

    fn push(&mut self, run: &mut Run<'_>, found: Point) {
        let step = self.swept.points.len() as u64 + 1;
        point(run, "length", step, found.sequence as f64);
        for ((way, seconds), bytes) in TIMED.iter().zip(found.seconds).zip(found.bytes) {
            if let Some(seconds) = seconds {
                point(run, &format!("{way}_seconds"), step, seconds);
            }
            if let Some(bytes) = bytes {
                point(run, &format!("{way}_bytes"), step, bytes as f64);
            }
        }
        self.swept.points.push(found);
        let growth = |_: &str, ()| pictures::growth(&self.setup, &self.knobs, &self.swept);
        stepped::draw(run, (step, Moment::Running), &[("growth", ())], growth);
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    /// Repetitions.
    fn done(&self) -> u64 {
        self.done
    }

    fn has_next(&self) -> bool {
        self.swept.points.len() < self.setup.sweep.len()
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        Knobs::read(params)
    }

    /// What is compared follows at once; what has been timed stays as it was.
    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        self.compared = compared(run, &self.setup, &knobs, &self.drawn, &self.device)?;
        self.knobs = knobs;
        self.compare(run)
    }

    /// One repetition, and the first of a length makes it ready.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let mut timing = match (self.timing.take(), self.next()) {
            (Some(timing), _) => timing,
            (None, Some(sequence)) => self.prepare(run, sequence)?,
            (None, None) => return Ok(()),
        };
        for clock in timing.clocks.iter_mut().flatten() {
            clock.repeat(|| run.control.interrupted())?;
        }
        // What was cut short is no time.
        if run.control.must_end().is_some() {
            return Err(StepError::Stopped);
        }
        timing.repetitions += 1;
        self.done += 1;
        if timing.repetitions < self.setup.repetitions {
            self.timing = Some(timing);
        } else {
            self.push(run, timing.found());
            self.announce(run);
        }
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: Moment) -> Result<(), StepError> {
        let at = (self.swept.points.len() as u64, moment);
        stepped::draw(run, at, &pictures::ALL, |_, picture| {
            picture(&pictures::Pictured {
                setup: &self.setup,
                knobs: &self.knobs,
                drawn: &self.drawn,
                compared: &self.compared,
                swept: &self.swept,
            })
        });
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        status(run, String::new());
        self.draw(run, Moment::Final)
    }
}

/// A length that is being timed.
struct Timing {
    sequence: usize,
    bytes: [Option<u64>; 3],
    /// Of each way; none where its tiles are too many.
    clocks: Vec<Option<Clock>>,
    /// Repetitions done.
    repetitions: usize,
}

impl Timing {
    fn found(&self) -> Point {
        let median = |place: usize| self.clocks.get(place)?.as_ref()?.times().median();
        Point { sequence: self.sequence, seconds: [0, 1, 2].map(median), bytes: self.bytes }
    }
}

/// The four ways computed; a stop is heard between two tiles.
fn compared(
    run: &mut Run<'_>,
    setup: &Setup,
    knobs: &Knobs,
    drawn: &Drawn,
    device: &Device,
) -> Result<Compared, StepError> {
    /// Tiles between two words about how many are done.
    const TOLD: usize = 1024;
    let sights = [setup.sight(), setup.windowed(knobs)];
    let tiles = sights.map(|sight| knobs.tiling.tiles(setup.sequence, sight).count());
    let all: usize = tiles.iter().sum();
    let mut done = 0;
    let compared = Compared::new(setup, knobs, drawn, device, &mut || {
        done += 1;
        if done % TOLD == 0 {
            status(run, format!("computing four ways: tile {done} of {all}"));
        }
        match run.control.must_end() {
            Some(_) => Goes::Ends,
            None => Goes::On,
        }
    });
    compared.ok_or(StepError::Stopped)
}

/// One of the ways, as work; it finds nothing if it is ended.
type Work = Box<dyn Fn(Look<'_>) -> Option<Tensor<3>>>;

struct Timed {
    device: Device,
    id: DeviceId,
    work: Work,
    interrupted: Box<dyn Fn() -> bool>,
}

impl Pass for Timed {
    fn amount(&self) -> f64 {
        1.0
    }

    fn time(&mut self, passes: u64) -> Result<f64, LabError> {
        device::sync(&self.device, self.id)?;
        let started = Instant::now();
        for _ in 0..passes {
            let look: Look<'_> = &mut || {
                if (self.interrupted)() { Goes::Ends } else { Goes::On }
            };
            let found = (self.work)(look);
            if black_box(found).is_none() {
                break;
            }
        }
        device::sync(&self.device, self.id)?;
        Ok(started.elapsed().as_secs_f64())
    }
}

fn status(run: &mut Run<'_>, text: String) {
    run.sink.report(Report::Status(text));
}
