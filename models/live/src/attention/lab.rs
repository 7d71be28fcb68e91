//! Computes one attention in four ways: with stored scores, by tiles, over a window and with a linear kernel
//! ([`variants`]), all without autodiff, each compared with double precision on the host ([`exact`]).
//!
//! [`tiles`] is the only place that says which tiles there are and which keys a query attends to; the running maximum, sum and
//! output after each tile are those of the closed-form lab `online-softmax`, drawn by [`panels`].

mod exact;
mod panels;
#[cfg(test)]
mod tests;
mod tiles;
mod variants;

use std::ops::ControlFlow;
use std::time::Duration;

use burn::tensor::{Device, Tensor};
use mlsys_device as device;
use mlsys_device::memory;
use mlsys_device::meter::computing;
use mlsys_device::timing::{Pace, RepeatTimer};
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{DeviceId, LabError, Params, Run};
use mlsys_nn::memory_budget::MemoryBudget;
use serde::Deserialize;

use self::exact::RandomInputs;
use self::tiles::{AttentionMask, Tiling};
use self::variants::{Comparison, Hidden, Inputs, Probe, TIMED, TimedLength, VARIANTS};
use crate::sizes::sizes;
use crate::stepped::{self, LiveLab, StepError, SteppedLab, Steps, point};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?
        .reading::<Setup>()?
        .reading::<Knobs>()
}

const LONGEST: usize = 8192;

/// More lengths than this are not a sweep but a mistake.
const MOST_LENGTHS: usize = 16;

/// More tiles than this take too long: each is a handful of operations on the device.
const MOST_TILES: usize = 1 << 17;

#[derive(Clone, Debug, Deserialize)]
struct Setup {
    heads: usize,
    sequence: usize,
    #[serde(rename = "head_dim")]
    width: usize,
    causal: bool,
    #[serde(skip)]
    sweep: Vec<usize>,
    repetitions: usize,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct Knobs {
    tiling: Tiling,
    window: usize,
    logit_scale: f64,
}

impl Setup {
    fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self { sweep: lengths(params)?, ..params.read()? })
    }

    fn mask(&self, window: Option<usize>) -> AttentionMask {
        AttentionMask { causal: self.causal, window }
    }

    /// `[heads, sequence, width]`.
    fn shape(&self, sequence: usize) -> [usize; 3] {
        [self.heads, sequence, self.width]
    }

    /// Bytes that the run takes at most: scores, exponentials, a mask spread over all heads, inputs and results.
    fn bytes(&self) -> u64 {
        let longest = self.sweep.iter().copied().fold(self.sequence, usize::max);
        let [heads, n, d] = self.shape(longest).map(|x| x as u64);
        4 * (4 * heads * n * n + 16 * heads * n * d)
    }

    /// Bytes that each way of [`TIMED`] keeps besides inputs and outputs:
    /// - with stored scores one matrix of them a head;
    /// - by tiles the scores of one tile, and a maximum and a sum of each of its rows;
    /// - with the linear kernel, causal, a sum of products and one of features of all earlier tokens, a head.
    fn kept_bytes(&self, knobs: &Knobs, sequence: usize) -> [u64; 3] {
        let [heads, n, d] = self.shape(sequence).map(|x| x as u64);
        let [rows, columns] = [knobs.tiling.rows as u64, knobs.tiling.columns as u64];
        [4 * heads * n * n, 4 * rows * columns + 8 * rows, 4 * heads * (d * d + d)]
    }

    /// Elements of one head that each way of [`VARIANTS`] moves:
    /// - with stored scores 4Nd for q, k, v and the output, and 4N² for scores and shares, each written and read;
    /// - by tiles queries and outputs once, keys and values once for each row of tiles;
    /// - over a window of keys and values only the tiles of which something is seen;
    /// - with the linear kernel, which keeps its sums on chip, every input and output once.
    fn accesses(&self, knobs: &Knobs) -> [u64; 4] {
        let [_, n, d] = self.shape(self.sequence).map(|x| x as u64);
        let bands = n.div_ceil(knobs.tiling.rows as u64);
        let tiles = knobs.tiling.tiles(self.sequence, self.mask(Some(knobs.window)));
        let keys: u64 = tiles.map(|tile| tile.keys.len() as u64).sum();
        [4 * n * d + 4 * n * n, 2 * n * d * (1 + bands), 2 * n * d + 2 * d * keys, 4 * n * d]
    }
}

