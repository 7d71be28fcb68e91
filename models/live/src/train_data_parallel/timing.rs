//! What a step would take on a cluster, by the latency-bandwidth model: computed, never timed.

use std::collections::VecDeque;

use mlsys_lab::median;
use mlsys_sim::collective::{Plan, Tally};
use mlsys_sim::network::Network;

use super::exchange::Compression;
use super::params::{Knobs, Scheme, Setup, Zero};

/// Bytes of an f32.
const WIDTH: f64 = 4.0;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Modelled {
    /// Forward and backward of a worker that is not slow.
    pub(super) compute_of_others: f64,
    /// The same of the slowest.
    pub(super) compute: f64,
    /// Messages, averaged over a synchronisation period.
    pub(super) communication: f64,
    pub(super) step: f64,
    /// One worker's compute over it.
    pub(super) speedup: f64,
}

impl Modelled {
    pub(super) fn new(setup: &Setup, knobs: &Knobs, scheme: &Scheme) -> Self {
        let flops = setup.model.flops(knobs.batch as u64) as f64;
        let alone = flops / knobs.flops_per_second;
        let compute_of_others = alone / setup.workers as f64;
        let compute = compute_of_others * knobs.slow;
        let (before, after): (Vec<_>, Vec<_>) =
            sends(setup, knobs, scheme).into_iter().partition(CollectiveSend::precedes);
        let seconds = |sends: Vec<CollectiveSend<'_>>| -> f64 {
            let all = sends.iter().map(|send| send.seconds(&knobs.network));
            all.sum::<f64>() / knobs.every as f64
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
    /// What passes, for pictures.
    pub(super) what: &'static str,
    /// When it happens, and whether something is summed.
    pub(super) place: CollectivePosition,
    pub(super) plan: &'a Plan,
    /// Bytes of an element of the plan.
    pub(super) width: f64,
}

impl CollectiveSend<'_> {
    /// Whether it stands before a pass.
    pub(super) fn precedes(&self) -> bool {
        self.place == CollectivePosition::Before
    }

    pub(super) fn sums(&self) -> bool {
        self.place == CollectivePosition::Sum
    }

    /// Seconds of all its rounds.
    pub(super) fn seconds(&self, network: &Network) -> f64 {
        Tally::of(self.plan).seconds(network, self.width)
    }

    /// Seconds of one round: a latency and the bytes of its busiest port.
    pub(super) fn round(&self, round: usize, network: &Network) -> f64 {
        let mut endpoints = std::collections::BTreeMap::new();
        for message in self.plan.round(round) {
            for endpoint in [(message.from, 0), (message.to, 1)] {
                *endpoints.entry(endpoint).or_insert(0) += message.elements.len();
            }
        }
        let busiest = endpoints.into_values().max().unwrap_or(0);
        network.seconds(1.0, busiest as f64 * self.width)
    }
}

/// The collectives of a step that synchronises, in their order.
pub(super) fn sends<'a>(
    setup: &Setup,
    knobs: &Knobs,
    scheme: &'a Scheme,
) -> Vec<CollectiveSend<'a>> {
    let send = |what, place, plan| CollectiveSend { what, place, plan, width: WIDTH };
    let gather = |what, place| send(what, place, &scheme.gather);
    let sum = match (knobs.every, knobs.compression, setup.zero) {
        (2.., _, _) => send("weights", CollectivePosition::Sum, &scheme.all_reduce),
        (_, Compression::None, Zero::Nothing) => {
            send("gradient", CollectivePosition::Sum, &scheme.all_reduce)
        }
        (_, Compression::None, Zero::Optimizer | Zero::Gradients | Zero::Weights) => {
            send("gradient", CollectivePosition::Sum, &scheme.scatter)
        }
        (_, Compression::Int8 | Compression::Sign | Compression::TopK { .. }, _) => {
            CollectiveSend {
                what: "compressed gradients",
                place: CollectivePosition::Sum,
                plan: &scheme.share,
                width: knobs.compression.bytes(scheme.gather.elements()) as f64,
            }
        }
    };
    match setup.zero {
        Zero::Nothing => vec![sum],
        Zero::Optimizer | Zero::Gradients => {
            vec![sum, gather("new weights", CollectivePosition::After)]
        }
        Zero::Weights => {
            vec![
                gather("weights", CollectivePosition::Before),
                gather("weights", CollectivePosition::Before),
                sum,
            ]
        }
    }
}

// How long steps take, of the workers and of one worker alone.

/// Steps that count.
const MOST: usize = 99;

/// The wall seconds of the last steps with the knobs as they stand; of older ones until the first step with these.
#[derive(Default)]
pub(super) struct Measured {
    steps: VecDeque<StepSeconds>,
    knobs: KnobState,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct StepSeconds {
    pub(super) workers: f64,
    /// None without a reference worker.
    pub(super) one: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum KnobState {
    #[default]
    AsBefore,
    Turned,
}

impl Measured {
    /// Once the next step is done, those before it do not count.
    pub(super) fn turn(&mut self) {
        self.knobs = KnobState::Turned;
    }

    pub(super) fn push(&mut self, times: StepSeconds) {
        if std::mem::take(&mut self.knobs) == KnobState::Turned {
            self.steps.clear();
        }
        if self.steps.len() == MOST {
            self.steps.pop_front();
        }
        self.steps.push_back(times);
    }

    pub(super) fn workers(&self) -> Option<f64> {
        median(self.steps.iter().map(|times| times.workers))
    }

    pub(super) fn one(&self) -> Option<f64> {
        median(self.steps.iter().filter_map(|times| times.one))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(measured: &mut Measured, workers: f64) {
        let one = Some(2.0 * workers);
        measured.push(StepSeconds { workers, one });
    }

    #[test]
    fn knobs_apply_from_the_next_step() {
        let mut measured = Measured::default();
        assert_eq!(measured.workers(), None);
        push(&mut measured, 8.0);
        measured.turn();
        assert_eq!((measured.workers(), measured.one()), (Some(8.0), Some(16.0)));
        push(&mut measured, 1.0);
        assert_eq!(measured.one(), Some(2.0));
        for _ in 0..MOST {
            push(&mut measured, 3.0);
        }
        assert_eq!(measured.workers(), Some(3.0));
        assert_eq!(measured.steps.len(), MOST);
    }
}
