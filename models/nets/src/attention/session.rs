//! A run: all ways once, held against double precision, then one length of the sweep after the other, a repetition a step.

use std::hint::black_box;
use std::time::{Duration, Instant};

use burn::tensor::{Device, Tensor};
use mlsys_lab::control::Turn;
use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{DeviceId, LabError, Params, Run, Schema, Value};

use super::pictures;
use super::results::{Compared, Point, Swept, TIMED};
use super::setup::{Knobs, MOST_TILES, Setup};
use super::ways::{Drawn, Goes, Hidden, Inputs, Look};
use crate::device::{self, memory, meter::Pass};
use crate::parallel::knobs;
use crate::parallel::room::Room;
use crate::timing::{Clock, Pace};

const PACE: Pace = Pace {
    slice: Duration::from_millis(2),
    least: Duration::from_millis(4),
    most: Duration::from_millis(40),
};

/// Runs the lab.
pub(super) fn run(schema: &Schema, run: &mut Run<'_>) -> Result<(), LabError> {
    let started = Instant::now();
    let Some(mut session) = Session::open(run)? else {
        run.scalar("steps_done", 0_i64);
        return Ok(());
    };
    session.compare(run);
    for place in 0..session.setup.sweep.len() {
        if session.measure(schema, run, session.setup.sweep[place])? == Goes::Ends {
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

struct Session {
    device: Device,
    id: DeviceId,
    setup: Setup,
    knobs: Knobs,
    params: Params,
    drawn: Drawn,
    compared: Compared,
    swept: Swept,
    /// Repetitions done.
    done: u64,
}

impl Session {
    /// Nothing if the run was ended while the four ways were computed.
    fn open(run: &mut Run<'_>) -> Result<Option<Self>, LabError> {
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        Room::of(run.device).must_hold(
            setup.bytes(),
            "the scores of this many tokens and heads",
            "sequence, heads or the lengths of sweep",
        )?;
        let device = device::open(run.device)?;
        status(run, "computing four ways".to_owned());
        let drawn = Drawn::new(setup.seed, setup.shape(setup.sequence));
        let Some(compared) = compared(run, &setup, &knobs, &drawn, &device) else {
            return Ok(None);
        };
        Ok(Some(Self {
            compared,
            id: run.device,
            params: run.params.clone(),
            swept: Swept::default(),
            done: 0,
            device,
            setup,
            knobs,
            drawn,
        }))
    }

    /// Reports what the four ways found and what they cost by formula.
    fn compare(&mut self, run: &mut Run<'_>) {
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
        self.draw(run, Moment::Running);
    }

    /// Times one length.
    fn measure(
        &mut self,
        schema: &Schema,
        run: &mut Run<'_>,
        sequence: usize,
    ) -> Result<Goes, LabError> {
        status(run, format!("timing {sequence} tokens"));
        if self.turn(schema, run)? == Goes::Ends {
            return Ok(Goes::Ends);
        }
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
                return Ok(Goes::Ends);
            }
        }
        for repetition in 0..self.setup.repetitions {
            if repetition > 0 && self.turn(schema, run)? == Goes::Ends {
                return Ok(Goes::Ends);
            }
            for clock in clocks.iter_mut().flatten() {
                clock.repeat(|| run.control.interrupted())?;
            }
            // What was cut short is no time.
            if run.control.must_end().is_some() {
                return Ok(Goes::Ends);
            }
            self.done += 1;
        }
        let median = |place: usize| clocks.get(place)?.as_ref()?.times().median();
        let seconds = [0, 1, 2].map(median);
        self.push(
            run,
            Point {
                sequence,
                seconds,
                bytes,
            },
        );
        Ok(Goes::On)
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
            Some(Box::new(move |look: Look<'_>| {
                Some(stored.naive(hidden.as_ref(), look))
            })),
            tiled,
            Some(Box::new(move |look: Look<'_>| {
                Some(kernel.linear(ahead, look))
            })),
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

    fn push(&mut self, run: &mut Run<'_>, point: Point) {
        let step = self.swept.points.len() as u64 + 1;
        let mut report = |name: String, value: f64| {
            run.sink.report(Report::Point {
                name: name.into(),
                step,
                value,
            });
        };
        report("length".to_owned(), point.sequence as f64);
        for ((way, seconds), bytes) in TIMED.iter().zip(point.seconds).zip(point.bytes) {
            if let Some(seconds) = seconds {
                report(format!("{way}_seconds"), seconds);
            }
            if let Some(bytes) = bytes {
                report(format!("{way}_bytes"), bytes as f64);
            }
        }
        self.swept.points.push(point);
        let growth = pictures::growth(&self.setup, &self.knobs, &self.swept);
        if run.sink.wants_frame("growth", Moment::Running) {
            run.sink.report(Report::Frame {
                panel: "growth".into(),
                step,
                frame: growth,
            });
        }
        run.sink.frames_done();
    }

    /// Waits for the next step.
    fn turn(&mut self, schema: &Schema, run: &mut Run<'_>) -> Result<Goes, LabError> {
        loop {
            match run.control.turn(self.done) {
                Turn::Go(changes) => return Ok(self.apply(schema, run, changes)),
                Turn::Redraw(changes) => {
                    if self.apply(schema, run, changes) == Goes::Ends {
                        return Ok(Goes::Ends);
                    }
                    self.draw(run, Moment::Asked);
                }
                Turn::Stop(_) => return Ok(Goes::Ends),
            }
        }
    }

    /// Turned knobs show at once in what is compared; what has been timed stays as it was.
    fn apply(&mut self, schema: &Schema, run: &mut Run<'_>, changes: Vec<(String, Value)>) -> Goes {
        let params = &mut self.params;
        let turned = knobs::turn(schema, run, params, self.done, changes, Knobs::read);
        let Some(knobs) = turned else {
            return Goes::On;
        };
        let compared = compared(run, &self.setup, &knobs, &self.drawn, &self.device);
        let Some(compared) = compared else {
            return Goes::Ends;
        };
        (self.knobs, self.compared) = (knobs, compared);
        self.compare(run);
        Goes::On
    }

    fn draw(&self, run: &mut Run<'_>, moment: Moment) {
        let step = self.swept.points.len() as u64;
        for (panel, picture) in pictures::ALL {
            if run.sink.wants_frame(panel, moment) {
                let frame = picture(&pictures::Pictured {
                    setup: &self.setup,
                    knobs: &self.knobs,
                    drawn: &self.drawn,
                    compared: &self.compared,
                    swept: &self.swept,
                });
                if let Some(frame) = frame {
                    let panel = panel.into();
                    run.sink.report(Report::Frame { panel, step, frame });
                }
            }
        }
        run.sink.frames_done();
    }
}

/// The four ways computed; nothing if the run was ended meanwhile, which is heard between two tiles.
fn compared(
    run: &mut Run<'_>,
    setup: &Setup,
    knobs: &Knobs,
    drawn: &Drawn,
    device: &Device,
) -> Option<Compared> {
    /// Tiles between two words about how many are done.
    const TOLD: usize = 1024;
    let sights = [setup.sight(), setup.windowed(knobs)];
    let tiles = sights.map(|sight| knobs.tiling.tiles(setup.sequence, sight).count());
    let all: usize = tiles.iter().sum();
    let mut done = 0;
    Compared::new(setup, knobs, drawn, device, &mut || {
        done += 1;
        if done % TOLD == 0 {
            status(run, format!("computing four ways: tile {done} of {all}"));
        }
        match run.control.must_end() {
            Some(_) => Goes::Ends,
            None => Goes::On,
        }
    })
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
                if (self.interrupted)() {
                    Goes::Ends
                } else {
                    Goes::On
                }
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