impl Knobs {
    fn read(params: &Params) -> Result<Self, LabError> {
        let (knobs, sequence) = (params.read::<Self>()?, params.size("sequence")?);
        let (Tiling { rows, columns }, tiles) = (knobs.tiling, knobs.tiling.count(sequence));
        if tiles > MOST_TILES {
            let message = format!(
                "{sequence} tokens in tiles of {rows} x {columns} make {tiles} tiles, more than the {MOST_TILES} that are computed one by one; make the tiles larger or the sequence shorter"
            );
            let params = ["tile_rows", "tile_columns", "sequence"];
            return Err(LabError::contradiction(params, message));
        }
        Ok(knobs)
    }
}

fn lengths(params: &Params) -> Result<Vec<usize>, LabError> {
    let lengths = sizes(params, "sweep", "length", LONGEST)?;
    if lengths.is_empty() || lengths.len() > MOST_LENGTHS {
        let count = lengths.len();
        let message = format!("{count} lengths; give 1 to {MOST_LENGTHS}, such as [64, 128]");
        return Err(LabError::contradiction(["sweep"], message));
    }
    Ok(lengths)
}

// A run: all ways once, held against double precision, then one length of the sweep after the other, a repetition a step.

const PACE: Pace = Pace {
    slice: Duration::from_millis(2),
    least: Duration::from_millis(4),
    most: Duration::from_millis(40),
};

struct Session {
    device: Device,
    id: DeviceId,
    setup: Setup,
    knobs: Knobs,
    drawn: RandomInputs,
    compared: Comparison,
    swept: Vec<TimedLength>,
    timing: Option<Timing>,
    /// A step is a repetition.
    steps: Steps,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        MemoryBudget::for_device(run.device).require(
            setup.bytes(),
            "the scores of this many tokens and heads",
            "sequence, heads or the lengths of sweep",
        )?;
        let device = device::open(run.device)?;
        run.status("computing four ways");
        let drawn = RandomInputs::new(setup.seed, setup.shape(setup.sequence));
        let mut session = Self {
            compared: compared(run, &setup, &knobs, &drawn, &device)?,
            id: run.device,
            swept: Vec::new(),
            timing: None,
            steps: Steps::default(),
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
        for (variant, difference) in VARIANTS.iter().zip(self.compared.differences) {
            run.scalar(&format!("{variant}_difference"), difference);
        }
        run.scalar("non_finite_without_max", self.compared.non_finite as i64);
        let [heads, n, d] = setup.shape(setup.sequence).map(|x| x as u64);
        let [scores, tile, _] = setup.kept_bytes(knobs, setup.sequence);
        let [stored, by_tiles, ..] = setup.accesses(knobs);
        for (name, value) in [
            ("naive_score_bytes", scores),
            ("tiled_score_bytes", tile),
            // Two products, q kᵀ and shares times v, without what a causal mask saves.
            ("softmax_flops", 4 * heads * n * n * d),
            ("linear_flops", 4 * heads * n * d * d),
            ("naive_accesses", stored),
            ("tiled_accesses", by_tiles),
        ] {
            run.scalar(name, value as i64);
        }
        self.draw(run, FrameTrigger::Running)
    }

    fn announce(&self, run: &mut Run<'_>) {
        let next = self.next();
        run.status(next.map_or_else(String::new, |tokens| format!("timing {tokens} tokens")));
    }

    fn next(&self) -> Option<usize> {
        self.setup.sweep.get(self.swept.len()).copied()
    }

    fn prepare(&self, run: &mut Run<'_>, sequence: usize) -> Result<Timing, StepError> {
        let drawn = RandomInputs::new(self.setup.seed, self.setup.shape(sequence));
        let inputs = Inputs::new(&drawn, &self.device, self.knobs.logit_scale);
        let hidden = Hidden::over(sequence, self.setup.mask(None), &self.device);
        let variants = self.workloads(run, &inputs, hidden.as_ref(), sequence);
        let interrupted = run.control.interruption();
        let bytes = variants.each_ref().map(|work| self.most_bytes(work.as_ref()?, &interrupted));
        let mut clocks = Vec::new();
        for variant in variants {
            let interrupted = run.control.interruption();
            let clock = variant.map(|work| {
                let work = move || work(&mut || unless(interrupted()));
                RepeatTimer::warm_up(computing(&self.device, self.id, work), PACE)
            });
            clocks.push(clock.transpose()?);
            if run.control.must_end().is_some() {
                return Err(StepError::Stopped);
            }
        }
        Ok(Timing { sequence, bytes, clocks, repetitions: 0 })
    }

