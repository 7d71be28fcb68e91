//! What a step would take on a cluster, by the latency-bandwidth model: computed, never timed.

use std::collections::{BTreeMap, VecDeque};

use mlsys_lab::median;
use mlsys_sim::collective::{Plan, Tally};
use mlsys_sim::network::Network;

use super::compression::Compression;
use super::params::{Knobs, Scheme, Setup, Zero};

/// Bytes of an f32.
const WIDTH: f64 = 4.0;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Modelled {
    /// Forward and backward of a worker that is not slow.
    pub(super) compute_of_others: f64,
    pub(super) compute: f64,
    /// Messages, averaged over a synchronisation period.
    pub(super) communication: f64,
    pub(super) step: f64,
    pub(super) speedup: f64,
}

impl Modelled {
    pub(super) fn new(setup: &Setup, knobs: &Knobs, scheme: &Scheme) -> Self {
        let flops = setup.model.flops(knobs.batch as u64) as f64;
        let alone = flops / knobs.worker_flops_per_second;
        let compute_of_others = alone / setup.workers as f64;
        let compute = compute_of_others * knobs.slow_worker_factor;
        let (before, after): (Vec<_>, Vec<_>) = sends(setup, knobs, scheme)
            .into_iter()
            .partition(|send| send.position == CollectivePosition::Before);
        let seconds = |sends: Vec<CollectiveSend<'_>>| -> f64 {
            let all = sends.iter().map(|send| send.seconds(&knobs.network));
            all.sum::<f64>() / knobs.synchronize_every as f64
        };
        let (before, after) = (seconds(before), seconds(after));
        let communication = before + after;
        let step = match knobs.overlap {
            false => compute + communication,
            // No pass begins before its weights are there.
            true => before + compute / 3.0 + after.max(compute * 2.0 / 3.0),
        };
        Self { compute_of_others, compute, communication, step, speedup: alone / step }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CollectivePosition {
    /// Before a pass: weights are gathered.
    Before,
    /// After the backward pass: all workers' numbers become one sum.
    Sum,
    /// After the update: weights are gathered.
    After,
}

pub(super) struct CollectiveSend<'a> {
    pub(super) what: &'static str,
    pub(super) position: CollectivePosition,
    pub(super) plan: &'a Plan,
    /// Bytes of an element of the plan.
    pub(super) width: f64,
}

impl CollectiveSend<'_> {
    pub(super) fn seconds(&self, network: &Network) -> f64 {
        Tally::from_plan(self.plan).seconds(network, self.width)
    }

    /// Seconds of one round: a latency and the bytes of its busiest port.
    pub(super) fn round(&self, round: usize, network: &Network) -> f64 {
        let mut ports = BTreeMap::new();
        for message in self.plan.round(round) {
            for port in [(message.from, 0), (message.to, 1)] {
                *ports.entry(port).or_insert(0) += message.elements.len();
            }
        }
        let busiest = ports.into_values().max().unwrap_or(0);
        network.seconds(1.0, busiest as f64 * self.width)
    }
}

/// The collectives of a step that synchronises, in their order.
pub(super) fn sends<'a>(
    setup: &Setup,
    knobs: &Knobs,
    scheme: &'a Scheme,
) -> Vec<CollectiveSend<'a>> {
    use CollectivePosition::{After, Before, Sum};
    let send = |what, position, plan| CollectiveSend { what, position, plan, width: WIDTH };
    let gather = || send("weights", Before, &scheme.gather);
    let sum = if knobs.synchronize_every > 1 {
        send("weights", Sum, &scheme.all_reduce)
    } else if knobs.compression != Compression::None {
        let width = knobs.compression.bytes(scheme.gather.elements(), knobs.keep_fraction) as f64;
        CollectiveSend { width, ..send("compressed gradients", Sum, &scheme.share) }
    } else if setup.zero == Zero::Nothing {
        send("gradient", Sum, &scheme.all_reduce)
    } else {
        send("gradient", Sum, &scheme.scatter)
    };
    match setup.zero {
        Zero::Nothing => vec![sum],
        Zero::Optimizer | Zero::Gradients => vec![sum, send("new weights", After, &scheme.gather)],
        Zero::Weights => vec![gather(), gather(), sum],
    }
}

const MOST: usize = 99;

/// The wall seconds of the last steps with the knobs as they stand; of older ones until the first step with these.
#[derive(Default)]
pub(super) struct Measured {
    /// Of the workers, and of the reference worker where there is one.
    steps: VecDeque<(f64, Option<f64>)>,
    has_new_knobs: bool,
}

impl Measured {
    /// Once the next step is done, those before it do not count.
    pub(super) fn turn(&mut self) {
        self.has_new_knobs = true;
    }

    pub(super) fn push(&mut self, workers: f64, one: Option<f64>) {
        if std::mem::take(&mut self.has_new_knobs) {
            self.steps.clear();
        }
        if self.steps.len() == MOST {
            self.steps.pop_front();
        }
        self.steps.push_back((workers, one));
    }

    pub(super) fn workers(&self) -> Option<f64> {
        median(self.steps.iter().map(|(workers, _)| *workers))
    }

    pub(super) fn one(&self) -> Option<f64> {
        median(self.steps.iter().filter_map(|(_, one)| *one))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_apply_from_the_next_step() {
        let mut measured = Measured::default();
        assert_eq!(measured.workers(), None);
        measured.push(8.0, Some(16.0));
        measured.turn();
        assert_eq!((measured.workers(), measured.one()), (Some(8.0), Some(16.0)));
        measured.push(1.0, Some(2.0));
        assert_eq!(measured.one(), Some(2.0));
        for _ in 0..MOST {
            measured.push(3.0, None);
        }
        assert_eq!((measured.workers(), measured.steps.len()), (Some(3.0), MOST));
    }
}
