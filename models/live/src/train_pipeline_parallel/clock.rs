//! What the stages' lists would take on a cluster: modelled, never timed.

use mlsys_lab::LabError;
use mlsys_sim::pipeline::{LinkTimes, PipelineRun, Plan, Times, simulate};

use super::params::{Knobs, Setup};

#[derive(Clone, Debug)]
pub(super) struct Modelled {
    /// As it goes on the cluster; of an asynchronous pipeline its beginning.
    pub(super) played: PipelineRun,
    /// Until its last operation ends; of an asynchronous pipeline a step in the steady state.
    pub(super) step_seconds: f64,
    /// model_flops/(stages * rate)
    pub(super) compute_seconds: f64,
    /// Idle share with no network time.
    pub(super) bubble_fraction: f64,
}

impl Modelled {
    pub(super) fn new(setup: &Setup, flops: u64, knobs: &Knobs) -> Result<Self, LabError> {
        let compute_seconds = flops as f64 / (setup.stages as f64 * knobs.worker_flops_per_second);
        // Forward, backward for inputs and backward for weights take a third each.
        let each = compute_seconds / (3 * setup.microbatches) as f64;
        // What runs forward again does so before it runs back.
        let back = if setup.recompute { 2.0 } else { 1.0 };
        let times =
            |each: f64| Times { forward: each, backward_input: back * each, backward_weight: each };
        let bytes = 4 * setup.numbers();
        let wire = LinkTimes {
            transfer: knobs.network.seconds(0.0, bytes as f64),
            latency: knobs.network.latency(),
        };
        let plan = plan(setup)?;
        let endless = || LabError::contradiction(["schedule"], "its stages wait for one another");
        let played = simulate(&plan, times(each), Some(wire)).ok_or_else(endless)?;
        let alone = simulate(&plan, times(1.0), None).ok_or_else(endless)?;
        let work = setup.microbatches as f64 * times(1.0).microbatch();
        let step_seconds = step(setup, &played);
        if !step_seconds.is_finite() {
            return Err(LabError::NotFinite {
                metric: "step_seconds".to_owned(),
                reason: "the messages take too long to be counted in seconds".to_owned(),
            });
        }
        Ok(Self {
            step_seconds,
            compute_seconds,
            bubble_fraction: 1.0 - work / step(setup, &alone),
            played,
        })
    }
}

fn plan(setup: &Setup) -> Result<Plan, LabError> {
    if setup.is_asynchronous() {
        // Steps enough for the last to be steady.
        let steps = 2 + setup.stages.div_ceil(setup.microbatches);
        return Plan::beginning(setup.stages, setup.microbatches, steps);
    }
    Ok(setup.plan.clone())
}

/// How long a step takes: to its end, or from the end of the one before where the pipeline does not drain.
fn step(setup: &Setup, played: &PipelineRun) -> f64 {
    if !setup.is_asynchronous() {
        return played.makespan();
    }
    let first = played.stages.first().into_iter().flatten();
    let backwards = first.filter(|slot| slot.operation.work.letter() == 'B');
    let ends: Vec<f64> = backwards.map(|slot| slot.end).rev().collect();
    match (ends.first(), ends.get(setup.microbatches)) {
        (Some(last), Some(before)) => last - before,
        _ => played.makespan(),
    }
}
