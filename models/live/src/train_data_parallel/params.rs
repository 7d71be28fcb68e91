//! Parameters as the run needs them: what is fixed, and the knobs that may be turned between two steps.

use std::ops::Range;
use std::sync::Arc;

use mlsys_distributed::model::{self, Model};
use mlsys_lab::{LabError, Params};
use mlsys_nn::flat_params::Rule;
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_sim::collective::{Algorithm, Plan, PlanError};
use mlsys_sim::network::Network;

use serde::Deserialize;

use super::compression::Compression;

/// The parameters, without the sizes of the model and the link.
#[derive(Deserialize)]
pub(super) struct Fields {
    workers: usize,
    model: Kind,
    optimizer: Rule,
    zero_stage: Zero,
    compare: bool,
    seed: u64,
    knobs: Knobs,
}

#[derive(Deserialize)]
#[serde(remote = "Algorithm", rename_all = "kebab-case")]
enum AlgorithmName {
    Ring,
    RecursiveHalvingDoubling,
    Tree,
    DoubleTree,
    ParameterServer,
    ShardedParameterServer,
}

pub(super) struct Setup {
    pub(super) workers: usize,
    pub(super) model: Model,
    pub(super) task: Kind,
    pub(super) rule: Rule,
    pub(super) zero: Zero,
    pub(super) compare: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Kind {
    #[serde(rename = "transformer")]
    Chain,
    #[serde(rename = "mlp")]
    Digits,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Knobs {
    #[serde(rename = "global_batch")]
    pub(super) batch: usize,
    #[serde(rename = "accumulate")]
    pub(super) pieces: usize,
    pub(super) steps: u64,
    #[serde(rename = "learning_rate")]
    pub(super) rate: f64,
    #[serde(with = "AlgorithmName")]
    pub(super) algorithm: Algorithm,
    pub(super) compression: Compression,
    pub(super) keep_fraction: f64,
    pub(super) error_feedback: bool,
    pub(super) synchronize_every: u64,
    pub(super) delay: usize,
    pub(super) slow_worker_factor: f64,
    /// Whether gradients travel while the backward pass still runs, in the modelled clock.
    pub(super) overlap: bool,
    pub(super) worker_flops_per_second: f64,
    #[serde(skip, default = "crate::parallel::free_network")]
    pub(super) network: Network,
}

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let fields: Fields = params.read()?;
        Ok(Self {
            workers: fields.workers,
            model: match fields.model {
                Kind::Chain => Model::transformer(model::transformer(params)?, fields.seed)?,
                Kind::Digits => Model::digits(fields.seed)?,
            },
            task: fields.model,
            rule: fields.optimizer,
            zero: fields.zero_stage,
            compare: fields.compare,
        })
    }

    pub(super) fn knobs(&self, params: &Params, budget: MemoryBudget) -> Result<Knobs, LabError> {
        let knobs = Knobs::read(params)?;
        let who = format!("{} workers with this model", self.workers);
        let smaller = "workers, hidden, layers, context, global_batch or delay";
        budget.require(self.bytes(&knobs), &who, smaller)?;
        Ok(knobs)
    }

    pub(super) fn bytes(&self, knobs: &Knobs) -> u64 {
        let alone = u64::from(self.compare);
        // Weights, gradients, the next weights and what is sent of them, besides the optimizer's moments.
        let copies = 6 + self.rule.moments() + knobs.delay as u64;
        let holders = self.workers as u64 + alone;
        let activations = self.model.activation_bytes(knobs.batch as u64) * (1 + alone);
        4 * copies * holders * self.model.parameters() + 2 * activations
    }

    pub(super) fn scheme(&self, knobs: &Knobs) -> Result<Scheme, LabError> {
        let parameters = self.model.parameters() as usize;
        let plan = |plan: Result<Plan, PlanError>| {
            plan.map_err(|error| error.contradiction(["algorithm", "workers"]))
        };
        Ok(Scheme {
            all_reduce: plan(Plan::all_reduce(knobs.algorithm, self.workers, parameters))?,
            scatter: plan(Plan::reduce_scatter(self.workers, parameters))?,
            gather: plan(Plan::all_gather(self.workers, parameters))?,
            share: plan(Plan::all_gather(self.workers, self.workers))?,
            knobs: knobs.clone(),
        })
    }
}