    /// The ways that are timed, as work; none where the tiles are too many.
    fn workloads(
        &self,
        run: &mut Run<'_>,
        inputs: &Inputs,
        hidden: Option<&Hidden>,
        sequence: usize,
    ) -> [Option<Work>; 3] {
        let (tiling, mask) = (self.knobs.tiling, self.setup.mask(None));
        let hidden = hidden.cloned();
        let [stored, by_tiles, kernel] = [(); 3].map(|()| inputs.clone());
        let tiles = tiling.count(sequence);
        if tiles > MOST_TILES {
            let Tiling { rows, columns } = tiling;
            run.notice(format!(
                "{sequence} tokens in tiles of {rows} x {columns} are not timed: that is {tiles} tiles"
            ));
        }
        let tiled: Work = Box::new(move |probe| by_tiles.tiled(tiling, mask, probe));
        [
            Some(Box::new(move |probe| Some(stored.naive(hidden.as_ref(), probe)))),
            (tiles <= MOST_TILES).then_some(tiled),
            Some(Box::new(move |probe| Some(kernel.linear(mask, probe)))),
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
            unless(interrupted())
        }));
        Some(most - before)
    }

    fn push(&mut self, run: &mut Run<'_>, found: TimedLength) {
        let step = self.swept.len() as u64 + 1;
        point(run, "length", step, found.sequence as f64);
        for ((variant, seconds), bytes) in TIMED.iter().zip(found.seconds).zip(found.bytes) {
            point(run, &format!("{variant}_seconds"), step, seconds);
            let bytes = bytes.map(|bytes| bytes as f64);
            point(run, &format!("{variant}_bytes"), step, bytes);
        }
        self.swept.push(found);
        let at = (step, FrameTrigger::Running);
        stepped::draw(run, at, &[("growth", ())], |_, ()| panels::growth(self));
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.swept.len() < self.setup.sweep.len()
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
        self.steps.done += 1;
        if timing.repetitions < self.setup.repetitions {
            self.timing = Some(timing);
        } else {
            self.push(run, timing.result());
            self.announce(run);
        }
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        let at = (self.swept.len() as u64, moment);
        stepped::draw(run, at, &panels::ALL, |_, make| make(self));
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        run.status("");
        Ok(())
    }
}

struct Timing {
    sequence: usize,
    bytes: [Option<u64>; 3],
    /// Of each way; none where its tiles are too many.
    clocks: Vec<Option<RepeatTimer>>,
    repetitions: usize,
}

impl Timing {
    fn result(&self) -> TimedLength {
        let median = |place: usize| self.clocks.get(place)?.as_ref()?.times().median();
        TimedLength { sequence: self.sequence, seconds: [0, 1, 2].map(median), bytes: self.bytes }
    }
}

/// The four ways computed; a stop is heard between two tiles.
fn compared(
    run: &mut Run<'_>,
    setup: &Setup,
    knobs: &Knobs,
    drawn: &RandomInputs,
    device: &Device,
) -> Result<Comparison, StepError> {
    /// Tiles between two words about how many are done.
    const TOLD: usize = 1024;
    let sights = [setup.mask(None), setup.mask(Some(knobs.window))];
    let tiles = sights.map(|mask| knobs.tiling.tiles(setup.sequence, mask).count());
    let all: usize = tiles.iter().sum();
    let mut done = 0;
    let compared = Comparison::new(setup, knobs, drawn, device, &mut || {
        done += 1;
        if done % TOLD == 0 {
            run.status(format!("computing four ways: tile {done} of {all}"));
        }
        unless(run.control.must_end().is_some())
    });
    compared.ok_or(StepError::Stopped)
}

fn unless(is_ended: bool) -> ControlFlow<()> {
    if is_ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// One of the ways, as work; it finds nothing if it is ended.
type Work = Box<dyn Fn(Probe<'_>) -> Option<Tensor<3>>>;
