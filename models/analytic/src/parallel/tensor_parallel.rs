//! Kind `tensor-parallel`: the slices of a split layer's weights, and what each rank holds on the way through it.

use mlsys_lab::{Frame, LabError, Run, picture};
use mlsys_sim::slices::{Cut, Region, Weight, walks, weights};

use crate::closed_form::Simulated;

/// The weights of a layer of a GPT.
const WEIGHTS: [Weight; 4] = [
    Weight { name: "q, k, v", shape: "h x 3h", cut: Cut::Columns },
    Weight { name: "output", shape: "h x h", cut: Cut::Rows },
    Weight { name: "up", shape: "h x 4h", cut: Cut::Columns },
    Weight { name: "down", shape: "4h x h", cut: Cut::Rows },
];

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let ranks = run.params.size("ranks")?;
    let region = if run.params.bool("sequence_parallel")? { Region::Tokens } else { Region::Whole };
    picture::offer(run, "matrices", || Frame::Panes(weights(&WEIGHTS, ranks)));
    picture::offer(run, "block", || Frame::Panes(walks(region, "up", ranks).into()));
    Ok(Simulated::default())
}
