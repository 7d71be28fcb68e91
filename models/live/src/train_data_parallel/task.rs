//! What the lab's thread tells the workers, and what they say.

use std::ops::Range;
use std::sync::Arc;

use mlsys_lab::LabError;
use mlsys_sim::collective::{Algorithm, Plan};

use super::compress::Compression;

/// What is sharded over workers (Rajbhandari et al. 2020). Each stage shards what the one before does, and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Zero {
    /// Nothing.
    Nothing,
    /// The optimizer's state.
    Optimizer,
    /// And gradients.
    Gradients,
    /// And weights.
    Weights,
}

/// What becomes of what compression leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeftOut {
    /// It is lost.
    Lost,
    /// It is added to the next step's gradient.
    Kept,
}

/// What the workers agree on besides what each holds.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    /// The sum over all, to all.
    pub(super) all_reduce: Plan,
    /// The sum over all, to each its shard.
    pub(super) scatter: Plan,
    /// Everybody's shard to all.
    pub(super) gather: Plan,
    /// Everybody's compressed gradient to all; an element a worker.
    pub(super) share: Plan,
    pub(super) compression: Compression,
    pub(super) left_out: LeftOut,
    /// Steps that a gradient is late.
    pub(super) delay: usize,
}

/// What is averaged at the end of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Average {
    /// Gradients, before the update.
    #[default]
    Gradients,
    /// Nothing: each goes its own way.
    Nothing,
    /// Weights, after the update.
    Weights,
}

/// One step.
#[derive(Clone, Debug)]
pub(super) struct Task {
    /// The examples of the whole batch; worker `r` of `p` takes the `r`th of `p` equal parts.
    pub(super) indices: Arc<Vec<usize>>,
    pub(super) rate: f64,
    /// Pieces in which a worker goes through its part.
    pub(super) pieces: usize,
    pub(super) scheme: Arc<Scheme>,
    pub(super) average: Average,
    pub(super) begin: Begin,
}

/// How the workers begin a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// As they are.
    AsTheyAre,
    /// Alike: they went their own ways, and from now on share gradients.
    Together,
}

/// Whether a step should tell more than its loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Want {
    #[default]
    No,
    Yes,
}

/// What a worker is told.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// Do a step. What there is to say of it is asked for by itself, so that a step takes no longer for being watched.
    Train(Task),
    /// Tell of the last step, and of gradient and weights if they are wanted.
    Tell(Want),
    /// Show the weights.
    Show,
}

/// What a worker says; a server has nothing to say.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// The mean loss of its part, before the update.
    pub(super) loss: Option<f64>,
    /// A number that all weights together give: the same for the same bits, and hardly ever for others.
    pub(super) digest: Option<u64>,
    /// Whether a weight is no finite number any more.
    pub(super) broken: Broken,
    pub(super) held: Held,
    pub(super) row: Option<Row>,
    /// The first [`SAMPLED`] numbers of each chunk of what it gave into the sum, before it was summed.
    pub(super) samples: Vec<f32>,
}

/// Numbers of a chunk that pictures show.
pub(super) const SAMPLED: usize = 3;

/// Whether weights are still numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Broken {
    #[default]
    No,
    Yes,
}

/// Bytes of the numbers that a worker really holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// Between steps.
    pub(super) weights: u64,
    /// Of this step, once it is summed.
    pub(super) gradient: u64,
    /// State tensors.
    pub(super) optimizer: u64,
    /// What compression left out.
    pub(super) left_out: u64,
    /// Gradients that wait for their step.
    pub(super) late: u64,
}

/// A part of all weights.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) range: Range<usize>,
    /// The gradient that was applied.
    pub(super) gradient: Vec<f32>,
    /// After the update.
    pub(super) weights: Vec<f32>,
}

impl Scheme {
    /// The plans of so many workers for so many parameters.
    ///
    /// # Errors
    /// If the algorithm is not for so many workers.
    pub(super) fn new(
        algorithm: Algorithm,
        workers: usize,
        parameters: usize,
        compression: Compression,
        left_out: LeftOut,
        delay: usize,
    ) -> Result<Self, LabError> {
        let plan = |plan: Result<Plan, mlsys_sim::collective::PlanError>| {
            plan.map_err(|error| error.told(["algorithm", "workers"]))
        };
        Ok(Self {
            all_reduce: plan(Plan::all_reduce(algorithm, workers, parameters))?,
            scatter: plan(Plan::reduce_scatter(workers, parameters))?,
            gather: plan(Plan::all_gather(workers, parameters))?,
            share: plan(Plan::all_gather(workers, workers))?,
            compression,
            left_out,
            delay,
        })
    }
}
