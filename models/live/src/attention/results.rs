//! What a run has found so far.

use burn::tensor::{Device, Tensor};
use mlsys_lab::Run;

use super::exact::Exact;
use super::setup::{Knobs, Setup};
use super::ways::{Drawn, Goes, Hidden, Inputs, Look};

/// The four ways, in the order in which they are told.
pub(super) const WAYS: [&str; 4] = ["naive", "tiled", "window", "linear"];

/// The result of every way, held against double precision.
pub(super) struct Compared {
    /// The largest difference of each way over the largest output.
    pub(super) differences: [f64; 4],
    /// Outputs that are no numbers if the maximum is not subtracted.
    pub(super) non_finite: u64,
    /// What the last query of the first head finds by each way.
    pub(super) last: [Vec<f32>; 4],
    /// What it should find.
    pub(super) exact: Vec<f64>,
}

impl Compared {
    /// Computes all ways. `look` is told after each tile of those that have tiles; nothing if it ends them.
    pub(super) fn new(
        setup: &Setup,
        knobs: &Knobs,
        drawn: &Drawn,
        device: &Device,
        look: Look<'_>,
    ) -> Option<Self> {
        let (sight, windowed) = (setup.sight(), setup.windowed(knobs));
        let inputs: Inputs = drawn.on(device, knobs.logit_scale);
        let hidden = Hidden::of(setup.sequence, sight, device);
        let results = [
            inputs.naive(hidden.as_ref(), &mut || Goes::On),
            inputs.tiled(knobs.tiling, sight, look)?.output,
            inputs.tiled(knobs.tiling, windowed, look)?.output,
            inputs.linear(setup.ahead, &mut || Goes::On),
        ]
        .map(numbers);
        let forgetful = numbers(inputs.without_max(hidden.as_ref()));
        let exact = Exact::of(drawn, sight, knobs.logit_scale);
        let end = setup.sequence * setup.width;
        let last = |result: &Vec<f32>| {
            let row = result.get(end - setup.width..end);
            row.unwrap_or_default().to_vec()
        };
        Some(Self {
            differences: results.each_ref().map(|result| exact.difference(result)),
            non_finite: forgetful.iter().filter(|x| !x.is_finite()).count() as u64,
            last: results.each_ref().map(last),
            exact: exact.last().to_vec(),
        })
    }

    pub(super) fn report(&self, run: &mut Run<'_>) {
        for (way, difference) in WAYS.iter().zip(self.differences) {
            run.scalar(&format!("{way}_difference"), difference);
        }
        run.scalar("non_finite_without_max", self.non_finite as i64);
    }
}

/// What a tensor holds, in order.
pub(super) fn numbers(tensor: Tensor<3>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// What the lengths of the sweep took.
#[derive(Default)]
pub(super) struct Swept {
    pub(super) points: Vec<Point>,
}

/// One length.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    pub(super) sequence: usize,
    /// Median seconds, and most bytes beyond what was there before, of the naive, the tiled and the linear way.
    pub(super) seconds: [Option<f64>; 3],
    pub(super) bytes: [Option<u64>; 3],
}

/// The ways that are timed.
pub(super) const TIMED: [&str; 3] = ["naive", "tiled", "linear"];
