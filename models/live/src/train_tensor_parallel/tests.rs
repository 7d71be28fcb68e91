//! Whole runs: counts against the formulas, and outputs, gradients and weights against one worker.

mod counts;
mod equal;
mod knobs;

use super::TrainTensorParallel;

fn lab() -> TrainTensorParallel {
    TrainTensorParallel::new().unwrap()
}
