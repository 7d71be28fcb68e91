//! Whole runs: counts against the formulas, and outputs, gradients and weights against one worker.

mod counts;
mod equal;
mod knobs;

use crate::stepped::LiveLab;

fn lab() -> LiveLab {
    crate::train_tensor_parallel::lab().unwrap()
}