impl Knobs {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let Fields { workers, zero_stage, knobs, .. } = params.read()?;
        let knobs = Self { network: Network::read(params)?, ..knobs };
        knobs.check(workers, zero_stage)?;
        Ok(knobs)
    }

    fn check(&self, workers: usize, zero: Zero) -> Result<(), LabError> {
        let refuse = |params: [&str; 2], why: String| Err(LabError::contradiction(params, why));
        let Self { batch, pieces, .. } = *self;
        let (each, batch_and_workers) = (batch / workers, ["global_batch", "workers"]);
        if batch < workers {
            let examples = if batch == 1 { "example" } else { "examples" };
            let idle = workers - batch;
            let message = format!(
                "{workers} workers cannot share {batch} {examples}: {idle} of them would have nothing to do; set \
                 global_batch to {workers} or more, or take fewer workers"
            );
            return refuse(batch_and_workers, message);
        }
        if !batch.is_multiple_of(workers) {
            let message = format!(
                "{batch} examples do not divide evenly over {workers} workers, and then the mean of their gradients \
                 would not be that of the batch; set global_batch to {} or {}",
                each * workers,
                batch.next_multiple_of(workers)
            );
            return refuse(batch_and_workers, message);
        }
        if !each.is_multiple_of(pieces) {
            let message = format!(
                "each worker has {each} examples of a batch, which do not divide into {pieces} even pieces; set \
                 accumulate to a divisor of {each}"
            );
            return refuse(["accumulate", "global_batch"], message);
        }
        if !self.algorithm.takes(workers) {
            let message = format!(
                "{} halves the workers in every round, so their number must be a power of two, and {workers} is none; \
                 take another algorithm, or {} workers",
                self.algorithm.name(),
                workers.next_power_of_two()
            );
            return refuse(["algorithm", "workers"], message);
        }
        if self.synchronize_every > 1 && zero > Zero::Nothing {
            let message = "workers that step alone each need all of the optimizer's state, and with zero_stage above 0 \
                           no worker holds it; set synchronize_every to 1, or zero_stage to 0";
            return refuse(["synchronize_every", "zero_stage"], message.to_owned());
        }
        if self.synchronize_every > 1 && self.compression != Compression::None {
            let message = "with synchronize_every above 1 workers send weights and no gradients, and it is gradients \
                           that are compressed; set compression to none, or synchronize_every to 1";
            return refuse(["synchronize_every", "compression"], message.to_owned());
        }
        Ok(())
    }
}

impl From<u8> for Zero {
    fn from(stage: u8) -> Self {
        match stage {
            0 => Self::Nothing,
            1 => Self::Optimizer,
            2 => Self::Gradients,
            3.. => Self::Weights,
        }
    }
}

/// What is sharded over workers (Rajbhandari et al. 2020). Each stage shards what the one before does, and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(from = "u8")]
pub(super) enum Zero {
    Nothing,
    Optimizer,
    Gradients,
    Weights,
}

#[derive(Clone, Debug)]
pub(super) struct Scheme {
    /// The sum over all, to all.
    pub(super) all_reduce: Plan,
    /// The sum over all, to each its shard.
    pub(super) scatter: Plan,
    /// Every worker's shard to all.
    pub(super) gather: Plan,
    /// Every worker's compressed gradient to all; an element a worker.
    pub(super) share: Plan,
    pub(super) knobs: Knobs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Average {
    #[default]
    Gradients,
    /// Nothing: each goes its own way.
    Nothing,
    Weights,
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    /// The examples of the whole batch; worker `r` of `p` takes the `r`th of `p` equal parts.
    pub(super) indices: Arc<Vec<usize>>,
    pub(super) scheme: Arc<Scheme>,
    pub(super) average: Average,
    /// Whether workers that went their own ways become alike first, because from now on they share gradients.
    pub(super) synchronize_first: bool,
}

#[derive(Clone, Debug)]
pub(super) enum WorkerOrder {
    /// Do a step. Its report is an order of its own, so that a step takes no longer for being watched.
    Train(Task),
    /// Tell of the last step, and of gradient and weights if they are wanted.
    Report { rows: bool },
}

/// What a worker says; a server has nothing to say.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// The mean loss of its part, before the update.
    pub(super) loss: Option<f64>,
    /// A number that all weights together give: the same for the same bits, and hardly ever for others.
    pub(super) digest: Option<u64>,
    /// Why its weights are of no use any more.
    pub(super) broken: Option<&'static str>,
    pub(super) held: HeldBytes,
    pub(super) row: Option<Row>,
    /// The first [`SAMPLED`] numbers of each chunk of what it gave into the sum, before it was summed.
    pub(super) samples: Vec<f32>,
}

pub(super) const SAMPLED: usize = 3;

/// Bytes of the numbers that a worker really holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HeldBytes {
    pub(super) weights: u64,
    /// Of this step, once it is summed.
    pub(super) gradient: u64,
    pub(super) optimizer: u64,
    pub(super) left_out: u64,
    pub(super) late: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) range: Range<usize>,
    pub(super) gradient: Vec<f32>,
    pub(super) weights: Vec<f32>,
}
